/* points_ifma: points of one group in vectors of AVX-512 IFMA, 16 side by side: loads, stores, and
 * the arithmetic of their coordinates. Include it once per group with
 *
 *   GROUP, GROUP_FIELD   as for group_template.h
 *   PAIRS_VEC            prefix of the base field's vectors (vector_ifma.h), VEC_WIDTH 2
 *   PAIRS_WORDS          64-bit words of a base field element
 *   PAIRS_LIMBS          of 52 bits, as in PAIRS_VEC
 *   PAIRS_DEGREE         1, or 2 for coordinates in Fq2
 *   PAIRS_BASE           prefix of the base field
 *
 * It leaves them defined, with G_, F_, V_, E_ and the types' names, for points_check_ifma.h and
 * then msm_pairs_ifma.h, which undefines them all.
 *
 * Points stay in memory as they are: canonical, times R = 2^(64 PAIRS_WORDS), while a product here
 * divides by R' = 2^(52 PAIRS_LIMBS). All bounds below are in units of q; R' is 84 q (BN254) or
 * more. */
#include "curve.h"
#include "math_fn.h"

#define G_(name) MATH_JOIN(GROUP, name)
#define F_(name) MATH_JOIN(GROUP_FIELD, name)
#define V_(name) MATH_JOIN(PAIRS_VEC, name)
#define E_(name) MATH_JOIN(GROUP, vec_##name)
#define AFFINE_t G_(affine_t)
#define V_t      V_(t)
#define E_t      E_(t)

enum {
    E_(lanes) = 16,
    E_(words) = PAIRS_WORDS * PAIRS_DEGREE, /* of a coordinate */
    E_(point_words) = 2 * E_(words),
    E_(x_groups) = (E_(words) + 3) / 4, /* groups of 4 words that hold x */
    E_(point_groups) = E_(point_words) / 4,
    E_(radix_gap) = 52 * PAIRS_LIMBS - 64 * PAIRS_WORDS, /* log2 R'/R */
};

typedef struct {
    V_t c[PAIRS_DEGREE];
} E_t;

typedef struct {
    __m512i w[E_(point_words)][2]; /* word i of lanes 8 h .. 8 h + 7 in w[i][h] */
} E_(words_t);

MATH_FN_HOT void E_(from_words)(E_t *r, E_(words_t) * p, unsigned first)
{
    for (unsigned k = 0; k < PAIRS_DEGREE; k++)
        V_(from_words)(&r->c[k], &p->w[first + k * PAIRS_WORDS]);
}

MATH_FN_HOT void E_(to_words)(E_(words_t) * p, unsigned first, const E_t *a)
{
    for (unsigned k = 0; k < PAIRS_DEGREE; k++)
        V_(to_words)(&p->w[first + k * PAIRS_WORDS], &a->c[k]);
}

MATH_FN_HOT void E_(copy)(E_t *r, const E_t *a)
{
    for (unsigned k = 0; k < PAIRS_DEGREE; k++)
        V_(copy)(&r->c[k], &a->c[k]);
}

MATH_FN_HOT void E_(add)(E_t *r, const E_t *a, const E_t *b)
{
    for (unsigned k = 0; k < PAIRS_DEGREE; k++)
        V_(add)(&r->c[k], &a->c[k], &b->c[k]);
}

MATH_FN_HOT void E_(sub)(E_t *r, const E_t *a, const E_t *b, uint64_t multiple)
{
    for (unsigned k = 0; k < PAIRS_DEGREE; k++)
        V_(sub)(&r->c[k], &a->c[k], &b->c[k], multiple);
}

/* From below 3 to canonical. */
MATH_FN_HOT void E_(canonical)(E_t *r)
{
    for (unsigned k = 0; k < PAIRS_DEGREE; k++) {
        V_(reduce_once)(&r->c[k], 2);
        V_(reduce_once)(&r->c[k], 1);
    }
}

MATH_FN_HOT void E_(choose)(E_t *r, const __mmask8 mask[2], const E_t *a)
{
    for (unsigned k = 0; k < PAIRS_DEGREE; k++)
        for (unsigned j = 0; j < PAIRS_LIMBS; j++)
            for (unsigned h = 0; h < 2; h++)
                r->c[k].limb[j][h] =
                    _mm512_mask_mov_epi64(r->c[k].limb[j][h], mask[h], a->c[k].limb[j][h]);
}

MATH_FN_HOT void E_(set_zero)(E_t *r)
{
    for (unsigned k = 0; k < PAIRS_DEGREE; k++)
        V_(set_zero)(&r->c[k]);
}

/* 1 as an integer, not in any radix. */
MATH_FN_HOT void E_(set_unit)(E_t *r)
{
    E_(set_zero)(r);
    r->c[0].limb[0][0] = r->c[0].limb[0][1] = vec_set1(1);
}

/* r = a 2^bits b / R', a <= bound. Below 2 where a b bound 2^bits is below 42 (84 in Fq). */
MATH_FN_HOT void E_(mul)(E_t *r, const E_t *a, const E_t *b, unsigned bits, uint64_t bound)
{
#if PAIRS_DEGREE == 1
    (void)bound;
    V_t t;
    if (bits)
        V_(shift)(&t, &a->c[0], bits);
    V_(mul)(&r->c[0], bits ? &t : &a->c[0], &b->c[0]);
#else
    V_t zero, minus, s0, s1, product;
    V_(copy)(&s0, &a->c[0]);
    V_(copy)(&s1, &a->c[1]);
    V_(set_zero)(&zero);
    V_(sub)(&minus, &zero, &s1, bound);
    if (bits) {
        V_(shift)(&minus, &minus, bits);
        V_(shift)(&s0, &s0, bits);
        V_(shift)(&s1, &s1, bits);
    }
    V_(mul_add)(&product, &s0, &b->c[0], &minus, &b->c[1]);
    V_(mul_add)(&r->c[1], &s0, &b->c[1], &s1, &b->c[0]);
    V_(copy)(&r->c[0], &product);
#endif
}

/* a below 2; the square is below 1.2. */
MATH_FN_HOT void E_(sqr)(E_t *r, const E_t *a)
{
#if PAIRS_DEGREE == 1
    V_(mul)(&r->c[0], &a->c[0], &a->c[0]);
#else
    V_t sum, diff, twice;
    V_(add)(&sum, &a->c[0], &a->c[1]);
    V_(sub)(&diff, &a->c[0], &a->c[1], 2);
    V_(add)(&twice, &a->c[0], &a->c[0]);
    V_(mul)(&r->c[1], &twice, &a->c[1]);
    V_(mul)(&r->c[0], &sum, &diff);
#endif
}

MATH_FN_HOT void E_(load_groups)(E_(words_t) * p, const unsigned char *const *at, unsigned first,
                                 unsigned end)
{
    const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    for (unsigned g = first; g < end; g++)
        for (unsigned h = 0; h < 2; h++) {
            __m512i z[4];
            for (unsigned i = 0; i < 4; i++)
                z[i] = _mm512_inserti64x4(
                    _mm512_castsi256_si512(
                        _mm256_loadu_si256((const void *)(at[8 * h + i] + 32 * g))),
                    _mm256_loadu_si256((const void *)(at[8 * h + i + 4] + 32 * g)), 1);
            __m512i a = _mm512_unpacklo_epi64(z[0], z[1]), b = _mm512_unpackhi_epi64(z[0], z[1]);
            __m512i c = _mm512_unpacklo_epi64(z[2], z[3]), d = _mm512_unpackhi_epi64(z[2], z[3]);
            p->w[4 * g][h] = _mm512_permutex2var_epi64(a, low, c);
            p->w[4 * g + 1][h] = _mm512_permutex2var_epi64(b, low, d);
            p->w[4 * g + 2][h] = _mm512_permutex2var_epi64(a, high, c);
            p->w[4 * g + 3][h] = _mm512_permutex2var_epi64(b, high, d);
        }
}

MATH_FN_HOT void E_(store_points)(E_(words_t) * p, unsigned char *const *at)
{
    const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    for (unsigned g = 0; g < E_(point_groups); g++)
        for (unsigned h = 0; h < 2; h++) {
            __m512i *w[4] = {&p->w[4 * g][h], &p->w[4 * g + 1][h], &p->w[4 * g + 2][h],
                             &p->w[4 * g + 3][h]};
            __m512i a = _mm512_unpacklo_epi64(*w[0], *w[1]),
                    b = _mm512_unpackhi_epi64(*w[0], *w[1]);
            __m512i c = _mm512_unpacklo_epi64(*w[2], *w[3]),
                    d = _mm512_unpackhi_epi64(*w[2], *w[3]);
            __m512i z[4] = {
                _mm512_permutex2var_epi64(a, low, c), _mm512_permutex2var_epi64(b, low, d),
                _mm512_permutex2var_epi64(a, high, c), _mm512_permutex2var_epi64(b, high, d)};
            for (unsigned i = 0; i < 4; i++) {
                _mm256_storeu_si256((void *)(at[8 * h + i] + 32 * g), _mm512_castsi512_si256(z[i]));
                _mm256_storeu_si256((void *)(at[8 * h + i + 4] + 32 * g),
                                    _mm512_extracti64x4_epi64(z[i], 1));
            }
        }
}

/* Lanes whose words first .. first + n - 1 are all zero; words that are equal in a and b. */
MATH_FN_HOT __mmask16 E_(all_zero)(const E_(words_t) * p, unsigned first, unsigned n)
{
    __mmask8 zero[2];
    for (unsigned h = 0; h < 2; h++) {
        __m512i any = p->w[first][h];
        for (unsigned i = 1; i < n; i++)
            any = _mm512_or_si512(any, p->w[first + i][h]);
        zero[h] = _mm512_testn_epi64_mask(any, any);
    }
    return (__mmask16)(zero[0] | zero[1] << 8);
}

MATH_FN_HOT __mmask16 E_(all_equal)(const E_(words_t) * p, const E_(words_t) * q, unsigned first)
{
    __mmask8 equal[2];
    for (unsigned h = 0; h < 2; h++) {
        __m512i differ = _mm512_xor_si512(p->w[first][h], q->w[first][h]);
        for (unsigned i = 1; i < E_(words); i++)
            differ =
                _mm512_or_si512(differ, _mm512_xor_si512(p->w[first + i][h], q->w[first + i][h]));
        equal[h] = _mm512_testn_epi64_mask(differ, differ);
    }
    return (__mmask16)(equal[0] | equal[1] << 8);
}
