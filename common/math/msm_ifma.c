/* Batches of additions and checks of points in all four groups with AVX-512 IFMA. */
#include "groups.h"
#include "msm_pairs.h"

#define VEC         v_bn254_fq
#define VEC_FIELD   bn254_fq
#define VEC_NEG_INV BN254_FQ_INV
#define VEC_WORDS   4
#define VEC_LIMBS   5
#define VEC_WIDTH   2
#include "vector_ifma.h"

#define VEC         v_bls12_381_fq
#define VEC_FIELD   bls12_381_fq
#define VEC_NEG_INV BLS12_381_FQ_INV
#define VEC_WORDS   6
#define VEC_LIMBS   8
#define VEC_WIDTH   2
#include "vector_ifma.h"

#define GROUP        bn254_g1
#define GROUP_FIELD  bn254_fq
#define PAIRS_VEC    v_bn254_fq
#define PAIRS_WORDS  4
#define PAIRS_LIMBS  5
#define PAIRS_DEGREE 1
#define PAIRS_BASE   bn254_fq
#include "points_ifma.h"
#define CHECK_B BN254_G1_B
#include "points_check_ifma.h"
#include "msm_pairs_ifma.h"

#define GROUP        bn254_g2
#define GROUP_FIELD  bn254_fq2
#define PAIRS_VEC    v_bn254_fq
#define PAIRS_WORDS  4
#define PAIRS_LIMBS  5
#define PAIRS_DEGREE 2
#define PAIRS_BASE   bn254_fq
#include "points_ifma.h"
#define CHECK_B BN254_G2_B
#include "points_check_ifma.h"
#include "msm_pairs_ifma.h"

#define GROUP        bls12_381_g1
#define GROUP_FIELD  bls12_381_fq
#define PAIRS_VEC    v_bls12_381_fq
#define PAIRS_WORDS  6
#define PAIRS_LIMBS  8
#define PAIRS_DEGREE 1
#define PAIRS_BASE   bls12_381_fq
#include "points_ifma.h"
#define CHECK_B BLS12_381_G1_B
#include "points_check_ifma.h"
#include "msm_pairs_ifma.h"

#define GROUP        bls12_381_g2
#define GROUP_FIELD  bls12_381_fq2
#define PAIRS_VEC    v_bls12_381_fq
#define PAIRS_WORDS  6
#define PAIRS_LIMBS  8
#define PAIRS_DEGREE 2
#define PAIRS_BASE   bls12_381_fq
#include "points_ifma.h"
#define CHECK_B BLS12_381_G2_B
#include "points_check_ifma.h"
#include "msm_pairs_ifma.h"
