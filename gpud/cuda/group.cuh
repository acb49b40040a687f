/* group: points of a curve y^2 = x^3 + b over F (a field or field2).
 *
 * affine<F>   x | y, infinity is all zero words: the layout of every file and of curve.h.
 * xyzz<F>     x = X / ZZ, y = Y / ZZZ with ZZ^3 = ZZZ^2; infinity has ZZ = 0. A memory block of
 *             zero bytes is therefore an array of infinities in both forms.
 * Formulas: madd-2008-s, add-2008-s, dbl-2008-s-1 and mdbl-2008-s-1 of the Explicit-Formulas
 * Database, made complete by the branches for infinity, equal and opposite points. */
#pragma once
#include "tower.cuh"

template <class F> struct alignas(16) affine {
    F x, y;
    DEV bool is_infinity() const
    {
        return x.is_zero() && y.is_zero();
    }
};

template <class F> struct alignas(16) xyzz {
    F x, y, zz, zzz;
    static DEV xyzz infinity()
    {
        return {F::zero(), F::zero(), F::zero(), F::zero()};
    }
    DEV bool is_infinity() const
    {
        return zz.is_zero();
    }
};

template <class F> DEV xyzz<F> from_affine(const affine<F> &p)
{
    if (p.is_infinity())
        return xyzz<F>::infinity();
    return {p.x, p.y, F::one(), F::one()};
}

/* 2 p for p in affine form, not infinity. */
template <class F> DEVCALL void double_affine(xyzz<F> *r, const affine<F> *p)
{
    const F u = twice(p->y), v = square(u), w = u * v, s = p->x * v, xx = square(p->x);
    const F m = twice(xx) + xx;
    r->x = square(m) - twice(s);
    r->y = m * (s - r->x) - w * p->y;
    r->zz = v;
    r->zzz = w;
}

template <class F> DEV xyzz<F> doubled(const xyzz<F> &p)
{
    xyzz<F> r;
    const F u = twice(p.y), v = square(u), w = u * v, s = p.x * v, xx = square(p.x);
    const F m = twice(xx) + xx;
    r.x = square(m) - twice(s);
    r.y = m * (s - r.x) - w * p.y;
    r.zz = v * p.zz;
    r.zzz = w * p.zzz;
    return r;
}

/* a = a + p: the hot loop of a sum over buckets. */
template <class F> DEV void add_affine(xyzz<F> &a, const affine<F> &p)
{
    if (p.is_infinity())
        return;
    if (a.is_infinity()) {
        a = {p.x, p.y, F::one(), F::one()};
        return;
    }
    pair_of<F> t = products(p.x, a.zz, p.y, a.zzz);
    const F h = t.a - a.x, r = t.b - a.y;
    if (h.is_zero()) {
        if (r.is_zero()) { /* copies, so that only this path keeps a and p in memory */
            const affine<F> q = p;
            xyzz<F> d;
            double_affine(&d, &q);
            a = d;
        } else {
            a = xyzz<F>::infinity();
        }
        return;
    }
    t = squares(h, r);
    const F hh = t.a, rr = t.b;
    t = products(h, hh, a.x, hh);
    const F hhh = t.a, q = t.b;
    t = products(a.zz, hh, a.zzz, hhh);
    a.zz = t.a;
    a.zzz = t.b;
    a.x = rr - hhh - twice(q);
    t = products(r, q - a.x, hhh, a.y);
    a.y = t.a - t.b;
}

/* *r = *a + *b; any may alias. A call, so that the cold kernels stay small. */
template <class F> DEVCALL void add_call(xyzz<F> *out, const xyzz<F> *pa, const xyzz<F> *pb)
{
    const xyzz<F> a = *pa, b = *pb;
    if (b.is_infinity()) {
        *out = a;
        return;
    }
    if (a.is_infinity()) {
        *out = b;
        return;
    }
    const F u = a.x * b.zz, s = a.y * b.zzz;
    F h = b.x * a.zz - u;
    F r = b.y * a.zzz - s;
    if (h.is_zero()) {
        *out = r.is_zero() ? doubled(a) : xyzz<F>::infinity();
        return;
    }
    const F hh = square(h);
    h = h * hh;
    const F q = u * hh;
    xyzz<F> sum;
    sum.x = square(r) - h - twice(q);
    sum.y = r * (q - sum.x) - s * h;
    sum.zz = a.zz * b.zz * hh;
    sum.zzz = a.zzz * b.zzz * h;
    *out = sum;
}

template <class F> DEVCALL void double_call(xyzz<F> *p)
{
    *p = doubled(*p);
}
