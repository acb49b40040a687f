/* msm_pairs: a batch of additions to[at[k]] = from_a[a[k]] + from_b[b[k]], k < n <= MSM_PAIRS_MAX,
 * of affine points of any group. `to` overlaps neither operand array unless at[k] = a[k] (or b[k])
 * for the pairs concerned and no other pair reads that point. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define MSM_NEGATE 0x80000000u /* in an index: the point counts negated */
enum { MSM_PAIRS_MAX = 4096 };

struct msm_pairs {
    const void *from_a, *from_b;
    const uint32_t *a, *b;
    void *to;
    const uint32_t *at; /* never negated */
    size_t n;
};
