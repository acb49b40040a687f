/* limbs_inverse: the inverse of a number modulo an odd one, by divsteps of the low bits.
 *
 *   limbs_inverse_var(r, a, q, inv, n)     r = 1 / a mod q; 0 gives 0
 *
 * a is below q, a prime of n limbs whose top bit is clear; inv is -1 / q mod 2^64
 * (field_template.h's NEG_INV); n is a constant at every call. r may be a. Time depends on a. Any
 * 64-bit host.
 *
 * f and g start as q and a. A divstep makes g even by adding or subtracting f, halves it, and swaps
 * the two when that keeps both small; g ends at 0 and f at +-1. What 62 divsteps do depends on the
 * low bits of f and g alone: they are run on single words, which gives a 2x2 matrix t of numbers up
 * to 2^62, and t / 2^62 is then applied to f and g, and modulo q to d and e, which keep
 * f = d a, g = e a mod q. Numbers are signed, in limbs of 62 bits, the highest with the sign.
 *
 * Source: D. Bernstein, B.-Y. Yang "Fast constant-time gcd computation and modular inversion"
 * (2019); the steps that cancel several low bits of g at a time, and the bounds of d and e, as
 * P. Wuille describes them for libsecp256k1 (doc/safegcd_implementation.md, sections 4 to 7). */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "math_fn.h"

__extension__ typedef __int128 inverse_sum_t;

enum { INVERSE_BITS = 62, INVERSE_LIMBS_MAX = 7 };
#define INVERSE_MASK (UINT64_MAX >> 2)
/* Limbs of 62 bits for 64 n bits, a sign and a factor of two. */
#define INVERSE_LIMBS(n) ((64 * (n) + 2 + INVERSE_BITS - 1) / INVERSE_BITS)

typedef struct {
    int64_t limb[INVERSE_LIMBS_MAX];
} inverse_number_t;

/* (f, g) -> (u f + v g, q f + r g) / 2^62 */
typedef struct {
    int64_t u, v, q, r;
} inverse_matrix_t;

MATH_FN void inverse_from_limbs(inverse_number_t *r, const uint64_t *a, unsigned n)
{
    for (unsigned i = 0; i < INVERSE_LIMBS(n); i++) {
        unsigned at = INVERSE_BITS * i / 64, shift = INVERSE_BITS * i % 64;
        uint64_t x = at < n ? a[at] >> shift : 0;
        if (shift > 2 && at + 1 < n)
            x |= a[at + 1] << (64 - shift);
        r->limb[i] = (int64_t)(x & INVERSE_MASK);
    }
}

/* a is not negative and below 2^(64 n). */
MATH_FN void inverse_to_limbs(uint64_t *r, const inverse_number_t *a, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        unsigned at = 64 * i / INVERSE_BITS, shift = 64 * i % INVERSE_BITS;
        r[i] = (uint64_t)a->limb[at] >> shift;
        if (at + 1 < INVERSE_LIMBS(n))
            r[i] |= (uint64_t)a->limb[at + 1] << (INVERSE_BITS - shift);
    }
}

/* 62 divsteps on the low words of f (odd) and g; eta is minus the paper's delta. The new eta. */
MATH_FN int64_t inverse_divsteps_var(int64_t eta, uint64_t f, uint64_t g, inverse_matrix_t *t)
{
    uint64_t u = 1, v = 0, q = 0, r = 1;
    for (int left = INVERSE_BITS;;) {
        int zeros = __builtin_ctzll(g | UINT64_MAX << left);
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        eta -= zeros;
        left -= zeros;
        if (left == 0)
            break;
        if (eta < 0) {
            uint64_t old = f;
            eta = -eta;
            f = g, g = 0 - old;
            old = u, u = q, q = 0 - old;
            old = v, v = r, r = 0 - old;
        }
        /* Up to eta + 1 divsteps come before the next swap: add the multiple of f that clears as
         * many low bits of g, six at most. f is its own inverse mod 8; (f^2 - 2) f is -1 / f
         * modulo 2^6. */
        int clear = eta + 1 > left ? left : (int)eta + 1;
        uint64_t mask = (UINT64_MAX >> (64 - clear)) & 63;
        uint64_t w = f * g * (f * f - 2) & mask;
        g += f * w;
        q += u * w;
        r += v * w;
    }
    *t = (inverse_matrix_t){(int64_t)u, (int64_t)v, (int64_t)q, (int64_t)r};
    return eta;
}

/* f, g = t (f, g) / 2^62, exactly. */
MATH_FN_HOT void inverse_apply(inverse_number_t *f, inverse_number_t *g, const inverse_matrix_t *t,
                               unsigned limbs)
{
    inverse_sum_t cf = 0, cg = 0;
    for (unsigned i = 0; i < limbs; i++) {
        int64_t x = f->limb[i], y = g->limb[i];
        cf += (inverse_sum_t)t->u * x + (inverse_sum_t)t->v * y;
        cg += (inverse_sum_t)t->q * x + (inverse_sum_t)t->r * y;
        if (i > 0) {
            f->limb[i - 1] = (int64_t)((uint64_t)cf & INVERSE_MASK);
            g->limb[i - 1] = (int64_t)((uint64_t)cg & INVERSE_MASK);
        }
        cf >>= INVERSE_BITS;
        cg >>= INVERSE_BITS;
    }
    f->limb[limbs - 1] = (int64_t)cf;
    g->limb[limbs - 1] = (int64_t)cg;
}

/* d, e = t (d, e) / 2^62 mod q. Both stay between -2 q and q: a negative one counts as itself plus
 * q, and then the multiple of q that clears the low 62 bits is subtracted. inv = -1 / q. */
MATH_FN_HOT void inverse_apply_mod(inverse_number_t *d, inverse_number_t *e,
                                   const inverse_matrix_t *t, const inverse_number_t *q,
                                   uint64_t inv, unsigned limbs)
{
    int64_t sd = d->limb[limbs - 1] >> 63, se = e->limb[limbs - 1] >> 63;
    int64_t md = (t->u & sd) + (t->v & se), me = (t->q & sd) + (t->r & se);
    inverse_sum_t cd = 0, ce = 0;
    for (unsigned i = 0; i < limbs; i++) {
        int64_t x = d->limb[i], y = e->limb[i];
        cd += (inverse_sum_t)t->u * x + (inverse_sum_t)t->v * y;
        ce += (inverse_sum_t)t->q * x + (inverse_sum_t)t->r * y;
        if (i == 0) {
            md -= (int64_t)((0 - inv * (uint64_t)cd + (uint64_t)md) & INVERSE_MASK);
            me -= (int64_t)((0 - inv * (uint64_t)ce + (uint64_t)me) & INVERSE_MASK);
        }
        cd += (inverse_sum_t)q->limb[i] * md;
        ce += (inverse_sum_t)q->limb[i] * me;
        if (i > 0) {
            d->limb[i - 1] = (int64_t)((uint64_t)cd & INVERSE_MASK);
            e->limb[i - 1] = (int64_t)((uint64_t)ce & INVERSE_MASK);
        }
        cd >>= INVERSE_BITS;
        ce >>= INVERSE_BITS;
    }
    d->limb[limbs - 1] = (int64_t)cd;
    e->limb[limbs - 1] = (int64_t)ce;
}

/* r = +-a, and q more where that is negative, for a between -2 q and q; below q then. */
MATH_FN void inverse_normalise(inverse_number_t *a, bool negate, const inverse_number_t *q,
                               unsigned limbs)
{
    for (int pass = 0; pass < 2; pass++) {
        int64_t add = a->limb[limbs - 1] >> 63, sign = pass == 0 && negate ? -1 : 0, carry = 0;
        for (unsigned i = 0; i < limbs; i++) {
            int64_t x = a->limb[i] + (q->limb[i] & add);
            carry += (x ^ sign) - sign;
            a->limb[i] = i + 1 < limbs ? (int64_t)((uint64_t)carry & INVERSE_MASK) : carry;
            carry >>= INVERSE_BITS;
        }
    }
}

MATH_FN_HOT void limbs_inverse_var(uint64_t *r, const uint64_t *a, const uint64_t *q, uint64_t inv,
                                   unsigned n)
{
    const unsigned limbs = INVERSE_LIMBS(n);
    inverse_number_t f, g, modulus, d = {{0}}, e = {{1}};
    inverse_matrix_t t;
    inverse_from_limbs(&modulus, q, n);
    inverse_from_limbs(&g, a, n);
    f = modulus;
    int64_t eta = -1, any;
    do {
        eta = inverse_divsteps_var(eta, (uint64_t)f.limb[0], (uint64_t)g.limb[0], &t);
        inverse_apply_mod(&d, &e, &t, &modulus, inv, limbs);
        inverse_apply(&f, &g, &t, limbs);
        any = 0;
        for (unsigned i = 0; i < limbs; i++)
            any |= g.limb[i];
    } while (any);
    inverse_normalise(&d, f.limb[limbs - 1] < 0, &modulus, limbs);
    inverse_to_limbs(r, &d, n);
}
