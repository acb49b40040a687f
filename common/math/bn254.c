/* bn254: the table of BN254 for one instruction-set variant. */
#include "curve_variants.h"
#include "groups.h"

/* The cofactor of G1 is one. */
static bool bn254_g1_in_subgroup_on_curve(const bn254_g1_affine_t *p)
{
    (void)p;
    return true;
}

static void psi(bn254_g2_xyzz_t *r, const bn254_g2_xyzz_t *p)
{
    static const bn254_fq2_t psi_x = BN254_PSI_X, psi_y = BN254_PSI_Y;
    bn254_fq2_conjugate(&r->x, &p->x);
    bn254_fq2_mul(&r->x, &r->x, &psi_x);
    bn254_fq2_conjugate(&r->y, &p->y);
    bn254_fq2_mul(&r->y, &r->y, &psi_y);
    bn254_fq2_conjugate(&r->zz, &p->zz);
    bn254_fq2_conjugate(&r->zzz, &p->zzz);
}

/* [x + 1] P + psi [x] P + psi^2 [x] P = psi^3 [2x] P: Y. El Housni, A. Guillevic, T. Piellard
 * "Co-factor clearing and subgroup membership testing on pairing-friendly curves" (ePrint
 * 2022/352). Enough, since the resultant of that polynomial with psi's own, X^2 - tX + q, has only
 * r in common with the order of the twist; the test of the constants computes that. */
static bool bn254_g2_in_subgroup_on_curve(const bn254_g2_affine_t *p)
{
    static const uint64_t x = BN254_X;
    bn254_g2_jacobian_t j;
    bn254_g2_xyzz_t sum, image;
    bn254_g2_jacobian_mul(&j, p, &x, 1);
    bn254_g2_xyzz_from_jacobian(&image, &j);
    bn254_g2_xyzz_add_affine(&sum, &image, p);
    psi(&image, &image);
    bn254_g2_xyzz_add(&sum, &sum, &image);
    psi(&image, &image);
    bn254_g2_xyzz_add(&sum, &sum, &image);
    psi(&image, &image);
    bn254_g2_xyzz_dbl(&image, &image);
    return bn254_g2_xyzz_equal(&image, &sum);
}

#define GROUP             bn254_g1
#define GROUP_FIELD       bn254_fq
#define GROUP_LABEL       "G1"
#define GROUP_B           BN254_G1_B
#define GROUP_GENERATOR_X BN254_G1_GENERATOR_X
#define GROUP_GENERATOR_Y BN254_G1_GENERATOR_Y
#include "group_table_template.h"

#define GROUP             bn254_g2
#define GROUP_FIELD       bn254_fq2
#define GROUP_LABEL       "G2"
#define GROUP_B           BN254_G2_B
#define GROUP_GENERATOR_X BN254_G2_GENERATOR_X
#define GROUP_GENERATOR_Y BN254_G2_GENERATOR_Y
#include "group_table_template.h"

#define CURVE               bn254
#define CURVE_FR_MODULUS    BN254_FR_MODULUS
#define CURVE_FR_R3         BN254_FR_R3
#define CURVE_TWO_ADICITY   BN254_TWO_ADICITY
#define CURVE_ROOT_SNARKJS  BN254_ROOT_5
#define CURVE_ROOT_BELLMAN  BN254_ROOT_5
#define CURVE_SHIFT_BELLMAN 5
#include "curve_table_template.h"

const struct curve MATH_NAME(bn254_curve) = {
    .id = CURVE_BN254,
    .name = "bn254",
    .snarkjs_name = "bn128",
    CURVE_TABLE_SHARED,
};
