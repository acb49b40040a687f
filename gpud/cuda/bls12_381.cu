/* BLS12-381: scalars, and the table of the curve. */
#include "instances.cuh"

extern "C" const struct cuda_curve cuda_bls12_381 =
    SCALAR_INSTANCE(fr_bls12_381, 2, 254, &cuda_bls12_381_g1, &cuda_bls12_381_g2);
