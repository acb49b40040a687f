/* The cpu backend: the sums of groth16_sums, two in flight, the extent untouched. */
#include "backend.h"
#include "fixture.h"
#include "ntt.h"
#include <stdlib.h>
#include <string.h>

static void expect_equal(const struct curve *c, const struct groth16_sums *x,
                         const struct groth16_sums *y)
{
    assert_memory_equal(&x->a, &y->a, c->g1->bytes);
    assert_memory_equal(&x->b1, &y->b1, c->g1->bytes);
    assert_memory_equal(&x->b2, &y->b2, c->g2->bytes);
    assert_memory_equal(&x->l, &y->l, c->g1->bytes);
    assert_memory_equal(&x->h, &y->h, c->g1->bytes);
}

static struct groth16_sums reference(const struct fixture *f, fr_t *a, fr_t *b)
{
    const struct circuit *ck = f->circuit;
    struct err e = {0};
    struct ntt_domain *dom = ntt_domain_new(ck->curve, ck->roots, ck->domain_log2, NULL, &e);
    struct groth16_sums sums;
    must(groth16_sums(ck, dom, f->w, a, b, &sums, NULL, NULL, &e), &e);
    ntt_domain_free(&dom);
    return sums;
}

static void one_circuit(const char *curve, const char *name)
{
    struct fixture f;
    struct err e = {0};
    fixture_load(&f, curve, name);
    struct circuit *ck = f.circuit;
    size_t n = (size_t)1 << ck->domain_log2, bytes = n * sizeof(fr_t);
    fr_t *a = malloc(bytes), *b = malloc(bytes), *a_copy = malloc(bytes), *b_copy = malloc(bytes);
    matrix_evaluate(ck->curve, &ck->a, f.w, a, n, NULL);
    matrix_evaluate(ck->curve, &ck->b, f.w, b, n, NULL);
    memcpy(a_copy, a, bytes);
    memcpy(b_copy, b, bytes);
    struct groth16_sums want = reference(&f, a_copy, b_copy);
    memcpy(a_copy, a, bytes);
    memcpy(b_copy, b, bytes);

    struct backend *backend;
    must(backend_cpu.open(&backend, 0, 0, 2, &e), &e);
    struct backend_caps caps;
    backend_cpu.caps(backend, &caps);
    assert_string_equal(caps.name, "cpu");
    assert_true(caps.evaluates);
    assert_true(caps.max_in_flight >= 2);

    struct prove_input with_rows = {ck, f.w, a, b}, without = {ck, f.w, NULL, NULL};
    assert_int_equal(backend_cpu.prove_start(backend, &with_rows, &e), -1); /* not loaded */
    must(backend_cpu.circuit_load(backend, ck, &e), &e);
    must(backend_cpu.circuit_load(backend, ck, &e), &e);
    assert_true(backend_cpu.circuit_resident(backend, ck->digest));
    for (int round = 0; round < 3; round++) {
        int first = backend_cpu.prove_start(backend, &with_rows, &e);
        int second = backend_cpu.prove_start(backend, &without, &e);
        assert_true(first >= 0 && second >= 0 && first != second);
        assert_int_equal(backend_cpu.prove_start(backend, &without, &e), -1);
        assert_int_equal(e.code, ERR_REFUSED);
        struct groth16_sums got;
        struct prove_timing timing;
        must(backend_cpu.prove_finish(backend, first, &got, &timing, &e), &e);
        expect_equal(ck->curve, &want, &got);
        assert_true(timing.kernel_end_ns > timing.kernel_begin_ns);
        assert_true(timing.kernel_begin_ns >= timing.queued_ns);
        assert_true(timing.ntt_ns > 0 && timing.msm_a_ns > 0 && timing.msm_h_ns > 0);
        assert_true(timing.copy_end_ns >= timing.copy_begin_ns && timing.copy_begin_ns > 0);
        must(backend_cpu.prove_finish(backend, second, &got, &timing, &e), &e);
        expect_equal(ck->curve, &want, &got);
        assert_true(timing.matrices_ns > 0 && timing.copy_begin_ns == 0);
    }
    assert_memory_equal(a, a_copy, bytes);
    assert_memory_equal(b, b_copy, bytes);

    int ticket = backend_cpu.prove_start(backend, &with_rows, &e);
    while (backend_cpu.prove_poll(backend, ticket) == PROVE_QUEUED)
        ;
    assert_int_equal(backend_cpu.prove_poll(backend, ticket), PROVE_DONE);
    struct groth16_sums got;
    must(backend_cpu.prove_finish(backend, ticket, &got, NULL, &e), &e);
    backend_cpu.circuit_evict(backend, ck->digest);
    assert_false(backend_cpu.circuit_resident(backend, ck->digest));
    must(backend_cpu.circuit_load(backend, ck, &e), &e);
    assert_true(backend_cpu.prove_start(backend, &with_rows, &e) >= 0);
    backend_cpu.close(&backend); /* with one in flight */
    assert_null(backend);
    free(a), free(b), free(a_copy), free(b_copy);
    fixture_free(&f);
}

static void test_bn254(void **state)
{
    (void)state;
    one_circuit("bn128", "edge_manypub");
}

static void test_bls12_381(void **state)
{
    (void)state;
    one_circuit("bls12381", "edge_full");
}

static void test_a_second_device_is_refused(void **state)
{
    (void)state;
    struct backend *b;
    struct err e = {0};
    assert_int_equal(backend_cpu.open(&b, 1, 0, 0, &e), ERR_UNAVAILABLE);
    assert_null(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bn254),
        cmocka_unit_test(test_bls12_381),
        cmocka_unit_test(test_a_second_device_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
