/* bellperson's vectors: our set-up writes its .params and .vk byte for byte, each intermediate
 * value of a proof is its, and the proof with the given r and s is the same 192 bytes. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bellman_r1cs.h"
#include "file.h"
#include "ntt.h"
#include "params.h"
#include "prepare.h"
#include "proof_bytes.h"
#include "vector.h"
#include "zcash_point.h"

static const char *const directories[] = {"tiny",      "mix1k",      "poseidon2",
                                          "poseidon8", "poseidon11", "post2k"};
enum { VECTORS = sizeof directories / sizeof *directories };

static const struct curve *const curve = &curve_bls12_381;

static char *temp_file(void)
{
    static char paths[4][40];
    static int next;
    char *path = strcpy(paths[next++ % 4], "/tmp/millrace-filecoin-XXXXXX");
    close(mkstemp(path));
    return path;
}

static void test_set_up_writes_their_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        struct vector v;
        struct err e = {0};
        struct r1cs r;
        vector_load(&v, directories[i]);
        must(bellman_r1cs_read(vector_path(&v, "r1cs.bin"), &r, &e), &e);
        const struct setup_options how = {
            .secrets = &v.secrets, .roots = ROOT_BELLMAN, .h_basis = H_MONOMIAL};
        struct setup *s = setup_new(&r, &how, NULL, &e);
        must(e.code, &e);
        char *params = temp_file(), *vk = temp_file();
        must(setup_write_params(s, params, NULL, NULL, NULL, &e), &e);
        must(setup_write_vk(s, vk, NULL, &e), &e);
        same_bytes(params, vector_path(&v, ".params"));
        same_bytes(vk, vector_path(&v, ".vk"));
        setup_free(&s);
        r1cs_free(&r);
        vector_free(&v);
        unlink(params);
        unlink(vk);
    }
}

static void expect_values(const fr_t *got_mont, const uint8_t *expected, size_t n, const char *what)
{
    for (size_t i = 0; i < n; i++) {
        fr_t plain;
        curve->fr_from_mont(&plain, &got_mont[i], 1);
        if (memcmp(&plain, expected + i * sizeof plain, sizeof plain) != 0)
            fail_msg("%s[%zu] differs", what, i);
    }
}

/* a, b, c by row. */
static void check_rows(const struct vector *v, const struct circuit *ck, const fr_t *a,
                       const fr_t *b)
{
    size_t n;
    uint64_t rows;
    uint8_t *abc = vector_read(v, "abc.bin", &n);
    memcpy(&rows, abc, 8);
    assert_int_equal(rows, ck->a.n_rows);
    assert_int_equal(n, 8 + 3 * rows * sizeof(fr_t));
    fr_t *c = malloc(rows * sizeof *c), *product = malloc(rows * sizeof *product);
    matrix_evaluate(curve, &ck->c, v->w, c, rows, NULL);
    curve->fr_mul_many(product, a, b, rows);
    expect_values(a, abc + 8, rows, "a");
    expect_values(b, abc + 8 + rows * 32, rows, "b");
    expect_values(c, abc + 8 + 2 * rows * 32, rows, "c");
    expect_values(product, abc + 8 + 2 * rows * 32, rows, "a o b");
    free(abc);
    free(c);
    free(product);
}

/* Their coefficients, where the vector has them. */
static void check_coefficients(const struct vector *v, const struct ntt_domain *dom, const fr_t *a,
                               const fr_t *b, size_t domain)
{
    if (access(vector_path(v, "abc_coeffs.bin"), R_OK) != 0)
        return;
    size_t n;
    uint8_t *expected = vector_read(v, "abc_coeffs.bin", &n);
    assert_int_equal(n, 8 + 3 * domain * sizeof(fr_t));
    fr_t *x = malloc(domain * sizeof *x);
    for (int k = 0; k < 3; k++) {
        if (k < 2)
            memcpy(x, k ? b : a, domain * sizeof *x);
        else
            curve->fr_mul_many(x, a, b, domain);
        ntt_inverse(dom, x, NULL);
        expect_values(x, expected + 8 + (size_t)k * domain * 32, domain, "coefficient");
    }
    free(x);
    free(expected);
}

static void check_h(const struct vector *v, const fr_t *h_plain, size_t domain)
{
    size_t n;
    uint8_t *expected = vector_read(v, "h.bin", &n);
    assert_int_equal(n, 8 + (domain - 1) * sizeof(fr_t));
    assert_memory_equal(h_plain, expected + 8, n - 8);
    static const fr_t zero;
    assert_memory_equal(&h_plain[domain - 1], &zero, sizeof zero); /* dropped by both */
    free(expected);
}

static void check_sums(const struct vector *v, const struct groth16_sums *sums)
{
    size_t n, at = 0;
    uint8_t *expected = vector_read(v, "msm.bin", &n), bytes[POINT_MAX_BYTES];
    const struct {
        const char *name;
        const struct group *g;
        const point_t *p;
    } order[] = {{"H", curve->g1, &sums->h},
                 {"L", curve->g1, &sums->l},
                 {"A", curve->g1, &sums->a},
                 {"B in G1", curve->g1, &sums->b1},
                 {"B in G2", curve->g2, &sums->b2}};
    assert_int_equal(n, 4 * 96 + 192);
    for (size_t i = 0; i < 5; i++) {
        zcash_point_write(order[i].g, order[i].p, false, bytes);
        if (memcmp(bytes, expected + at, order[i].g->bytes) != 0)
            fail_msg("%s: the sum of %s differs", v->name, order[i].name);
        at += order[i].g->bytes;
    }
    free(expected);
}

/* The wires of a query against two lists of one byte a variable. */
static void check_density(const struct vector *v, const struct query *q, const uint8_t *inputs,
                          const uint8_t *aux)
{
    uint64_t k = 0;
    for (uint64_t wire = 0; wire < v->n_inputs + v->n_aux; wire++) {
        bool dense = wire < v->n_inputs ? !inputs || inputs[wire] : aux[wire - v->n_inputs];
        if (!dense)
            continue;
        assert_true(k < q->n);
        assert_int_equal(q->wire ? q->wire[k] : q->first_wire + k, wire);
        k++;
    }
    assert_int_equal(k, q->n);
}

static void check_densities(const struct vector *v, const struct circuit *ck)
{
    size_t n;
    uint8_t *d = vector_read(v, "density.bin", &n);
    const uint8_t *a_aux = d + 8, *b_inputs = a_aux + v->n_aux + 8,
                  *b_aux = b_inputs + v->n_inputs + 8;
    assert_int_equal(n, 24 + 2 * v->n_aux + v->n_inputs);
    check_density(v, &ck->a_query, NULL, a_aux);
    check_density(v, &ck->b1_query, b_inputs, b_aux);
    check_density(v, &ck->b2_query, b_inputs, b_aux);
    free(d);
}

static void check_proof(const struct vector *v, const struct circuit *ck,
                        const struct groth16_sums *sums, const char *rs, const char *ending)
{
    struct err e = {0};
    struct proof proof, *read;
    uint8_t bytes[PROOF_BYTES];
    size_t n;
    setenv("MILLRACE_TEST_RS", rs, 1); /* assemble.c is compiled for this test with the switch */
    groth16_assemble(ck, sums, &proof);
    unsetenv("MILLRACE_TEST_RS");
    must(proof_to_bytes(&proof, bytes, &e), &e);
    uint8_t *expected = vector_read(v, ending, &n);
    assert_int_equal(n, PROOF_BYTES);
    assert_memory_equal(bytes, expected, n);
    free(expected);
    must(groth16_verify(&ck->vk, v->w + 1, &proof, &e), &e);
    must(proof_bytes_read(vector_path(v, ending), &read, &n, &e), &e);
    assert_int_equal(n, 1);
    assert_true(curve->g1->equal(&read->a, &proof.a) && curve->g2->equal(&read->b, &proof.b) &&
                curve->g1->equal(&read->c, &proof.c));
    free(read);
}

static void every_step(const struct vector *v, const struct circuit *ck)
{
    struct err e = {0};
    size_t n = (size_t)1 << ck->domain_log2;
    fr_t *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), *h = malloc(n * sizeof *h),
         *scratch = malloc(n * sizeof *scratch);
    struct ntt_domain *dom = ntt_domain_new(curve, ck->roots, ck->domain_log2, NULL, &e);
    must(e.code, &e);
    matrix_evaluate(curve, &ck->a, v->w, a, n, NULL);
    matrix_evaluate(curve, &ck->b, v->w, b, n, NULL);
    check_rows(v, ck, a, b);
    check_coefficients(v, dom, a, b, n);
    memcpy(h, a, n * sizeof *h);
    memcpy(scratch, b, n * sizeof *scratch);
    must(
        groth16_quotient(curve, ck->roots, ck->h_basis, dom, ck->domain_log2, h, scratch, NULL, &e),
        &e);
    check_h(v, h, n);
    struct groth16_sums sums;
    must(groth16_sums(ck, dom, v->w, a, b, &sums, NULL, NULL, &e), &e);
    check_sums(v, &sums);
    check_proof(v, ck, &sums, v->rs, ".proof");
    check_proof(v, ck, &sums, "0,0", ".proof_r0s0");
    ntt_domain_free(&dom);
    free(a), free(b), free(h), free(scratch);
}

static void test_proofs_are_theirs_step_by_step(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        struct vector v;
        struct err e = {0};
        vector_load(&v, directories[i]);
        char *prepared = temp_file();
        const struct key_files files = {.key = vector_path(&v, ".params"),
                                        .constraints = vector_path(&v, "r1cs.bin")};
        must(prepare_key(&files, prepared, NULL, NULL, &e), &e);
        struct circuit *ck = circuit_map(prepared, &e);
        must(e.code, &e);
        must(circuit_check(ck, prepared, NULL, &e), &e);
        assert_int_equal(ck->n_wires, v.n_inputs + v.n_aux);
        assert_int_equal(ck->n_public, v.n_inputs - 1);
        check_densities(&v, ck);
        every_step(&v, ck);
        circuit_free(&ck);
        unlink(prepared);
        vector_free(&v);
    }
}

/* The same constraints from both kinds of file give the same circuit, byte for byte. */
static void test_a_pce_file_gives_the_same_circuit(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        struct vector v;
        struct err e = {0};
        struct r1cs r;
        uint8_t digest[2][32];
        vector_load(&v, directories[i]);
        must(bellman_r1cs_read(vector_path(&v, "r1cs.bin"), &r, &e), &e);
        char *pce = temp_file(), *prepared = temp_file();
        must(pce_write(pce, &r, &e), &e);
        struct bellman_r1cs_facts facts;
        must(pce_read_facts(pce, &facts, &e), &e);
        assert_int_equal(facts.n_inputs, v.n_inputs);
        assert_int_equal(facts.n_aux, v.n_aux);
        for (int k = 0; k < 2; k++) {
            const struct key_files files = {
                .key = vector_path(&v, ".params"),
                .constraints = k ? pce : vector_path(&v, "r1cs.bin"),
            };
            must(prepare_key(&files, prepared, digest[k], NULL, &e), &e);
        }
        assert_memory_equal(digest[0], digest[1], 32);
        r1cs_free(&r);
        unlink(pce);
        unlink(prepared);
        vector_free(&v);
    }
}

static void test_files_that_do_not_belong_together(void **state)
{
    (void)state;
    struct vector tiny, other;
    char *out = temp_file();
    vector_load(&tiny, "tiny");
    vector_load(&other, "poseidon8");
    struct err e = {0};
    struct key_files files = {.key = vector_path(&tiny, ".params"),
                              .constraints = vector_path(&other, "r1cs.bin")};
    assert_int_equal(prepare_key(&files, out, NULL, NULL, &e), ERR_MISMATCH);
    assert_non_null(strstr(e.text, "3 inputs, the constraint system 2"));
    files.constraints = NULL;
    assert_int_equal(prepare_key(&files, out, NULL, NULL, &e), ERR_USAGE);
    assert_non_null(strstr(e.text, "--pce"));
    unlink(out);
    vector_free(&tiny);
    vector_free(&other);
}

/* A parameters.json names 16 bytes of the file's BLAKE2b-512 (checked with b2sum). */
static void test_digests(void **state)
{
    (void)state;
    struct vector v;
    struct err e = {0};
    vector_load(&v, "tiny");
    char digest[33], *list = temp_file(), *out = temp_file();
    must(params_digest(vector_path(&v, ".params"), digest, &e), &e);
    assert_string_equal(digest, "9125d8234082f365d175577fb4daf6f7");
    struct key_files files = {.key = vector_path(&v, ".params"),
                              .constraints = vector_path(&v, "r1cs.bin"),
                              .digests = list};
    const struct {
        const char *text, *message;
        enum err_code code;
    } lists[] = {
        {"{\"tiny.params\":{\"digest\":\"9125d8234082f365d175577fb4daf6f7\"}}", "", ERR_OK},
        {"{\"tiny.params\":{\"digest\":\"9125d8234082f365d175577fb4daf6f8\"}}",
         "expected 9125d8234082f365d175577fb4daf6f8", ERR_MISMATCH},
        {"{\"tiny.vk\":{\"digest\":\"9125d8234082f365d175577fb4daf6f7\"}}",
         "names no digest for tiny.params", ERR_MISMATCH},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        must(file_replace(list, lists[i].text, strlen(lists[i].text), 0644, &e), &e);
        e = (struct err){0};
        assert_int_equal(prepare_key(&files, out, NULL, NULL, &e), lists[i].code);
        assert_non_null(strstr(e.text, lists[i].message));
    }
    unlink(list);
    unlink(out);
    vector_free(&v);
}

/* A wire that no constraint has a term of: bellperson's generator refuses it, and so do we. */
static void test_an_unbound_variable_has_no_params(void **state)
{
    (void)state;
    struct vector v;
    struct err e = {0};
    struct r1cs r;
    vector_load(&v, "tiny");
    must(bellman_r1cs_read(vector_path(&v, "r1cs.bin"), &r, &e), &e);
    r.n_wires++;
    r.a.n_wires = r.b.n_wires = r.c.n_wires = r.n_wires;
    const struct setup_options how = {.roots = ROOT_BELLMAN, .h_basis = H_MONOMIAL};
    struct setup *s = setup_new(&r, &how, NULL, &e);
    must(e.code, &e);
    char *out = temp_file();
    assert_int_equal(setup_write_params(s, out, NULL, NULL, NULL, &e), ERR_VALUE);
    assert_non_null(strstr(e.text, "no constraint binds"));
    unlink(out);
    setup_free(&s);
    r1cs_free(&r);
    vector_free(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set_up_writes_their_files),
        cmocka_unit_test(test_proofs_are_theirs_step_by_step),
        cmocka_unit_test(test_a_pce_file_gives_the_same_circuit),
        cmocka_unit_test(test_files_that_do_not_belong_together),
        cmocka_unit_test(test_digests),
        cmocka_unit_test(test_an_unbound_variable_has_no_params),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
