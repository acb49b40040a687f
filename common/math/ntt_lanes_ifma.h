/* ntt_lanes_ifma: eight scalars side by side in vectors; the interface is ntt_lanes_portable.h's.
 * Include it with FIELD and LANES, the prefix of the field's vectors of width 1.
 *
 * Data are Montgomery values as they are in memory (R = 2^256), factors are times 2^260, so that
 * a product with a factor is data again. Between loads and stores a value is only kept below 32 r
 * (2^260 > 34 r on both curves): it starts below 2 r, and each butterfly adds 2 r. */
#include "ntt_path.h"
#include "math_fn.h"

#define F_(name) MATH_JOIN(FIELD, name)
#define L_(name) MATH_JOIN(FIELD, lanes_##name)
#define V_(name) MATH_JOIN(LANES, name)
#define L_t      L_(t)

typedef V_(t) L_t;
enum {
    L_(form_shift) = 4,
    L_(free_stages) = 2, /* where a factor 1 needs no product */
    L_(bits_max) = 14,   /* stages before the bound is met */
};

/* 8 values of 4 words, `stride` values apart, to word i of all in w[i]. */
MATH_FN_HOT void L_(transpose_in)(__m512i w[4][1], const fr_t *p, size_t stride)
{
    __m512i z[4];
    VEC_UNROLL
    for (unsigned i = 0; i < 4; i++)
        z[i] = _mm512_inserti64x4(
            _mm512_castsi256_si512(_mm256_loadu_si256((const void *)(p + i * stride))),
            _mm256_loadu_si256((const void *)(p + (i + 4) * stride)), 1);
    const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    __m512i a = _mm512_unpacklo_epi64(z[0], z[1]), b = _mm512_unpackhi_epi64(z[0], z[1]);
    __m512i c = _mm512_unpacklo_epi64(z[2], z[3]), d = _mm512_unpackhi_epi64(z[2], z[3]);
    w[0][0] = _mm512_permutex2var_epi64(a, low, c);
    w[1][0] = _mm512_permutex2var_epi64(b, low, d);
    w[2][0] = _mm512_permutex2var_epi64(a, high, c);
    w[3][0] = _mm512_permutex2var_epi64(b, high, d);
}

MATH_FN_HOT void L_(transpose_out)(__m512i w[4][1], fr_t *p, size_t stride)
{
    const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    __m512i a = _mm512_unpacklo_epi64(w[0][0], w[1][0]),
            b = _mm512_unpackhi_epi64(w[0][0], w[1][0]);
    __m512i c = _mm512_unpacklo_epi64(w[2][0], w[3][0]),
            d = _mm512_unpackhi_epi64(w[2][0], w[3][0]);
    __m512i z[4] = {_mm512_permutex2var_epi64(a, low, c), _mm512_permutex2var_epi64(b, low, d),
                    _mm512_permutex2var_epi64(a, high, c), _mm512_permutex2var_epi64(b, high, d)};
    VEC_UNROLL
    for (unsigned i = 0; i < 4; i++) {
        _mm256_storeu_si256((void *)(p + i * stride), _mm512_castsi512_si256(z[i]));
        _mm256_storeu_si256((void *)(p + (i + 4) * stride), _mm512_extracti64x4_epi64(z[i], 1));
    }
}

MATH_FN_HOT void L_(load)(L_t *v, const fr_t *p, size_t stride)
{
    __m512i w[4][1];
    L_(transpose_in)(w, p, stride);
    V_(from_words)(v, w);
}

MATH_FN_HOT void L_(broadcast)(L_t *v, const fr_t *p)
{
    V_(set_words)(v, p->limb);
}

/* v was made by mul: below 2 r. */
MATH_FN_HOT void L_(store_loose)(const L_t *v, fr_t *p, size_t stride)
{
    __m512i w[4][1];
    V_(to_words)(w, v);
    L_(transpose_out)(w, p, stride);
}

/* v is below 32 r. */
MATH_FN_HOT void L_(store)(const L_t *v, fr_t *p, size_t stride)
{
    L_t t = *v;
    V_(reduce_once)(&t, 16);
    V_(reduce_once)(&t, 8);
    V_(reduce_once)(&t, 4);
    V_(reduce_once)(&t, 2);
    V_(reduce_once)(&t, 1);
    L_(store_loose)(&t, p, stride);
}

MATH_FN_HOT void L_(mul)(L_t *r, const L_t *a, const L_t *b)
{
    V_(mul_inline)(r, a, b, a, b, false);
}

MATH_FN_HOT void L_(butterfly)(L_t *a, L_t *b, const L_t *w)
{
    L_t t;
    L_(mul)(&t, b, w);
    V_(sub)(b, a, &t, 2);
    V_(add)(a, a, &t);
}

/* The factor 1 without a product: b is below 2 r at the first stage, below 4 r at the second. */
MATH_FN_HOT void L_(butterfly_one)(L_t *a, L_t *b, unsigned stage)
{
    L_t t = *b;
    if (stage == 1)
        V_(reduce_once)(&t, 2);
    V_(sub)(b, a, &t, 2);
    V_(add)(a, a, &t);
}
