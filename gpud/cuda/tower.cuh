/* tower: Fq2 = Fq[u] / (u^2 + 1), the same for both curves. */
#pragma once
#include "field.cuh"

template <class P> struct alignas(16) field2 {
    typedef field<P> base;
    base c0, c1;

    static HD field2 zero()
    {
        return {base::zero(), base::zero()};
    }
    static HD field2 one()
    {
        return {base::one(), base::zero()};
    }
    HD bool is_zero() const
    {
        return c0.is_zero() && c1.is_zero();
    }
};

template <class P> DEV field2<P> operator+(const field2<P> &a, const field2<P> &b)
{
    return {a.c0 + b.c0, a.c1 + b.c1};
}
template <class P> DEV field2<P> operator-(const field2<P> &a, const field2<P> &b)
{
    return {a.c0 - b.c0, a.c1 - b.c1};
}
template <class P> DEV field2<P> negate(const field2<P> &a)
{
    return {negate(a.c0), negate(a.c1)};
}
template <class P> DEV field2<P> twice(const field2<P> &a)
{
    return {a.c0 + a.c0, a.c1 + a.c1};
}
template <class P> DEV bool operator==(const field2<P> &a, const field2<P> &b)
{
    return a.c0 == b.c0 && a.c1 == b.c1;
}
/* Karatsuba: three products. */
template <class P> DEV field2<P> operator*(const field2<P> &a, const field2<P> &b)
{
    const field<P> t0 = a.c0 * b.c0, t1 = a.c1 * b.c1;
    const field<P> cross = (a.c0 + a.c1) * (b.c0 + b.c1);
    return {t0 - t1, cross - t0 - t1};
}
template <class P> DEV field2<P> square(const field2<P> &a)
{
    const field<P> t = a.c0 * a.c1;
    return {(a.c0 + a.c1) * (a.c0 - a.c1), t + t};
}
template <class P> DEVCALL field2<P> inverse(field2<P> a)
{
    const field<P> t = inverse(square(a.c0) + square(a.c1));
    return {a.c0 * t, negate(a.c1 * t)};
}

template <class P>
DEV pair_of<field2<P>> products(const field2<P> &a0, const field2<P> &b0, const field2<P> &a1,
                                const field2<P> &b1)
{
    return {a0 * b0, a1 * b1};
}
template <class P> DEV pair_of<field2<P>> squares(const field2<P> &a0, const field2<P> &a1)
{
    return {square(a0), square(a1)};
}
