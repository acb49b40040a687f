/* The streaming prover: the same proof in pieces of any size, and whose fault a proof is that does
 * not verify. */
#include "fixture.h"
#include "local.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[] = "/tmp/millrace-local-XXXXXX";
static char altered[128];

static enum err_code prove(const char *key, const char *witness, size_t piece_bytes,
                           struct local_proof *out, struct err *e)
{
    const struct local_job job = {
        .key_path = key, .witness_path = witness, .piece_bytes = piece_bytes};
    struct pool *pool = pool_new(2, NULL, e);
    enum err_code rc = local_prove(&job, out, pool, e);
    pool_free(&pool);
    return rc;
}

static void test_pieces_of_any_size_give_a_valid_proof(void **state)
{
    (void)state;
    static const size_t bytes[] = {1, 64, 1000, 9600, 0};
    static const char *const curves[] = {"bn128", "bls12381"};
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < sizeof bytes / sizeof bytes[0]; j++) {
            struct local_proof p;
            struct err e = {0};
            struct verification_key vk;
            must(prove(fixture_path(curves[i], "edge_full", ".zkey"),
                       fixture_path(curves[i], "edge_full", ".wtns"), bytes[j], &p, &e),
                 &e);
            must(vk_read(fixture_path(curves[i], "edge_full", "vk.json"), &vk, &e), &e);
            assert_int_equal(p.n_public, vk.n_public);
            must(groth16_verify(&vk, p.publics, &p.proof, &e), &e);
            vk_free(&vk);
            local_proof_free(&p);
        }
}

/* Copies a key point for point, with `change` applied to the points of one section. */
static void copy_key(const char *from, enum zkey_points section,
                     void (*change)(const struct curve *c, void *first_point))
{
    static const enum zkey_points all[] = {ZKEY_IC, ZKEY_A, ZKEY_B1, ZKEY_B2, ZKEY_L, ZKEY_H};
    struct err e = {0};
    struct zkey *z = zkey_open(from, &e);
    must(e.code, &e);
    const struct zkey_facts *facts = zkey_facts(z);
    struct zkey_writer *w = zkey_create(altered, facts, &e);
    must(e.code, &e);
    struct matrix a, b;
    uint32_t n;
    must(zkey_read_matrices(z, &a, &b, &n, NULL, &e), &e);
    must(zkey_write_matrices(w, &a, &b, &e), &e);
    matrix_free(&a);
    matrix_free(&b);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        uint64_t count = zkey_points_count(z, all[i]);
        void *points = malloc(count * POINT_MAX_BYTES + 1);
        must(zkey_read_points(z, all[i], 0, count, points, true, NULL, &e), &e);
        if (all[i] == section)
            change(facts->curve, points);
        must(zkey_write_points(w, all[i], points, count, &e), &e);
        free(points);
    }
    must(zkey_commit(&w, &e), &e);
    zkey_close(&z);
}

static void add_small_order(const struct curve *c, void *first_point)
{
    point_t small;
    assert_true(small_order_point(c, true, &small));
    c->g2->add(first_point, first_point, &small);
}

static void add_generator(const struct curve *c, void *first_point)
{
    c->g1->add(first_point, first_point, c->g1->generator);
}

/* On its curve and outside the subgroup: found after the proof has failed, and then named. */
static void test_a_key_outside_the_subgroup_is_not_blamed_on_the_witness(void **state)
{
    (void)state;
    static const char *const curves[] = {"bn128", "bls12381"};
    for (size_t i = 0; i < 2; i++) {
        struct local_proof p;
        struct err e = {0};
        copy_key(fixture_path(curves[i], "mul", ".zkey"), ZKEY_B2, add_small_order);
        assert_int_equal(prove(altered, fixture_path(curves[i], "mul", ".wtns"), 0, &p, &e),
                         ERR_VALUE);
        assert_non_null(strstr(e.text, "subgroup"));
        assert_non_null(strstr(e.text, "section 7"));
        unlink(altered);
    }
}

/* A point that is valid and wrong: no proof leaves. */
static void test_a_wrong_key_gives_no_proof(void **state)
{
    (void)state;
    struct local_proof p;
    struct err e = {0};
    copy_key(fixture_path("bn128", "mul", ".zkey"), ZKEY_H, add_generator);
    assert_int_equal(prove(altered, fixture_path("bn128", "mul", ".wtns"), 0, &p, &e),
                     ERR_UNSATISFIED);
    assert_null(p.publics);
    unlink(altered);
}

static void test_rows_straight_from_the_key_are_those_of_its_matrices(void **state)
{
    (void)state;
    static const char *const names[] = {"mul",        "edge_linear",  "edge_full",
                                        "edge_nopub", "edge_manypub", "wide_12"};
    static const char *const curves[] = {"bn128", "bls12381"};
    struct err e = {0};
    struct pool *pool = pool_new(3, NULL, &e);
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < sizeof names / sizeof names[0]; j++) {
            struct fixture f;
            fixture_load(&f, curves[i], names[j]);
            size_t n = (size_t)1 << f.circuit->domain_log2, bytes = n * sizeof(fr_t);
            fr_t *want = malloc(bytes), *a = malloc(bytes), *b = malloc(bytes);
            struct zkey *z = zkey_open(fixture_path(curves[i], names[j], ".zkey"), &e);
            must(e.code, &e);
            must(zkey_evaluate(z, f.w, a, b, pool, &e), &e);
            matrix_evaluate(f.circuit->curve, &f.circuit->a, f.w, want, n, NULL);
            assert_memory_equal(want, a, bytes);
            matrix_evaluate(f.circuit->curve, &f.circuit->b, f.w, want, n, NULL);
            assert_memory_equal(want, b, bytes);
            zkey_close(&z);
            free(want), free(a), free(b);
            fixture_free(&f);
        }
    pool_free(&pool);
}

static void count_stage(void *arg, const char *what, unsigned number, unsigned count)
{
    unsigned *seen = arg;
    assert_non_null(what);
    assert_int_equal(number, ++*seen);
    assert_int_equal(count, LOCAL_STAGES_MAX);
}

static void test_stages_are_told_in_order(void **state)
{
    (void)state;
    unsigned seen = 0;
    struct local_proof p;
    struct err e = {0};
    const struct local_job job = {
        .key_path = fixture_path("bn128", "mul", ".zkey"),
        .witness_path = fixture_path("bn128", "mul", ".wtns"),
        .stage = count_stage,
        .stage_arg = &seen,
    };
    must(local_prove(&job, &p, NULL, &e), &e);
    assert_int_equal(seen, LOCAL_STAGES_MAX);
    local_proof_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_of_any_size_give_a_valid_proof),
        cmocka_unit_test(test_a_key_outside_the_subgroup_is_not_blamed_on_the_witness),
        cmocka_unit_test(test_a_wrong_key_gives_no_proof),
        cmocka_unit_test(test_rows_straight_from_the_key_are_those_of_its_matrices),
        cmocka_unit_test(test_stages_are_told_in_order),
    };
    if (!mkdtemp(directory))
        return 1;
    snprintf(altered, sizeof altered, "%s/altered.zkey", directory);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(directory);
    return failed;
}
