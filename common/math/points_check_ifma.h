/* points_check_ifma: which points are on the curve, 16 at a time. Include it once per group, after
 * points_ifma.h, with
 *
 *   CHECK_B      initialiser of b in y^2 = x^3 + b
 *
 * It undefines that and defines <group>_on_curve_ifma (points_check.h). */
#include "points_check.h"

/* Lanes whose coordinate is not below the modulus. */
MATH_FN_HOT __mmask16 E_(not_reduced)(const E_t *a)
{
    __mmask16 below = 0xffff;
    for (unsigned k = 0; k < PAIRS_DEGREE; k++) {
        V_t t, q;
        V_(set_words)(&q, MATH_JOIN(PAIRS_BASE, modulus));
        V_(sub)(&t, &a->c[k], &q, 0); /* negative, and its top limb with it, where a is below q */
        below &= (__mmask16)(_mm512_movepi64_mask(t.limb[PAIRS_LIMBS - 1][0]) |
                             _mm512_movepi64_mask(t.limb[PAIRS_LIMBS - 1][1]) << 8);
    }
    return (__mmask16)~below;
}

/* Lanes where a, below 8, is not a multiple of q. */
MATH_FN_HOT __mmask16 E_(not_zero)(E_t *a)
{
    __m512i any[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
    for (unsigned k = 0; k < PAIRS_DEGREE; k++) {
        V_(reduce_once)(&a->c[k], 4);
        V_(reduce_once)(&a->c[k], 2);
        V_(reduce_once)(&a->c[k], 1);
        for (unsigned j = 0; j < PAIRS_LIMBS; j++)
            for (unsigned h = 0; h < 2; h++)
                any[h] = _mm512_or_si512(any[h], a->c[k].limb[j][h]);
    }
    return (__mmask16)(_mm512_test_epi64_mask(any[0], any[0]) |
                       _mm512_test_epi64_mask(any[1], any[1]) << 8);
}

/* b R^2 / R', which is what x^3 and y^2 are compared with below. */
static __attribute__((noinline)) void E_(curve_b)(E_t *b)
{
    static const F_(t) b_mont = CHECK_B;
    F_(t) one;
    E_t unit;
    F_(set_one)(&one);
    for (unsigned k = 0; k < PAIRS_DEGREE; k++) {
        V_(set_words)(&b->c[k], (const uint64_t *)&b_mont + k * PAIRS_WORDS);
        V_(set_words)(&unit.c[k], (const uint64_t *)&one + k * PAIRS_WORDS);
    }
    E_(mul)(b, b, &unit, 0, 1);
}

size_t G_(on_curve_ifma)(const void *points, size_t n)
{
    const unsigned char *p = points;
    E_t b;
    E_(curve_b)(&b);
    for (size_t i = 0; i < n; i += E_(lanes)) {
        const unsigned char *at[E_(lanes)];
        E_(words_t) w;
        E_t x, y, xx, yy, t;
        for (size_t l = 0; l < E_(lanes); l++) /* the lanes that are left over repeat the last */
            at[l] = p + sizeof(AFFINE_t) * (i + l < n ? i + l : n - 1);
        E_(load_groups)(&w, at, 0, E_(point_groups));
        E_(from_words)(&x, &w, 0);
        E_(from_words)(&y, &w, E_(words));
        __mmask16 bad = E_(not_reduced)(&x) | E_(not_reduced)(&y);
        E_(mul)(&yy, &y, &y, 0, 1);
        E_(mul)(&xx, &x, &x, 0, 1);
        E_(mul)(&t, &x, &xx, E_(radix_gap), 1); /* each is times R^2 / R' now, and below 2 */
        E_(sub)(&t, &yy, &t, 2);
        E_(sub)(&t, &t, &b, 2);
        bad |= E_(not_zero)(&t);
        bad &= ~E_(all_zero)(&w, 0, E_(point_words));
        if (bad) {
            size_t first = i + (size_t)__builtin_ctz(bad);
            return first < n ? first : n - 1;
        }
    }
    return n;
}

#undef CHECK_B
