/* field: prime fields on the device, Montgomery form with R = 2^(32 N), as on the host.
 *
 * Written once over a parameter struct P: N words, modulus, M0 = -1 / modulus mod 2^32, one, r2.
 * Every modulus leaves its top bit free, so a sum of two elements never leaves its words.
 * Values are canonical (below the modulus) in and out of each function. */
#pragma once
#include "limb.cuh"

template <class P> struct alignas(16) field {
    typedef P params;
    static constexpr int N = P::N;
    u32 l[N];

    static HD field zero()
    {
        field r;
        for (int i = 0; i < N; i++)
            r.l[i] = 0;
        return r;
    }
    static HD field one()
    {
        field r;
        for (int i = 0; i < N; i++)
            r.l[i] = P::one(i);
        return r;
    }
    static HD field r_squared()
    {
        field r;
        for (int i = 0; i < N; i++)
            r.l[i] = P::r2(i);
        return r;
    }
    HD bool is_zero() const
    {
        u32 any = 0;
        for (int i = 0; i < N; i++)
            any |= l[i];
        return any == 0;
    }
};

/* a - modulus where that is not negative: takes [0, 2 modulus) to canonical. */
template <class P> DEV field<P> reduce_once(const field<P> &a)
{
    field<P> t;
    t.l[0] = sub_cc(a.l[0], P::mod(0));
#pragma unroll
    for (int i = 1; i < P::N; i++)
        t.l[i] = subc_cc(a.l[i], P::mod(i));
    u32 borrow = subc(0, 0);
#pragma unroll
    for (int i = 0; i < P::N; i++)
        t.l[i] = borrow ? a.l[i] : t.l[i];
    return t;
}

template <class P> DEV field<P> operator+(const field<P> &a, const field<P> &b)
{
    field<P> s;
    s.l[0] = add_cc(a.l[0], b.l[0]);
#pragma unroll
    for (int i = 1; i < P::N - 1; i++)
        s.l[i] = addc_cc(a.l[i], b.l[i]);
    s.l[P::N - 1] = addc(a.l[P::N - 1], b.l[P::N - 1]);
    return reduce_once(s);
}

template <class P> DEV field<P> operator-(const field<P> &a, const field<P> &b)
{
    field<P> d;
    d.l[0] = sub_cc(a.l[0], b.l[0]);
#pragma unroll
    for (int i = 1; i < P::N; i++)
        d.l[i] = subc_cc(a.l[i], b.l[i]);
    u32 borrow = subc(0, 0); /* all ones when a < b */
    d.l[0] = add_cc(d.l[0], P::mod(0) & borrow);
#pragma unroll
    for (int i = 1; i < P::N - 1; i++)
        d.l[i] = addc_cc(d.l[i], P::mod(i) & borrow);
    d.l[P::N - 1] = addc(d.l[P::N - 1], P::mod(P::N - 1) & borrow);
    return d;
}

template <class P> DEV field<P> negate(const field<P> &a)
{
    return field<P>::zero() - a;
}

template <class P> DEV bool operator==(const field<P> &a, const field<P> &b)
{
    u32 differ = 0;
#pragma unroll
    for (int i = 0; i < P::N; i++)
        differ |= a.l[i] ^ b.l[i];
    return differ == 0;
}

/* One row of the interleaved Montgomery product. `low` holds the products of even words of a, its
 * word j at weight 2^(32 j); `high` those of odd words, its word j at weight 2^(32 (j + 1)). On
 * return the sum is divisible by 2^32, low[0] is zero and the caller swaps the two: dividing by
 * 2^32 makes `high` the one at even weights, and `low`, moved down by two words, the other. */
template <class P, bool FIRST>
DEV void product_row(u32 (&low)[P::N], u32 (&high)[P::N], const field<P> &a, u32 b)
{
    constexpr int N = P::N;
    if (FIRST) {
#pragma unroll
        for (int j = 0; j < N; j += 2) {
            low[j] = mul_lo(a.l[j], b);
            low[j + 1] = mul_hi(a.l[j], b);
            high[j] = mul_lo(a.l[j + 1], b);
            high[j + 1] = mul_hi(a.l[j + 1], b);
        }
    } else {
        /* `high` is the former low: its word 1 belongs to low[0], words 2.. move down by two. */
        low[0] = add_cc(low[0], high[1]);
#pragma unroll
        for (int j = 0; j < N - 2; j += 2) {
            high[j] = madc_lo_cc(a.l[j + 1], b, high[j + 2]);
            high[j + 1] = madc_hi_cc(a.l[j + 1], b, high[j + 3]);
        }
        high[N - 2] = madc_lo_cc(a.l[N - 1], b, 0);
        high[N - 1] = madc_hi(a.l[N - 1], b, 0);
        low[0] = mad_lo_cc(a.l[0], b, low[0]);
        low[1] = madc_hi_cc(a.l[0], b, low[1]);
#pragma unroll
        for (int j = 2; j < N; j += 2) {
            low[j] = madc_lo_cc(a.l[j], b, low[j]);
            low[j + 1] = madc_hi_cc(a.l[j], b, low[j + 1]);
        }
        high[N - 1] = addc(high[N - 1], 0);
    }
    const u32 m = low[0] * P::M0;
    high[0] = mad_lo_cc(P::mod(1), m, high[0]);
    high[1] = madc_hi_cc(P::mod(1), m, high[1]);
#pragma unroll
    for (int j = 2; j < N - 2; j += 2) {
        high[j] = madc_lo_cc(P::mod(j + 1), m, high[j]);
        high[j + 1] = madc_hi_cc(P::mod(j + 1), m, high[j + 1]);
    }
    high[N - 2] = madc_lo_cc(P::mod(N - 1), m, high[N - 2]);
    high[N - 1] = madc_hi(P::mod(N - 1), m, high[N - 1]);
    low[0] = mad_lo_cc(P::mod(0), m, low[0]);
    low[1] = madc_hi_cc(P::mod(0), m, low[1]);
#pragma unroll
    for (int j = 2; j < N; j += 2) {
        low[j] = madc_lo_cc(P::mod(j), m, low[j]);
        low[j + 1] = madc_hi_cc(P::mod(j), m, low[j + 1]);
    }
    high[N - 1] = addc(high[N - 1], 0);
}

/* a b / R. a may be any N-word value with a + modulus < 2^(32 N); b any N-word value: the result
 * is then still below 2 modulus before the last subtraction only if a b < R modulus. */
template <class P> DEV field<P> product(const field<P> &a, const field<P> &b)
{
    constexpr int N = P::N;
    u32 x[N], y[N];
    product_row<P, true>(x, y, a, b.l[0]);
    product_row<P, false>(y, x, a, b.l[1]);
#pragma unroll
    for (int i = 2; i < N; i += 2) {
        product_row<P, false>(x, y, a, b.l[i]);
        product_row<P, false>(y, x, a, b.l[i + 1]);
    }
    /* The last row had low = y, so x is at even weights now and y's words 1.. are added to it. */
    field<P> r;
    r.l[0] = add_cc(x[0], y[1]);
#pragma unroll
    for (int i = 1; i < N - 1; i++)
        r.l[i] = addc_cc(x[i], y[i + 1]);
    r.l[N - 1] = addc(x[N - 1], 0);
    return reduce_once(r);
}

/* The same as a call: kernels that are not hot stay small, so that they compile and load quickly.
 */
template <class P> DEVCALL field<P> product_call(field<P> a, field<P> b)
{
    return product(a, b);
}

template <class P> DEV field<P> operator*(const field<P> &a, const field<P> &b)
{
    if (P::CALL)
        return product_call(a, b);
    return product(a, b);
}

/* One row of a Montgomery reduction: product_row without the product. */
template <class P, bool FIRST> DEV void reduction_row(u32 (&low)[P::N], u32 (&high)[P::N])
{
    constexpr int N = P::N;
    if (FIRST) {
        const u32 m = low[0] * P::M0;
#pragma unroll
        for (int j = 0; j < N; j += 2) {
            high[j] = mul_lo(P::mod(j + 1), m);
            high[j + 1] = mul_hi(P::mod(j + 1), m);
        }
        low[0] = mad_lo_cc(P::mod(0), m, low[0]);
        low[1] = madc_hi_cc(P::mod(0), m, low[1]);
#pragma unroll
        for (int j = 2; j < N; j += 2) {
            low[j] = madc_lo_cc(P::mod(j), m, low[j]);
            low[j + 1] = madc_hi_cc(P::mod(j), m, low[j + 1]);
        }
    } else {
        low[0] = add_cc(low[0], high[1]);
        const u32 m = low[0] * P::M0;
#pragma unroll
        for (int j = 0; j < N - 2; j += 2) {
            high[j] = madc_lo_cc(P::mod(j + 1), m, high[j + 2]);
            high[j + 1] = madc_hi_cc(P::mod(j + 1), m, high[j + 3]);
        }
        high[N - 2] = madc_lo_cc(P::mod(N - 1), m, 0);
        high[N - 1] = madc_hi(P::mod(N - 1), m, 0);
        low[0] = mad_lo_cc(P::mod(0), m, low[0]);
        low[1] = madc_hi_cc(P::mod(0), m, low[1]);
#pragma unroll
        for (int j = 2; j < N; j += 2) {
            low[j] = madc_lo_cc(P::mod(j), m, low[j]);
            low[j + 1] = madc_hi_cc(P::mod(j), m, low[j + 1]);
        }
    }
    high[N - 1] = addc(high[N - 1], 0);
}

/* a a / R: the products of unequal words once, doubled, then the squares of words, then the
 * reduction of the lower half, to which the upper half (below the modulus) is added. */
template <class P> DEV field<P> square_inline(const field<P> &a)
{
    constexpr int N = P::N;
    u32 even[2 * N + 2], odd[2 * N + 2]; /* odd[k] has weight 2^(32 (k + 1)) */
#pragma unroll
    for (int k = 0; k < 2 * N + 2; k++)
        even[k] = odd[k] = 0;
#pragma unroll
    for (int i = 0; i < N - 1; i++) {
        /* j = i + 1, i + 3 ...: odd places */
#pragma unroll
        for (int j = i + 1; j < N; j += 2) {
            const int at = i + j - 1;
            odd[at] = j == i + 1 ? mad_lo_cc(a.l[i], a.l[j], odd[at])
                                 : madc_lo_cc(a.l[i], a.l[j], odd[at]);
            odd[at + 1] = madc_hi_cc(a.l[i], a.l[j], odd[at + 1]);
            if (j + 2 >= N)
                odd[at + 2] = addc(odd[at + 2], 0);
        }
#pragma unroll
        for (int j = i + 2; j < N; j += 2) {
            const int at = i + j;
            even[at] = j == i + 2 ? mad_lo_cc(a.l[i], a.l[j], even[at])
                                  : madc_lo_cc(a.l[i], a.l[j], even[at]);
            even[at + 1] = madc_hi_cc(a.l[i], a.l[j], even[at + 1]);
            if (j + 2 >= N)
                even[at + 2] = addc(even[at + 2], 0);
        }
    }
    u32 t[2 * N];
    t[0] = 0;
    t[1] = add_cc(even[1], odd[0]);
#pragma unroll
    for (int k = 2; k < 2 * N - 1; k++)
        t[k] = addc_cc(even[k], odd[k - 1]);
    t[2 * N - 1] = addc(even[2 * N - 1], odd[2 * N - 2]);
    t[1] = add_cc(t[1], t[1]);
#pragma unroll
    for (int k = 2; k < 2 * N - 1; k++)
        t[k] = addc_cc(t[k], t[k]);
    t[2 * N - 1] = addc(t[2 * N - 1], t[2 * N - 1]);
    t[0] = mad_lo_cc(a.l[0], a.l[0], t[0]);
    t[1] = madc_hi_cc(a.l[0], a.l[0], t[1]);
#pragma unroll
    for (int i = 1; i < N; i++) {
        t[2 * i] = madc_lo_cc(a.l[i], a.l[i], t[2 * i]);
        if (i < N - 1)
            t[2 * i + 1] = madc_hi_cc(a.l[i], a.l[i], t[2 * i + 1]);
        else
            t[2 * i + 1] = madc_hi(a.l[i], a.l[i], t[2 * i + 1]);
    }
    u32 x[N], y[N];
#pragma unroll
    for (int k = 0; k < N; k++)
        x[k] = t[k];
    reduction_row<P, true>(x, y);
    reduction_row<P, false>(y, x);
#pragma unroll
    for (int i = 2; i < N; i += 2) {
        reduction_row<P, false>(x, y);
        reduction_row<P, false>(y, x);
    }
    field<P> r;
    r.l[0] = add_cc(x[0], y[1]);
#pragma unroll
    for (int i = 1; i < N - 1; i++)
        r.l[i] = addc_cc(x[i], y[i + 1]);
    r.l[N - 1] = addc(x[N - 1], 0);
    r.l[0] = add_cc(r.l[0], t[N]);
#pragma unroll
    for (int i = 1; i < N - 1; i++)
        r.l[i] = addc_cc(r.l[i], t[N + i]);
    r.l[N - 1] = addc(r.l[N - 1], t[2 * N - 1]);
    return reduce_once(r);
}

template <class P> DEVCALL field<P> square_call(field<P> a)
{
    return square_inline(a);
}

template <class P> DEV field<P> square(const field<P> &a)
{
    if (P::CALL)
        return square_call(a);
    return square_inline(a);
}

/* Two independent products or squares: their chains of carries overlap, which one alone cannot.
 * With P::PAIRS each pair is one call, so that a hot loop of several fits the instruction cache. */
template <class F> struct pair_of {
    F a, b;
};

template <class P>
DEVCALL pair_of<field<P>> products_call(field<P> a0, field<P> b0, field<P> a1, field<P> b1)
{
    return {product(a0, b0), product(a1, b1)};
}

template <class P> DEVCALL pair_of<field<P>> squares_call(field<P> a0, field<P> a1)
{
    return {square_inline(a0), square_inline(a1)};
}

template <class P>
DEV pair_of<field<P>> products(const field<P> &a0, const field<P> &b0, const field<P> &a1,
                               const field<P> &b1)
{
    if (P::PAIRS)
        return products_call(a0, b0, a1, b1);
    return {a0 * b0, a1 * b1};
}

template <class P> DEV pair_of<field<P>> squares(const field<P> &a0, const field<P> &a1)
{
    if (P::PAIRS)
        return squares_call(a0, a1);
    return {square(a0), square(a1)};
}

template <class P> DEV field<P> twice(const field<P> &a)
{
    return a + a;
}

/* 1 / a by Fermat; 0 gives 0. */
template <class P> DEVCALL field<P> inverse(field<P> a)
{
    static_assert(P::mod(0) >= 2, "modulus - 2 must not borrow from the second word");
    field<P> r = field<P>::one();
    for (int i = 32 * P::N - 1; i >= 0; i--) {
        u32 word = 0;
#pragma unroll
        for (int k = 0; k < P::N; k++)
            if (k == i / 32)
                word = P::mod(k) - (k == 0 ? 2 : 0);
        r = square_call(r);
        if ((word >> (i % 32)) & 1)
            r = product_call(r, a);
    }
    return r;
}
