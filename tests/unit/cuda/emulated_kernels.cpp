/* The kernels' instances over the emulator. */
#include "../../../gpud/cuda/bn254.cu"
#include "../../../gpud/cuda/bn254_g1.cu"
#include "../../../gpud/cuda/bn254_g2.cu"
#include "../../../gpud/cuda/bls12_381.cu"
#include "../../../gpud/cuda/bls12_381_g1.cu"
#include "../../../gpud/cuda/bls12_381_g2.cu"
