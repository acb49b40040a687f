/* G1 of bls12_381. */
#include "instances.cuh"

extern "C" const struct cuda_group cuda_bls12_381_g1 = GROUP_INSTANCE("G1", field<fq_bls12_381>);
