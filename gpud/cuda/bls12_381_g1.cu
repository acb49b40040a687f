/* G1 of bls12_381; its products are called in pairs: inlined, the loop of a sum is 64 KiB of code
 * and a quarter of all stalls are waits for instructions. */
#include "instances.cuh"

extern "C" const struct cuda_group cuda_bls12_381_g1 =
    GROUP_INSTANCE("G1", field<fq_bls12_381_pairs>);
