/* bls12_381: the table of BLS12-381 for one instruction-set variant. */
#include "curve_variants.h"
#include "groups.h"

/* phi(P) = [-z^2] P: M. Scott "A note on group membership tests for G1, G2 and GT on BLS
 * pairing-friendly curves" (ePrint 2021/1130). phi^2 + phi + 1 = 0, so such a P is annihilated by
 * z^4 - z^2 + 1 = r. GLV_A2 is z^2 and LAMBDA is -z^2. */
static bool bls12_381_g1_in_subgroup_on_curve(const bls12_381_g1_affine_t *p)
{
    static const bls12_381_fq_t beta = BLS12_381_G1_BETA;
    static const uint64_t z_squared[2] = BLS12_381_GLV_A2;
    bls12_381_g1_jacobian_t j;
    bls12_381_g1_affine_t image;
    bls12_381_fq_mul(&image.x, &p->x, &beta);
    bls12_381_fq_neg(&image.y, &p->y);
    bls12_381_g1_jacobian_mul(&j, p, z_squared, 2);
    return bls12_381_g1_jacobian_equals_affine(&j, &image);
}

/* psi(P) = [z] P, from the same note; z is negative. */
static bool bls12_381_g2_in_subgroup_on_curve(const bls12_381_g2_affine_t *p)
{
    static const bls12_381_fq2_t psi_x = BLS12_381_PSI_X, psi_y = BLS12_381_PSI_Y;
    static const uint64_t z = BLS12_381_Z_ABS;
    bls12_381_g2_jacobian_t j;
    bls12_381_g2_affine_t image;
    bls12_381_fq2_conjugate(&image.x, &p->x);
    bls12_381_fq2_mul(&image.x, &image.x, &psi_x);
    bls12_381_fq2_conjugate(&image.y, &p->y);
    bls12_381_fq2_mul(&image.y, &image.y, &psi_y);
    bls12_381_fq2_neg(&image.y, &image.y);
    bls12_381_g2_jacobian_mul(&j, p, &z, 1);
    return bls12_381_g2_jacobian_equals_affine(&j, &image);
}

#define GROUP             bls12_381_g1
#define GROUP_FIELD       bls12_381_fq
#define GROUP_LABEL       "G1"
#define GROUP_B           BLS12_381_G1_B
#define GROUP_GENERATOR_X BLS12_381_G1_GENERATOR_X
#define GROUP_GENERATOR_Y BLS12_381_G1_GENERATOR_Y
#include "group_table_template.h"

#define GROUP             bls12_381_g2
#define GROUP_FIELD       bls12_381_fq2
#define GROUP_LABEL       "G2"
#define GROUP_B           BLS12_381_G2_B
#define GROUP_GENERATOR_X BLS12_381_G2_GENERATOR_X
#define GROUP_GENERATOR_Y BLS12_381_G2_GENERATOR_Y
#include "group_table_template.h"

#define CURVE               bls12_381
#define CURVE_FR_MODULUS    BLS12_381_FR_MODULUS
#define CURVE_FR_R3         BLS12_381_FR_R3
#define CURVE_TWO_ADICITY   BLS12_381_TWO_ADICITY
#define CURVE_ROOT_SNARKJS  BLS12_381_ROOT_5
#define CURVE_ROOT_BELLMAN  BLS12_381_ROOT_7
#define CURVE_SHIFT_BELLMAN 7
#include "curve_table_template.h"

const struct curve MATH_NAME(bls12_381_curve) = {
    .id = CURVE_BLS12_381,
    .name = "bls12-381",
    .snarkjs_name = "bls12381",
    CURVE_TABLE_SHARED,
};
