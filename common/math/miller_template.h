/* miller_template: Miller's loop, shared by many pairs. Include it once per curve with
 *
 *   MILLER              the curve's prefix: bn254, bls12_381
 *   MILLER_G2_B         initialiser of the twist's b
 *   MILLER_LOOP         list of the loop count's signed digits, the highest first, without its
 *                       leading 1
 *   MILLER_TWIST_M      defined when the twist is y^2 = x^3 + b xi; else it is y^2 = x^3 + b / xi
 *
 *   <C>_miller_t                     one pair: P, Q and the running multiple T of Q
 *   <C>_miller_add(f, m, q)          f times the line through T and q at P; T = T + q
 *   <C>_miller_loop(f, m, n)         f = product of the n pairs' functions after the loop
 *
 * Neither P nor Q may be infinity, and Q is of order r, so that T meets neither Q nor infinity.
 *
 * Source: D. Aranha et al. "Faster Explicit Formulas for Computing Pairings over Ordinary Curves"
 * (2011), section 4: homogeneous coordinates, doubling and mixed addition with their lines. */
#include "math_fn.h"

#define C_(name) MATH_JOIN(MILLER, name)
#define Q_(name) MATH_JOIN(C_(fq), name)
#define B_(name) MATH_JOIN(C_(fq2), name)
#define T_(name) MATH_JOIN(C_(fq12), name)
#define Q_t      Q_(t)
#define B_t      B_(t)
#define T_t      T_(t)
#define M_t      C_(miller_t)

typedef struct {
    MATH_JOIN(C_(g1), affine_t) p;
    MATH_JOIN(C_(g2), affine_t) q;
    B_t x, y, z; /* T, homogeneous: x/z, y/z */
} M_t;

/* f times the line, given by its values' factors: at 1, at x of P and at y of P. */
MATH_FN void C_(multiply_line)(T_t *f, const M_t *m, const B_t *constant, const B_t *at_x,
                               const B_t *at_y)
{
    B_t x, y;
    B_(mul_base)(&x, at_x, &m->p.x);
    B_(mul_base)(&y, at_y, &m->p.y);
#if defined(MILLER_TWIST_M)
    T_(mul_014)(f, f, constant, &x, &y);
#else
    T_(mul_034)(f, f, &y, &x, constant);
#endif
}

MATH_FN void C_(miller_double)(T_t *f, M_t *m)
{
    static const B_t b = MILLER_G2_B;
    B_t a, yy, zz, e, ee, g, h, i, j;
    B_(mul)(&a, &m->x, &m->y);
    B_(half)(&a, &a);
    B_(sqr)(&yy, &m->y);
    B_(sqr)(&zz, &m->z);
    B_(add)(&h, &m->y, &m->z);
    B_(sqr)(&h, &h);
    B_(sub)(&h, &h, &yy);
    B_(sub)(&h, &h, &zz); /* 2 y z */
    B_(dbl)(&e, &zz);
    B_(add)(&e, &e, &zz);
    B_(mul)(&e, &e, &b); /* 3 b z^2 */
    B_(sub)(&i, &e, &yy);
    B_(sqr)(&j, &m->x);
    B_(sqr)(&ee, &e);
    B_(dbl)(&g, &e);
    B_(add)(&e, &g, &e); /* 9 b z^2 */
    B_(add)(&g, &yy, &e);
    B_(half)(&g, &g);
    B_(sub)(&e, &yy, &e);
    B_(mul)(&m->x, &a, &e);
    B_(sqr)(&g, &g);
    B_(sub)(&g, &g, &ee);
    B_(dbl)(&ee, &ee);
    B_(sub)(&m->y, &g, &ee);
    B_(mul)(&m->z, &yy, &h);
    B_(dbl)(&e, &j);
    B_(add)(&j, &j, &e);
    B_(neg)(&h, &h);
    C_(multiply_line)(f, m, &i, &j, &h);
}

MATH_FN void C_(miller_add)(T_t *f, M_t *m, const MATH_JOIN(C_(g2), affine_t) * q)
{
    B_t theta, lambda, d, e, g, h, t;
    B_(mul)(&t, &q->y, &m->z);
    B_(sub)(&theta, &m->y, &t);
    B_(mul)(&t, &q->x, &m->z);
    B_(sub)(&lambda, &m->x, &t);
    B_(sqr)(&d, &lambda);
    B_(mul)(&e, &lambda, &d);
    B_(mul)(&g, &m->x, &d);
    B_(sqr)(&h, &theta);
    B_(mul)(&h, &h, &m->z);
    B_(add)(&h, &h, &e);
    B_(sub)(&h, &h, &g);
    B_(sub)(&h, &h, &g);
    B_(mul)(&m->x, &lambda, &h);
    B_(sub)(&g, &g, &h);
    B_(mul)(&g, &g, &theta);
    B_(mul)(&t, &e, &m->y);
    B_(sub)(&m->y, &g, &t);
    B_(mul)(&m->z, &m->z, &e);
    B_(mul)(&t, &theta, &q->x);
    B_(mul)(&g, &lambda, &q->y);
    B_(sub)(&t, &t, &g);
    B_(neg)(&theta, &theta);
    C_(multiply_line)(f, m, &t, &theta, &lambda);
}

MATH_FN void C_(miller_loop)(T_t *f, M_t *m, size_t n)
{
    static const int8_t digit[] = MILLER_LOOP;
    T_(set_one)(f);
    for (size_t k = 0; k < n; k++) {
        m[k].x = m[k].q.x;
        m[k].y = m[k].q.y;
        B_(set_one)(&m[k].z);
    }
    for (size_t i = 0; i < sizeof digit / sizeof digit[0]; i++) {
        if (i > 0)
            T_(sqr)(f, f);
        for (size_t k = 0; k < n; k++)
            C_(miller_double)(f, &m[k]);
        if (digit[i] == 0)
            continue;
        for (size_t k = 0; k < n; k++) {
            MATH_JOIN(C_(g2), affine_t) q = m[k].q;
            if (digit[i] < 0)
                B_(neg)(&q.y, &q.y);
            C_(miller_add)(f, &m[k], &q);
        }
    }
}

#undef C_
#undef Q_
#undef B_
#undef T_
#undef Q_t
#undef B_t
#undef T_t
#undef M_t
#undef MILLER
#undef MILLER_G2_B
#undef MILLER_LOOP
#undef MILLER_TWIST_M
