/* msm: what fills `msm` and `mul_fixed` of struct group (curve.h is their contract).
 *
 * One function per group and instruction-set variant; the curve tables of a variant take the
 * functions of the same variant. */
#pragma once
#include "curve.h"
#include "math_fn.h"

#define MSM_DECLARE(g)                                                                             \
    enum err_code MATH_NAME(g##_msm)(void *r, const void *bases, const fr_t *scalars,              \
                                     const uint32_t *index, size_t n, bool any_subgroup,           \
                                     struct pool *pool, struct err *e);                            \
    enum err_code MATH_NAME(g##_mul_fixed)(void *out, const void *base, const fr_t *scalars_plain, \
                                           size_t n, struct pool *pool, struct err *e);

MSM_DECLARE(bn254_g1)
MSM_DECLARE(bn254_g2)
MSM_DECLARE(bls12_381_g1)
MSM_DECLARE(bls12_381_g2)
#undef MSM_DECLARE
