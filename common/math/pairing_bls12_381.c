/* pairing_bls12_381: the optimal ate pairing of BLS12-381.
 *
 * f_{|z|,Q}(P), conjugated because z is negative. The final exponent is 3 (q^12 - 1)/r, its hard
 * part (z - 1)^2 (z + q)(z^2 + q^2 - 1) + 3: D. Hayashida, K. Hayasaka, T. Teruya "Efficient Final
 * Exponentiation via Cyclotomic Structure for Pairings over Families of Elliptic Curves" (ePrint
 * 2020/875). */
#include "towers.h"

/* |z| = 0xd201000000010000. */
#define MILLER_LOOP                                                                                \
    {                                                                                              \
        1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  \
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0, 0, 0, 0                                                                             \
    }
#define MILLER_TWIST_M
#define MILLER      bls12_381
#define MILLER_G2_B BLS12_381_G2_B
#include "miller_template.h"

static void bls12_381_finish_loop(bls12_381_fq12_t *f, bls12_381_miller_t *m, size_t n)
{
    (void)m;
    (void)n;
    bls12_381_fq12_conjugate(f, f);
}

static void power_z(bls12_381_fq12_t *r, const bls12_381_fq12_t *a)
{
    bls12_381_fq12_cyclotomic_pow(r, a, BLS12_381_Z_ABS);
    bls12_381_fq12_conjugate(r, r);
}

/* a^(z - 1) */
static void power_z_minus_1(bls12_381_fq12_t *r, const bls12_381_fq12_t *a)
{
    bls12_381_fq12_t inverse;
    bls12_381_fq12_conjugate(&inverse, a);
    power_z(r, a);
    bls12_381_fq12_mul(r, r, &inverse);
}

static void bls12_381_final_exponentiation(bls12_381_fq12_t *r, const bls12_381_fq12_t *f)
{
    bls12_381_fq12_t a, b, t;
    /* (q^6 - 1)(q^2 + 1) */
    bls12_381_fq12_inv(&t, f);
    bls12_381_fq12_conjugate(&a, f);
    bls12_381_fq12_mul(&t, &a, &t);
    bls12_381_fq12_frobenius2(&a, &t);
    bls12_381_fq12_mul(&a, &a, &t);

    power_z_minus_1(&t, &a);
    power_z_minus_1(&b, &t);
    power_z(&t, &b); /* b^(z + q) */
    bls12_381_fq12_frobenius(&b, &b);
    bls12_381_fq12_mul(&b, &b, &t);
    power_z(&t, &b); /* b^(z^2 + q^2 - 1) */
    power_z(&t, &t);
    bls12_381_fq12_t c;
    bls12_381_fq12_frobenius2(&c, &b);
    bls12_381_fq12_mul(&t, &t, &c);
    bls12_381_fq12_conjugate(&b, &b);
    bls12_381_fq12_mul(&t, &t, &b);
    bls12_381_fq12_cyclotomic_sqr(&b, &a);
    bls12_381_fq12_mul(&a, &a, &b);
    bls12_381_fq12_mul(r, &t, &a);
}

#define PAIRING bls12_381
#include "pairing_template.h"
