/* Whole proofs through the backend's door, fed from registered memory: keys of repeated points (the
 * proofs are not valid, the work is the same), witnesses by profile, matrices evaluated on the
 * device. What is printed: one proof alone, then the rate with as many in flight as may be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "bench.h"

enum { PROOF_POOL = 1 << 10 };

static const struct profile {
    const char *name;
    const struct curve *curve;
    unsigned log2_n;
    double dense_a, dense_b, ones, zeros; /* of wires; of witness values */
    enum h_basis basis;
    double peer_ms, bar_ms; /* several in flight, but for the dense profile */
    unsigned n_proofs;
} profiles[] = {
    {"PoRep", &curve_bls12_381, 20, .997, .254, .5, .49, H_MONOMIAL, 56.3, 14, 16},
    {"PoRep", &curve_bls12_381, 22, .997, .254, .5, .49, H_MONOMIAL, 106, 42, 12},
    {"dense", &curve_bls12_381, 20, 1, 1, 0, 0, H_MONOMIAL, 3099, 60, 8},
    {"dense", &curve_bls12_381, 22, 1, 1, 0, 0, H_MONOMIAL, 6884, 190, 4},
    {"small", &curve_bn254, 12, 1, .5, .3, .3, H_ODD_LAGRANGE, 0, 1.25, 200},
    {"small", &curve_bn254, 16, 1, .5, .3, .3, H_ODD_LAGRANGE, 0, 4, 100},
    {"mixed", &curve_bn254, 20, 1, .5, .3, .3, H_ODD_LAGRANGE, 0, 0, 16},
};

static double share(void)
{
    return (double)(bench_random() >> 11) / 9007199254740992.0;
}

static void *repeated(const struct group *g, size_t n)
{
    uint8_t *points = malloc(n * g->bytes);
    point_t at = *g->generator;
    for (size_t i = 0; i < n && i < PROOF_POOL; i++) {
        memcpy(points + i * g->bytes, &at, g->bytes);
        g->add(&at, &at, g->generator);
    }
    for (size_t i = PROOF_POOL; i < n; i++) /* no period that a window could meet */
        memcpy(points + i * g->bytes, points + bench_random() % PROOF_POOL * g->bytes, g->bytes);
    return points;
}

static struct query query_of(const struct group *g, size_t n_wires, double dense)
{
    uint32_t *wire = malloc(n_wires * sizeof *wire);
    struct query q = {.wire = wire};
    for (size_t i = 0; i < n_wires; i++)
        if (share() < dense)
            wire[q.n++] = (uint32_t)i;
    q.points = repeated(g, q.n);
    return q;
}

static struct matrix matrix_of(const struct curve *c, uint32_t n, uint32_t entries_a_row)
{
    fr_t *dictionary = calloc(2, sizeof *dictionary);
    const fr_t zero = {{0}};
    dictionary[0] = *c->fr_one;
    c->fr_sub(&dictionary[1], &zero, c->fr_one);
    uint32_t *start = malloc(((size_t)n + 1) * sizeof *start);
    uint32_t *wire = malloc((size_t)n * entries_a_row * sizeof *wire);
    uint8_t *code = malloc((size_t)n * entries_a_row);
    for (uint32_t i = 0; i <= n; i++)
        start[i] = i * entries_a_row;
    for (size_t i = 0; i < (size_t)n * entries_a_row; i++) {
        wire[i] = (uint32_t)(bench_random() % n);
        code[i] = bench_random() >> 60 == 0;
    }
    return (struct matrix){.n_rows = n,
                           .n_wires = n,
                           .n_entries = (uint64_t)n * entries_a_row,
                           .n_dictionary = 2,
                           .code_bytes = 1,
                           .row_start = start,
                           .wire = wire,
                           .code = code,
                           .dictionary = dictionary};
}

static void matrix_drop(const struct matrix *m)
{
    free((void *)m->row_start), free((void *)m->wire), free((void *)m->code);
    free((void *)m->dictionary);
}

static void must(enum err_code rc, const struct err *e)
{
    if (!rc)
        return;
    fprintf(stderr, "gpu-bench: %s\n", e->text);
    exit((int)rc);
}

static void bench_profile(const struct profile *p)
{
    const struct curve *c = p->curve;
    const size_t n = (size_t)1 << p->log2_n, bytes = (n * sizeof(fr_t) + 4095) / 4096 * 4096;
    struct circuit k = {.curve = c,
                        .n_wires = (uint32_t)n,
                        .n_public = 1,
                        .n_constraints = (uint32_t)n - 2,
                        .domain_log2 = p->log2_n,
                        .h_basis = p->basis,
                        .roots = p->basis == H_MONOMIAL ? ROOT_BELLMAN : ROOT_SNARKJS};
    k.a = matrix_of(c, (uint32_t)n, 3);
    k.b = matrix_of(c, (uint32_t)n, 1);
    k.a_query = query_of(c->g1, n, p->dense_a);
    k.b1_query = query_of(c->g1, n, p->dense_b);
    k.b2_query = k.b1_query;
    k.b2_query.points = repeated(c->g2, k.b2_query.n);
    k.l_query = (struct query){.points = repeated(c->g1, n - 2), .first_wire = 2, .n = n - 2};
    k.n_h = p->basis == H_MONOMIAL ? n - 1 : n;
    k.h_points = repeated(c->g1, k.n_h);

    fr_t *w = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < n; i++) {
        const double roll = share();
        w[i] = (fr_t){{roll < p->ones}};
        if (roll >= p->ones + p->zeros)
            w[i] = bench_scalar(c);
    }
    mprotect(w, bytes, PROT_READ);

    struct err e;
    struct backend *b = NULL;
    struct prove_timing t;
    struct groth16_sums sums;
    must(backend_cuda.open(&b, 0, 0, 0, &e), &e);
    must(backend_cuda.arena_attach(b, w, bytes, &e), &e);
    const uint64_t load = clock_ns();
    must(backend_cuda.circuit_load(b, &k, &e), &e);
    const double load_ms = (double)(clock_ns() - load) * 1e-6;
    const struct key *key = key_find(b, k.digest);
    const struct prove_input in = {&k, w, NULL, NULL};
    double alone_ms = 1e9;
    for (int i = 0; i < 4; i++) {
        const uint64_t begin = clock_ns();
        const int ticket = backend_cuda.prove_start(b, &in, &e);
        must(ticket < 0 ? e.code : ERR_OK, &e);
        must(backend_cuda.prove_finish(b, ticket, &sums, &t, &e), &e);
        const double ms = (double)(clock_ns() - begin) * 1e-6;
        alone_ms = ms < alone_ms ? ms : alone_ms;
    }
    int ticket[IN_FLIGHT];
    const uint64_t begin = clock_ns();
    for (unsigned i = 0; i < p->n_proofs + IN_FLIGHT; i++) {
        if (i >= IN_FLIGHT)
            must(backend_cuda.prove_finish(b, ticket[i % IN_FLIGHT], &sums, NULL, &e), &e);
        if (i < p->n_proofs) {
            ticket[i % IN_FLIGHT] = backend_cuda.prove_start(b, &in, &e);
            must(ticket[i % IN_FLIGHT] < 0 ? e.code : ERR_OK, &e);
        }
    }
    const double each_ms = (double)(clock_ns() - begin) * 1e-6 / p->n_proofs;
    const bool one = strcmp(p->name, "dense") == 0;
    const double ours = one ? alone_ms : each_ms;
    printf("proof %-9s %-5s 2^%-2u alone %8.2f ms, %d in flight %8.2f ms each (%6.1f/s)", c->name,
           p->name, p->log2_n, alone_ms, IN_FLIGHT, each_ms, 1e3 / each_ms);
    if (p->peer_ms > 0)
        printf("  peer %6.1f x%5.2f", p->peer_ms, p->peer_ms / ours);
    if (p->bar_ms > 0)
        printf("  bar %6.2f %s", p->bar_ms, ours <= p->bar_ms ? "met" : "MISS");
    printf(
        "\n   copy %.2f matrices %.2f ntt %.2f H %.2f A %.2f B1 %.2f B2 %.2f L %.2f ms | key %.2f "
        "GB, sets %u, loaded in %.0f ms, %u workspaces of %.2f GB\n",
        (double)(t.copy_end_ns - t.copy_begin_ns) * 1e-6, (double)t.matrices_ns * 1e-6,
        (double)t.ntt_ns * 1e-6, (double)t.msm_h_ns * 1e-6, (double)t.msm_a_ns * 1e-6,
        (double)t.msm_b1_ns * 1e-6, (double)t.msm_b2_ns * 1e-6, (double)t.msm_l_ns * 1e-6,
        (double)key->bytes * 1e-9, key->max_sets, load_ms, b->n_workspaces,
        (double)b->workspace_bytes * 1e-9);
    fflush(stdout);
    must(backend_cuda.arena_detach(b, w, &e), &e);
    backend_cuda.close(&b);
    munmap(w, bytes);
    matrix_drop(&k.a), matrix_drop(&k.b);
    free((void *)k.a_query.wire), free((void *)k.a_query.points);
    free((void *)k.b1_query.wire), free((void *)k.b1_query.points);
    free((void *)k.b2_query.points), free((void *)k.l_query.points), free((void *)k.h_points);
}

void bench_proofs(unsigned min_log2, unsigned max_log2)
{
    for (unsigned i = 0; i < sizeof profiles / sizeof *profiles; i++)
        if (profiles[i].log2_n >= min_log2 && profiles[i].log2_n <= max_log2)
            bench_profile(&profiles[i]);
}
