/* fq2_template: Fq2 = Fq[u] / (u^2 + 1), the quadratic extension of both curves (q = 3 mod 4).
 *
 *   FQ2      prefix of the extension, e.g. bn254_fq2
 *   FQ       prefix of the base field, e.g. bn254_fq
 *
 * A value is c0 + c1 u. Names and rules are field_template.h's, and also
 *   <F>_conjugate(r,a)       c0 - c1 u, which is a^q
 *   <F>_mul_base(r,a,k)      k in Fq
 *   <F>_is_larger(a)         in ZCash's order: c1 decides unless it is zero
 *
 * Source: J.-L. Beuchat et al. (2010), algorithms 5 and 6, with the reduction put off until both
 * coordinates are summed (D. Aranha et al. "Faster Explicit Formulas for Computing Pairings over
 * Ordinary Curves", 2011, section 3); the square root is G. Adj and F. Rodriguez-Henriquez "Square
 * root computation over even extension fields" (2012), algorithm 9. */
#include "math_fn.h"

#define F_(name) MATH_JOIN(FQ2, name)
#define B_(name) MATH_JOIN(FQ, name)
#define F_t      F_(t)
#define B_t      B_(t)

typedef struct {
    B_t c0, c1;
} F_t;

MATH_FN_HOT void F_(copy)(F_t *r, const F_t *a)
{
    *r = *a;
}

MATH_FN_HOT void F_(zero)(F_t *r)
{
    B_(zero)(&r->c0);
    B_(zero)(&r->c1);
}

MATH_FN_HOT void F_(set_one)(F_t *r)
{
    B_(set_one)(&r->c0);
    B_(zero)(&r->c1);
}

MATH_FN_HOT bool F_(is_zero)(const F_t *a)
{
    return B_(is_zero)(&a->c0) && B_(is_zero)(&a->c1);
}

MATH_FN_HOT bool F_(is_one)(const F_t *a)
{
    return B_(is_one)(&a->c0) && B_(is_zero)(&a->c1);
}

MATH_FN_HOT bool F_(equal)(const F_t *a, const F_t *b)
{
    return B_(equal)(&a->c0, &b->c0) && B_(equal)(&a->c1, &b->c1);
}

MATH_FN_HOT bool F_(is_reduced)(const F_t *a)
{
    return B_(is_reduced)(&a->c0) && B_(is_reduced)(&a->c1);
}

MATH_FN_HOT void F_(add)(F_t *r, const F_t *a, const F_t *b)
{
    B_(add)(&r->c0, &a->c0, &b->c0);
    B_(add)(&r->c1, &a->c1, &b->c1);
}

MATH_FN_HOT void F_(sub)(F_t *r, const F_t *a, const F_t *b)
{
    B_(sub)(&r->c0, &a->c0, &b->c0);
    B_(sub)(&r->c1, &a->c1, &b->c1);
}

MATH_FN_HOT void F_(dbl)(F_t *r, const F_t *a)
{
    B_(dbl)(&r->c0, &a->c0);
    B_(dbl)(&r->c1, &a->c1);
}

MATH_FN_HOT void F_(neg)(F_t *r, const F_t *a)
{
    B_(neg)(&r->c0, &a->c0);
    B_(neg)(&r->c1, &a->c1);
}

MATH_FN_HOT void F_(conjugate)(F_t *r, const F_t *a)
{
    r->c0 = a->c0;
    B_(neg)(&r->c1, &a->c1);
}

MATH_FN void F_(half)(F_t *r, const F_t *a)
{
    B_(half)(&r->c0, &a->c0);
    B_(half)(&r->c1, &a->c1);
}

MATH_FN void F_(mul_base)(F_t *r, const F_t *a, const B_t *k)
{
    B_t t = *k;
    B_(mul)(&r->c0, &a->c0, &t);
    B_(mul)(&r->c1, &a->c1, &t);
}

/* Karatsuba: three products, two reductions. (a0 + a1)(b0 + b1) < 4 q^2 < q 2^(64 n) because the
 * modulus leaves two bits or more; its difference to the other two products is a0 b1 + a1 b0. */
MATH_FN_CALL void F_(mul)(F_t *r, const F_t *a, const F_t *b)
{
    B_t sa, sb;
    B_(wide_t) p0, p1, m;
    B_(add_lazy)(&sa, &a->c0, &a->c1);
    B_(add_lazy)(&sb, &b->c0, &b->c1);
    B_(mul_wide)(&m, &sa, &sb);
    B_(mul_wide)(&p0, &a->c0, &b->c0);
    B_(mul_wide)(&p1, &a->c1, &b->c1);
    B_(wide_sub)(&m, &m, &p0);
    B_(wide_sub)(&m, &m, &p1);
    B_(wide_sub_mod)(&p0, &p0, &p1);
    B_(reduce)(&r->c0, &p0);
    B_(reduce)(&r->c1, &m);
}

/* (a0 + a1)(a0 - a1) + 2 a0 a1 u. */
MATH_FN_CALL void F_(sqr)(F_t *r, const F_t *a)
{
    B_t sum, diff, twice;
    B_(add)(&sum, &a->c0, &a->c1);
    B_(sub)(&diff, &a->c0, &a->c1);
    B_(dbl)(&twice, &a->c0);
    B_(mul)(&r->c1, &twice, &a->c1);
    B_(mul)(&r->c0, &sum, &diff);
}

/* 1 / a = (c0 - c1 u) / (c0^2 + c1^2); 0 gives 0. */
MATH_FN_CALL void F_(inv)(F_t *r, const F_t *a)
{
    B_t norm, t;
    B_(sqr)(&norm, &a->c0);
    B_(sqr)(&t, &a->c1);
    B_(add)(&norm, &norm, &t);
    B_(inv)(&norm, &norm);
    B_(mul)(&r->c0, &a->c0, &norm);
    B_(mul)(&t, &a->c1, &norm);
    B_(neg)(&r->c1, &t);
}

MATH_FN_CALL bool F_(is_larger)(const F_t *a)
{
    return B_(is_zero)(&a->c1) ? B_(is_larger)(&a->c0) : B_(is_larger)(&a->c1);
}

/* (x0 + x1 u)^2 = c0 + c1 u gives x0^2 = (c0 +- sqrt(c0^2 + c1^2)) / 2 and x1 = c1 / (2 x0). */
MATH_FN_CALL bool F_(sqrt)(F_t *r, const F_t *a)
{
    B_t norm, t, x0, x1;
    if (B_(is_zero)(&a->c1)) {
        B_(zero)(&x1);
        if (!B_(sqrt)(&x0, &a->c0)) {
            B_(neg)(&t, &a->c0);
            B_(zero)(&x0);
            if (!B_(sqrt)(&x1, &t))
                return false;
        }
    } else {
        B_(sqr)(&norm, &a->c0);
        B_(sqr)(&t, &a->c1);
        B_(add)(&norm, &norm, &t);
        if (!B_(sqrt)(&norm, &norm))
            return false;
        B_(add)(&t, &a->c0, &norm);
        B_(half)(&t, &t);
        if (!B_(sqrt)(&x0, &t)) {
            B_(sub)(&t, &a->c0, &norm);
            B_(half)(&t, &t);
            if (!B_(sqrt)(&x0, &t))
                return false;
        }
        B_(dbl)(&t, &x0);
        B_(inv)(&t, &t);
        B_(mul)(&x1, &a->c1, &t);
    }
    r->c0 = x0;
    r->c1 = x1;
    return true;
}

#undef F_
#undef B_
#undef F_t
#undef B_t
#undef FQ2
#undef FQ
