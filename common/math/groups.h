/* groups: Fq2 and the two groups of both curves, instances of fq2_template.h and group_template.h
 * (read those for the functions).
 *
 *   bn254_fq2_ bn254_g1_ bn254_g2_      bls12_381_fq2_ bls12_381_g1_ bls12_381_g2_
 *
 * <g>_affine_t has the layout of a point in curve.h. */
#pragma once
#include "fields.h"

#define FQ2 bn254_fq2
#define FQ  bn254_fq
#include "fq2_template.h"

#define GROUP       bn254_g1
#define GROUP_FIELD bn254_fq
#include "group_template.h"

#define GROUP       bn254_g2
#define GROUP_FIELD bn254_fq2
#include "group_template.h"

#define FQ2 bls12_381_fq2
#define FQ  bls12_381_fq
#include "fq2_template.h"

#define GROUP       bls12_381_g1
#define GROUP_FIELD bls12_381_fq
#include "group_template.h"

#define GROUP       bls12_381_g2
#define GROUP_FIELD bls12_381_fq2
#include "group_template.h"
