/* field_template: a prime field in Montgomery form. Include it once per field with
 *
 *   FIELD         prefix: bn254_fq gives bn254_fq_t, bn254_fq_mul(r, a, b), ...
 *   FIELD_LIMBS   64-bit limbs; the modulus is odd and leaves its top bit clear
 *   FIELD_MODULUS, FIELD_ONE, FIELD_R2   brace lists (constants_*.h); FIELD_NEG_INV the word
 *   FIELD_3MOD4   optional: the modulus is 3 mod 4, and there is a square root
 *   FIELD_TYPE    optional: an existing struct { uint64_t limb[FIELD_LIMBS]; } to use as type
 *
 * It undefines them. Every value is canonical (below the modulus) in and out; "mont" is the form of
 * all arithmetic, "plain" only meets to_mont and from_mont. Operands are pointers, the result comes
 * first and may alias any operand. Nothing is constant-time.
 *
 *   <F>_t                  a value
 *   <F>_wide_t             twice the limbs: a product that is not reduced yet
 *   <F>_modulus            the modulus, plain limbs;  <F>_one  1 in mont
 *   <F>_zero(r) <F>_set_one(r) <F>_copy(r,a)
 *   <F>_add <F>_sub <F>_mul (r,a,b)   b of mul may be any limbs, reduced or not
 *   <F>_neg <F>_dbl <F>_sqr <F>_half (r,a)
 *   <F>_inv(r,a)           0 gives 0
 *   <F>_to_mont(r,plain)   plain may be any limbs: the result is that of its residue
 *   <F>_from_mont(plain,mont)
 *   <F>_is_zero(a) <F>_is_one(a) <F>_equal(a,b)
 *   <F>_cmp(a,b)           -1, 0, 1 of the limbs as integers (plain values, usually)
 *   <F>_is_reduced(a)      limbs below the modulus; takes any limbs
 *   <F>_mul_wide(w,a,b) <F>_sqr_wide(w,a)   a and b any limbs, not only reduced
 *   <F>_wide_add <F>_wide_sub (w,x,y)       mod 2^(128 * LIMBS)
 *   <F>_wide_sub_mod(w,x,y)                 mod (modulus * 2^(64 * LIMBS)), for x, y below it
 *   <F>_reduce(r,w)        w / R mod modulus, for w below modulus * 2^(64 * LIMBS)
 *   <F>_add_lazy(r,a,b)    a + b without reduction: below twice the modulus, for mul_wide only
 *   <F>_pow(r,a,exponent,n_limbs)  plain exponent limbs; time depends on the exponent
 *   <F>_sqrt(r,a)          false when a is not a square (r is then undefined); with FIELD_3MOD4
 *   <F>_is_larger(a)       the plain value of a is above that of -a
 *
 * Source: C. K. Koc, T. Acar, B. Kaliski "Analyzing and Comparing Montgomery Multiplication
 * Algorithms" (1996), CIOS; the row without a carry limb is G. Botrel and Y. El Housni "Faster
 * Montgomery multiplication and Multi-Scalar-Multiplication for SNARKs" (2022), section 2. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "math_fn.h"
#include "limbs.h"
#include "limbs_inverse.h"

#define F_(name) MATH_JOIN(FIELD, name)
#define F_t      F_(t)
#define F_wide_t F_(wide_t)
#define F_N      FIELD_LIMBS

/* A product of 6 limbs is 1.4 KiB of instructions, and one of 4 limbs in plain C almost as much.
 * Called, a sum of points fits the first-level cache; the call costs little beside the product. */
#if F_N <= LIMBS_INLINE
#define F_PRODUCT MATH_FN_HOT
#else
#define F_PRODUCT MATH_FN_CALL
#endif
#if LIMBS_INLINE > 0
#define F_SUM MATH_FN_HOT
#else
#define F_SUM MATH_FN_CALL
#endif

#if defined(FIELD_TYPE)
typedef FIELD_TYPE F_t;
#else
typedef struct {
    uint64_t limb[F_N];
} F_t;
#endif
typedef struct {
    uint64_t limb[2 * F_N];
} F_wide_t;

static const uint64_t F_(modulus)[F_N] = FIELD_MODULUS;
static const F_t F_(one) = {FIELD_ONE};
static const F_t F_(r2) = {FIELD_R2};

MATH_FN_HOT void F_(copy)(F_t *r, const F_t *a)
{
    *r = *a;
}

MATH_FN_HOT void F_(zero)(F_t *r)
{
    for (unsigned i = 0; i < F_N; i++)
        r->limb[i] = 0;
}

MATH_FN_HOT void F_(set_one)(F_t *r)
{
    *r = F_(one);
}

MATH_FN_HOT bool F_(is_zero)(const F_t *a)
{
    uint64_t or_all = 0;
    for (unsigned i = 0; i < F_N; i++)
        or_all |= a->limb[i];
    return or_all == 0;
}

MATH_FN_HOT bool F_(equal)(const F_t *a, const F_t *b)
{
    uint64_t diff = 0;
    for (unsigned i = 0; i < F_N; i++)
        diff |= a->limb[i] ^ b->limb[i];
    return diff == 0;
}

MATH_FN_HOT bool F_(is_one)(const F_t *a)
{
    return F_(equal)(a, &F_(one));
}

MATH_FN int F_(cmp)(const F_t *a, const F_t *b)
{
    for (unsigned i = F_N; i-- > 0;)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

MATH_FN bool F_(is_reduced)(const F_t *a)
{
    for (unsigned i = F_N; i-- > 0;)
        if (a->limb[i] != F_(modulus)[i])
            return a->limb[i] < F_(modulus)[i];
    return false;
}

F_SUM void F_(add)(F_t *r, const F_t *a, const F_t *b)
{
    limbs_add_mod(r->limb, a->limb, b->limb, F_(modulus), F_N);
}

F_SUM void F_(sub)(F_t *r, const F_t *a, const F_t *b)
{
    limbs_sub_mod(r->limb, a->limb, b->limb, F_(modulus), F_N);
}

F_SUM void F_(dbl)(F_t *r, const F_t *a)
{
    limbs_add_mod(r->limb, a->limb, a->limb, F_(modulus), F_N);
}

F_SUM void F_(neg)(F_t *r, const F_t *a)
{
    F_t zero = {{0}};
    limbs_sub_mod(r->limb, zero.limb, a->limb, F_(modulus), F_N);
}

F_PRODUCT void F_(mul)(F_t *r, const F_t *a, const F_t *b)
{
    limbs_mont_mul(r->limb, a->limb, b->limb, F_(modulus), FIELD_NEG_INV, F_N);
}

F_PRODUCT void F_(sqr)(F_t *r, const F_t *a)
{
    limbs_mont_sqr(r->limb, a->limb, F_(modulus), FIELD_NEG_INV, F_N);
}

/* a / 2: an odd a is made even by adding the modulus, which leaves a spare top bit. */
MATH_FN void F_(half)(F_t *r, const F_t *a)
{
    uint64_t t[F_N], q[F_N], odd = 0 - (a->limb[0] & 1);
    for (unsigned i = 0; i < F_N; i++)
        q[i] = F_(modulus)[i] & odd;
    limbs_add(t, a->limb, q, F_N);
    for (unsigned i = 0; i + 1 < F_N; i++)
        r->limb[i] = (t[i] >> 1) | (t[i + 1] << 63);
    r->limb[F_N - 1] = t[F_N - 1] >> 1;
}

F_PRODUCT void F_(mul_wide)(F_wide_t *w, const F_t *a, const F_t *b)
{
    limbs_mul(w->limb, a->limb, b->limb, F_N);
}

F_PRODUCT void F_(sqr_wide)(F_wide_t *w, const F_t *a)
{
    limbs_sqr(w->limb, a->limb, F_N);
}

MATH_FN_HOT void F_(add_lazy)(F_t *r, const F_t *a, const F_t *b)
{
    limbs_add(r->limb, a->limb, b->limb, F_N);
}

MATH_FN_HOT void F_(wide_add)(F_wide_t *w, const F_wide_t *x, const F_wide_t *y)
{
    limbs_add(w->limb, x->limb, y->limb, 2 * F_N);
}

MATH_FN_HOT void F_(wide_sub)(F_wide_t *w, const F_wide_t *x, const F_wide_t *y)
{
    limbs_sub(w->limb, x->limb, y->limb, 2 * F_N);
}

F_SUM void F_(wide_sub_mod)(F_wide_t *w, const F_wide_t *x, const F_wide_t *y)
{
    uint64_t q[F_N], mask = 0 - limbs_sub(w->limb, x->limb, y->limb, 2 * F_N);
    for (unsigned i = 0; i < F_N; i++)
        q[i] = F_(modulus)[i] & mask;
    limbs_add(w->limb + F_N, w->limb + F_N, q, F_N);
}

F_PRODUCT void F_(reduce)(F_t *r, const F_wide_t *w)
{
    limbs_redc(r->limb, w->limb, F_(modulus), FIELD_NEG_INV, F_N);
}

MATH_FN void F_(to_mont)(F_t *r, const F_t *plain)
{
    F_(mul)(r, &F_(r2), plain);
}

MATH_FN void F_(from_mont)(F_t *plain, const F_t *mont)
{
    F_wide_t w = {{0}};
    for (unsigned i = 0; i < F_N; i++)
        w.limb[i] = mont->limb[i];
    F_(reduce)(plain, &w);
}

MATH_FN_CALL void F_(pow)(F_t *r, const F_t *a, const uint64_t *exponent, size_t n_limbs)
{
    F_t base = *a, acc = F_(one);
    bool started = false;
    for (size_t i = 64 * n_limbs; i-- > 0;) {
        if (started)
            F_(sqr)(&acc, &acc);
        if (exponent[i / 64] >> (i % 64) & 1) {
            F_(mul)(&acc, &acc, &base);
            started = true;
        }
    }
    *r = acc;
}

MATH_FN_CALL bool F_(is_larger)(const F_t *a)
{
    F_t plain, minus;
    F_(from_mont)(&plain, a);
    F_(neg)(&minus, &plain);
    return F_(cmp)(&plain, &minus) > 0;
}

#if defined(FIELD_3MOD4)
/* a^((modulus + 1) / 4), where (modulus + 1) / 4 is modulus / 4 + 1. */
MATH_FN_CALL bool F_(sqrt)(F_t *r, const F_t *a)
{
    uint64_t e[F_N];
    for (unsigned i = 0; i < F_N; i++)
        e[i] = F_(modulus)[i] >> 2 | (i + 1 < F_N ? F_(modulus)[i + 1] << 62 : 0);
    e[0] += 1;
    F_t root, square;
    F_(pow)(&root, a, e, F_N);
    F_(sqr)(&square, &root);
    bool is_square = F_(equal)(&square, a);
    *r = root;
    return is_square;
}
#endif

/* The inverse of the limbs, 1 / (a R), lacks R^2 as a value in mont. */
MATH_FN_CALL void F_(inv)(F_t *r, const F_t *a)
{
    F_t t;
    limbs_inverse_var(t.limb, a->limb, F_(modulus), FIELD_NEG_INV, F_N);
    F_(mul)(&t, &F_(r2), &t);
    F_(mul)(r, &F_(r2), &t);
}

#undef F_
#undef F_t
#undef F_wide_t
#undef F_N
#undef F_PRODUCT
#undef F_SUM
#undef FIELD
#undef FIELD_LIMBS
#undef FIELD_MODULUS
#undef FIELD_ONE
#undef FIELD_R2
#undef FIELD_NEG_INV
#undef FIELD_TYPE
#undef FIELD_3MOD4
