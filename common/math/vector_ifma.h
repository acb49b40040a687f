/* vector_ifma: one prime field, 8 VEC_WIDTH values side by side, on AVX-512 IFMA. Include it once
 * per field (and width) with
 *
 *   VEC         prefix: v_bn254_fq gives v_bn254_fq_t, v_bn254_fq_mul(r, a, b), ...
 *   VEC_FIELD   prefix of the scalar instance of field_template.h
 *   VEC_NEG_INV -1/q mod 2^64 of that field
 *   VEC_WORDS   its 64-bit limbs
 *   VEC_LIMBS   52-bit limbs, 52 VEC_LIMBS >= bits of q + 5
 *   VEC_WIDTH   vectors side by side; two hide the latency of one another's products
 *
 * It undefines them. A value is VEC_LIMBS limbs of 52 bits, the top one may be longer; R' =
 * 2^(52 VEC_LIMBS), so mul gives a b / R'. Values are not canonical: a bound in multiples of q
 * stands at every function. Limbs are "carried" when all below the top are in [0, 2^52); operands
 * of mul must be.
 *
 *   from_words(r, w)  to_words(w, r)   64-bit words of 8 lanes each; to_words wants carried limbs
 *   mul(r,a,b) sqr(r,a)                a b / R'; below q + a b / R'. r may alias.
 *   mul_add(r,a,b,c,d)                 (a b + c d) / R'; below q + (a b + c d) / R'
 *   sub(r,a,b,k)                       a - b + k q, for b <= k q; carried
 *   add(r,a,b)                         a + b, carried
 *   shift(r,a,bits)                    a 2^bits, carried, of a carried a; bits < 52
 *   reduce_once(r,k)                   r - k q when that is not negative
 *
 * Source: S. Gueron, V. Krasnov "Accelerating Big Integer Arithmetic Using Intel IFMA Extensions"
 * (2016); the interleaved reduction is Koc, Acar, Kaliski's CIOS with 52-bit digits. */
#include <immintrin.h>
#include "math_fn.h"

#define V_(name) MATH_JOIN(VEC, name)
#define V_t      V_(t)

typedef struct {
    __m512i limb[VEC_LIMBS][VEC_WIDTH];
} V_t;

#if !defined(VEC_COMMON)
#define VEC_COMMON
#define VEC_UNROLL _Pragma("GCC unroll 16")
#define VEC_MASK52 (((uint64_t)1 << 52) - 1)
MATH_FN_HOT __m512i vec_set1(uint64_t x)
{
    return _mm512_set1_epi64((long long)x);
}
#endif

/* Limb j of the modulus in base 2^52; folds to a constant. */
MATH_FN_HOT uint64_t V_(modulus)(unsigned j)
{
    unsigned at = 52 * j, word = at / 64, bit = at % 64;
    if (word >= VEC_WORDS)
        return 0;
    uint64_t x = MATH_JOIN(VEC_FIELD, modulus)[word] >> bit;
    if (bit > 12 && word + 1 < VEC_WORDS)
        x |= MATH_JOIN(VEC_FIELD, modulus)[word + 1] << (64 - bit);
    return x & VEC_MASK52;
}

MATH_FN_HOT void V_(from_words)(V_t *r, __m512i w[VEC_WORDS][VEC_WIDTH])
{
    VEC_UNROLL
    for (unsigned j = 0; j < VEC_LIMBS; j++)
        VEC_UNROLL
    for (unsigned h = 0; h < VEC_WIDTH; h++) {
        unsigned at = 52 * j, word = at / 64, bit = at % 64;
        __m512i x = _mm512_setzero_si512();
        if (word < VEC_WORDS)
            x = bit ? _mm512_srli_epi64(w[word][h], bit) : w[word][h];
        if (bit > 12 && word + 1 < VEC_WORDS)
            x = _mm512_or_si512(x, _mm512_slli_epi64(w[word + 1][h], 64 - bit));
        r->limb[j][h] = _mm512_and_si512(x, vec_set1(VEC_MASK52));
    }
}

MATH_FN_HOT void V_(to_words)(__m512i w[VEC_WORDS][VEC_WIDTH], const V_t *a)
{
    VEC_UNROLL
    for (unsigned i = 0; i < VEC_WORDS; i++)
        VEC_UNROLL
    for (unsigned h = 0; h < VEC_WIDTH; h++) {
        unsigned j = 64 * i / 52, bit = 64 * i % 52;
        __m512i x = bit ? _mm512_srli_epi64(a->limb[j][h], bit) : a->limb[j][h];
        x = _mm512_or_si512(x, _mm512_slli_epi64(a->limb[j + 1][h], 52 - bit));
        if (104 - bit < 64 && j + 2 < VEC_LIMBS)
            x = _mm512_or_si512(x, _mm512_slli_epi64(a->limb[j + 2][h], 104 - bit));
        w[i][h] = x;
    }
}

/* Limb by limb: what the compiler makes of an assignment of this size is slow to start. */
MATH_FN_HOT void V_(copy)(V_t *r, const V_t *a)
{
    VEC_UNROLL
    for (unsigned j = 0; j < VEC_LIMBS; j++)
        VEC_UNROLL
    for (unsigned h = 0; h < VEC_WIDTH; h++)
        r->limb[j][h] = a->limb[j][h];
}

MATH_FN_HOT void V_(set_zero)(V_t *r)
{
    VEC_UNROLL
    for (unsigned j = 0; j < VEC_LIMBS; j++)
        VEC_UNROLL
    for (unsigned h = 0; h < VEC_WIDTH; h++)
        r->limb[j][h] = _mm512_setzero_si512();
}

/* Signed limbs to carried ones, for a value that is not negative. */
MATH_FN_HOT void V_(carry)(V_t *r)
{
    VEC_UNROLL
    for (unsigned j = 0; j + 1 < VEC_LIMBS; j++)
        VEC_UNROLL
    for (unsigned h = 0; h < VEC_WIDTH; h++) {
        r->limb[j + 1][h] =
            _mm512_add_epi64(r->limb[j + 1][h], _mm512_srai_epi64(r->limb[j][h], 52));
        r->limb[j][h] = _mm512_and_si512(r->limb[j][h], vec_set1(VEC_MASK52));
    }
}

MATH_FN_HOT void V_(add)(V_t *r, const V_t *a, const V_t *b)
{
    V_t t;
    VEC_UNROLL
    for (unsigned j = 0; j < VEC_LIMBS; j++)
        VEC_UNROLL
    for (unsigned h = 0; h < VEC_WIDTH; h++)
        t.limb[j][h] = _mm512_add_epi64(a->limb[j][h], b->limb[j][h]);
    V_(carry)(&t);
    V_(copy)(r, &t);
}

MATH_FN_HOT void V_(sub)(V_t *r, const V_t *a, const V_t *b, uint64_t k)
{
    V_t t;
    VEC_UNROLL
    for (unsigned j = 0; j < VEC_LIMBS; j++)
        VEC_UNROLL
    for (unsigned h = 0; h < VEC_WIDTH; h++)
        t.limb[j][h] = _mm512_add_epi64(_mm512_sub_epi64(a->limb[j][h], b->limb[j][h]),
                                        vec_set1(k * V_(modulus)(j)));
    V_(carry)(&t);
    V_(copy)(r, &t);
}

MATH_FN_HOT void V_(shift)(V_t *r, const V_t *a, unsigned bits)
{
    V_t t;
    VEC_UNROLL
    for (unsigned j = 0; j < VEC_LIMBS; j++)
        VEC_UNROLL
    for (unsigned h = 0; h < VEC_WIDTH; h++) {
        __m512i x = _mm512_slli_epi64(a->limb[j][h], bits);
        if (j + 1 < VEC_LIMBS)
            x = _mm512_and_si512(x, vec_set1(VEC_MASK52));
        if (j)
            x = _mm512_or_si512(x, _mm512_srli_epi64(a->limb[j - 1][h], 52 - bits));
        t.limb[j][h] = x;
    }
    V_(copy)(r, &t);
}

MATH_FN_HOT void V_(reduce_once)(V_t *r, uint64_t k)
{
    V_t t;
    VEC_UNROLL
    for (unsigned j = 0; j < VEC_LIMBS; j++)
        VEC_UNROLL
    for (unsigned h = 0; h < VEC_WIDTH; h++)
        t.limb[j][h] = _mm512_sub_epi64(r->limb[j][h], vec_set1(k * V_(modulus)(j)));
    V_(carry)(&t);
    VEC_UNROLL
    for (unsigned h = 0; h < VEC_WIDTH; h++) {
        __mmask8 negative = _mm512_movepi64_mask(t.limb[VEC_LIMBS - 1][h]);
        VEC_UNROLL
        for (unsigned j = 0; j < VEC_LIMBS; j++)
            r->limb[j][h] = _mm512_mask_mov_epi64(t.limb[j][h], negative, r->limb[j][h]);
    }
}

MATH_FN_HOT void V_(set_words)(V_t *r, const uint64_t *word)
{
    __m512i w[VEC_WORDS][VEC_WIDTH];
    for (unsigned i = 0; i < VEC_WORDS; i++)
        for (unsigned h = 0; h < VEC_WIDTH; h++)
            w[i][h] = vec_set1(word[i]);
    V_(from_words)(r, w);
}

/* t = (t + sum of the products + m q) / 2^52, one limb of the first operands, for the vectors
 * from .. end - 1; the sums of a limb stay far below 2^64. `two` folds. */
MATH_FN_HOT void V_(mul_row)(V_t *t, const V_t *a, const V_t *b, const V_t *c, const V_t *d,
                             bool two, unsigned i, unsigned from, unsigned end)
{
    __m512i m[VEC_WIDTH], first[VEC_WIDTH];
    VEC_UNROLL
    for (unsigned j = 0; j < VEC_LIMBS; j++)
        VEC_UNROLL
    for (unsigned h = from; h < end; h++) {
        t->limb[j][h] = _mm512_madd52lo_epu64(t->limb[j][h], a->limb[i][h], b->limb[j][h]);
        if (two)
            t->limb[j][h] = _mm512_madd52lo_epu64(t->limb[j][h], c->limb[i][h], d->limb[j][h]);
    }
    VEC_UNROLL
    for (unsigned h = from; h < end; h++)
        m[h] = _mm512_madd52lo_epu64(_mm512_setzero_si512(), t->limb[0][h],
                                     vec_set1(VEC_NEG_INV & VEC_MASK52));
    VEC_UNROLL
    for (unsigned j = 0; j < VEC_LIMBS; j++)
        VEC_UNROLL
    for (unsigned h = from; h < end; h++)
        t->limb[j][h] = _mm512_madd52lo_epu64(t->limb[j][h], m[h], vec_set1(V_(modulus)(j)));
    VEC_UNROLL
    for (unsigned h = from; h < end; h++)
        first[h] = _mm512_srli_epi64(t->limb[0][h], 52);
    VEC_UNROLL
    for (unsigned j = 0; j < VEC_LIMBS; j++)
        VEC_UNROLL
    for (unsigned h = from; h < end; h++) {
        __m512i next = j + 1 < VEC_LIMBS ? t->limb[j + 1][h] : _mm512_setzero_si512();
        if (j == 0)
            next = _mm512_add_epi64(next, first[h]);
        next = _mm512_madd52hi_epu64(next, a->limb[i][h], b->limb[j][h]);
        if (two)
            next = _mm512_madd52hi_epu64(next, c->limb[i][h], d->limb[j][h]);
        t->limb[j][h] = _mm512_madd52hi_epu64(next, m[h], vec_set1(V_(modulus)(j)));
    }
}

/* Vectors in pairs hide each other's latency, as long as both sums fit the registers. */
MATH_FN_HOT void V_(mul_inline)(V_t *r, const V_t *a, const V_t *b, const V_t *c, const V_t *d,
                                bool two)
{
    enum { TOGETHER = VEC_LIMBS > 5 ? 1 : VEC_WIDTH };
    V_t t;
    VEC_UNROLL
    for (unsigned from = 0; from < VEC_WIDTH; from += TOGETHER) {
        VEC_UNROLL
        for (unsigned j = 0; j < VEC_LIMBS; j++)
            VEC_UNROLL
        for (unsigned h = from; h < from + TOGETHER; h++)
            t.limb[j][h] = _mm512_setzero_si512();
        VEC_UNROLL
        for (unsigned i = 0; i < VEC_LIMBS; i++)
            V_(mul_row)(&t, a, b, c, d, two, i, from, from + TOGETHER);
        VEC_UNROLL
        for (unsigned j = 0; j + 1 < VEC_LIMBS; j++)
            VEC_UNROLL
        for (unsigned h = from; h < from + TOGETHER; h++) {
            t.limb[j + 1][h] =
                _mm512_add_epi64(t.limb[j + 1][h], _mm512_srli_epi64(t.limb[j][h], 52));
            t.limb[j][h] = _mm512_and_si512(t.limb[j][h], vec_set1(VEC_MASK52));
        }
        VEC_UNROLL
        for (unsigned j = 0; j < VEC_LIMBS; j++)
            VEC_UNROLL
        for (unsigned h = from; h < from + TOGETHER; h++)
            r->limb[j][h] = t.limb[j][h];
    }
}

/* Calls, because a caller with many products would not fit the instruction cache otherwise. */
static __attribute__((noinline, unused)) void V_(mul)(V_t *r, const V_t *a, const V_t *b)
{
    V_(mul_inline)(r, a, b, a, b, false);
}

static __attribute__((noinline, unused)) void V_(mul_add)(V_t *r, const V_t *a, const V_t *b,
                                                          const V_t *c, const V_t *d)
{
    V_(mul_inline)(r, a, b, c, d, true);
}

#undef V_
#undef V_t
#undef VEC
#undef VEC_FIELD
#undef VEC_NEG_INV
#undef VEC_WORDS
#undef VEC_LIMBS
#undef VEC_WIDTH
