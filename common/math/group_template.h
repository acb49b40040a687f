/* group_template: points of y^2 = x^3 + b over any field of field_template.h or fq2_template.h.
 * Include it once per group with
 *
 *   GROUP         prefix: bn254_g1 gives bn254_g1_affine_t, bn254_g1_xyzz_add(r, p, q), ...
 *   GROUP_FIELD   prefix of the coordinates' field: bn254_fq, bn254_fq2
 *
 * Three forms of a point, coordinates in mont:
 *   <G>_affine_t    x, y; infinity is (0, 0), which is not on a curve with b != 0
 *   <G>_xyzz_t      x = X/ZZ, y = Y/ZZZ, ZZ^3 = ZZZ^2; infinity has ZZ = 0. For sums of many
 * points. <G>_jacobian_t  x = X/Z^2, y = Y/Z^3; infinity has Z = 0. For chains of doublings. Every
 * function is complete: equal, opposite and infinite operands give the right sum. The result comes
 * first and may alias any operand. No operand is checked to be on the curve.
 *
 *   <G>_affine_{set_infinity,is_infinity,equal,neg}
 *   <G>_xyzz_{set_infinity,is_infinity,from_affine,neg,equal}
 *   <G>_xyzz_add(r,p,q)  _add_affine(r,p,q)  _sub_affine(r,p,q)  _dbl(r,p)  _dbl_affine(r,q)
 *   <G>_xyzz_to_affine(r,p)
 *   <G>_xyzz_batch_to_affine(out,in,n,scratch)   one inversion; scratch is n field elements
 *   <G>_jacobian_{set_infinity,is_infinity,from_affine,neg}
 *   <G>_jacobian_dbl(r,p)  _add_affine(r,p,q)  _to_affine(r,p)
 *   <G>_jacobian_equals_affine(p,q)              without an inversion
 *   <G>_jacobian_mul(r,q,k,n_limbs)              k q of an affine q, n_limbs <= 4
 *   <G>_xyzz_from_jacobian(r,p)
 *
 * Source: the Explicit-Formulas Database, short Weierstrass curves with a = 0: XYZZ add-2008-s,
 * madd-2008-s, dbl-2008-s-1, mdbl-2008-s-1; Jacobian dbl-2009-l, madd-2007-bl. */
#include "math_fn.h"
#include "naf.h"

#define G_(name)   MATH_JOIN(GROUP, name)
#define F_(name)   MATH_JOIN(GROUP_FIELD, name)
#define F_t        F_(t)
#define AFFINE_t   G_(affine_t)
#define XYZZ_t     G_(xyzz_t)
#define JACOBIAN_t G_(jacobian_t)

typedef struct {
    F_t x, y;
} AFFINE_t;

typedef struct {
    F_t x, y, zz, zzz;
} XYZZ_t;

typedef struct {
    F_t x, y, z;
} JACOBIAN_t;

MATH_FN void G_(affine_set_infinity)(AFFINE_t *r)
{
    F_(zero)(&r->x);
    F_(zero)(&r->y);
}

MATH_FN_HOT bool G_(affine_is_infinity)(const AFFINE_t *p)
{
    return F_(is_zero)(&p->x) && F_(is_zero)(&p->y);
}

MATH_FN bool G_(affine_equal)(const AFFINE_t *p, const AFFINE_t *q)
{
    return F_(equal)(&p->x, &q->x) && F_(equal)(&p->y, &q->y);
}

MATH_FN void G_(affine_neg)(AFFINE_t *r, const AFFINE_t *p)
{
    F_(copy)(&r->x, &p->x);
    F_(neg)(&r->y, &p->y);
}

MATH_FN void G_(xyzz_set_infinity)(XYZZ_t *r)
{
    F_(zero)(&r->x);
    F_(zero)(&r->y);
    F_(zero)(&r->zz);
    F_(zero)(&r->zzz);
}

MATH_FN_HOT bool G_(xyzz_is_infinity)(const XYZZ_t *p)
{
    return F_(is_zero)(&p->zz);
}

MATH_FN void G_(xyzz_from_affine)(XYZZ_t *r, const AFFINE_t *q)
{
    if (G_(affine_is_infinity)(q)) {
        G_(xyzz_set_infinity)(r);
        return;
    }
    F_(copy)(&r->x, &q->x);
    F_(copy)(&r->y, &q->y);
    F_(set_one)(&r->zz);
    F_(set_one)(&r->zzz);
}

MATH_FN void G_(xyzz_neg)(XYZZ_t *r, const XYZZ_t *p)
{
    *r = *p;
    F_(neg)(&r->y, &r->y);
}

MATH_FN_CALL void G_(xyzz_dbl_affine)(XYZZ_t *r, const AFFINE_t *q)
{
    if (G_(affine_is_infinity)(q)) {
        G_(xyzz_set_infinity)(r);
        return;
    }
    F_t u, v, w, s, m, t;
    F_(dbl)(&u, &q->y);
    F_(sqr)(&v, &u);
    F_(mul)(&w, &u, &v);
    F_(mul)(&s, &q->x, &v);
    F_(sqr)(&t, &q->x);
    F_(dbl)(&m, &t);
    F_(add)(&m, &m, &t);
    F_(mul)(&u, &w, &q->y);
    F_(sqr)(&r->x, &m);
    F_(sub)(&r->x, &r->x, &s);
    F_(sub)(&r->x, &r->x, &s);
    F_(sub)(&t, &s, &r->x);
    F_(mul)(&t, &m, &t);
    F_(sub)(&r->y, &t, &u);
    F_(copy)(&r->zz, &v);
    F_(copy)(&r->zzz, &w);
}

MATH_FN_CALL void G_(xyzz_dbl)(XYZZ_t *r, const XYZZ_t *p)
{
    F_t u, v, w, s, m, t;
    F_(dbl)(&u, &p->y);
    F_(sqr)(&v, &u);
    F_(mul)(&w, &u, &v);
    F_(mul)(&s, &p->x, &v);
    F_(sqr)(&t, &p->x);
    F_(dbl)(&m, &t);
    F_(add)(&m, &m, &t);
    F_(mul)(&u, &w, &p->y);
    F_(mul)(&r->zz, &v, &p->zz);
    F_(mul)(&r->zzz, &w, &p->zzz);
    F_(sqr)(&r->x, &m);
    F_(sub)(&r->x, &r->x, &s);
    F_(sub)(&r->x, &r->x, &s);
    F_(sub)(&t, &s, &r->x);
    F_(mul)(&t, &m, &t);
    F_(sub)(&r->y, &t, &u);
}

MATH_FN_CALL void G_(xyzz_add_affine)(XYZZ_t *r, const XYZZ_t *p, const AFFINE_t *q)
{
    if (G_(affine_is_infinity)(q)) {
        *r = *p;
        return;
    }
    if (G_(xyzz_is_infinity)(p)) {
        G_(xyzz_from_affine)(r, q);
        return;
    }
    F_t dx, dy, pp, ppp, m, t;
    F_(mul)(&dx, &q->x, &p->zz);
    F_(mul)(&dy, &q->y, &p->zzz);
    F_(sub)(&dx, &dx, &p->x);
    F_(sub)(&dy, &dy, &p->y);
    if (F_(is_zero)(&dx)) {
        if (F_(is_zero)(&dy))
            G_(xyzz_dbl_affine)(r, q);
        else
            G_(xyzz_set_infinity)(r);
        return;
    }
    F_(sqr)(&pp, &dx);
    F_(mul)(&ppp, &dx, &pp);
    F_(mul)(&m, &p->x, &pp);
    F_(mul)(&t, &p->y, &ppp);
    F_(mul)(&r->zz, &p->zz, &pp);
    F_(mul)(&r->zzz, &p->zzz, &ppp);
    F_(sqr)(&pp, &dy);
    F_(sub)(&pp, &pp, &ppp);
    F_(sub)(&pp, &pp, &m);
    F_(sub)(&r->x, &pp, &m);
    F_(sub)(&m, &m, &r->x);
    F_(mul)(&m, &m, &dy);
    F_(sub)(&r->y, &m, &t);
}

MATH_FN void G_(xyzz_sub_affine)(XYZZ_t *r, const XYZZ_t *p, const AFFINE_t *q)
{
    AFFINE_t minus;
    G_(affine_neg)(&minus, q);
    G_(xyzz_add_affine)(r, p, &minus);
}

MATH_FN_CALL void G_(xyzz_add)(XYZZ_t *r, const XYZZ_t *p, const XYZZ_t *q)
{
    if (G_(xyzz_is_infinity)(q)) {
        *r = *p;
        return;
    }
    if (G_(xyzz_is_infinity)(p)) {
        *r = *q;
        return;
    }
    F_t u, s, dx, dy, pp, ppp, m, t;
    F_(mul)(&u, &p->x, &q->zz);
    F_(mul)(&dx, &q->x, &p->zz);
    F_(mul)(&s, &p->y, &q->zzz);
    F_(mul)(&dy, &q->y, &p->zzz);
    F_(sub)(&dx, &dx, &u);
    F_(sub)(&dy, &dy, &s);
    if (F_(is_zero)(&dx)) {
        if (F_(is_zero)(&dy))
            G_(xyzz_dbl)(r, p);
        else
            G_(xyzz_set_infinity)(r);
        return;
    }
    F_(sqr)(&pp, &dx);
    F_(mul)(&ppp, &dx, &pp);
    F_(mul)(&m, &u, &pp);
    F_(mul)(&s, &s, &ppp);
    F_(mul)(&t, &p->zz, &q->zz);
    F_(mul)(&r->zz, &t, &pp);
    F_(mul)(&t, &p->zzz, &q->zzz);
    F_(mul)(&r->zzz, &t, &ppp);
    F_(sqr)(&t, &dy);
    F_(sub)(&t, &t, &ppp);
    F_(sub)(&t, &t, &m);
    F_(sub)(&r->x, &t, &m);
    F_(sub)(&m, &m, &r->x);
    F_(mul)(&m, &m, &dy);
    F_(sub)(&r->y, &m, &s);
}

MATH_FN bool G_(xyzz_equal)(const XYZZ_t *p, const XYZZ_t *q)
{
    bool p_inf = G_(xyzz_is_infinity)(p), q_inf = G_(xyzz_is_infinity)(q);
    if (p_inf || q_inf)
        return p_inf == q_inf;
    F_t a, b;
    F_(mul)(&a, &p->x, &q->zz);
    F_(mul)(&b, &q->x, &p->zz);
    if (!F_(equal)(&a, &b))
        return false;
    F_(mul)(&a, &p->y, &q->zzz);
    F_(mul)(&b, &q->y, &p->zzz);
    return F_(equal)(&a, &b);
}

/* With w = 1 / ZZZ: 1 / ZZ = (ZZ w)^2, as ZZ^3 = ZZZ^2. */
MATH_FN void G_(xyzz_scale)(AFFINE_t *r, const XYZZ_t *p, const F_t *inverse_zzz)
{
    F_t t;
    F_(mul)(&r->y, &p->y, inverse_zzz);
    F_(mul)(&t, &p->zz, inverse_zzz);
    F_(sqr)(&t, &t);
    F_(mul)(&r->x, &p->x, &t);
}

MATH_FN_CALL void G_(xyzz_to_affine)(AFFINE_t *r, const XYZZ_t *p)
{
    if (G_(xyzz_is_infinity)(p)) {
        G_(affine_set_infinity)(r);
        return;
    }
    F_t w;
    F_(inv)(&w, &p->zzz);
    G_(xyzz_scale)(r, p, &w);
}

/* Montgomery's trick; infinities are passed over. out and in must not overlap. */
MATH_FN_CALL void G_(xyzz_batch_to_affine)(AFFINE_t *out, const XYZZ_t *in, size_t n, F_t *scratch)
{
    F_t acc, w;
    F_(set_one)(&acc);
    for (size_t i = 0; i < n; i++) {
        F_(copy)(&scratch[i], &acc);
        if (!G_(xyzz_is_infinity)(&in[i]))
            F_(mul)(&acc, &acc, &in[i].zzz);
    }
    F_(inv)(&acc, &acc);
    for (size_t i = n; i-- > 0;) {
        if (G_(xyzz_is_infinity)(&in[i])) {
            G_(affine_set_infinity)(&out[i]);
            continue;
        }
        F_(mul)(&w, &acc, &scratch[i]);
        F_(mul)(&acc, &acc, &in[i].zzz);
        G_(xyzz_scale)(&out[i], &in[i], &w);
    }
}

MATH_FN void G_(jacobian_set_infinity)(JACOBIAN_t *r)
{
    F_(zero)(&r->x);
    F_(zero)(&r->y);
    F_(zero)(&r->z);
}

MATH_FN_HOT bool G_(jacobian_is_infinity)(const JACOBIAN_t *p)
{
    return F_(is_zero)(&p->z);
}

MATH_FN void G_(jacobian_from_affine)(JACOBIAN_t *r, const AFFINE_t *q)
{
    if (G_(affine_is_infinity)(q)) {
        G_(jacobian_set_infinity)(r);
        return;
    }
    F_(copy)(&r->x, &q->x);
    F_(copy)(&r->y, &q->y);
    F_(set_one)(&r->z);
}

MATH_FN void G_(jacobian_neg)(JACOBIAN_t *r, const JACOBIAN_t *p)
{
    *r = *p;
    F_(neg)(&r->y, &r->y);
}

MATH_FN_CALL void G_(jacobian_dbl)(JACOBIAN_t *r, const JACOBIAN_t *p)
{
    F_t a, b, c, d, e;
    F_(sqr)(&a, &p->x);
    F_(sqr)(&b, &p->y);
    F_(sqr)(&c, &b);
    F_(add)(&d, &p->x, &b);
    F_(sqr)(&d, &d);
    F_(sub)(&d, &d, &a);
    F_(sub)(&d, &d, &c);
    F_(dbl)(&d, &d);
    F_(dbl)(&e, &a);
    F_(add)(&e, &e, &a);
    F_(mul)(&r->z, &p->y, &p->z);
    F_(dbl)(&r->z, &r->z);
    F_(sqr)(&a, &e);
    F_(sub)(&a, &a, &d);
    F_(sub)(&r->x, &a, &d);
    F_(sub)(&d, &d, &r->x);
    F_(mul)(&d, &d, &e);
    F_(dbl)(&c, &c);
    F_(dbl)(&c, &c);
    F_(dbl)(&c, &c);
    F_(sub)(&r->y, &d, &c);
}

MATH_FN_CALL void G_(jacobian_add_affine)(JACOBIAN_t *r, const JACOBIAN_t *p, const AFFINE_t *q)
{
    if (G_(affine_is_infinity)(q)) {
        *r = *p;
        return;
    }
    if (G_(jacobian_is_infinity)(p)) {
        G_(jacobian_from_affine)(r, q);
        return;
    }
    F_t zz, h, hh, i, j, d, v;
    F_(sqr)(&zz, &p->z);
    F_(mul)(&h, &q->x, &zz);
    F_(sub)(&h, &h, &p->x);
    F_(mul)(&d, &q->y, &p->z);
    F_(mul)(&d, &d, &zz);
    F_(sub)(&d, &d, &p->y);
    if (F_(is_zero)(&h)) {
        if (F_(is_zero)(&d)) {
            G_(jacobian_dbl)(r, p);
        } else {
            G_(jacobian_set_infinity)(r);
        }
        return;
    }
    F_(dbl)(&d, &d);
    F_(sqr)(&hh, &h);
    F_(dbl)(&i, &hh);
    F_(dbl)(&i, &i);
    F_(mul)(&j, &h, &i);
    F_(mul)(&v, &p->x, &i);
    F_(add)(&h, &p->z, &h);
    F_(sqr)(&h, &h);
    F_(sub)(&h, &h, &zz);
    F_(sub)(&r->z, &h, &hh);
    F_(mul)(&hh, &p->y, &j);
    F_(sqr)(&i, &d);
    F_(sub)(&i, &i, &j);
    F_(sub)(&i, &i, &v);
    F_(sub)(&r->x, &i, &v);
    F_(sub)(&v, &v, &r->x);
    F_(mul)(&v, &v, &d);
    F_(sub)(&v, &v, &hh);
    F_(sub)(&r->y, &v, &hh);
}

MATH_FN_CALL void G_(jacobian_to_affine)(AFFINE_t *r, const JACOBIAN_t *p)
{
    if (G_(jacobian_is_infinity)(p)) {
        G_(affine_set_infinity)(r);
        return;
    }
    F_t w, ww;
    F_(inv)(&w, &p->z);
    F_(sqr)(&ww, &w);
    F_(mul)(&r->x, &p->x, &ww);
    F_(mul)(&ww, &ww, &w);
    F_(mul)(&r->y, &p->y, &ww);
}

MATH_FN bool G_(jacobian_equals_affine)(const JACOBIAN_t *p, const AFFINE_t *q)
{
    if (G_(jacobian_is_infinity)(p) || G_(affine_is_infinity)(q))
        return G_(jacobian_is_infinity)(p) == G_(affine_is_infinity)(q);
    F_t zz, t;
    F_(sqr)(&zz, &p->z);
    F_(mul)(&t, &q->x, &zz);
    if (!F_(equal)(&t, &p->x))
        return false;
    F_(mul)(&zz, &zz, &p->z);
    F_(mul)(&t, &q->y, &zz);
    return F_(equal)(&t, &p->y);
}

MATH_FN_CALL void G_(jacobian_mul)(JACOBIAN_t *r, const AFFINE_t *q, const uint64_t *k,
                                   unsigned n_limbs)
{
    int8_t digit[64 * 4 + 1];
    naf_recode(digit, k, n_limbs);
    AFFINE_t base = *q, minus;
    G_(affine_neg)(&minus, q);
    G_(jacobian_set_infinity)(r);
    for (unsigned i = 64 * n_limbs + 1; i-- > 0;) {
        if (!G_(jacobian_is_infinity)(r))
            G_(jacobian_dbl)(r, r);
        if (digit[i] != 0)
            G_(jacobian_add_affine)(r, r, digit[i] > 0 ? &base : &minus);
    }
}

MATH_FN void G_(xyzz_from_jacobian)(XYZZ_t *r, const JACOBIAN_t *p)
{
    F_(sqr)(&r->zz, &p->z);
    F_(mul)(&r->zzz, &r->zz, &p->z);
    F_(copy)(&r->x, &p->x);
    F_(copy)(&r->y, &p->y);
}

#undef G_
#undef F_
#undef F_t
#undef AFFINE_t
#undef XYZZ_t
#undef JACOBIAN_t
#undef GROUP
#undef GROUP_FIELD
