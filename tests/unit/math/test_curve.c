/* The curve tables: look-ups, scalars, roots of unity, conversions, point checks, square roots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <gmp.h>
#include <string.h>
#include "groups.h"
#include "seed.h"
#include "tables.h"

static void of_limbs(mpz_t z, const void *limbs, size_t n)
{
    mpz_import(z, n, -1, 8, 0, 0, limbs);
}

static void to_limbs(void *limbs, size_t n, const mpz_t z)
{
    memset(limbs, 0, 8 * n);
    mpz_export(limbs, NULL, -1, 8, 0, 0, z);
}

static fr_t random_scalar(const struct curve *c)
{
    uint8_t bytes[64];
    for (int i = 0; i < 64; i++)
        bytes[i] = (uint8_t)seed_next();
    fr_t k;
    c->fr_reduce_512(&k, bytes);
    return k;
}

static void test_lookups(void **state)
{
    (void)state;
    assert_ptr_equal(curve_by_id(CURVE_BN254), &curve_bn254);
    assert_ptr_equal(curve_by_id(CURVE_BLS12_381), &curve_bls12_381);
    assert_null(curve_by_id((enum curve_id)0));
    static const char *const bn[] = {"bn254", "bn128", "altbn128", "BN128"};
    static const char *const bls[] = {"bls12-381", "bls12381", "bls12_381", "BLS12381"};
    for (int i = 0; i < 4; i++) {
        assert_ptr_equal(curve_by_name(bn[i]), &curve_bn254);
        assert_ptr_equal(curve_by_name(bls[i]), &curve_bls12_381);
    }
    assert_null(curve_by_name("secp256k1"));
    assert_null(curve_by_name(""));
    const struct curve *t[4];
    unsigned n = all_tables(t);
    for (unsigned i = 0; i < n; i++) {
        uint8_t r[40] = {0}, q[56] = {0};
        memcpy(r, t[i]->r, 32);
        memcpy(q, t[i]->q, t[i]->fq_bytes);
        assert_int_equal(curve_by_r(r, 32)->id, t[i]->id);
        assert_int_equal(curve_by_q(q, t[i]->fq_bytes)->id, t[i]->id);
        assert_null(curve_by_r(r, 40)); /* another length is another field */
        assert_null(curve_by_r(r, 31));
        assert_null(curve_by_q(q, 32 + 8));
        r[31] ^= 1;
        q[0] ^= 2;
        assert_null(curve_by_r(r, 32));
        assert_null(curve_by_q(q, t[i]->fq_bytes));
    }
    /* The chosen tables are complete ones. */
    assert_int_equal(curve_bn254.id, CURVE_BN254);
    assert_non_null(curve_bls12_381.pairing);
}

static void test_scalars(void **state)
{
    (void)state;
    const struct curve *t[4];
    unsigned n_tables = all_tables(t);
    mpz_t r, z, w;
    mpz_inits(r, z, w, NULL);
    for (unsigned i = 0; i < n_tables; i++) {
        const struct curve *c = t[i];
        of_limbs(r, c->r, 4);
        for (int round = 0; round < 300; round++) {
            uint8_t bytes[64];
            for (int j = 0; j < 64; j++)
                bytes[j] = round == 0 ? 0xff : round == 1 ? 0 : (uint8_t)seed_next();
            fr_t got, want;
            c->fr_reduce_512(&got, bytes);
            mpz_import(z, 64, -1, 1, 0, 0, bytes);
            mpz_mod(z, z, r);
            to_limbs(&want, 4, z);
            assert_memory_equal(&got, &want, 32);
        }
        enum { N = 9 };
        fr_t x[N], y[N], p[N];
        for (int j = 0; j < N; j++)
            x[j] = random_scalar(c);
        assert_int_equal(c->fr_first_unreduced(x, N), N);
        assert_int_equal(c->fr_first_unreduced(x, 0), 0);
        c->fr_to_mont(y, x, N);
        c->fr_mul_many(p, y, y, N);
        c->fr_from_mont(y, y, N);
        assert_memory_equal(x, y, sizeof x);
        c->fr_from_mont(p, p, N);
        for (int j = 0; j < N; j++) {
            of_limbs(z, &x[j], 4);
            mpz_mul(z, z, z);
            mpz_mod(z, z, r);
            of_limbs(w, &p[j], 4);
            assert_int_equal(mpz_cmp(z, w), 0);
        }
        x[6] = *c->r; /* r itself is the first value that is refused */
        assert_int_equal(c->fr_first_unreduced(x, N), 6);
        x[6].limb[0] -= 1;
        assert_int_equal(c->fr_first_unreduced(x, N), N);
        x[6].limb[0] += 2;
        assert_int_equal(c->fr_first_unreduced(x, N), 6);
        x[2].limb[3] = UINT64_MAX;
        assert_int_equal(c->fr_first_unreduced(x, N), 2);
    }
    mpz_clears(r, z, w, NULL);
}

/* A root of level k has order 2^k, levels are squares of each other, and the coset shift is outside
 * the domain, so that the coset never meets it: shift^(2^k) != 1. */
static void test_roots(void **state)
{
    (void)state;
    const struct curve *t[4];
    unsigned n_tables = all_tables(t);
    static const enum root_convention conventions[] = {ROOT_SNARKJS, ROOT_BELLMAN};
    for (unsigned i = 0; i < n_tables; i++)
        for (int v = 0; v < 2; v++) {
            const struct curve *c = t[i];
            fr_t below = *c->fr_one, w, s;
            c->fr_root(&w, conventions[v], 0);
            assert_memory_equal(&w, c->fr_one, 32);
            for (unsigned k = 1; k <= c->two_adicity; k++) {
                c->fr_root(&w, conventions[v], k);
                assert_memory_not_equal(&w, c->fr_one, 32);
                c->fr_mul(&s, &w, &w);
                assert_memory_equal(&s, &below, 32);
                below = w;
            }
            for (unsigned k = 0; k <= c->two_adicity; k++) {
                c->fr_coset_shift(&s, conventions[v], k);
                if (conventions[v] == ROOT_SNARKJS && k < c->two_adicity) {
                    c->fr_root(&w, ROOT_SNARKJS, k + 1);
                    assert_memory_equal(&s, &w, 32);
                } else {
                    uint64_t plain = conventions[v] == ROOT_SNARKJS ? 25
                                     : c->id == CURVE_BLS12_381     ? 7
                                                                    : 5;
                    fr_t p = {{plain}};
                    c->fr_to_mont(&p, &p, 1);
                    assert_memory_equal(&s, &p, 32);
                }
                for (unsigned j = 0; j < k; j++)
                    c->fr_mul(&s, &s, &s);
                assert_memory_not_equal(&s, c->fr_one, 32);
            }
        }
    /* The trap: on BLS12-381 snarkjs's root is not bellman's. */
    fr_t a, b;
    curve_bls12_381.fr_root(&a, ROOT_SNARKJS, 32);
    curve_bls12_381.fr_root(&b, ROOT_BELLMAN, 32);
    assert_memory_not_equal(&a, &b, 32);
}

static void test_base_field(void **state)
{
    (void)state;
    const struct curve *t[4];
    unsigned n_tables = all_tables(t);
    for (unsigned i = 0; i < n_tables; i++) {
        const struct curve *c = t[i];
        uint64_t q[6], x[12], y[12];
        memcpy(q, c->q, c->fq_bytes);
        assert_false(c->fq_is_reduced(q));
        q[0] -= 1;
        assert_true(c->fq_is_reduced(q));
        q[0] += 2;
        assert_false(c->fq_is_reduced(q));
        memset(q, 0xff, sizeof q);
        assert_false(c->fq_is_reduced(q));
        memset(q, 0, sizeof q);
        assert_true(c->fq_is_reduced(q));
        memset(x, 0, sizeof x);
        for (size_t j = 0; j < 2 * c->fq_bytes / 8; j++)
            x[j] = seed_next() >> ((j + 1) % (c->fq_bytes / 8) == 0 ? 4 : 0);
        c->fq_to_mont(y, x, 2);
        assert_memory_not_equal(x, y, 2 * c->fq_bytes);
        c->fq_from_mont(y, y, 2);
        assert_memory_equal(x, y, 2 * c->fq_bytes);
    }
}

/* One point of each fault at each place of an array is found, the first of several is named. */
static void test_check(void **state)
{
    (void)state;
    const struct curve *t[4];
    unsigned n_tables = all_tables(t);
    struct pool *pool = pool_new(2, NULL, NULL);
    enum { N = 700 };
    static uint8_t points[N * sizeof(point_t)];
    for (unsigned i = 0; i < n_tables; i++)
        for (int v = 0; v < 2; v++) {
            const struct curve *c = t[i];
            const struct group *g = v == 0 ? c->g1 : c->g2;
            bool (*decompress)(void *, const void *, bool) =
                v == 0 ? c->g1_decompress : c->g2_decompress;
            for (size_t j = 0; j < N; j++)
                memcpy(points + j * g->bytes, g->generator, g->bytes);
            memset(points + 5 * g->bytes, 0, g->bytes); /* infinity is fine */
            const char *why = "";
            assert_int_equal(g->check(points, N, true, pool, &why), N);
            assert_int_equal(g->check(points, 0, true, pool, &why), 0);

            /* The first x from 1 on, outside the subgroup where the cofactor is not one. */
            uint64_t stray[24] = {0}, x[12] = {0};
            do {
                x[0]++;
                uint64_t mont[12];
                c->fq_to_mont(mont, x, v == 0 ? 1 : 2);
                memcpy(stray, mont, g->bytes / 2);
            } while (!decompress(stray, stray, false));
            assert_true(g->on_curve(stray));
            bool cofactor_one = c->id == CURVE_BN254 && v == 0;
            assert_int_equal(g->in_subgroup(stray), cofactor_one);
            memcpy(points + 690 * g->bytes, stray, g->bytes);
            assert_int_equal(g->check(points, N, false, pool, &why), N);
            assert_int_equal(g->check(points, N, true, pool, &why), cofactor_one ? N : 690);
            if (!cofactor_one)
                assert_string_equal(why, "point is not in the subgroup of order r");

            points[300 * g->bytes] ^= 1;
            assert_int_equal(g->check(points, N, false, pool, &why), 300);
            assert_string_equal(why, "point is not on the curve");
            assert_int_equal(g->check(points, N, true, NULL, &why), 300);

            /* x + q names the same residue and is refused. */
            memcpy(points + 17 * g->bytes, c->q, c->fq_bytes);
            assert_int_equal(g->check(points, N, true, pool, &why), 17);
            assert_string_equal(why, "coordinate is not below the modulus");
            assert_false(g->is_reduced(points + 17 * g->bytes));
            memcpy(points + 17 * g->bytes, g->generator, g->bytes);
            memcpy(points + 18 * g->bytes - c->fq_bytes, c->q, c->fq_bytes); /* the last one */
            assert_int_equal(g->check(points, N, true, pool, &why), 17);
            assert_string_equal(why, "coordinate is not below the modulus");
        }
    pool_free(&pool);
}

/* Random points, some infinite, in arrays around the width of a vector: each place in turn gets a
 * fault, in each coordinate, and is named. */
static void test_check_finds_a_fault_in_any_place(void **state)
{
    (void)state;
    const struct curve *t[4];
    unsigned n_tables = all_tables(t);
    enum { N = 33 };
    static uint8_t points[N * sizeof(point_t)];
    for (unsigned i = 0; i < n_tables; i++)
        for (int v = 0; v < 2; v++) {
            const struct curve *c = t[i];
            const struct group *g = v == 0 ? c->g1 : c->g2;
            size_t n_coordinates = g->bytes / c->fq_bytes;
            for (size_t j = 0; j < N; j++) {
                fr_t k = random_scalar(c);
                if (j % 9 == 4)
                    memset(&k, 0, sizeof k);
                g->mul(points + j * g->bytes, g->generator, &k);
            }
            static const size_t counts[] = {1, 2, 15, 16, 17, 32, N};
            for (size_t s = 0; s < sizeof counts / sizeof counts[0]; s++) {
                size_t n = counts[s];
                const char *why = NULL;
                assert_int_equal(g->check(points, n, false, NULL, &why), n);
                for (size_t j = 0; j < n; j++) {
                    uint8_t *at =
                        points + j * g->bytes + (seed_next() % n_coordinates) * c->fq_bytes;
                    uint64_t old[6], changed[6], carry = 0;
                    memcpy(old, at, c->fq_bytes);
                    /* another value */
                    memcpy(changed, old, c->fq_bytes);
                    changed[seed_next() % (c->fq_bytes / 8 - 1)] ^= (uint64_t)1 << seed_next() % 64;
                    memcpy(at, changed, c->fq_bytes);
                    assert_int_equal(g->check(points, n, false, NULL, &why), j);
                    assert_string_equal(why, "point is not on the curve");
                    /* the same value and q */
                    for (size_t l = 0; l < c->fq_bytes / 8; l++) {
                        __extension__ unsigned __int128 sum =
                            (unsigned __int128)old[l] + c->q[l] + carry;
                        changed[l] = (uint64_t)sum;
                        carry = (uint64_t)(sum >> 64);
                    }
                    memcpy(at, changed, c->fq_bytes);
                    assert_int_equal(g->check(points, n, false, NULL, &why), j);
                    assert_string_equal(why, "coordinate is not below the modulus");
                    memcpy(at, old, c->fq_bytes);
                }
            }
        }
}

static void test_decompress(void **state)
{
    (void)state;
    const struct curve *t[4];
    unsigned n_tables = all_tables(t);
    for (unsigned i = 0; i < n_tables; i++)
        for (int v = 0; v < 2; v++) {
            const struct curve *c = t[i];
            const struct group *g = v == 0 ? c->g1 : c->g2;
            bool (*decompress)(void *, const void *, bool) =
                v == 0 ? c->g1_decompress : c->g2_decompress;
            bool (*is_larger)(const void *) = v == 0 ? c->g1_is_larger : c->g2_is_larger;
            int found = 0;
            for (int round = 0; round < 40; round++) {
                fr_t k = random_scalar(c);
                point_t p, minus, back;
                g->mul(&p, g->generator, &k);
                g->neg(&minus, &p);
                assert_int_equal(is_larger(&p), !is_larger(&minus));
                assert_true(decompress(&back, &p, is_larger(&p)));
                assert_true(g->equal(&back, &p));
                assert_true(decompress(&back, &p, is_larger(&minus)));
                assert_true(g->equal(&back, &minus));
                /* x = 0, 1, 2 ... with c1 = 0: the branches of the root in Fq2. */
                uint64_t x[12] = {(uint64_t)round}, stray[24];
                c->fq_to_mont(x, x, 2);
                if (decompress(stray, x, false)) {
                    found++;
                    assert_true(g->on_curve(stray));
                    assert_false(is_larger(stray));
                }
            }
            assert_in_range(found, 8, 32); /* about half of all x have points */
        }
}

/* (BETA x, y) = LAMBDA (x, y) in each group, with the constants that MSM splits scalars by. */
static void test_endomorphism(void **state)
{
    (void)state;
    static const fr_t bn_lambda = {BN254_LAMBDA}, bls_lambda = {BLS12_381_LAMBDA};
    static const bn254_fq_t bn_beta[2] = {BN254_G1_BETA, BN254_G2_BETA};
    static const bls12_381_fq_t bls_beta[2] = {BLS12_381_G1_BETA, BLS12_381_G2_BETA};
    point_t p, image;
    fr_t k = random_scalar(&curve_bn254);
    curve_bn254.g1->mul(&p, curve_bn254.g1->generator, &k);
    bn254_g1_affine_t b1 = *(bn254_g1_affine_t *)&p;
    bn254_fq_mul(&b1.x, &b1.x, &bn_beta[0]);
    curve_bn254.g1->mul(&image, &p, &bn_lambda);
    assert_true(curve_bn254.g1->equal(&image, &b1));
    curve_bn254.g2->mul(&p, curve_bn254.g2->generator, &k);
    bn254_g2_affine_t b2 = *(bn254_g2_affine_t *)&p;
    bn254_fq2_mul_base(&b2.x, &b2.x, &bn_beta[1]);
    curve_bn254.g2->mul(&image, &p, &bn_lambda);
    assert_true(curve_bn254.g2->equal(&image, &b2));
    k = random_scalar(&curve_bls12_381);
    curve_bls12_381.g1->mul(&p, curve_bls12_381.g1->generator, &k);
    bls12_381_g1_affine_t l1 = *(bls12_381_g1_affine_t *)&p;
    bls12_381_fq_mul(&l1.x, &l1.x, &bls_beta[0]);
    curve_bls12_381.g1->mul(&image, &p, &bls_lambda);
    assert_true(curve_bls12_381.g1->equal(&image, &l1));
    curve_bls12_381.g2->mul(&p, curve_bls12_381.g2->generator, &k);
    bls12_381_g2_affine_t l2 = *(bls12_381_g2_affine_t *)&p;
    bls12_381_fq2_mul_base(&l2.x, &l2.x, &bls_beta[1]);
    curve_bls12_381.g2->mul(&image, &p, &bls_lambda);
    assert_true(curve_bls12_381.g2->equal(&image, &l2));
}

int main(void)
{
    seed_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lookups),    cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_roots),      cmocka_unit_test(test_base_field),
        cmocka_unit_test(test_check),      cmocka_unit_test(test_check_finds_a_fault_in_any_place),
        cmocka_unit_test(test_decompress), cmocka_unit_test(test_endomorphism),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
