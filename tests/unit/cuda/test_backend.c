/* The cuda backend's door: whole proofs in flight against the CPU prover, bit for bit, then
 * verified; keys of both conventions; budgets from ample to impossible; eviction. Linked with the
 * device's kernels (skipped where there is no device) and with the emulated ones (small circuits
 * alone). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "assemble.h"
#include "device.h"
#include "generate.h"
#include "ntt.h"
#include "prepared.h"
#include "setup.h"
#include "verify.h"
#include "wtns.h"
#include "zkey.h"

static bool emulated;

struct subject {
    struct circuit *circuit;
    fr_t *w, *a, *b;
    struct groth16_sums sums; /* by the CPU */
};

static void expect_ok(enum err_code rc, const struct err *e)
{
    if (rc)
        fail_msg("%s", e->text);
}

static void subject_prove(struct subject *s)
{
    struct err e;
    const struct circuit *c = s->circuit;
    const size_t n = (size_t)1 << c->domain_log2;
    s->a = malloc(n * sizeof *s->a);
    s->b = malloc(n * sizeof *s->b);
    fr_t *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
    matrix_evaluate(c->curve, &c->a, s->w, s->a, n, NULL);
    matrix_evaluate(c->curve, &c->b, s->w, s->b, n, NULL);
    memcpy(a, s->a, n * sizeof *a);
    memcpy(b, s->b, n * sizeof *b);
    struct ntt_domain *d = ntt_domain_new(c->curve, c->roots, c->domain_log2, NULL, &e);
    assert_non_null(d);
    expect_ok(groth16_sums(c, d, s->w, a, b, &s->sums, NULL, NULL, &e), &e);
    ntt_domain_free(&d);
    free(a), free(b);
}

static struct subject from_fixture(const char *curve, const char *name)
{
    char path[512];
    struct err e;
    struct subject s = {0};
    snprintf(path, sizeof path, "%s/%s/%s/%s.zkey", FIXTURES, curve, name, name);
    s.circuit = zkey_load_circuit(path, CHECK_ON_CURVE, NULL, &e);
    if (!s.circuit)
        fail_msg("%s", e.text);
    memcpy(s.circuit->digest, name, strlen(name) < 24 ? strlen(name) : 24);
    memcpy(s.circuit->digest + 24, curve, 5);
    snprintf(path, sizeof path, "%s/%s/%s/%s.wtns", FIXTURES, curve, name, name);
    struct wtns *f = wtns_open(path, &e);
    assert_non_null(f);
    s.w = malloc(wtns_facts(f)->n * sizeof *s.w);
    expect_ok(wtns_read(f, s.w, NULL, &e), &e);
    wtns_close(&f);
    subject_prove(&s);
    return s;
}

static struct subject from_setup(const struct curve *c, uint32_t n_constraints, enum h_basis basis)
{
    struct err e;
    struct r1cs system;
    struct subject s = {0};
    char path[] = "/tmp/test_backend_XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    const struct generate_options how = {c, n_constraints, 2, 3, 0.5, 7};
    expect_ok(generate_circuit(&how, &system, &s.w, &e), &e);
    const struct setup_options options = {
        .roots = basis == H_MONOMIAL ? ROOT_BELLMAN : ROOT_SNARKJS, .h_basis = basis};
    struct setup *setup = setup_new(&system, &options, NULL, &e);
    if (!setup)
        fail_msg("%s", e.text);
    uint8_t digest[32];
    expect_ok(setup_write_prepared(setup, path, digest, NULL, NULL, NULL, &e), &e);
    setup_free(&setup);
    r1cs_free(&system);
    s.circuit = circuit_map(path, &e);
    if (!s.circuit)
        fail_msg("%s", e.text);
    unlink(path);
    subject_prove(&s);
    return s;
}

static void subject_free(struct subject *s)
{
    circuit_free(&s->circuit);
    free(s->w), free(s->a), free(s->b);
}

static struct backend *open_backend(uint64_t budget)
{
    struct backend *b = NULL;
    struct err e;
    expect_ok(backend_cuda.open(&b, 0, budget, 0, &e), &e);
    return b;
}

/* Starts as many proofs as may be in flight, every other one with a and b given. */
static void prove_all(struct backend *b, const struct subject *s)
{
    struct backend_caps caps;
    struct err e;
    int ticket[16];
    backend_cuda.caps(b, &caps);
    assert_true(caps.max_in_flight <= 16);
    for (unsigned i = 0; i < caps.max_in_flight; i++) {
        const struct prove_input in = {s->circuit, s->w, i % 2 ? s->a : NULL, i % 2 ? s->b : NULL};
        ticket[i] = backend_cuda.prove_start(b, &in, &e);
        if (ticket[i] < 0)
            fail_msg("%s", e.text);
    }
    const struct prove_input more = {s->circuit, s->w, NULL, NULL};
    assert_int_equal(backend_cuda.prove_start(b, &more, &e), -1);
    assert_int_equal(e.code, ERR_REFUSED);
    for (unsigned i = 0; i < caps.max_in_flight; i++) {
        struct groth16_sums sums;
        struct prove_timing t;
        while (backend_cuda.prove_poll(b, ticket[i]) < PROVE_DONE)
            usleep(100);
        memset(&sums, 0xa5, sizeof sums);
        expect_ok(backend_cuda.prove_finish(b, ticket[i], &sums, &t, &e), &e);
        const struct curve *c = s->circuit->curve;
        assert_memory_equal(&sums.a, &s->sums.a, c->g1->bytes);
        assert_memory_equal(&sums.b1, &s->sums.b1, c->g1->bytes);
        assert_memory_equal(&sums.b2, &s->sums.b2, c->g2->bytes);
        assert_memory_equal(&sums.l, &s->sums.l, c->g1->bytes);
        assert_memory_equal(&sums.h, &s->sums.h, c->g1->bytes);
        assert_true(t.queued_ns <= t.copy_begin_ns + 1000000);
        assert_true(t.copy_begin_ns <= t.copy_end_ns && t.kernel_begin_ns <= t.kernel_end_ns);
        struct proof proof;
        groth16_assemble(s->circuit, &sums, &proof);
        expect_ok(groth16_verify(&s->circuit->vk, s->w + 1, &proof, &e), &e);
    }
}

static void check_subject(struct subject s)
{
    struct err e;
    struct backend *b = open_backend(0);
    expect_ok(backend_cuda.circuit_load(b, s.circuit, &e), &e);
    assert_true(backend_cuda.circuit_resident(b, s.circuit->digest));
    prove_all(b, &s);
    if (!emulated)
        prove_all(b, &s);
    backend_cuda.circuit_evict(b, s.circuit->digest);
    assert_false(backend_cuda.circuit_resident(b, s.circuit->digest));
    backend_cuda.close(&b);
    subject_free(&s);
}

static void fixtures_prove_as_on_the_cpu(void **state)
{
    (void)state;
    static const char *const curve[] = {"bn128", "bls12381"};
    static const char *const name[] = {"mul", "edge_full", "edge_linear", "edge_nopub", "wide_12"};
    for (int c = 0; c < 2; c++)
        for (int i = 0; i < (emulated ? 1 : 5); i++)
            check_subject(from_fixture(curve[c], name[i]));
    if (!emulated)
        check_subject(from_fixture("bn128", "poseidon_chain"));
}

static void both_h_bases_prove_as_on_the_cpu(void **state)
{
    (void)state;
    const uint32_t n = emulated ? 20 : 5000;
    check_subject(from_setup(&curve_bls12_381, n, H_MONOMIAL));
    check_subject(from_setup(&curve_bn254, n, H_MONOMIAL));
    if (!emulated)
        check_subject(from_setup(&curve_bls12_381, n, H_ODD_LAGRANGE));
}

/* Whatever the budget: a right proof, or a refusal that says how much is needed. */
static void any_budget_proves_or_refuses(void **state)
{
    (void)state;
    struct subject s = emulated ? from_fixture("bn128", "mul") : from_fixture("bn128", "wide_12");
    unsigned proved = 0, refused = 0, single = 0;
    for (uint64_t budget = (uint64_t)256 << 20; budget >= 1 << 16;
         budget = emulated ? budget / 4 : budget * 3 / 4) {
        struct err e;
        struct backend *b = open_backend(budget);
        const enum err_code rc = backend_cuda.circuit_load(b, s.circuit, &e);
        if (rc) {
            assert_int_equal(rc, ERR_MEMORY);
            assert_non_null(strstr(e.text, "MiB"));
            refused++;
        } else if (key_find(b, s.circuit->digest)->max_sets > 1 || proved == 0) {
            prove_all(b, &s);
            single += key_find(b, s.circuit->digest)->max_sets > 1;
            proved++;
        }
        backend_cuda.close(&b);
    }
    assert_true(proved > 0 && refused > 0 && (emulated || single > 0));
    subject_free(&s);
}

static void the_least_recently_used_key_goes(void **state)
{
    (void)state;
    struct err e;
    struct subject s[3];
    for (int i = 0; i < 3; i++) { /* the same key under three names: three equal sizes */
        s[i] = from_fixture("bn128", "mul");
        s[i].circuit->digest[31] = (uint8_t)i;
    }
    struct backend *b = open_backend(0);
    expect_ok(backend_cuda.circuit_load(b, s[0].circuit, &e), &e);
    const uint64_t key = b->key_bytes;
    uint64_t budget = 3 * key + b->work_bytes;
    for (bool all = true; all; budget -= key / 2) { /* until three no longer fit */
        backend_cuda.close(&b);
        b = open_backend(budget);
        for (int i = 0; i < 3; i++) {
            expect_ok(backend_cuda.circuit_load(b, s[i].circuit, &e), &e);
            if (i == 1) /* used again: the second is now the one to go */
                expect_ok(backend_cuda.circuit_load(b, s[0].circuit, &e), &e);
        }
        all = b->key_bytes == 3 * key;
    }
    assert_true(backend_cuda.circuit_resident(b, s[0].circuit->digest));
    assert_false(backend_cuda.circuit_resident(b, s[1].circuit->digest));
    assert_true(backend_cuda.circuit_resident(b, s[2].circuit->digest));
    prove_all(b, &s[2]);
    prove_all(b, &s[0]);
    backend_cuda.close(&b);
    for (int i = 0; i < 3; i++)
        subject_free(&s[i]);
}

static void a_missing_device_is_unavailable(void **state)
{
    (void)state;
    struct backend *b = NULL;
    struct err e;
    assert_int_equal(backend_cuda.open(&b, 99, 0, 0, &e), ERR_UNAVAILABLE);
    assert_non_null(strstr(e.text, "device 99"));
    assert_null(b);
}

int main(void)
{
    int n = 0;
    if (cudaGetDeviceCount(&n) != cudaSuccess || n == 0) {
        printf("skipped: no CUDA device (%s)\n", cudaGetErrorString(cudaGetLastError()));
        return 77;
    }
    struct cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, 0);
    /* Small sizes also under a checker that slows the device down. */
    emulated = strcmp(properties.name, "emulated device") == 0 || getenv("MILLRACE_TEST_SMALL");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixtures_prove_as_on_the_cpu),
        cmocka_unit_test(both_h_bases_prove_as_on_the_cpu),
        cmocka_unit_test(any_budget_proves_or_refuses),
        cmocka_unit_test(the_least_recently_used_key_goes),
        cmocka_unit_test(a_missing_device_is_unavailable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
