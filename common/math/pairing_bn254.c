/* pairing_bn254: the optimal ate pairing of BN254.
 *
 * f_{6x+2,Q}(P), then the lines through psi(Q) and -psi^2(Q): Beuchat et al. (2010), section 2.
 * The final exponent is 2x(6x^2 + 3x + 1)(q^12 - 1)/r: L. Fuentes-Castaneda, E. Knapp,
 * F. Rodriguez-Henriquez "Faster Hashing to G2" (2011), section 5, which libff and with it snarkjs
 * use too. */
#include "towers.h"

/* 6x + 2. */
#define MILLER_LOOP                                                                                \
    {                                                                                              \
        0, -1, 0, 1, 0, 0, 0, -1, 0, -1, 0, 0, 0, -1, 0, 1, 0, -1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0,  \
            0, -1, 0, 1, 0, 0, -1, 0, 0, 0, 0, -1, 0, 1, 0, 0, 0, -1, 0, -1, 0, 0, 1, 0, 0, 0, -1, \
            0, 0, -1, 0, 1, 0, 1, 0, 0, 0                                                          \
    }
#define MILLER      bn254
#define MILLER_G2_B BN254_G2_B
#include "miller_template.h"

static void psi(bn254_g2_affine_t *r, const bn254_g2_affine_t *p)
{
    static const bn254_fq2_t psi_x = BN254_PSI_X, psi_y = BN254_PSI_Y;
    bn254_fq2_conjugate(&r->x, &p->x);
    bn254_fq2_mul(&r->x, &r->x, &psi_x);
    bn254_fq2_conjugate(&r->y, &p->y);
    bn254_fq2_mul(&r->y, &r->y, &psi_y);
}

static void bn254_finish_loop(bn254_fq12_t *f, bn254_miller_t *m, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        bn254_g2_affine_t image;
        psi(&image, &m[k].q);
        bn254_miller_add(f, &m[k], &image);
        psi(&image, &image);
        bn254_g2_affine_neg(&image, &image);
        bn254_miller_add(f, &m[k], &image);
    }
}

static void power_minus_x(bn254_fq12_t *r, const bn254_fq12_t *a)
{
    bn254_fq12_cyclotomic_pow(r, a, BN254_X);
    bn254_fq12_conjugate(r, r);
}

static void bn254_final_exponentiation(bn254_fq12_t *r, const bn254_fq12_t *f)
{
    bn254_fq12_t a, b, t;
    /* (q^6 - 1)(q^2 + 1) */
    bn254_fq12_inv(&t, f);
    bn254_fq12_conjugate(&a, f);
    bn254_fq12_mul(&t, &a, &t);
    bn254_fq12_frobenius2(&a, &t);
    bn254_fq12_mul(&a, &a, &t);

    /* The powers of a that the paper combines, named by their exponents. */
    bn254_fq12_t minus_2x, minus_6x, six_x2, minus_12x3, plus, e;
    power_minus_x(&t, &a);
    bn254_fq12_cyclotomic_sqr(&minus_2x, &t);
    bn254_fq12_cyclotomic_sqr(&minus_6x, &minus_2x);
    bn254_fq12_mul(&minus_6x, &minus_6x, &minus_2x);
    power_minus_x(&six_x2, &minus_6x);
    bn254_fq12_cyclotomic_sqr(&t, &six_x2);
    power_minus_x(&minus_12x3, &t);

    /* plus = 12x^3 + 6x^2 + 6x */
    bn254_fq12_conjugate(&t, &minus_12x3);
    bn254_fq12_mul(&plus, &t, &six_x2);
    bn254_fq12_conjugate(&t, &minus_6x);
    bn254_fq12_mul(&plus, &plus, &t);
    /* b = plus - 2x, e = plus + 6x^2 + 1 */
    bn254_fq12_mul(&b, &plus, &minus_2x);
    bn254_fq12_mul(&e, &plus, &six_x2);
    bn254_fq12_mul(&e, &e, &a);
    /* e + b q + plus q^2 + (b - 1) q^3 */
    bn254_fq12_frobenius(&t, &b);
    bn254_fq12_mul(&e, &e, &t);
    bn254_fq12_frobenius2(&t, &plus);
    bn254_fq12_mul(&e, &e, &t);
    bn254_fq12_conjugate(&t, &a);
    bn254_fq12_mul(&t, &t, &b);
    bn254_fq12_frobenius2(&t, &t);
    bn254_fq12_frobenius(&t, &t);
    bn254_fq12_mul(r, &e, &t);
}

#define PAIRING bn254
#include "pairing_template.h"
