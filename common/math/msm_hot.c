/* The sums of all four groups, in the variant being compiled. */
#include "groups.h"
#include "msm.h"

#define GROUP       bn254_g1
#define GROUP_FIELD bn254_fq
#include "msm_template.h"

#define GROUP       bn254_g2
#define GROUP_FIELD bn254_fq2
#include "msm_template.h"

#define GROUP       bls12_381_g1
#define GROUP_FIELD bls12_381_fq
#include "msm_template.h"

#define GROUP       bls12_381_g2
#define GROUP_FIELD bls12_381_fq2
#include "msm_template.h"
