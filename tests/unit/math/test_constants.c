/* Every constant of constants_*.h, derived again with GMP from the curve's parameter, and the facts
 * that the subgroup tests rest on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <gmp.h>
#include "seed.h"
#include "towers.h"

typedef struct {
    mpz_t c0, c1;
} pair_t; /* an element of Fq2 */

struct numbers {
    mpz_t q, r, trace;
    int fq_limbs;
};

static void of_limbs(mpz_t z, const void *limbs, int n)
{
    mpz_import(z, (size_t)n, -1, 8, 0, 0, limbs);
}

static void expect(const void *limbs, int n, const mpz_t want, const char *what)
{
    mpz_t got;
    mpz_init(got);
    of_limbs(got, limbs, n);
    if (mpz_cmp(got, want) != 0)
        gmp_printf("%s: %Zx, want %Zx\n", what, got, want);
    assert_int_equal(mpz_cmp(got, want), 0);
    mpz_clear(got);
}

/* got is mont: it must be want 2^(64 n) mod m. */
static void expect_mont(const void *limbs, int n, const mpz_t want, const mpz_t m, const char *what)
{
    mpz_t t;
    mpz_init(t);
    mpz_mul_2exp(t, want, 64 * (mp_bitcnt_t)n);
    mpz_mod(t, t, m);
    expect(limbs, n, t, what);
    mpz_clear(t);
}

static void of_mont(mpz_t z, const void *limbs, int n, const mpz_t m)
{
    mpz_t inverse;
    mpz_init_set_ui(inverse, 1);
    mpz_mul_2exp(inverse, inverse, 64 * (mp_bitcnt_t)n);
    mpz_invert(inverse, inverse, m);
    of_limbs(z, limbs, n);
    mpz_mul(z, z, inverse);
    mpz_mod(z, z, m);
    mpz_clear(inverse);
}

static void field_numbers(const mpz_t m, int n, const uint64_t *modulus, const uint64_t *r1,
                          const uint64_t *r2, const uint64_t *r3, uint64_t neg_inv)
{
    mpz_t one, t;
    mpz_init_set_ui(one, 1);
    mpz_init(t);
    assert_int_not_equal(mpz_probab_prime_p(m, 40), 0);
    expect(modulus, n, m, "modulus");
    expect_mont(r1, n, one, m, "R");
    mpz_mul_2exp(t, one, 64 * (mp_bitcnt_t)n);
    expect_mont(r2, n, t, m, "R2");
    mpz_mul(t, t, t);
    expect_mont(r3, n, t, m, "R3");
    mpz_set_ui(t, neg_inv);
    mpz_mul(t, t, m);
    mpz_add_ui(t, t, 1);
    assert_true(mpz_divisible_2exp_p(t, 64));
    assert_true(mpz_sizeinbase(m, 2) < 64 * (size_t)n); /* the spare bit */
    mpz_clears(one, t, NULL);
}

static void pair_mul(pair_t *r, const pair_t *a, const pair_t *b, const mpz_t q)
{
    mpz_t x, y;
    mpz_inits(x, y, NULL);
    mpz_mul(x, a->c0, b->c0);
    mpz_submul(x, a->c1, b->c1);
    mpz_mul(y, a->c0, b->c1);
    mpz_addmul(y, a->c1, b->c0);
    mpz_mod(r->c0, x, q);
    mpz_mod(r->c1, y, q);
    mpz_clears(x, y, NULL);
}

static void pair_pow(pair_t *r, const pair_t *a, const mpz_t e, const mpz_t q)
{
    pair_t acc;
    mpz_init_set_ui(acc.c0, 1);
    mpz_init(acc.c1);
    for (size_t i = mpz_sizeinbase(e, 2); i-- > 0;) {
        pair_mul(&acc, &acc, &acc, q);
        if (mpz_tstbit(e, i))
            pair_mul(&acc, &acc, a, q);
    }
    mpz_set(r->c0, acc.c0);
    mpz_set(r->c1, acc.c1);
    mpz_clears(acc.c0, acc.c1, NULL);
}

static void expect_pair(const void *limbs, int n, const pair_t *want, const mpz_t q,
                        const char *what)
{
    expect_mont(limbs, n, want->c0, q, what);
    expect_mont((const uint64_t *)limbs + n, n, want->c1, q, what);
}

/* xi^(i (q - 1)/6), xi^(i (q^2 - 1)/6), and psi's factors, which are those of i = 2, 3, inverted
 * on a twist by xi. */
static void tower_numbers(const struct numbers *c, unsigned long xi0, bool twist_m,
                          const void *const frobenius[5], const void *const frobenius2[5],
                          const void *psi_x, const void *psi_y)
{
    mpz_t e, k;
    mpz_inits(e, k, NULL);
    pair_t xi, t;
    mpz_init_set_ui(xi.c0, xi0);
    mpz_init_set_ui(xi.c1, 1);
    mpz_inits(t.c0, t.c1, NULL);
    for (unsigned i = 1; i <= 5; i++) {
        mpz_sub_ui(e, c->q, 1);
        mpz_mul_ui(e, e, i);
        assert_true(mpz_divisible_ui_p(e, 6));
        mpz_divexact_ui(e, e, 6);
        pair_pow(&t, &xi, e, c->q);
        expect_pair(frobenius[i - 1], c->fq_limbs, &t, c->q, "FROBENIUS");
        if (i == 2 || i == 3) {
            if (twist_m) { /* the inverse has exponent q^2 - 1 less */
                mpz_mul(k, c->q, c->q);
                mpz_sub_ui(k, k, 1);
                mpz_sub(k, k, e);
                pair_pow(&t, &xi, k, c->q);
            }
            expect_pair(i == 2 ? psi_x : psi_y, c->fq_limbs, &t, c->q, "PSI");
        }
        mpz_mul(e, c->q, c->q);
        mpz_sub_ui(e, e, 1);
        mpz_mul_ui(e, e, i);
        mpz_divexact_ui(e, e, 6);
        pair_pow(&t, &xi, e, c->q);
        assert_int_equal(mpz_sgn(t.c1), 0);
        expect_mont(frobenius2[i - 1], c->fq_limbs, t.c0, c->q, "FROBENIUS2");
    }
    mpz_clears(e, k, xi.c0, xi.c1, t.c0, t.c1, NULL);
}

/* psi satisfies X^2 - tX + q = 0 on the twist, whose order is cofactor * r. A point with f(psi) P =
 * 0 is annihilated by the norm of f(psi), so it is of order r when the norm shares no more than r
 * with the order. */
static void subgroup_test_is_enough(const struct numbers *c, const mpz_t cofactor, const mpz_t f[4])
{
    mpz_t a, b, pa, pb, t, norm;
    mpz_inits(a, b, pa, pb, t, norm, NULL);
    mpz_set_ui(pa, 1);
    for (int i = 0; i < 4; i++) {
        mpz_addmul(a, f[i], pa);
        mpz_addmul(b, f[i], pb);
        mpz_mul(t, c->q, pb); /* (pa + pb X) X = -q pb + (pa + trace pb) X */
        mpz_mul(pb, pb, c->trace);
        mpz_add(pb, pb, pa);
        mpz_neg(pa, t);
    }
    mpz_mul(norm, a, a);
    mpz_mul(t, a, b);
    mpz_addmul(norm, t, c->trace);
    mpz_mul(t, b, b);
    mpz_addmul(norm, t, c->q);
    mpz_mul(t, cofactor, c->r);
    mpz_gcd(t, t, norm);
    assert_int_equal(mpz_cmp(t, c->r), 0);
    assert_false(mpz_divisible_p(cofactor, c->r)); /* one subgroup of order r only */
    mpz_clears(a, b, pa, pb, t, norm, NULL);
}

/* The lattice and the decomposition that the comment in constants_*.h promises. */
static void glv_numbers(const struct numbers *c, const uint64_t *lambda, const uint64_t *a1,
                        const uint64_t *b1, const uint64_t *a2, const uint64_t *b2,
                        const uint64_t *g1, const uint64_t *g2)
{
    mpz_t l, A1, B1, A2, B2, t, want;
    mpz_inits(l, A1, B1, A2, B2, t, want, NULL);
    of_limbs(l, lambda, 4);
    of_limbs(A1, a1, 2);
    of_limbs(B1, b1, 2);
    of_limbs(A2, a2, 2);
    of_limbs(B2, b2, 2);
    /* g = round(2^256 |b| / r) */
    const uint64_t *g[2] = {g1, g2};
    const mpz_t *b[2] = {&B2, &B1};
    for (int i = 0; i < 2; i++) {
        mpz_mul_2exp(want, *b[i], 257);
        mpz_fdiv_q(want, want, c->r);
        mpz_add_ui(want, want, 1);
        mpz_fdiv_q_2exp(want, want, 1);
        expect(g[i], 3, want, "GLV_G");
    }
    mpz_neg(B1, B1); /* the only negative one, on both curves */
    mpz_mul(t, l, l);
    mpz_add(t, t, l);
    mpz_add_ui(t, t, 1);
    assert_true(mpz_divisible_p(t, c->r));
    mpz_mul(t, B1, l);
    mpz_add(t, t, A1);
    assert_true(mpz_divisible_p(t, c->r));
    mpz_mul(t, B2, l);
    mpz_add(t, t, A2);
    assert_true(mpz_divisible_p(t, c->r));
    mpz_mul(t, A1, B2);
    mpz_submul(t, A2, B1);
    assert_int_equal(mpz_cmp(t, c->r), 0);

    /* The halves of scalars, the edges among them. */
    mpz_t k, k0, k1, c1, c2;
    mpz_inits(k, k0, k1, c1, c2, NULL);
    for (int round = 0; round < 2000; round++) {
        uint64_t limbs[4] = {seed_next(), seed_next(), seed_next(), seed_next()};
        of_limbs(k, limbs, 4);
        if (round == 0)
            mpz_set_ui(k, 0);
        if (round == 1)
            mpz_sub_ui(k, c->r, 1);
        mpz_mod(k, k, c->r);
        const uint64_t *rounder[2] = {g1, g2};
        mpz_t *quotient[2] = {&c1, &c2};
        for (int i = 0; i < 2; i++) {
            of_limbs(t, rounder[i], 3);
            mpz_mul(t, t, k);
            mpz_fdiv_q_2exp(t, t, 255);
            mpz_add_ui(t, t, 1);
            mpz_fdiv_q_2exp(*quotient[i], t, 1);
        }
        mpz_set(k0, k);
        mpz_submul(k0, c1, A1);
        mpz_submul(k0, c2, A2);
        mpz_mul(k1, c1, B1); /* B1 carries its sign here */
        mpz_addmul(k1, c2, B2);
        mpz_neg(k1, k1);
        assert_true(mpz_sizeinbase(k0, 2) <= 127 && mpz_sizeinbase(k1, 2) <= 127);
        mpz_mul(t, k1, l);
        mpz_add(t, t, k0);
        mpz_sub(t, t, k);
        assert_true(mpz_divisible_p(t, c->r));
    }
    mpz_clears(k, k0, k1, c1, c2, NULL);
    mpz_clears(l, A1, B1, A2, B2, t, want, NULL);
}

/* ROOT_g = g^((r - 1) / 2^s), of exact order 2^s. */
static void root_number(const struct numbers *c, const void *root, unsigned long g, unsigned s)
{
    mpz_t e, base;
    mpz_inits(e, base, NULL);
    mpz_sub_ui(e, c->r, 1);
    assert_int_equal(mpz_scan1(e, 0), s);
    mpz_fdiv_q_2exp(e, e, s);
    mpz_set_ui(base, g);
    mpz_powm(base, base, e, c->r);
    expect_mont(root, 4, base, c->r, "ROOT");
    mpz_set_ui(e, 1);
    mpz_mul_2exp(e, e, s - 1);
    mpz_powm(base, base, e, c->r);
    mpz_add_ui(base, base, 1);
    assert_int_equal(mpz_cmp(base, c->r), 0);
    mpz_clears(e, base, NULL);
}

static void polynomial_clear(mpz_t f[4])
{
    for (int i = 0; i < 4; i++)
        mpz_clear(f[i]);
}

static const uint64_t bn254_fr_r3[] = BN254_FR_R3, bn254_fq_r3[] = BN254_FQ_R3;
static const uint64_t bls12_381_fr_r3[] = BLS12_381_FR_R3, bls12_381_fq_r3[] = BLS12_381_FQ_R3;

#define LIMBS(name, n, value) static const uint64_t name[n] = value
LIMBS(bn_lambda, 4, BN254_LAMBDA);
LIMBS(bn_a1, 2, BN254_GLV_A1);
LIMBS(bn_b1, 2, BN254_GLV_B1);
LIMBS(bn_a2, 2, BN254_GLV_A2);
LIMBS(bn_b2, 2, BN254_GLV_B2);
LIMBS(bn_g1, 3, BN254_GLV_G1);
LIMBS(bn_g2, 3, BN254_GLV_G2);
LIMBS(bls_lambda, 4, BLS12_381_LAMBDA);
LIMBS(bls_a1, 2, BLS12_381_GLV_A1);
LIMBS(bls_b1, 2, BLS12_381_GLV_B1);
LIMBS(bls_a2, 2, BLS12_381_GLV_A2);
LIMBS(bls_b2, 2, BLS12_381_GLV_B2);
LIMBS(bls_g1, 3, BLS12_381_GLV_G1);
LIMBS(bls_g2, 3, BLS12_381_GLV_G2);

static void test_bn254(void **state)
{
    (void)state;
    struct numbers c = {.fq_limbs = 4};
    mpz_t x, t, cofactor;
    mpz_inits(c.q, c.r, c.trace, t, cofactor, NULL);
    mpz_init_set_ui(x, BN254_X);
    /* q = 36x^4 + 36x^3 + 24x^2 + 6x + 1; r = q - 6x^2; trace = 6x^2 + 1 */
    static const unsigned long coefficient[5] = {1, 6, 24, 36, 36};
    for (int i = 4; i >= 0; i--) {
        mpz_mul(c.q, c.q, x);
        mpz_add_ui(c.q, c.q, coefficient[i]);
    }
    mpz_mul(t, x, x);
    mpz_mul_ui(t, t, 6);
    mpz_sub(c.r, c.q, t);
    mpz_add_ui(c.trace, t, 1);
    field_numbers(c.q, 4, bn254_fq_modulus, bn254_fq_one.limb, bn254_fq_r2.limb, bn254_fq_r3,
                  BN254_FQ_INV);
    field_numbers(c.r, 4, bn254_fr_modulus, bn254_fr_one.limb, bn254_fr_r2.limb, bn254_fr_r3,
                  BN254_FR_INV);

    static const bn254_fq2_t f1 = BN254_FROBENIUS_1, f2 = BN254_FROBENIUS_2, f3 = BN254_FROBENIUS_3,
                             f4 = BN254_FROBENIUS_4, f5 = BN254_FROBENIUS_5, px = BN254_PSI_X,
                             py = BN254_PSI_Y, b2 = BN254_G2_B;
    static const bn254_fq_t s1 = BN254_FROBENIUS2_1, s2 = BN254_FROBENIUS2_2,
                            s3 = BN254_FROBENIUS2_3, s4 = BN254_FROBENIUS2_4,
                            s5 = BN254_FROBENIUS2_5, b1 = BN254_G1_B;
    const void *const f[5] = {&f1, &f2, &f3, &f4, &f5}, *const s[5] = {&s1, &s2, &s3, &s4, &s5};
    tower_numbers(&c, 9, false, f, s, &px, &py);

    /* b = 3, and b2 (9 + u) = 3. */
    mpz_set_ui(t, 3);
    expect_mont(&b1, 4, t, c.q, "G1_B");
    pair_t b, xi;
    mpz_inits(b.c0, b.c1, NULL);
    mpz_init_set_ui(xi.c0, 9);
    mpz_init_set_ui(xi.c1, 1);
    of_mont(b.c0, &b2.c0, 4, c.q);
    of_mont(b.c1, &b2.c1, 4, c.q);
    pair_mul(&b, &b, &xi, c.q);
    assert_int_equal(mpz_cmp_ui(b.c0, 3), 0);
    assert_int_equal(mpz_sgn(b.c1), 0);

    /* x + 1 + x psi + x psi^2 - 2x psi^3; the twist's order is (2q - r) r. */
    mpz_t poly[4];
    mpz_init(poly[0]);
    mpz_add_ui(poly[0], x, 1);
    mpz_init_set(poly[1], x);
    mpz_init_set(poly[2], x);
    mpz_init(poly[3]);
    mpz_mul_si(poly[3], x, -2);
    mpz_mul_ui(cofactor, c.q, 2);
    mpz_sub(cofactor, cofactor, c.r);
    subgroup_test_is_enough(&c, cofactor, poly);
    polynomial_clear(poly);

    glv_numbers(&c, bn_lambda, bn_a1, bn_b1, bn_a2, bn_b2, bn_g1, bn_g2);
    static const fr_t root = BN254_ROOT_5;
    root_number(&c, &root, 5, BN254_TWO_ADICITY);
    mpz_clears(b.c0, b.c1, xi.c0, xi.c1, x, t, cofactor, c.q, c.r, c.trace, NULL);
}

static void test_bls12_381(void **state)
{
    (void)state;
    struct numbers c = {.fq_limbs = 6};
    mpz_t z, t, cofactor;
    mpz_inits(z, t, cofactor, c.q, c.r, c.trace, NULL);
    mpz_set_ui(z, BLS12_381_Z_ABS);
    mpz_neg(z, z);
    /* r = z^4 - z^2 + 1, q = (z - 1)^2 r / 3 + z, trace = z + 1 */
    mpz_mul(t, z, z);
    mpz_mul(c.r, t, t);
    mpz_sub(c.r, c.r, t);
    mpz_add_ui(c.r, c.r, 1);
    mpz_sub_ui(t, z, 1);
    mpz_mul(t, t, t);
    assert_true(mpz_divisible_ui_p(t, 3));
    mpz_divexact_ui(t, t, 3);
    mpz_mul(c.q, t, c.r);
    mpz_add(c.q, c.q, z);
    mpz_add_ui(c.trace, z, 1);
    field_numbers(c.q, 6, bls12_381_fq_modulus, bls12_381_fq_one.limb, bls12_381_fq_r2.limb,
                  bls12_381_fq_r3, BLS12_381_FQ_INV);
    field_numbers(c.r, 4, bls12_381_fr_modulus, bls12_381_fr_one.limb, bls12_381_fr_r2.limb,
                  bls12_381_fr_r3, BLS12_381_FR_INV);

    static const bls12_381_fq2_t f1 = BLS12_381_FROBENIUS_1, f2 = BLS12_381_FROBENIUS_2,
                                 f3 = BLS12_381_FROBENIUS_3, f4 = BLS12_381_FROBENIUS_4,
                                 f5 = BLS12_381_FROBENIUS_5, px = BLS12_381_PSI_X,
                                 py = BLS12_381_PSI_Y, b2 = BLS12_381_G2_B;
    static const bls12_381_fq_t s1 = BLS12_381_FROBENIUS2_1, s2 = BLS12_381_FROBENIUS2_2,
                                s3 = BLS12_381_FROBENIUS2_3, s4 = BLS12_381_FROBENIUS2_4,
                                s5 = BLS12_381_FROBENIUS2_5, b1 = BLS12_381_G1_B;
    const void *const f[5] = {&f1, &f2, &f3, &f4, &f5}, *const s[5] = {&s1, &s2, &s3, &s4, &s5};
    tower_numbers(&c, 1, true, f, s, &px, &py);
    mpz_set_ui(t, 4);
    expect_mont(&b1, 6, t, c.q, "G1_B");
    expect_mont(&b2.c0, 6, t, c.q, "G2_B");
    expect_mont(&b2.c1, 6, t, c.q, "G2_B");

    /* psi - z; the twist's cofactor is (z^8 - 4z^7 + 5z^6 - 4z^4 + 6z^3 - 4z^2 - 4z + 13) / 9. */
    static const long coefficient[9] = {13, -4, -4, 6, -4, 0, 5, -4, 1};
    for (int i = 8; i >= 0; i--) {
        mpz_mul(cofactor, cofactor, z);
        mpz_set_si(t, coefficient[i]);
        mpz_add(cofactor, cofactor, t);
    }
    assert_true(mpz_divisible_ui_p(cofactor, 9));
    mpz_divexact_ui(cofactor, cofactor, 9);
    mpz_t poly[4];
    mpz_init(poly[0]);
    mpz_neg(poly[0], z);
    mpz_init_set_ui(poly[1], 1);
    mpz_init(poly[2]);
    mpz_init(poly[3]);
    subgroup_test_is_enough(&c, cofactor, poly);
    polynomial_clear(poly);

    glv_numbers(&c, bls_lambda, bls_a1, bls_b1, bls_a2, bls_b2, bls_g1, bls_g2);
    /* The test of G1 uses GLV_A2 as z^2 and LAMBDA as -z^2. */
    mpz_mul(t, z, z);
    expect(bls_a2, 2, t, "z^2");
    mpz_sub(t, c.r, t);
    expect(bls_lambda, 4, t, "-z^2");
    static const fr_t root5 = BLS12_381_ROOT_5, root7 = BLS12_381_ROOT_7;
    root_number(&c, &root5, 5, BLS12_381_TWO_ADICITY);
    root_number(&c, &root7, 7, BLS12_381_TWO_ADICITY);
    mpz_clears(z, t, cofactor, c.q, c.r, c.trace, NULL);
}

int main(void)
{
    seed_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bn254),
        cmocka_unit_test(test_bls12_381),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
