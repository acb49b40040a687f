/* limbs_portable: multi-precision steps over n limbs in plain C, any 64-bit host.
 *
 * n is a constant at every call, so the loops unroll. Operands are little-endian limb arrays. The
 * same names are defined by limbs_adx.h; field_template.h uses whichever is included. */
#pragma once
#include <stdint.h>
#include "math_fn.h"

/* The largest product that is inlined, in limbs. */
#define LIMBS_INLINE 0

__extension__ typedef unsigned __int128 limb2_t;

/* r = a + b, the carry comes back. r may be a or b in every function of this file but mul. */
MATH_FN_HOT uint64_t limbs_add(uint64_t *r, const uint64_t *a, const uint64_t *b, unsigned n)
{
    limb2_t c = 0;
    for (unsigned i = 0; i < n; i++) {
        c += (limb2_t)a[i] + b[i];
        r[i] = (uint64_t)c;
        c >>= 64;
    }
    return (uint64_t)c;
}

/* r = a - b, the borrow (0 or 1) comes back. */
MATH_FN_HOT uint64_t limbs_sub(uint64_t *r, const uint64_t *a, const uint64_t *b, unsigned n)
{
    uint64_t borrow = 0;
    for (unsigned i = 0; i < n; i++) {
        limb2_t d = (limb2_t)a[i] - b[i] - borrow;
        r[i] = (uint64_t)d;
        borrow = (uint64_t)(d >> 64) & 1;
    }
    return borrow;
}

/* t = t - q when t >= q. */
MATH_FN_HOT void limbs_sub_once(uint64_t *t, const uint64_t *q, unsigned n)
{
    uint64_t s[8];
    uint64_t keep = 0 - limbs_sub(s, t, q, n);
    for (unsigned i = 0; i < n; i++)
        t[i] = (t[i] & keep) | (s[i] & ~keep);
}

/* r = a + b mod q, both below q, 2q < 2^(64 n). */
MATH_FN_HOT void limbs_add_mod(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *q,
                               unsigned n)
{
    uint64_t t[8];
    limbs_add(t, a, b, n);
    limbs_sub_once(t, q, n);
    for (unsigned i = 0; i < n; i++)
        r[i] = t[i];
}

/* r = a - b mod q, both below q. */
MATH_FN_HOT void limbs_sub_mod(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *q,
                               unsigned n)
{
    uint64_t t[8];
    uint64_t mask = 0 - limbs_sub(t, a, b, n);
    limb2_t c = 0;
    for (unsigned i = 0; i < n; i++) {
        c += (limb2_t)t[i] + (q[i] & mask);
        r[i] = (uint64_t)c;
        c >>= 64;
    }
}

/* r (2n limbs, not a or b) = a b. */
MATH_FN_HOT void limbs_mul(uint64_t *r, const uint64_t *a, const uint64_t *b, unsigned n)
{
    for (unsigned j = 0; j < n; j++)
        r[j] = 0;
    for (unsigned i = 0; i < n; i++) {
        limb2_t c = 0;
        for (unsigned j = 0; j < n; j++) {
            c += (limb2_t)a[j] * b[i] + r[i + j];
            r[i + j] = (uint64_t)c;
            c >>= 64;
        }
        r[i + n] = (uint64_t)c;
    }
}

/* r = w / 2^(64 n) mod q, below q, for w (2n limbs) below q 2^(64 n); 2q < 2^(64 n). */
MATH_FN_HOT void limbs_redc(uint64_t *r, const uint64_t *w, const uint64_t *q, uint64_t inv,
                            unsigned n)
{
    uint64_t t[8];
    for (unsigned i = 0; i < n; i++)
        t[i] = w[i];
    for (unsigned i = 0; i < n; i++) {
        uint64_t m = t[0] * inv;
        limb2_t c = ((limb2_t)m * q[0] + t[0]) >> 64;
        for (unsigned j = 1; j < n; j++) {
            c += (limb2_t)m * q[j] + t[j];
            t[j - 1] = (uint64_t)c;
            c >>= 64;
        }
        t[n - 1] = (uint64_t)c;
    }
    limbs_add(t, t, w + n, n);
    limbs_sub_once(t, q, n);
    for (unsigned i = 0; i < n; i++)
        r[i] = t[i];
}

/* r = a b / 2^(64 n) mod q: Montgomery's product, rows of a b and of the reduction in turn. The top
 * bit of q must be clear, so that no row overflows n + 1 limbs. */
MATH_FN_HOT void limbs_mont_mul(uint64_t *r, const uint64_t *a, const uint64_t *b,
                                const uint64_t *q, uint64_t inv, unsigned n)
{
    uint64_t t[8] = {0};
    for (unsigned i = 0; i < n; i++) {
        limb2_t c = 0;
        for (unsigned j = 0; j < n; j++) {
            c += (limb2_t)a[j] * b[i] + t[j];
            t[j] = (uint64_t)c;
            c >>= 64;
        }
        uint64_t top = (uint64_t)c;
        uint64_t m = t[0] * inv;
        c = ((limb2_t)m * q[0] + t[0]) >> 64;
        for (unsigned j = 1; j < n; j++) {
            c += (limb2_t)m * q[j] + t[j];
            t[j - 1] = (uint64_t)c;
            c >>= 64;
        }
        t[n - 1] = (uint64_t)c + top;
    }
    limbs_sub_once(t, q, n);
    for (unsigned i = 0; i < n; i++)
        r[i] = t[i];
}

/* r (2n limbs) = a^2. */
MATH_FN_HOT void limbs_sqr(uint64_t *r, const uint64_t *a, unsigned n)
{
    limbs_mul(r, a, a, n);
}

MATH_FN_HOT void limbs_mont_sqr(uint64_t *r, const uint64_t *a, const uint64_t *q, uint64_t inv,
                                unsigned n)
{
    limbs_mont_mul(r, a, a, q, inv, n);
}
