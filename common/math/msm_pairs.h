/* msm_pairs: a batch of additions to[at[k]] = from_a[a[k]] + from_b[b[k]], 0 < n <= MSM_PAIRS_MAX,
 * of affine points of any group, canonical in and out, with one inversion for all. Every case is
 * right: equal and opposite points, infinity. `to` overlaps an operand array only where at[k] is
 * the pair's own operand there and no other pair reads that point. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define MSM_NEGATE 0x80000000u /* in an index of an operand: the point counts negated */
enum { MSM_PAIRS_MAX = 4096 };

struct msm_pairs {
    const void *from_a, *from_b;
    const uint32_t *a, *b;
    void *to;
    const uint32_t *at;
    size_t n;
};

/* scratch: <group>_pairs_scratch_bytes, aligned to 64 bytes. */
typedef void msm_add_pairs(const struct msm_pairs *p, void *scratch);

/* Room for a product of denominators per pair, 52-bit limbs in 64-bit words at most. */
enum {
    bn254_g1_pairs_scratch_bytes = MSM_PAIRS_MAX * 5 * 8,
    bn254_g2_pairs_scratch_bytes = MSM_PAIRS_MAX * 10 * 8,
    bls12_381_g1_pairs_scratch_bytes = MSM_PAIRS_MAX * 8 * 8,
    bls12_381_g2_pairs_scratch_bytes = MSM_PAIRS_MAX * 16 * 8,
};

/* msm_ifma.c, where the CPU has it (cpu.h). */
msm_add_pairs bn254_g1_add_pairs_ifma, bn254_g2_add_pairs_ifma, bls12_381_g1_add_pairs_ifma,
    bls12_381_g2_add_pairs_ifma;
