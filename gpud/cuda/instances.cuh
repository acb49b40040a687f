/* instances: fills the tables of kernels.h from the templates; one source a row, so that a build
 * compiles them side by side. */
#pragma once
#include <string.h>
#include "moduli.cuh"
#include "msm_sort.cuh"
#include "msm_sum.cuh"
#include "msm_tables.cuh"
#include "ntt_kernels.cuh"
#include "scalar_kernels.cuh"

#define GROUP_INSTANCE(name, F)                                                                    \
    {                                                                                              \
        name, sizeof(affine<F>), sizeof(xyzz<F>), msm_multiples<F>, msm_sum<F>, msm_partials<F>,   \
            msm_lines<F>                                                                           \
    }

#define SCALAR_INSTANCE(P, id, bits, g1, g2)                                                       \
    {                                                                                              \
        id, bits, g1, g2, scalar_powers<P>, ntt_run<P, true>, ntt_forward_run<P>,                  \
            scalar_multiply<P>, scalar_multiply_subtract<P>, scalar_evaluate<P>, msm_sort<P>       \
    }

extern "C" const struct cuda_group cuda_bn254_g1, cuda_bn254_g2, cuda_bls12_381_g1,
    cuda_bls12_381_g2;
