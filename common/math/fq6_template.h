/* fq6_template: Fq6 = Fq2[v] / (v^3 - xi). Include it once per curve with
 *
 *   FQ6, FQ2      prefixes; <FQ2>_mul_xi(r, a) is defined before
 *
 * A value is c0 + c1 v + c2 v^2. Names and rules are field_template.h's, and also
 *   <F>_mul_v(r,a)            a v
 *   <F>_mul_fq2(r,a,k)        k in Fq2
 *   <F>_mul_01(r,a,b0,b1)     a (b0 + b1 v)
 *   <F>_mul_1(r,a,b1)         a b1 v
 *
 * Source: A. Devegili et al. "Multiplication and Squaring on Pairing-Friendly Fields" (ePrint
 * 2006/471): Karatsuba products, squaring CH-SQR2; the inverse is Beuchat et al. (2010), algorithm
 * 17. */
#include "math_fn.h"

#define F_(name) MATH_JOIN(FQ6, name)
#define B_(name) MATH_JOIN(FQ2, name)
#define F_t      F_(t)
#define B_t      B_(t)

typedef struct {
    B_t c0, c1, c2;
} F_t;

MATH_FN void F_(zero)(F_t *r)
{
    B_(zero)(&r->c0);
    B_(zero)(&r->c1);
    B_(zero)(&r->c2);
}

MATH_FN void F_(set_one)(F_t *r)
{
    F_(zero)(r);
    B_(set_one)(&r->c0);
}

MATH_FN bool F_(is_zero)(const F_t *a)
{
    return B_(is_zero)(&a->c0) && B_(is_zero)(&a->c1) && B_(is_zero)(&a->c2);
}

MATH_FN bool F_(is_one)(const F_t *a)
{
    return B_(is_one)(&a->c0) && B_(is_zero)(&a->c1) && B_(is_zero)(&a->c2);
}

MATH_FN bool F_(equal)(const F_t *a, const F_t *b)
{
    return B_(equal)(&a->c0, &b->c0) && B_(equal)(&a->c1, &b->c1) && B_(equal)(&a->c2, &b->c2);
}

MATH_FN void F_(add)(F_t *r, const F_t *a, const F_t *b)
{
    B_(add)(&r->c0, &a->c0, &b->c0);
    B_(add)(&r->c1, &a->c1, &b->c1);
    B_(add)(&r->c2, &a->c2, &b->c2);
}

MATH_FN void F_(sub)(F_t *r, const F_t *a, const F_t *b)
{
    B_(sub)(&r->c0, &a->c0, &b->c0);
    B_(sub)(&r->c1, &a->c1, &b->c1);
    B_(sub)(&r->c2, &a->c2, &b->c2);
}

MATH_FN void F_(dbl)(F_t *r, const F_t *a)
{
    F_(add)(r, a, a);
}

MATH_FN void F_(neg)(F_t *r, const F_t *a)
{
    B_(neg)(&r->c0, &a->c0);
    B_(neg)(&r->c1, &a->c1);
    B_(neg)(&r->c2, &a->c2);
}

MATH_FN void F_(mul_v)(F_t *r, const F_t *a)
{
    B_t t;
    B_(mul_xi)(&t, &a->c2);
    r->c2 = a->c1;
    r->c1 = a->c0;
    r->c0 = t;
}

MATH_FN_CALL void F_(mul_fq2)(F_t *r, const F_t *a, const B_t *k)
{
    B_t t = *k;
    B_(mul)(&r->c0, &a->c0, &t);
    B_(mul)(&r->c1, &a->c1, &t);
    B_(mul)(&r->c2, &a->c2, &t);
}

/* r = (a + b)(c + d) - minus0 - minus1. */
MATH_FN void F_(cross)(B_t *r, const B_t *a, const B_t *b, const B_t *c, const B_t *d,
                       const B_t *minus0, const B_t *minus1)
{
    B_t s, t;
    B_(add)(&s, a, b);
    B_(add)(&t, c, d);
    B_(mul)(&s, &s, &t);
    B_(sub)(&s, &s, minus0);
    B_(sub)(r, &s, minus1);
}

MATH_FN_CALL void F_(mul)(F_t *r, const F_t *a, const F_t *b)
{
    B_t v0, v1, v2, x0, x1, x2;
    B_(mul)(&v0, &a->c0, &b->c0);
    B_(mul)(&v1, &a->c1, &b->c1);
    B_(mul)(&v2, &a->c2, &b->c2);
    F_(cross)(&x0, &a->c1, &a->c2, &b->c1, &b->c2, &v1, &v2);
    F_(cross)(&x1, &a->c0, &a->c1, &b->c0, &b->c1, &v0, &v1);
    F_(cross)(&x2, &a->c0, &a->c2, &b->c0, &b->c2, &v0, &v2);
    B_(mul_xi)(&x0, &x0);
    B_(add)(&r->c0, &x0, &v0);
    B_(add)(&r->c2, &x2, &v1);
    B_(mul_xi)(&v2, &v2);
    B_(add)(&r->c1, &x1, &v2);
}

MATH_FN_CALL void F_(sqr)(F_t *r, const F_t *a)
{
    B_t s0, s1, s2, s3, s4;
    B_(sqr)(&s0, &a->c0);
    B_(mul)(&s1, &a->c0, &a->c1);
    B_(dbl)(&s1, &s1);
    B_(sub)(&s2, &a->c0, &a->c1);
    B_(add)(&s2, &s2, &a->c2);
    B_(sqr)(&s2, &s2);
    B_(mul)(&s3, &a->c1, &a->c2);
    B_(dbl)(&s3, &s3);
    B_(sqr)(&s4, &a->c2);
    B_(add)(&s2, &s2, &s1);
    B_(add)(&s2, &s2, &s3);
    B_(sub)(&s2, &s2, &s0);
    B_(sub)(&r->c2, &s2, &s4);
    B_(mul_xi)(&s3, &s3);
    B_(add)(&r->c0, &s0, &s3);
    B_(mul_xi)(&s4, &s4);
    B_(add)(&r->c1, &s1, &s4);
}

MATH_FN_CALL void F_(mul_01)(F_t *r, const F_t *a, const B_t *b0, const B_t *b1)
{
    B_t v0, v1, x0, x1, x2;
    B_(mul)(&v0, &a->c0, b0);
    B_(mul)(&v1, &a->c1, b1);
    B_(add)(&x0, &a->c1, &a->c2);
    B_(mul)(&x0, &x0, b1);
    B_(sub)(&x0, &x0, &v1);
    F_(cross)(&x1, &a->c0, &a->c1, b0, b1, &v0, &v1);
    B_(add)(&x2, &a->c0, &a->c2);
    B_(mul)(&x2, &x2, b0);
    B_(sub)(&x2, &x2, &v0);
    B_(mul_xi)(&x0, &x0);
    B_(add)(&r->c0, &x0, &v0);
    r->c1 = x1;
    B_(add)(&r->c2, &x2, &v1);
}

MATH_FN_CALL void F_(mul_1)(F_t *r, const F_t *a, const B_t *b1)
{
    B_t t;
    B_(mul)(&t, &a->c2, b1);
    B_(mul)(&r->c2, &a->c1, b1);
    B_(mul)(&r->c1, &a->c0, b1);
    B_(mul_xi)(&r->c0, &t);
}

/* With A = c0^2 - xi c1 c2, B = xi c2^2 - c0 c1, C = c1^2 - c0 c2 the product a (A + B v + C v^2)
 * is c0 A + xi (c2 B + c1 C), in Fq2. 0 gives 0. */
MATH_FN_CALL void F_(inv)(F_t *r, const F_t *a)
{
    B_t x, y, z, t, norm;
    B_(sqr)(&x, &a->c0);
    B_(mul)(&t, &a->c1, &a->c2);
    B_(mul_xi)(&t, &t);
    B_(sub)(&x, &x, &t);
    B_(sqr)(&y, &a->c2);
    B_(mul_xi)(&y, &y);
    B_(mul)(&t, &a->c0, &a->c1);
    B_(sub)(&y, &y, &t);
    B_(sqr)(&z, &a->c1);
    B_(mul)(&t, &a->c0, &a->c2);
    B_(sub)(&z, &z, &t);
    B_(mul)(&norm, &a->c2, &y);
    B_(mul)(&t, &a->c1, &z);
    B_(add)(&norm, &norm, &t);
    B_(mul_xi)(&norm, &norm);
    B_(mul)(&t, &a->c0, &x);
    B_(add)(&norm, &norm, &t);
    B_(inv)(&norm, &norm);
    B_(mul)(&r->c0, &x, &norm);
    B_(mul)(&r->c1, &y, &norm);
    B_(mul)(&r->c2, &z, &norm);
}

#undef F_
#undef B_
#undef F_t
#undef B_t
