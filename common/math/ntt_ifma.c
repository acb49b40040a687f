/* The passes over both scalar fields with AVX-512 IFMA. */
#include "fields.h"

#define VEC         v_bn254_fr
#define VEC_FIELD   bn254_fr
#define VEC_NEG_INV BN254_FR_INV
#define VEC_WORDS   4
#define VEC_LIMBS   5
#define VEC_WIDTH   1
#include "vector_ifma.h"

#define VEC         v_bls12_381_fr
#define VEC_FIELD   bls12_381_fr
#define VEC_NEG_INV BLS12_381_FR_INV
#define VEC_WORDS   4
#define VEC_LIMBS   5
#define VEC_WIDTH   1
#include "vector_ifma.h"

#define FIELD bn254_fr
#define LANES v_bn254_fr
#include "ntt_lanes_ifma.h"
#include "ntt_template.h"

#define FIELD bls12_381_fr
#define LANES v_bls12_381_fr
#include "ntt_lanes_ifma.h"
#include "ntt_template.h"
