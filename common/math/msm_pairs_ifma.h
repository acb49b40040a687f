/* msm_pairs_ifma: msm_pairs_template.h with AVX-512 IFMA, 16 additions side by side. Include it
 * once per group, after points_ifma.h; it undefines what that takes and defines
 * <group>_add_pairs_ifma.
 *
 * With denominators d (times R) the slope is kept times s, s^2 = R R', so that its square is times
 * R again; the inverses that give it are R' s / d. The one other place where the radix shows is
 * slope * (x_a - x): it lacks R' / s, a power of two, by which x_a - x is shifted. Every 3 x^2 of a
 * doubling lacks R' / R. */
#include "msm_pairs.h"

enum { E_(slope_gap) = E_(radix_gap) / 2 }; /* log2 R'/s */

/* The operands of 16 pairs. */
struct E_(operands) {
    const unsigned char *a[E_(lanes)], *b[E_(lanes)];
    __mmask16 negative_a, negative_b;
};

MATH_FN_HOT __mmask16 E_(addresses)(const unsigned char **to, const void *from,
                                    const uint32_t *index, size_t n)
{
    __m512i i;
    if (n >= E_(lanes)) {
        i = _mm512_loadu_si512(index);
    } else { /* the lanes that are left over do the last pair again */
        i = _mm512_set1_epi32((int)index[n - 1]);
        i = _mm512_mask_loadu_epi32(i, (__mmask16)((1u << n) - 1), index);
    }
    __mmask16 negative = _mm512_movepi32_mask(i);
    i = _mm512_and_si512(i, _mm512_set1_epi32((int)~MSM_NEGATE));
    const __m512i bytes = vec_set1(sizeof(AFFINE_t)), base = vec_set1((uint64_t)(uintptr_t)from);
    for (unsigned h = 0; h < 2; h++) {
        __m512i wide =
            _mm512_cvtepu32_epi64(h ? _mm512_extracti64x4_epi64(i, 1) : _mm512_castsi512_si256(i));
        wide = _mm512_add_epi64(_mm512_mul_epu32(wide, bytes), base);
        _mm512_storeu_si512((void *)(to + 8 * h), wide);
    }
    return negative;
}

MATH_FN_HOT void E_(locate)(struct E_(operands) * o, const struct msm_pairs *p, size_t k)
{
    o->negative_a = E_(addresses)(o->a, p->from_a, p->a + k, p->n - k);
    o->negative_b = E_(addresses)(o->b, p->from_b, p->b + k, p->n - k);
}

/* Lanes that may not be an ordinary sum; x words suffice to tell. */
MATH_FN_HOT __mmask16 E_(suspects)(const E_(words_t) * a, const E_(words_t) * b)
{
    return E_(all_equal)(a, b, 0) | E_(all_zero)(a, 0, E_(words)) | E_(all_zero)(b, 0, E_(words));
}

/* What the suspects are. All words of a and b must be there. */
struct E_(kinds) {
    __mmask16 twice, first, second, nothing;
};

MATH_FN_HOT struct E_(kinds)
    E_(tell)(const E_(words_t) * a, const E_(words_t) * b, __mmask16 signs_differ)
{
    struct E_(kinds) k;
    __mmask16 no_a = E_(all_zero)(a, 0, E_(point_words)),
              no_b = E_(all_zero)(b, 0, E_(point_words));
    __mmask16 same_x = E_(all_equal)(a, b, 0) & ~no_a & ~no_b;
    /* the same x: y is the same or the opposite, and never zero (no point has order 2) */
    __mmask16 same_y = E_(all_equal)(a, b, E_(words)) ^ signs_differ;
    k.twice = same_x & same_y;
    k.nothing = same_x & ~same_y;
    k.first = no_b;
    k.second = no_a & ~no_b;
    return k;
}

MATH_FN_HOT void E_(choose16)(E_t *r, __mmask16 mask, const E_t *a)
{
    __mmask8 halves[2] = {(__mmask8)mask, (__mmask8)(mask >> 8)};
    E_(choose)(r, halves, a);
}

/* y, negated in the lanes of `negative`, canonical; infinity's stays zero. */
MATH_FN_HOT void E_(load_y)(E_t *y, E_(words_t) * p, __mmask16 negative)
{
    E_(from_words)(y, p, E_(words));
    if (negative) {
        E_t zero, minus;
        E_(set_zero)(&zero);
        E_(sub)(&minus, &zero, y, 1);
        E_(choose16)(y, negative, &minus);
    }
}

static __attribute__((noinline)) void E_(special_denominator)(E_t *d, const struct E_(operands) * o)
{
    E_(words_t) a, b;
    E_t y, unit;
    E_(load_groups)(&a, o->a, 0, E_(point_groups));
    E_(load_groups)(&b, o->b, 0, E_(point_groups));
    struct E_(kinds) k = E_(tell)(&a, &b, o->negative_a ^ o->negative_b);
    E_(load_y)(&y, &a, o->negative_a);
    E_(add)(&y, &y, &y);
    E_(choose16)(d, k.twice, &y);
    E_(set_unit)(&unit);
    E_(choose16)(d, k.nothing | k.first | k.second, &unit);
}

/* d below 2 */
MATH_FN_HOT void E_(denominator)(E_t *d, const E_t *xa, const E_t *xb, E_(words_t) * a,
                                 E_(words_t) * b, const struct E_(operands) * o,
                                 __mmask16 *suspects)
{
    E_(sub)(d, xb, xa, 1);
    *suspects = E_(suspects)(a, b);
    if (__builtin_expect(*suspects != 0, 0))
        E_(special_denominator)(d, o);
}

/* acc[lane] = R' s / product[lane], through one inversion of scalars. */
static __attribute__((noinline)) void E_(invert)(E_t *acc, const E_t *product)
{
    F_(t) value[E_(lanes)], before[E_(lanes)], inverse;
    uint64_t word[E_(words)][E_(lanes)];
    E_t t;
    E_(words_t) w;
    E_(copy)(&t, product);
    E_(canonical)(&t);
    E_(to_words)(&w, 0, &t);
    for (unsigned i = 0; i < E_(words); i++)
        for (unsigned h = 0; h < 2; h++)
            _mm512_storeu_si512(&word[i][8 * h], w.w[i][h]);
    for (unsigned l = 0; l < E_(lanes); l++)
        for (unsigned i = 0; i < E_(words); i++)
            ((uint64_t *)&value[l])[i] = word[i][l];
    before[0] = value[0];
    for (unsigned l = 1; l < E_(lanes); l++)
        F_(mul)(&before[l], &before[l - 1], &value[l]);
    F_(inv)(&inverse, &before[E_(lanes) - 1]); /* R^2 / product */
    for (unsigned i = 0; i < E_(radix_gap) + E_(slope_gap); i++)
        F_(dbl)(&inverse, &inverse); /* R' s / R^2 = (R'/R) (s/R) */
    for (unsigned l = E_(lanes) - 1; l > 0; l--) {
        F_(mul)(&before[l], &inverse, &before[l - 1]);
        F_(mul)(&inverse, &inverse, &value[l]);
    }
    before[0] = inverse;
    for (unsigned l = 0; l < E_(lanes); l++)
        for (unsigned i = 0; i < E_(words); i++)
            word[i][l] = ((const uint64_t *)&before[l])[i];
    for (unsigned i = 0; i < E_(words); i++)
        for (unsigned h = 0; h < 2; h++)
            w.w[i][h] = _mm512_loadu_si512(&word[i][8 * h]);
    E_(from_words)(acc, &w, 0);
}

MATH_FN_HOT void E_(prefetch)(const struct msm_pairs *p, size_t k)
{
    for (size_t i = k; i < k + E_(lanes) && i < p->n; i++) {
        const unsigned char *a =
            (const unsigned char *)p->from_a + (p->a[i] & ~MSM_NEGATE) * sizeof(AFFINE_t);
        const unsigned char *b =
            (const unsigned char *)p->from_b + (p->b[i] & ~MSM_NEGATE) * sizeof(AFFINE_t);
        for (unsigned at = 0; at < sizeof(AFFINE_t); at += 64) {
            __builtin_prefetch(a + at);
            __builtin_prefetch(b + at);
        }
    }
}

/* The slope's numerator for doublings, and the results that are no sum. */
static __attribute__((noinline)) void E_(special_numerator)(E_t *numerator, const E_t *xa,
                                                            __mmask16 twice)
{
    E_t t, three;
    E_(mul)(&t, xa, xa, E_(radix_gap), 1);
    E_(add)(&three, &t, &t);
    E_(add)(&three, &three, &t); /* below 4.2 */
    E_(choose16)(numerator, twice, &three);
}

static __attribute__((noinline)) void E_(special_result)(E_t *x, E_t *y, struct E_(kinds) k,
                                                         const E_t *xa, const E_t *ya,
                                                         const E_t *xb, const E_t *yb)
{
    E_t zero;
    E_(set_zero)(&zero);
    E_(choose16)(x, k.first, xa);
    E_(choose16)(y, k.first, ya);
    E_(choose16)(x, k.second, xb);
    E_(choose16)(y, k.second, yb);
    E_(choose16)(x, k.nothing, &zero);
    E_(choose16)(y, k.nothing, &zero);
}

static void E_(finish_pairs)(const struct msm_pairs *p, size_t k, E_t *acc, const E_t *before)
{
    struct E_(operands) o;
    E_(words_t) a, b;
    E_t xa, xb, ya, yb, d, inverse, slope, x, y;
    struct E_(kinds) kinds = {0};
    __mmask16 suspects;
    E_(locate)(&o, p, k);
    E_(load_groups)(&a, o.a, 0, E_(point_groups));
    E_(load_groups)(&b, o.b, 0, E_(point_groups));
    E_(from_words)(&xa, &a, 0);
    E_(from_words)(&xb, &b, 0);
    E_(denominator)(&d, &xa, &xb, &a, &b, &o, &suspects);
    if (__builtin_expect(suspects != 0, 0)) {
        kinds = E_(tell)(&a, &b, o.negative_a ^ o.negative_b);
        o.negative_a &= ~E_(all_zero)(&a, 0, E_(point_words));
        o.negative_b &= ~E_(all_zero)(&b, 0, E_(point_words));
    }
    E_(load_y)(&ya, &a, o.negative_a);
    E_(load_y)(&yb, &b, o.negative_b);
    E_(mul)(&inverse, acc, before, 0, 2);
    E_(mul)(acc, acc, &d, 0, 2);
    E_(sub)(&slope, &yb, &ya, 1);
    if (__builtin_expect(kinds.twice != 0, 0))
        E_(special_numerator)(&slope, &xa, kinds.twice);
    E_(mul)(&slope, &slope, &inverse, 0, 5);
    E_(sqr)(&x, &slope);
    E_(sub)(&x, &x, &xa, 1);
    E_(sub)(&x, &x, &xb, 1);
    E_(canonical)(&x);
    E_(sub)(&d, &xa, &x, 1);
    E_(mul)(&y, &d, &slope, E_(slope_gap), 2);
    E_(sub)(&y, &y, &ya, 1);
    E_(canonical)(&y);
    if (__builtin_expect((kinds.first | kinds.second | kinds.nothing) != 0, 0))
        E_(special_result)(&x, &y, kinds, &xa, &ya, &xb, &yb);
    unsigned char *to[E_(lanes)];
    E_(addresses)((const unsigned char **)to, p->to, p->at + k, p->n - k);
    E_(to_words)(&a, 0, &x);
    E_(to_words)(&a, E_(words), &y);
    E_(store_points)(&a, to);
}

/* scratch: aligned to 64 bytes, room for MSM_PAIRS_MAX / 16 products. */
enum { E_(scratch_bytes) = MSM_PAIRS_MAX / 16 * sizeof(E_t) };
_Static_assert((int)E_(scratch_bytes) <= (int)G_(pairs_scratch_bytes),
               "msm_pairs.h reserves enough scratch for a batch");

void G_(add_pairs_ifma)(const struct msm_pairs *p, void *scratch)
{
    E_t *before = scratch, product;
    size_t n_steps = (p->n + E_(lanes) - 1) / E_(lanes);
    E_(set_unit)(&product);
    for (size_t step = 0; step < n_steps; step++) {
        size_t k = step * E_(lanes);
        struct E_(operands) o;
        E_(words_t) a, b;
        E_t xa, xb, d;
        __mmask16 suspects;
        E_(prefetch)(p, k + 4 * E_(lanes));
        E_(locate)(&o, p, k);
        E_(load_groups)(&a, o.a, 0, E_(x_groups));
        E_(load_groups)(&b, o.b, 0, E_(x_groups));
        E_(from_words)(&xa, &a, 0);
        E_(from_words)(&xb, &b, 0);
        E_(denominator)(&d, &xa, &xb, &a, &b, &o, &suspects);
        E_(copy)(&before[step], &product);
        E_(mul)(&product, &product, &d, 0, 2);
    }
    E_t acc;
    E_(invert)(&acc, &product);
    for (size_t step = n_steps; step-- > 0;) {
        if (step >= 2)
            E_(prefetch)(p, (step - 2) * E_(lanes));
        E_(finish_pairs)(p, step * E_(lanes), &acc, &before[step]);
    }
}

#undef G_
#undef F_
#undef V_
#undef E_
#undef AFFINE_t
#undef V_t
#undef E_t
#undef GROUP
#undef GROUP_FIELD
#undef PAIRS_VEC
#undef PAIRS_WORDS
#undef PAIRS_LIMBS
#undef PAIRS_DEGREE
#undef PAIRS_BASE
