/* Every intermediate value of a proof against those computed in plain big integers (vectors.json,
 * r = 3, s = 5): rows, coefficients, values on the coset, scalars of H, the five sums, the proof.
 */
#include "fixture.h"
#include "ntt.h"
#include <stdlib.h>
#include <string.h>

enum form { PLAIN, MONT };

static void expect_scalars(const struct curve *c, const json_t *expected, const fr_t *got, size_t n,
                           enum form form, const char *what)
{
    assert_int_equal(json_array_size(expected), n);
    for (size_t i = 0; i < n; i++) {
        fr_t want = scalar_of(c, json_array_get(expected, i)), have = got[i];
        if (form == MONT)
            c->fr_from_mont(&have, &have, 1);
        if (memcmp(&want, &have, sizeof want) != 0)
            fail_msg("%s[%zu] differs", what, i);
    }
}

static void expect_g1(const struct curve *c, const json_t *msm, const char *key, const point_t *got)
{
    point_t want = g1_of(c, json_object_get(msm, key));
    if (!c->g1->equal(&want, got))
        fail_msg("sum %s differs", key);
}

static void expect_proof(const struct fixture *f, const json_t *v, const struct proof *got)
{
    struct err e = {0};
    struct proof want;
    must(proof_from_json(json_object_get(v, "proof"), "vectors", f->circuit->curve, &want, &e), &e);
    const struct curve *c = f->circuit->curve;
    assert_true(c->g1->equal(&want.a, &got->a));
    assert_true(c->g2->equal(&want.b, &got->b));
    assert_true(c->g1->equal(&want.c, &got->c));
}

static void transforms(const struct fixture *f, const json_t *v, const struct ntt_domain *dom,
                       const fr_t *a, const fr_t *b)
{
    const struct curve *c = f->circuit->curve;
    size_t n = (size_t)1 << f->circuit->domain_log2;
    fr_t *x = malloc(n * sizeof *x);
    const char *const names[3][3] = {
        {"A", "A_coeffs", "A_coset"}, {"B", "B_coeffs", "B_coset"}, {"C", "C_coeffs", "C_coset"}};
    for (int i = 0; i < 3; i++) {
        fr_t *rows = malloc(n * sizeof *rows);
        if (i < 2)
            memcpy(rows, i ? b : a, n * sizeof *rows);
        else
            c->fr_mul_many(rows, a, b, n);
        expect_scalars(c, json_object_get(v, names[i][0]), rows, n, MONT, names[i][0]);
        memcpy(x, rows, n * sizeof *x);
        ntt_inverse(dom, x, NULL);
        expect_scalars(c, json_object_get(v, names[i][1]), x, n, MONT, names[i][1]);
        memcpy(x, rows, n * sizeof *x);
        ntt_to_coset(dom, x, NULL);
        expect_scalars(c, json_object_get(v, names[i][2]), x, n, MONT, names[i][2]);
        free(rows);
    }
    free(x);
}

static void all_steps(const char *curve, const char *name)
{
    struct fixture f;
    struct err e = {0};
    fixture_load(&f, curve, name);
    json_t *v = fixture_vectors(curve, name);
    const struct circuit *ck = f.circuit;
    const struct curve *c = ck->curve;
    size_t n = (size_t)1 << ck->domain_log2;
    assert_int_equal(json_integer_value(json_object_get(v, "domainSize")), n);
    expect_scalars(c, json_object_get(v, "witness"), f.w, ck->n_wires, PLAIN, "witness");

    fr_t *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), *h = malloc(n * sizeof *h),
         *scratch = malloc(n * sizeof *scratch);
    struct ntt_domain *dom = ntt_domain_new(c, ck->roots, ck->domain_log2, NULL, &e);
    must(e.code, &e);
    matrix_evaluate(c, &ck->a, f.w, a, n, NULL);
    matrix_evaluate(c, &ck->b, f.w, b, n, NULL);
    transforms(&f, v, dom, a, b);
    memcpy(h, a, n * sizeof *h);
    memcpy(scratch, b, n * sizeof *scratch);
    must(groth16_quotient(c, ck->roots, ck->h_basis, dom, ck->domain_log2, h, scratch, NULL, &e),
         &e);
    expect_scalars(c, json_object_get(v, "H_scalars"), h, n, PLAIN, "H_scalars");

    struct groth16_sums sums;
    must(groth16_sums(ck, dom, f.w, a, b, &sums, NULL, NULL, &e), &e);
    const json_t *msm = json_object_get(v, "msm");
    expect_g1(c, msm, "A", &sums.a);
    expect_g1(c, msm, "B1", &sums.b1);
    expect_g1(c, msm, "C", &sums.l);
    expect_g1(c, msm, "H", &sums.h);
    point_t b2 = g2_of(c, json_object_get(msm, "B2"));
    assert_true(c->g2->equal(&b2, &sums.b2));

    struct proof proof;
    assert_string_equal(json_string_value(json_object_get(v, "r")), "3");
    assert_string_equal(json_string_value(json_object_get(v, "s")), "5");
    setenv("MILLRACE_TEST_RS", "3,5", 1); /* assemble.c is compiled for this test with the switch */
    groth16_assemble(ck, &sums, &proof);
    unsetenv("MILLRACE_TEST_RS");
    expect_proof(&f, v, &proof);
    must(groth16_verify(&f.vk, f.w + 1, &proof, &e), &e);

    /* Without the switch r and s are drawn: two proofs of one witness differ, and both verify. */
    struct proof other;
    groth16_assemble(ck, &sums, &proof);
    groth16_assemble(ck, &sums, &other);
    assert_false(c->g1->equal(&proof.a, &other.a));
    assert_false(c->g2->equal(&proof.b, &other.b));
    must(groth16_verify(&f.vk, f.w + 1, &proof, &e), &e);
    must(groth16_verify(&f.vk, f.w + 1, &other, &e), &e);

    ntt_domain_free(&dom);
    free(a), free(b), free(h), free(scratch);
    json_decref(v);
    fixture_free(&f);
}

static void test_mul(void **state)
{
    (void)state;
    all_steps("bn128", "mul");
    all_steps("bls12381", "mul");
}

static void test_domain_of_two(void **state)
{
    (void)state;
    all_steps("bn128", "edge_linear");
    all_steps("bls12381", "edge_linear");
}

static void test_full_domain(void **state)
{
    (void)state;
    all_steps("bn128", "edge_full");
    all_steps("bls12381", "edge_full");
}

static void test_no_public_value(void **state)
{
    (void)state;
    all_steps("bn128", "edge_nopub");
    all_steps("bls12381", "edge_nopub");
}

static void test_many_public_values(void **state)
{
    (void)state;
    all_steps("bn128", "edge_manypub");
    all_steps("bls12381", "edge_manypub");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mul),
        cmocka_unit_test(test_domain_of_two),
        cmocka_unit_test(test_full_domain),
        cmocka_unit_test(test_no_public_value),
        cmocka_unit_test(test_many_public_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
