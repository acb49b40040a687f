/* G2 of bn254; its products are calls, so that the loops fit the instruction cache. */
#include "instances.cuh"

extern "C" const struct cuda_group cuda_bn254_g2 = GROUP_INSTANCE("G2", field2<fq_bn254_call>);
