/* The sums of all four groups, in the variant being compiled. */
#include "big.h"
#include "groups.h"
#include "msm.h"

static const fr_t bn254_order = {BN254_FR_MODULUS}, bls12_381_order = {BLS12_381_FR_MODULUS};

MATH_FN const fr_t *bn254_g1_msm_order(void)
{
    return &bn254_order;
}
MATH_FN const fr_t *bn254_g2_msm_order(void)
{
    return &bn254_order;
}
MATH_FN const fr_t *bls12_381_g1_msm_order(void)
{
    return &bls12_381_order;
}
MATH_FN const fr_t *bls12_381_g2_msm_order(void)
{
    return &bls12_381_order;
}

#define GROUP       bn254_g1
#define GROUP_FIELD bn254_fq
#include "msm_pairs_template.h"
#include "msm_runs_template.h"
#include "msm_template.h"
#include "mul_fixed_template.h"

#define GROUP       bn254_g2
#define GROUP_FIELD bn254_fq2
#include "msm_pairs_template.h"
#include "msm_runs_template.h"
#include "msm_template.h"
#include "mul_fixed_template.h"

#define GROUP       bls12_381_g1
#define GROUP_FIELD bls12_381_fq
#include "msm_pairs_template.h"
#include "msm_runs_template.h"
#include "msm_template.h"
#include "mul_fixed_template.h"

#define GROUP       bls12_381_g2
#define GROUP_FIELD bls12_381_fq2
#include "msm_pairs_template.h"
#include "msm_runs_template.h"
#include "msm_template.h"
#include "mul_fixed_template.h"
