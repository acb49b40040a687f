/* curve_table_template: the functions of struct curve (curve.h) that both curves share. Include it
 * once per translation unit, after the group tables, with
 *
 *   CURVE                   prefix: bn254, bls12_381
 *   CURVE_FR_MODULUS, CURVE_FR_R3     limbs and an initialiser (constants_*.h)
 *   CURVE_TWO_ADICITY
 *   CURVE_ROOT_SNARKJS, CURVE_ROOT_BELLMAN     initialisers of primitive 2^TWO_ADICITY-th roots
 *   CURVE_SHIFT_BELLMAN     the small generator that bellman shifts by
 *
 * It defines static functions <C>_table_*, for the table that the including file writes. */
#include "pairing.h"

#define C_(name)  MATH_JOIN(CURVE, name)
#define FR_(name) MATH_JOIN(C_(fr), name)
#define FQ_(name) MATH_JOIN(C_(fq), name)

static const fr_t C_(table_r) = {CURVE_FR_MODULUS};

static void C_(table_fr_to_mont)(fr_t *out, const fr_t *plain, size_t n)
{
    for (size_t i = 0; i < n; i++)
        FR_(to_mont)(&out[i], &plain[i]);
}

static void C_(table_fr_from_mont)(fr_t *plain, const fr_t *mont, size_t n)
{
    for (size_t i = 0; i < n; i++)
        FR_(from_mont)(&plain[i], &mont[i]);
}

static void C_(table_fr_mul_many)(fr_t *r, const fr_t *a, const fr_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        FR_(mul)(&r[i], &a[i], &b[i]);
}

/* low + 2^256 high, both taken to mont: high * R^3 / R is (2^256 high) R. */
static void C_(table_fr_reduce_512)(fr_t *plain, const uint8_t le[64])
{
    static const fr_t r3 = {CURVE_FR_R3};
    fr_t half[2];
    for (unsigned i = 0; i < 8; i++) {
        uint64_t limb = 0;
        for (unsigned j = 0; j < 8; j++)
            limb |= (uint64_t)le[8 * i + j] << (8 * j);
        half[i / 4].limb[i % 4] = limb;
    }
    FR_(to_mont)(&half[0], &half[0]);
    FR_(mul)(&half[1], &r3, &half[1]);
    FR_(add)(&half[0], &half[0], &half[1]);
    FR_(from_mont)(plain, &half[0]);
}

static size_t C_(table_fr_first_unreduced)(const fr_t *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!FR_(is_reduced)(&x[i]))
            return i;
    return n;
}

static void C_(table_fr_root)(fr_t *mont, enum root_convention c, unsigned log2)
{
    static const fr_t snarkjs = CURVE_ROOT_SNARKJS, bellman = CURVE_ROOT_BELLMAN;
    INVARIANT(log2 <= CURVE_TWO_ADICITY);
    *mont = c == ROOT_BELLMAN ? bellman : snarkjs;
    for (unsigned i = log2; i < CURVE_TWO_ADICITY; i++)
        FR_(sqr)(mont, mont);
}

/* snarkjs shifts by the root of the next larger domain, and where there is none by the square of
 * the smallest non-residue, which is 5 on both curves; bellman by the field's generator. */
static void C_(table_fr_coset_shift)(fr_t *mont, enum root_convention c, unsigned log2)
{
    if (c == ROOT_SNARKJS && log2 < CURVE_TWO_ADICITY) {
        C_(table_fr_root)(mont, c, log2 + 1);
        return;
    }
    fr_t plain = {{c == ROOT_SNARKJS ? 25 : CURVE_SHIFT_BELLMAN}};
    FR_(to_mont)(mont, &plain);
}

static bool C_(table_fq_is_reduced)(const void *le)
{
    return FQ_(is_reduced)(le);
}

static void C_(table_fq_to_mont)(void *out, const void *plain, size_t n)
{
    FQ_(t) *to = out;
    const FQ_(t) *from = plain;
    for (size_t i = 0; i < n; i++)
        FQ_(to_mont)(&to[i], &from[i]);
}

static void C_(table_fq_from_mont)(void *out, const void *mont, size_t n)
{
    FQ_(t) *to = out;
    const FQ_(t) *from = mont;
    for (size_t i = 0; i < n; i++)
        FQ_(from_mont)(&to[i], &from[i]);
}

/* The fields of struct curve that come from here and from the field and group instances. */
#define CURVE_TABLE_SHARED                                                                         \
    .fq_bytes = sizeof(FQ_(t)), .q = FQ_(modulus), .r = &C_(table_r),                              \
    .two_adicity = CURVE_TWO_ADICITY, .g1 = &MATH_JOIN(C_(g1), table),                             \
    .g2 = &MATH_JOIN(C_(g2), table), .fr_one = &FR_(one), .fr_add = FR_(add), .fr_sub = FR_(sub),  \
    .fr_mul = FR_(mul), .fr_inv = FR_(inv), .fr_to_mont = C_(table_fr_to_mont),                    \
    .fr_from_mont = C_(table_fr_from_mont), .fr_mul_many = C_(table_fr_mul_many),                  \
    .fr_reduce_512 = C_(table_fr_reduce_512), .fr_first_unreduced = C_(table_fr_first_unreduced),  \
    .fr_root = C_(table_fr_root), .fr_coset_shift = C_(table_fr_coset_shift),                      \
    .fq_is_reduced = C_(table_fq_is_reduced), .fq_to_mont = C_(table_fq_to_mont),                  \
    .fq_from_mont = C_(table_fq_from_mont), .g1_decompress = MATH_JOIN(C_(g1), decompress),        \
    .g2_decompress = MATH_JOIN(C_(g2), decompress), .g1_is_larger = MATH_JOIN(C_(g1), is_larger),  \
    .g2_is_larger = MATH_JOIN(C_(g2), is_larger), .pairing_is_one = MATH_NAME(C_(pairing_is_one)), \
    .pairing = MATH_NAME(C_(pairing))
