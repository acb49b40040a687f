/* Many proofs at once in one process: a circuit, a domain and the key are shared by all threads,
 * and every proof is valid. */
#include "fixture.h"
#include "ntt.h"
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 8, PROOFS = 6 };

struct work {
    const struct fixture *f;
    const struct ntt_domain *dom;
    unsigned pool_threads; /* 0: none */
    int valid;
};

static bool prove_once(const struct work *k, struct pool *pool)
{
    const struct circuit *ck = k->f->circuit;
    struct err e = {0};
    size_t n = (size_t)1 << ck->domain_log2;
    fr_t *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
    struct groth16_sums sums;
    struct proof proof;
    matrix_evaluate(ck->curve, &ck->a, k->f->w, a, n, pool);
    matrix_evaluate(ck->curve, &ck->b, k->f->w, b, n, pool);
    bool valid = groth16_sums(ck, k->dom, k->f->w, a, b, &sums, NULL, pool, &e) == ERR_OK;
    if (valid) {
        groth16_assemble(ck, &sums, &proof);
        valid = groth16_verify(&k->f->vk, k->f->w + 1, &proof, &e) == ERR_OK;
    }
    free(a);
    free(b);
    return valid;
}

static void *prove_many(void *arg)
{
    struct work *k = arg;
    struct err e = {0};
    struct pool *pool = k->pool_threads ? pool_new(k->pool_threads, NULL, &e) : NULL;
    for (int i = 0; i < PROOFS; i++)
        k->valid += prove_once(k, pool);
    pool_free(&pool);
    return NULL;
}

static void all_at_once(const char *curve, const char *circuit)
{
    struct fixture f;
    struct err e = {0};
    fixture_load(&f, curve, circuit);
    struct ntt_domain *dom =
        ntt_domain_new(f.circuit->curve, f.circuit->roots, f.circuit->domain_log2, NULL, &e);
    must(e.code, &e);
    struct work work[THREADS];
    pthread_t thread[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        work[i] = (struct work){&f, dom, i % 3, 0};
        assert_int_equal(pthread_create(&thread[i], NULL, prove_many, &work[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(work[i].valid, PROOFS);
    }
    ntt_domain_free(&dom);
    fixture_free(&f);
}

static void test_bn254(void **state)
{
    (void)state;
    all_at_once("bn128", "edge_manypub");
}

static void test_bls12_381(void **state)
{
    (void)state;
    all_at_once("bls12381", "edge_full");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bn254),
        cmocka_unit_test(test_bls12_381),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
