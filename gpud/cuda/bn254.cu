/* BN254: scalars, and the table of the curve. */
#include "instances.cuh"

extern "C" const struct cuda_curve cuda_bn254 =
    SCALAR_INSTANCE(fr_bn254, 1, 253, &cuda_bn254_g1, &cuda_bn254_g2);

extern "C" size_t msm_scan_blocks(uint32_t n_buckets)
{
    return (n_buckets + SCAN_TILE - 1) / SCAN_TILE;
}
