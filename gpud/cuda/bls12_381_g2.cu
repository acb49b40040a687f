/* G2 of bls12_381; its products are calls, so that the loops fit the instruction cache. */
#include "instances.cuh"

extern "C" const struct cuda_group cuda_bls12_381_g2 =
    GROUP_INSTANCE("G2", field2<fq_bls12_381_call>);
