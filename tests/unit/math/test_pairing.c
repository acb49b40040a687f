/* The pairing: bilinear, not degenerate, one with an infinity, the same in blocks of any size; and
 * the fixtures' proofs and keys, made by snarkjs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <gmp.h>
#include <jansson.h>
#include <string.h>
#include "seed.h"
#include "tables.h"

enum { MANY = 35 }; /* more than two blocks of Miller's loop */

static void random_multiple(const struct group *g, void *out, fr_t *k)
{
    *k = (fr_t){{seed_next(), seed_next(), seed_next(), seed_next() >> 3}};
    g->mul(out, g->generator, k);
}

static void test_bilinear(void **state)
{
    (void)state;
    const struct curve *t[4];
    unsigned n_tables = all_tables(t);
    for (unsigned i = 0; i < n_tables; i++) {
        const struct curve *c = t[i];
        size_t b1 = c->g1->bytes, b2 = c->g2->bytes;
        uint64_t p[2 * 12], q[2 * 24], gt[72], other[72];
        uint8_t *p1 = (uint8_t *)p + b1, *q1 = (uint8_t *)q + b2;
        fr_t a, k;
        random_multiple(c->g1, p, &k);
        random_multiple(c->g2, q, &k);
        random_multiple(c->g2, q1, &a);
        assert_false(c->pairing_is_one(p, q, 1));

        /* e(aP, Q) e(-P, aQ) = 1, and not with another a. */
        c->g1->neg(p1, p);
        c->g2->mul(q1, q, &a);
        c->g1->mul(p, p, &a);
        assert_true(c->pairing_is_one(p, q, 2));
        c->pairing(gt, p, q);
        c->g1->neg(p1, p1);
        c->pairing(other, p1, q1);
        assert_memory_equal(gt, other, 12 * c->fq_bytes);
        assert_false(c->pairing_is_one(p, q, 2));
        c->g1->neg(p1, p1);
        c->g2->add(q1, q1, c->g2->generator);
        assert_false(c->pairing_is_one(p, q, 2));

        /* An infinity on either side. */
        memset(p1, 0, b1);
        memset(q, 0, b2);
        assert_true(c->pairing_is_one(p, q, 2));
        assert_true(c->pairing_is_one(p, q, 0));
        c->pairing(gt, p, q);
        uint64_t one[72] = {1};
        assert_memory_equal(gt, one, 12 * c->fq_bytes);
    }
}

/* e(P, Q_1) ... e(P, Q_n) e(-P, sum Q_i) = 1 for n across the borders of the blocks. */
static void test_many(void **state)
{
    (void)state;
    const struct curve *t[4];
    unsigned n_tables = all_tables(t);
    static uint64_t p[MANY * 12], q[MANY * 24];
    static const size_t sizes[] = {2, 15, 16, 17, 33, MANY};
    for (unsigned i = 0; i < n_tables; i++) {
        const struct curve *c = t[i];
        size_t b1 = c->g1->bytes, b2 = c->g2->bytes;
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            size_t n = sizes[s];
            point_t sum;
            memset(&sum, 0, sizeof sum);
            for (size_t j = 0; j + 1 < n; j++) {
                fr_t k;
                memcpy((uint8_t *)p + j * b1, c->g1->generator, b1);
                if (j % 7 == 3)
                    memset((uint8_t *)q + j * b2, 0, b2);
                else
                    random_multiple(c->g2, (uint8_t *)q + j * b2, &k);
                c->g2->add(&sum, &sum, (uint8_t *)q + j * b2);
            }
            c->g1->neg((uint8_t *)p + (n - 1) * b1, c->g1->generator);
            memcpy((uint8_t *)q + (n - 1) * b2, &sum, b2);
            assert_true(c->pairing_is_one(p, q, n));
            c->g2->add(&sum, &sum, c->g2->generator);
            memcpy((uint8_t *)q + (n - 1) * b2, &sum, b2);
            assert_false(c->pairing_is_one(p, q, n));
        }
    }
}

static json_t *load(const char *curve, const char *file)
{
    char path[1024];
    snprintf(path, sizeof path, FIXTURES "/%s/mul/%s", curve, file);
    json_error_t e;
    json_t *j = json_load_file(path, 0, &e);
    if (j == NULL)
        fail_msg("%s: %s", path, e.text);
    return j;
}

/* A decimal string, or the decimal strings of an array in order, as limbs of `bytes` bytes each. */
static uint8_t *put_numbers(uint8_t *out, const json_t *j, size_t bytes)
{
    if (json_is_array(j)) {
        for (size_t i = 0; i < json_array_size(j); i++)
            out = put_numbers(out, json_array_get(j, i), bytes);
        return out;
    }
    mpz_t z;
    mpz_init_set_str(z, json_string_value(j), 10);
    assert_in_range(mpz_sizeinbase(z, 2), 0, 8 * bytes);
    memset(out, 0, bytes);
    mpz_export(out, NULL, -1, 1, 0, 0, z);
    mpz_clear(z);
    return out + bytes;
}

/* A point of snarkjs's JSON: its affine coordinates, then a 1 that is left out. */
static void put_point(const struct curve *c, const struct group *g, void *out, const json_t *j)
{
    uint64_t all[36];
    put_numbers((uint8_t *)all, j, c->fq_bytes);
    c->fq_to_mont(out, all, g->bytes / c->fq_bytes);
    assert_true(g->is_reduced(out) && g->on_curve(out) && g->in_subgroup(out));
}

/* e(-A, B) e(alpha, beta) e(IC_0 + sum public_i IC_i, gamma) e(C, delta) = 1. */
static void test_fixture_proofs(void **state)
{
    (void)state;
    const struct curve *t[4];
    unsigned n_tables = all_tables(t);
    for (unsigned i = 0; i < n_tables; i++) {
        const struct curve *c = t[i];
        json_t *vk = load(c->snarkjs_name, "vk.json");
        json_t *proof = load(c->snarkjs_name, "proof.json");
        json_t *publics = load(c->snarkjs_name, "public.json");
        size_t b1 = c->g1->bytes, b2 = c->g2->bytes;
        uint64_t g1[4 * 12], g2[4 * 24];
        uint8_t *p = (uint8_t *)g1, *q = (uint8_t *)g2;
        put_point(c, c->g1, p, json_object_get(proof, "pi_a"));
        c->g1->neg(p, p);
        put_point(c, c->g2, q, json_object_get(proof, "pi_b"));
        put_point(c, c->g1, p + b1, json_object_get(vk, "vk_alpha_1"));
        put_point(c, c->g2, q + b2, json_object_get(vk, "vk_beta_2"));
        json_t *ic = json_object_get(vk, "IC");
        assert_int_equal(json_array_size(ic), json_array_size(publics) + 1);
        put_point(c, c->g1, p + 2 * b1, json_array_get(ic, 0));
        for (size_t k = 0; k < json_array_size(publics); k++) {
            point_t term;
            fr_t x;
            put_numbers((uint8_t *)&x, json_array_get(publics, k), 32);
            put_point(c, c->g1, &term, json_array_get(ic, k + 1));
            c->g1->mul(&term, &term, &x);
            c->g1->add(p + 2 * b1, p + 2 * b1, &term);
        }
        put_point(c, c->g2, q + 2 * b2, json_object_get(vk, "vk_gamma_2"));
        put_point(c, c->g1, p + 3 * b1, json_object_get(proof, "pi_c"));
        put_point(c, c->g2, q + 3 * b2, json_object_get(vk, "vk_delta_2"));
        assert_true(c->pairing_is_one(p, q, 4));
        c->g1->add(p + 2 * b1, p + 2 * b1, c->g1->generator); /* another public value */
        assert_false(c->pairing_is_one(p, q, 4));

        /* The key's own value of e(alpha, beta). */
        uint64_t gt[72], want[72];
        c->pairing(gt, p + b1, q + b2);
        put_numbers((uint8_t *)want, json_object_get(vk, "vk_alphabeta_12"), c->fq_bytes);
        assert_memory_equal(gt, want, 12 * c->fq_bytes);
        json_decref(vk);
        json_decref(proof);
        json_decref(publics);
    }
}

int main(void)
{
    seed_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bilinear),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_fixture_proofs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
