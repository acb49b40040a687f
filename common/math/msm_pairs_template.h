/* msm_pairs_template: many independent additions of affine points with one inversion (Montgomery's
 * trick), one after the other; msm_pairs_ifma.h is the same with vectors. Include it once per group
 * with GROUP and GROUP_FIELD; it leaves them defined.
 *
 * Every case is right: equal and opposite points and infinity get their own denominators.
 *
 * Source: P. Montgomery "Speeding the Pollard and elliptic curve methods of factorization" (1987),
 * section 10.3.1. */
#include "cpu.h"
#include "curve.h"
#include "math_fn.h"
#include "msm_pairs.h"

#define G_(name) MATH_JOIN(GROUP, name)
#define F_(name) MATH_JOIN(GROUP_FIELD, name)
#define AFFINE_t G_(affine_t)
#define F_t      F_(t)

_Static_assert(MSM_PAIRS_MAX * sizeof(F_t) <= (size_t)G_(pairs_scratch_bytes),
               "msm_pairs.h reserves enough scratch for a batch");

/* The y of an operand: negated when its index says so. */
MATH_FN_HOT void G_(pair_y)(F_t *y, const AFFINE_t *p, uint32_t index)
{
    if (index & MSM_NEGATE)
        F_(neg)(y, &p->y);
    else
        F_(copy)(y, &p->y);
}

enum G_(pair_kind) {
    G_(PAIR_SUM),
    G_(PAIR_DOUBLE),
    G_(PAIR_FIRST),
    G_(PAIR_SECOND),
    G_(PAIR_NOTHING),
};

/* How a + b is formed, and the denominator of its slope: 1 when there is none. */
MATH_FN_HOT enum G_(pair_kind)
    G_(pair_denominator)(F_t *d, const AFFINE_t *a, uint32_t ia, const AFFINE_t *b, uint32_t ib)
{
    F_(sub)(d, &b->x, &a->x);
    if (!F_(is_zero)(d) && !F_(is_zero)(&a->x) && !F_(is_zero)(&b->x))
        return G_(PAIR_SUM);
    bool no_a = G_(affine_is_infinity)(a), no_b = G_(affine_is_infinity)(b);
    if (!no_a && !no_b && !F_(is_zero)(d))
        return G_(PAIR_SUM); /* a point with x = 0 */
    F_t ya, yb;
    G_(pair_y)(&ya, a, ia);
    G_(pair_y)(&yb, b, ib);
    if (!no_a && !no_b && F_(equal)(&ya, &yb)) {
        F_(dbl)(d, &ya); /* not zero: the curves have no point of order 2 */
        return G_(PAIR_DOUBLE);
    }
    F_(set_one)(d);
    return no_b ? G_(PAIR_FIRST) : no_a ? G_(PAIR_SECOND) : G_(PAIR_NOTHING);
}

static void G_(add_pairs_scalar)(const struct msm_pairs *p, void *scratch)
{
    const AFFINE_t *from_a = p->from_a, *from_b = p->from_b;
    F_t *before = scratch, product, d;
    F_(set_one)(&product);
    for (size_t k = 0; k < p->n; k++) {
        const AFFINE_t *a = &from_a[p->a[k] & ~MSM_NEGATE], *b = &from_b[p->b[k] & ~MSM_NEGATE];
        G_(pair_denominator)(&d, a, p->a[k], b, p->b[k]);
        before[k] = product;
        F_(mul)(&product, &product, &d);
    }
    F_(inv)(&product, &product);
    for (size_t k = p->n; k-- > 0;) {
        const AFFINE_t *a = &from_a[p->a[k] & ~MSM_NEGATE], *b = &from_b[p->b[k] & ~MSM_NEGATE];
        AFFINE_t *to = (AFFINE_t *)p->to + p->at[k];
        F_t slope, inverse, ya, yb, x;
        enum G_(pair_kind) kind = G_(pair_denominator)(&d, a, p->a[k], b, p->b[k]);
        F_(mul)(&inverse, &product, &before[k]);
        F_(mul)(&product, &product, &d);
        G_(pair_y)(&ya, a, p->a[k]);
        G_(pair_y)(&yb, b, p->b[k]);
        if (kind == G_(PAIR_SUM)) {
            F_(sub)(&slope, &yb, &ya);
        } else if (kind == G_(PAIR_DOUBLE)) {
            F_(sqr)(&d, &a->x);
            F_(dbl)(&slope, &d);
            F_(add)(&slope, &slope, &d);
        } else {
            AFFINE_t copy = kind == G_(PAIR_FIRST) ? *a : *b;
            copy.y = kind == G_(PAIR_FIRST) ? ya : yb;
            if (kind == G_(PAIR_NOTHING))
                G_(affine_set_infinity)(&copy);
            *to = copy;
            continue;
        }
        F_(mul)(&slope, &slope, &inverse);
        F_(sqr)(&x, &slope);
        F_(sub)(&x, &x, &a->x);
        F_(sub)(&x, &x, &b->x);
        F_(sub)(&d, &a->x, &x);
        F_(mul)(&d, &d, &slope);
        F_(sub)(&d, &d, &ya);
        F_(copy)(&to->x, &x);
        F_(copy)(&to->y, &d);
    }
}

/* The best of this CPU. */
MATH_FN msm_add_pairs *G_(add_pairs)(void)
{
#if defined(MATH_ADX)
    if (cpu_variant() >= CPU_IFMA)
        return G_(add_pairs_ifma);
#endif
    return G_(add_pairs_scalar);
}

#undef G_
#undef F_
#undef AFFINE_t
#undef F_t
