/* msm_digits: scalars cut into signed digits, for all groups.
 *
 * A scalar k is taken to the smaller of k and r - k (then its point counts negated) unless the
 * points may lie outside the subgroup of order r. With offset = sum 2^(bits-1) 2^(bits i), the
 * digits of k are those of k + offset, each less 2^(bits-1): signed, and no carry runs from window
 * to window. */
#pragma once
#include "curve.h"
#include "math_fn.h"

enum { MSM_BITS_MIN = 4, MSM_BITS_MAX = 16, MSM_WINDOWS_MAX = 256 / MSM_BITS_MIN + 1 };

struct msm_digits {
    fr_t r, half; /* half = (r - 1) / 2 */
    bool whole;   /* k as it is, up to 256 bits */
    unsigned bits, n_windows;
    uint64_t offset[6];
};

/* Windows of `bits` that hold every scalar. */
MATH_FN unsigned msm_windows(const struct msm_digits *d, unsigned bits)
{
    unsigned top = 255;
    if (!d->whole)
        for (top = 255; !(d->half.limb[top / 64] >> (top % 64) & 1);)
            top--;
    return (top + 1) / bits + 1;
}

MATH_FN void msm_digits_set(struct msm_digits *d, const fr_t *r, bool whole)
{
    d->r = *r;
    d->whole = whole;
    for (unsigned i = 0; i < 4; i++)
        d->half.limb[i] = r->limb[i] >> 1 | (i < 3 ? r->limb[i + 1] << 63 : 0);
}

MATH_FN void msm_digits_cut(struct msm_digits *d, unsigned bits)
{
    d->bits = bits;
    d->n_windows = msm_windows(d, bits);
    for (unsigned i = 0; i < 6; i++)
        d->offset[i] = 0;
    for (unsigned w = 0, at = bits - 1; w < d->n_windows; w++, at += bits)
        d->offset[at / 64] |= (uint64_t)1 << (at % 64);
}

MATH_FN_HOT bool msm_above(const fr_t *a, const fr_t *b)
{
    for (int i = 3; i >= 0; i--)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] > b->limb[i];
    return false;
}

MATH_FN_HOT void msm_subtract(fr_t *x, const fr_t *a, const fr_t *b)
{
    uint64_t borrow = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned __int128 t = (unsigned __int128)a->limb[i] - b->limb[i] - borrow;
        x->limb[i] = (uint64_t)t;
        borrow = (uint64_t)(t >> 64) & 1;
    }
}

/* k to the value whose digits are taken; true when the point counts negated. */
MATH_FN_HOT bool msm_normalise(const struct msm_digits *d, fr_t *k)
{
    if (d->whole)
        return false;
    if (k->limb[3] > d->r.limb[3] || !msm_above(&d->r, k)) /* any 256-bit value: r > 2^253 */
        while (!msm_above(&d->r, k))
            msm_subtract(k, k, &d->r);
    if (!msm_above(k, &d->half))
        return false;
    msm_subtract(k, &d->r, k);
    return true;
}

/* The digits of a normalised k, one to each of n_windows places `stride` apart. */
MATH_FN_HOT void msm_digits_of(const struct msm_digits *d, const fr_t *k, int16_t *out,
                               size_t stride)
{
    uint64_t v[7] = {0};
    unsigned carry = 0;
    for (unsigned i = 0; i < 6; i++) {
        unsigned __int128 t = (unsigned __int128)(i < 4 ? k->limb[i] : 0) + d->offset[i] + carry;
        v[i] = (uint64_t)t;
        carry = (unsigned)(t >> 64);
    }
    uint64_t mask = ((uint64_t)1 << d->bits) - 1;
    int32_t half = (int32_t)1 << (d->bits - 1);
    for (unsigned w = 0, at = 0; w < d->n_windows; w++, at += d->bits) {
        unsigned __int128 pair = (unsigned __int128)v[at / 64 + 1] << 64 | v[at / 64];
        out[w * stride] = (int16_t)((int32_t)((uint64_t)(pair >> (at % 64)) & mask) - half);
    }
}
