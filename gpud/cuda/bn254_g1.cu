/* G1 of bn254. */
#include "instances.cuh"

extern "C" const struct cuda_group cuda_bn254_g1 = GROUP_INSTANCE("G1", field<fq_bn254>);
