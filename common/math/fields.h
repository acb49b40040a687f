/* fields: the four prime fields, instances of field_template.h (read that for the functions).
 *
 *   bn254_fr_ bn254_fq_            254 bits, 4 limbs
 *   bls12_381_fr_                  255 bits, 4 limbs
 *   bls12_381_fq_                  381 bits, 6 limbs
 *
 * The scalar types are curve.h's fr_t. */
#pragma once
#include "curve.h"
#include "constants_bn254.h"
#include "constants_bls12_381.h"

#define FIELD         bn254_fr
#define FIELD_TYPE    fr_t
#define FIELD_LIMBS   BN254_FR_LIMBS
#define FIELD_MODULUS BN254_FR_MODULUS
#define FIELD_ONE     BN254_FR_R
#define FIELD_R2      BN254_FR_R2
#define FIELD_NEG_INV BN254_FR_INV
#include "field_template.h"

#define FIELD bn254_fq
#define FIELD_3MOD4
#define FIELD_LIMBS   BN254_FQ_LIMBS
#define FIELD_MODULUS BN254_FQ_MODULUS
#define FIELD_ONE     BN254_FQ_R
#define FIELD_R2      BN254_FQ_R2
#define FIELD_NEG_INV BN254_FQ_INV
#include "field_template.h"

#define FIELD         bls12_381_fr
#define FIELD_TYPE    fr_t
#define FIELD_LIMBS   BLS12_381_FR_LIMBS
#define FIELD_MODULUS BLS12_381_FR_MODULUS
#define FIELD_ONE     BLS12_381_FR_R
#define FIELD_R2      BLS12_381_FR_R2
#define FIELD_NEG_INV BLS12_381_FR_INV
#include "field_template.h"

#define FIELD bls12_381_fq
#define FIELD_3MOD4
#define FIELD_LIMBS   BLS12_381_FQ_LIMBS
#define FIELD_MODULUS BLS12_381_FQ_MODULUS
#define FIELD_ONE     BLS12_381_FQ_R
#define FIELD_R2      BLS12_381_FQ_R2
#define FIELD_NEG_INV BLS12_381_FQ_INV
#include "field_template.h"
