/* fq12_template: Fq12 = Fq6[w] / (w^2 - v), where the pairing lives. Include it once per curve with
 *
 *   FQ12, FQ6, FQ2, FQ      prefixes
 *   FQ12_FROBENIUS          list of five Fq2 initialisers xi^(i (q - 1) / 6), i = 1 .. 5
 *   FQ12_FROBENIUS2         list of five Fq initialisers xi^(i (q^2 - 1) / 6)
 *
 * It undefines them all. A value is c0 + c1 w. Names and rules are field_template.h's, and also
 *   <F>_conjugate(r,a)           c0 - c1 w = a^(q^6); the inverse in the cyclotomic subgroup
 *   <F>_frobenius(r,a)           a^q
 *   <F>_frobenius2(r,a)          a^(q^2)
 *   <F>_cyclotomic_sqr(r,a)      a^2 for a with a^(q^4 - q^2 + 1) = 1
 *   <F>_cyclotomic_pow(r,a,k)    a^k of such an a, k 64 bits
 *   <F>_mul_034(r,a,x0,x3,x4)    a (x0 + (x3 + x4 v) w)
 *   <F>_mul_014(r,a,x0,x1,x4)    a (x0 + x1 v + x4 v w)
 *
 * Source: Beuchat et al. (2010); R. Granger, M. Scott "Faster Squaring in the Cyclotomic Subgroup
 * of Sixth Degree Extensions" (2010). */
#include "math_fn.h"
#include "naf.h"

#define F_(name) MATH_JOIN(FQ12, name)
#define S_(name) MATH_JOIN(FQ6, name)
#define B_(name) MATH_JOIN(FQ2, name)
#define Q_(name) MATH_JOIN(FQ, name)
#define F_t      F_(t)
#define S_t      S_(t)
#define B_t      B_(t)

typedef struct {
    S_t c0, c1;
} F_t;

static const B_t F_(frobenius_factor)[5] = FQ12_FROBENIUS;
static const Q_(t) F_(frobenius2_factor)[5] = FQ12_FROBENIUS2;

MATH_FN void F_(set_one)(F_t *r)
{
    S_(set_one)(&r->c0);
    S_(zero)(&r->c1);
}

MATH_FN bool F_(is_one)(const F_t *a)
{
    return S_(is_one)(&a->c0) && S_(is_zero)(&a->c1);
}

MATH_FN bool F_(is_zero)(const F_t *a)
{
    return S_(is_zero)(&a->c0) && S_(is_zero)(&a->c1);
}

MATH_FN bool F_(equal)(const F_t *a, const F_t *b)
{
    return S_(equal)(&a->c0, &b->c0) && S_(equal)(&a->c1, &b->c1);
}

MATH_FN void F_(conjugate)(F_t *r, const F_t *a)
{
    r->c0 = a->c0;
    S_(neg)(&r->c1, &a->c1);
}

MATH_FN_CALL void F_(mul)(F_t *r, const F_t *a, const F_t *b)
{
    S_t t0, t1, sa, sb;
    S_(mul)(&t0, &a->c0, &b->c0);
    S_(mul)(&t1, &a->c1, &b->c1);
    S_(add)(&sa, &a->c0, &a->c1);
    S_(add)(&sb, &b->c0, &b->c1);
    S_(mul)(&sa, &sa, &sb);
    S_(sub)(&sa, &sa, &t0);
    S_(sub)(&r->c1, &sa, &t1);
    S_(mul_v)(&t1, &t1);
    S_(add)(&r->c0, &t0, &t1);
}

/* (c0 + c1)(c0 + v c1) - c0 c1 - v c0 c1, and 2 c0 c1. */
MATH_FN_CALL void F_(sqr)(F_t *r, const F_t *a)
{
    S_t product, s, t;
    S_(mul)(&product, &a->c0, &a->c1);
    S_(add)(&s, &a->c0, &a->c1);
    S_(mul_v)(&t, &a->c1);
    S_(add)(&t, &t, &a->c0);
    S_(mul)(&s, &s, &t);
    S_(sub)(&s, &s, &product);
    S_(mul_v)(&t, &product);
    S_(sub)(&r->c0, &s, &t);
    S_(dbl)(&r->c1, &product);
}

/* 0 gives 0. */
MATH_FN_CALL void F_(inv)(F_t *r, const F_t *a)
{
    S_t t0, t1;
    S_(sqr)(&t0, &a->c0);
    S_(sqr)(&t1, &a->c1);
    S_(mul_v)(&t1, &t1);
    S_(sub)(&t0, &t0, &t1);
    S_(inv)(&t0, &t0);
    S_(mul)(&r->c0, &a->c0, &t0);
    S_(mul)(&t0, &a->c1, &t0);
    S_(neg)(&r->c1, &t0);
}

/* The coefficient of w^i, w^2 = v: even powers in c0, odd ones in c1. */
MATH_FN_HOT B_t *F_(coefficient)(F_t *a, unsigned i)
{
    S_t *half = i % 2 == 0 ? &a->c0 : &a->c1;
    return i / 2 == 0 ? &half->c0 : i / 2 == 1 ? &half->c1 : &half->c2;
}

MATH_FN_CALL void F_(frobenius)(F_t *r, const F_t *a)
{
    *r = *a;
    B_(conjugate)(&r->c0.c0, &r->c0.c0);
    for (unsigned i = 1; i < 6; i++) {
        B_t *c = F_(coefficient)(r, i);
        B_(conjugate)(c, c);
        B_(mul)(c, c, &F_(frobenius_factor)[i - 1]);
    }
}

MATH_FN_CALL void F_(frobenius2)(F_t *r, const F_t *a)
{
    *r = *a;
    for (unsigned i = 1; i < 6; i++) {
        B_t *c = F_(coefficient)(r, i);
        B_(mul_base)(c, c, &F_(frobenius2_factor)[i - 1]);
    }
}

/* (x + y s)^2 over s^2 = xi, as (x^2 + xi y^2) + 2 x y s. */
MATH_FN void F_(fq4_sqr)(B_t *r0, B_t *r1, const B_t *x, const B_t *y)
{
    B_t product, s, t;
    B_(mul)(&product, x, y);
    B_(add)(&s, x, y);
    B_(mul_xi)(&t, y);
    B_(add)(&t, &t, x);
    B_(mul)(&s, &s, &t);
    B_(sub)(&s, &s, &product);
    B_(mul_xi)(&t, &product);
    B_(sub)(r0, &s, &t);
    B_(dbl)(r1, &product);
}

/* r = 3 t - 2 a, and 3 t + 2 a. */
MATH_FN void F_(three_minus_two)(B_t *r, const B_t *t, const B_t *a)
{
    B_t d;
    B_(sub)(&d, t, a);
    B_(dbl)(&d, &d);
    B_(add)(r, &d, t);
}

MATH_FN void F_(three_plus_two)(B_t *r, const B_t *t, const B_t *a)
{
    B_t d;
    B_(add)(&d, t, a);
    B_(dbl)(&d, &d);
    B_(add)(r, &d, t);
}

MATH_FN_CALL void F_(cyclotomic_sqr)(F_t *r, const F_t *a)
{
    B_t t0, t1, t2, t3, t4, t5;
    F_(fq4_sqr)(&t0, &t1, &a->c0.c0, &a->c1.c1);
    F_(fq4_sqr)(&t2, &t3, &a->c1.c0, &a->c0.c2);
    F_(fq4_sqr)(&t4, &t5, &a->c0.c1, &a->c1.c2);
    B_(mul_xi)(&t5, &t5);
    F_(three_minus_two)(&r->c0.c0, &t0, &a->c0.c0);
    F_(three_minus_two)(&r->c0.c1, &t2, &a->c0.c1);
    F_(three_minus_two)(&r->c0.c2, &t4, &a->c0.c2);
    F_(three_plus_two)(&r->c1.c0, &t5, &a->c1.c0);
    F_(three_plus_two)(&r->c1.c1, &t1, &a->c1.c1);
    F_(three_plus_two)(&r->c1.c2, &t3, &a->c1.c2);
}

MATH_FN_CALL void F_(cyclotomic_pow)(F_t *r, const F_t *a, uint64_t k)
{
    int8_t digit[65];
    naf_recode(digit, &k, 1);
    F_t base = *a, inverse;
    F_(conjugate)(&inverse, a);
    F_(set_one)(r);
    bool started = false;
    for (unsigned i = 65; i-- > 0;) {
        if (started)
            F_(cyclotomic_sqr)(r, r);
        if (digit[i] != 0) {
            F_(mul)(r, r, digit[i] > 0 ? &base : &inverse);
            started = true;
        }
    }
}

MATH_FN_CALL void F_(mul_034)(F_t *r, const F_t *a, const B_t *x0, const B_t *x3, const B_t *x4)
{
    S_t t0, t1, s;
    B_t x;
    S_(mul_fq2)(&t0, &a->c0, x0);
    S_(mul_01)(&t1, &a->c1, x3, x4);
    B_(add)(&x, x0, x3);
    S_(add)(&s, &a->c0, &a->c1);
    S_(mul_01)(&s, &s, &x, x4);
    S_(sub)(&s, &s, &t0);
    S_(sub)(&r->c1, &s, &t1);
    S_(mul_v)(&t1, &t1);
    S_(add)(&r->c0, &t0, &t1);
}

MATH_FN_CALL void F_(mul_014)(F_t *r, const F_t *a, const B_t *x0, const B_t *x1, const B_t *x4)
{
    S_t t0, t1, s;
    B_t x;
    S_(mul_01)(&t0, &a->c0, x0, x1);
    S_(mul_1)(&t1, &a->c1, x4);
    B_(add)(&x, x1, x4);
    S_(add)(&s, &a->c0, &a->c1);
    S_(mul_01)(&s, &s, x0, &x);
    S_(sub)(&s, &s, &t0);
    S_(sub)(&r->c1, &s, &t1);
    S_(mul_v)(&t1, &t1);
    S_(add)(&r->c0, &t0, &t1);
}

#undef F_
#undef S_
#undef B_
#undef Q_
#undef F_t
#undef S_t
#undef B_t
#undef FQ12
#undef FQ6
#undef FQ2
#undef FQ
#undef FQ12_FROBENIUS
#undef FQ12_FROBENIUS2
