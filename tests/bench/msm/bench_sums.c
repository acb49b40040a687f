/* bench_sums: times of NTT, MSM and fixed-base multiples, medians, on one and on two threads.
 *
 *   bench_sums [--curve NAME] [--what ntt|msm|fixed|matrix|all] [--log2 A-B] [--runs N]
 *              [--clock wall|cpu]
 *
 * --clock cpu: the processor time of all threads, for a machine that others use too.
 *
 * The gain of two threads stands beside the gain of a plain multiply loop on the same machine in
 * the same minute: the part of it that a shared machine or a lower clock takes is not the code's.
 */
#include <stdarg.h>
#include <string.h>
#include "../../unit/msm/seeded.h"
#include "matrix.h"
#include "ntt.h"

static clockid_t clock_used = CLOCK_MONOTONIC;

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(clock_used, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { RUNS_MAX = 101 };
static size_t n_runs = 5;
static struct pool *pools[2]; /* of one and of two threads */

typedef void work(void *arg, struct pool *pool);

static double median_ms(work *f, void *arg, struct pool *pool)
{
    double t[RUNS_MAX];
    for (size_t i = 0; i < n_runs; i++) {
        double begin = now_ms();
        f(arg, pool);
        t[i] = now_ms() - begin;
    }
    qsort(t, n_runs, sizeof *t, compare);
    return t[n_runs / 2];
}

static void multiply_piece(void *arg, size_t i, unsigned worker)
{
    (void)arg;
    (void)i;
    (void)worker;
    fr_t x = *curve_bn254.fr_one;
    for (int k = 0; k < 100000; k++)
        curve_bn254.fr_mul(&x, &x, &x);
    __asm__ volatile("" : : "r"(&x) : "memory");
}

static void multiply_loop(void *arg, struct pool *pool)
{
    pool_run(pool, multiply_piece, arg, 32);
}

static void report(const char *curve, const char *what, unsigned log2_n, work *f, void *arg)
{
    double one = median_ms(f, arg, pools[0]), two = median_ms(f, arg, pools[1]);
    double loop_one = median_ms(multiply_loop, NULL, pools[0]);
    double loop_two = median_ms(multiply_loop, NULL, pools[1]);
    double gain = one / two, loop = loop_one / loop_two;
    printf("%-10s %-22s 2^%-3u %10.2f ms %10.2f ms  gain %4.2f  multiply loop %4.2f  ratio %4.2f\n",
           curve, what, log2_n, one, two, gain, loop, gain / loop);
    fflush(stdout);
}

struct ntt_work {
    struct ntt_domain *d;
    fr_t *x;
};
static void forward(void *arg, struct pool *pool)
{
    const struct ntt_work *w = arg;
    ntt_forward(w->d, w->x, pool);
}
static void to_coset(void *arg, struct pool *pool)
{
    const struct ntt_work *w = arg;
    ntt_to_coset(w->d, w->x, pool);
}

static void bench_ntt(const struct curve *c, unsigned log2_n)
{
    size_t n = (size_t)1 << log2_n;
    struct ntt_work w = {ntt_domain_new(c, ROOT_SNARKJS, log2_n, NULL, NULL),
                         malloc(n * sizeof(fr_t))};
    for (size_t i = 0; i < n; i++)
        w.x[i] = seed_fr(c);
    report(c->name, "ntt forward", log2_n, forward, &w);
    report(c->name, "ntt to coset", log2_n, to_coset, &w);
    ntt_domain_free(&w.d);
    free(w.x);
}

struct msm_work {
    const struct group *g;
    void *bases;
    fr_t *k;
    size_t n;
    point_t sum;
};
static void msm(void *arg, struct pool *pool)
{
    struct msm_work *w = arg;
    struct err e;
    if (w->g->msm(&w->sum, w->bases, w->k, NULL, w->n, false, pool, &e))
        DIE("%s", e.text);
}
static void mul_fixed(void *arg, struct pool *pool)
{
    struct msm_work *w = arg;
    struct err e;
    if (w->g->mul_fixed(w->bases, w->g->generator, w->k, w->n, pool, &e))
        DIE("%s", e.text);
}

static void bench_msm(const struct curve *c, const struct group *g, unsigned log2_n, bool fixed)
{
    char what[64];
    size_t n = (size_t)1 << log2_n;
    struct msm_work w = {g, aligned_alloc(64, n * g->bytes), malloc(n * sizeof(fr_t)), n, {{0}}};
    for (size_t i = 0; i < n; i++)
        w.k[i] = seed_fr(c);
    mul_fixed(&w, pools[1]);
    if (fixed) {
        snprintf(what, sizeof what, "%s mul_fixed", g->name);
        report(c->name, what, log2_n, mul_fixed, &w);
    } else {
        snprintf(what, sizeof what, "%s msm uniform", g->name);
        report(c->name, what, log2_n, msm, &w);
        for (size_t i = 0; i < n; i++)
            w.k[i] = seed_mix(c);
        snprintf(what, sizeof what, "%s msm mix", g->name);
        report(c->name, what, log2_n, msm, &w);
    }
    free(w.bases);
    free(w.k);
}

struct matrix_work {
    const struct curve *c;
    struct matrix m;
    fr_t *w, *out;
};
static void evaluate(void *arg, struct pool *pool)
{
    struct matrix_work *w = arg;
    matrix_evaluate(w->c, &w->m, w->w, w->out, w->m.n_rows, pool);
}

/* Four entries a row, three of them +-1, as circuits have them. */
static void bench_matrix(const struct curve *c, unsigned log2_n)
{
    uint32_t n = (uint32_t)1 << log2_n;
    struct matrix_entry *x = malloc(4 * (size_t)n * sizeof *x);
    struct matrix_work w = {.c = c, .w = malloc(n * sizeof(fr_t)), .out = malloc(n * sizeof(fr_t))};
    fr_t zero = {{0}}, minus_one, other[16];
    c->fr_sub(&minus_one, &zero, c->fr_one);
    for (size_t i = 0; i < 16; i++)
        other[i] = seed_fr(c);
    for (size_t i = 0; i < 4 * (size_t)n; i++)
        x[i] = (struct matrix_entry){(uint32_t)(i / 4), (uint32_t)((i / 4 + seed_below(1000)) % n),
                                     i % 4 == 3   ? other[seed_below(16)]
                                     : i % 4 == 2 ? minus_one
                                                  : *c->fr_one};
    for (size_t i = 0; i < n; i++)
        w.w[i] = seed_fr(c);
    if (matrix_build(c, x, 4 * (uint64_t)n, n, n, &w.m, NULL))
        DIE("no memory");
    free(x);
    report(c->name, "matrix evaluate", log2_n, evaluate, &w);
    matrix_free(&w.m);
    free(w.w);
    free(w.out);
}

int main(int argc, char **argv)
{
    const char *curve = NULL, *what = "all";
    unsigned from = 12, to = 18;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--curve"))
            curve = argv[i + 1];
        else if (!strcmp(argv[i], "--what"))
            what = argv[i + 1];
        else if (!strcmp(argv[i], "--runs"))
            n_runs = strtoul(argv[i + 1], NULL, 10);
        else if (!strcmp(argv[i], "--clock"))
            clock_used = strcmp(argv[i + 1], "cpu") ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID;
        else if (!strcmp(argv[i], "--log2")) {
            int n = sscanf(argv[i + 1], "%u-%u", &from, &to);
            to = n == 1 ? from : to;
        }
    }
    if (n_runs < 1 || n_runs > RUNS_MAX || from > to || to > 26) {
        fprintf(stderr, "bench_sums: expected --runs 1 to %d and --log2 A-B up to 26\n", RUNS_MAX);
        return ERR_USAGE;
    }
    seed_begin();
    pools[0] = pool_new(1, NULL, NULL);
    pools[1] = pool_new(2, NULL, NULL);
    static const struct curve *const curves[] = {&curve_bn254, &curve_bls12_381};
    bool all = !strcmp(what, "all");
    printf("%-10s %-22s %-5s %13s %13s\n", "curve", "what", "size", "1 thread", "2 threads");
    for (size_t k = 0; k < 2; k++) {
        const struct curve *c = curves[k];
        if (curve && curve_by_name(curve) != c)
            continue;
        for (unsigned log2_n = from; log2_n <= to; log2_n += 2) {
            if (all || !strcmp(what, "ntt"))
                bench_ntt(c, log2_n);
            if (all || !strcmp(what, "matrix"))
                bench_matrix(c, log2_n);
            for (int g = 0; g < 2; g++) {
                if (all || !strcmp(what, "msm"))
                    bench_msm(c, g ? c->g2 : c->g1, log2_n, false);
                if (all || !strcmp(what, "fixed"))
                    bench_msm(c, g ? c->g2 : c->g1, log2_n, true);
            }
        }
    }
    pool_free(&pools[0]);
    pool_free(&pools[1]);
    return 0;
}
