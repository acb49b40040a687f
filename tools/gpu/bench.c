/* gpu-bench: times of the CUDA kernels beside those of the fastest peers on one NVIDIA H200.
 *
 *   gpu_bench [--min-log2 N] [--max-log2 N] [--only msm|ntt|proof] [--group NAME] [--uniform]
 *
 * One row a curve, group, size and kind of scalars: the median of several runs between events,
 * bases and scalars in device memory, the same shape as the prover uses. Each sum is checked: bases
 * are known multiples of the generator. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"

enum { POOL_LOG2 = 13, RUNS = 5, TABLE_GIB = 64 };

struct row {
    const char *name;
    const struct curve *host;
    const struct cuda_curve *device;
    bool g2;
    struct {
        unsigned log2_n;
        double peer_ms, bar_ms; /* 0: none measured */
    } size[7];
};

static const struct row rows[] = {
    {"BLS12-381 G1",
     &curve_bls12_381,
     &cuda_bls12_381,
     false,
     {{16, 6.66, 1.2},
      {18, 19.6, 3},
      {20, 20.4, 8},
      {22, 53.5, 26},
      {24, 154.7, 77},
      {26, 557, 280}}},
    {"BN254 G1",
     &curve_bn254,
     &cuda_bn254,
     false,
     {{16, 4.06, 0.8}, {18, 5.60, 1.6}, {20, 9.89, 4}, {22, 25.6, 12}, {24, 78.8, 38}}},
    {"BLS12-381 G2",
     &curve_bls12_381,
     &cuda_bls12_381,
     true,
     {{18, 27.0, 8}, {20, 47.4, 20}, {22, 137.6, 62}}},
    {"BN254 G2", &curve_bn254, &cuda_bn254, true, {{18, 16.6, 5}, {20, 24.8, 11}, {22, 64.0, 30}}},
};

static const struct {
    const char *name;
    const struct curve *host;
    const struct cuda_curve *device;
    unsigned log2_n;
    double peer_ms, bar_ms;
} transforms[] = {
    {"BLS12-381", &curve_bls12_381, &cuda_bls12_381, 16, 0.028, 0},
    {"BLS12-381", &curve_bls12_381, &cuda_bls12_381, 18, 0.071, 0},
    {"BLS12-381", &curve_bls12_381, &cuda_bls12_381, 20, 0.262, 0.22},
    {"BLS12-381", &curve_bls12_381, &cuda_bls12_381, 22, 1.05, 0},
    {"BLS12-381", &curve_bls12_381, &cuda_bls12_381, 24, 4.43, 3.8},
    {"BLS12-381", &curve_bls12_381, &cuda_bls12_381, 26, 20.9, 17},
    {"BLS12-381", &curve_bls12_381, &cuda_bls12_381, 27, 41.7, 35},
    {"BN254", &curve_bn254, &cuda_bn254, 20, 0.255, 0},
    {"BN254", &curve_bn254, &cuda_bn254, 24, 4.35, 0},
};

static void check(cudaError_t rc, const char *what)
{
    if (rc == cudaSuccess)
        return;
    fprintf(stderr, "gpu-bench: %s: %s\n", what, cudaGetErrorString(rc));
    exit(ERR_FAILED);
}

static void *device_memory(size_t bytes)
{
    void *p = NULL;
    check(cudaMalloc(&p, bytes ? bytes : 1), "device memory");
    return p;
}

static uint64_t seed = 88172645463325252u;
uint64_t bench_random(void)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return seed;
}

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

typedef void timed_body(void *arg);

static double median_ms(timed_body *body, void *arg, unsigned runs)
{
    cudaEvent_t begin, end;
    float ms[16];
    check(cudaEventCreateWithFlags(&begin, 0), "an event");
    check(cudaEventCreateWithFlags(&end, 0), "an event");
    body(arg); /* warm */
    for (unsigned i = 0; i < runs; i++) {
        check(cudaEventRecord(begin, 0), "an event");
        body(arg);
        check(cudaEventRecord(end, 0), "an event");
        check(cudaEventSynchronize(end), "a kernel");
        check(cudaEventElapsedTime(&ms[i], begin, end), "an event");
    }
    cudaEventDestroy(begin), cudaEventDestroy(end);
    qsort(ms, runs, sizeof *ms, by_value);
    return (double)ms[runs / 2];
}

/* ---- sums ---- */

enum kind { UNIFORM, MIX, HOT, SPARSE, N_KINDS };
static unsigned n_kinds = N_KINDS;
static const char *const kind_name[N_KINDS] = {"uniform", "circom mix", "10 % one value",
                                               "50 % ones"};

fr_t bench_scalar(const struct curve *c)
{
    fr_t s = {{bench_random(), bench_random(), bench_random(), bench_random() % c->r->limb[3]}};
    return s;
}

static void fill(const struct curve *c, fr_t *s, size_t n, enum kind kind)
{
    const fr_t hot = bench_scalar(c), zero = {{0}}, one = {{1}};
    for (size_t i = 0; i < n; i++) {
        const unsigned roll = (unsigned)(bench_random() >> 40) % 100;
        s[i] = bench_scalar(c);
        if (kind == MIX)
            s[i] = roll < 30   ? zero
                   : roll < 60 ? one
                   : roll < 80 ? (fr_t){{bench_random() >> 48}}
                               : s[i];
        else if (kind == HOT)
            s[i] = roll < 10 ? hot : s[i];
        else if (kind == SPARSE)
            s[i] = roll < 50 ? one : roll < 99 ? zero : s[i];
    }
}

struct sum_run {
    const struct row *row;
    struct key_sum sum;
    struct lane lane;
    struct msm_scalars scalars;
    void *result, *scratch;
};

static void run_sum(void *arg)
{
    struct sum_run *r = arg;
    check(r->row->device->sort(&r->lane.sorted, &r->sum.shape, &r->scalars, 0), "sort");
    check(r->sum.group->sum(r->result, r->sum.tables, &r->sum.shape, &r->lane.sorted, &r->lane.work,
                            0),
          "sum");
}

static void run_sort(void *arg)
{
    struct sum_run *r = arg;
    check(r->row->device->sort(&r->lane.sorted, &r->sum.shape, &r->scalars, 0), "sort");
}

static void run_multiples(void *arg)
{
    struct sum_run *r = arg;
    for (uint32_t first = 0; first < r->sum.shape.n; first += 1 << 20) {
        const uint32_t left = r->sum.shape.n - first, most = 1 << 20;
        check(r->sum.group->multiples(r->sum.tables, &r->sum.shape, first,
                                      left < most ? left : most, r->scratch, 0),
              "multiples");
    }
}

/* The sum that known multiples of the generator must give. */
static bool right(const struct sum_run *r, const fr_t *s, size_t n)
{
    const struct curve *c = r->row->host;
    const struct group *g = r->row->g2 ? c->g2 : c->g1;
    fr_t *by_base = calloc((size_t)1 << POOL_LOG2, sizeof *by_base), total = {{0}};
    for (size_t i = 0; i < n; i++) /* sums mod r hold for plain values too */
        c->fr_add(&by_base[i % (1 << POOL_LOG2)], &by_base[i % (1 << POOL_LOG2)], &s[i]);
    for (size_t i = 0; i < (size_t)1 << POOL_LOG2; i++) {
        fr_t k = {{i + 1}}, t;
        c->fr_to_mont(&k, &k, 1);
        c->fr_mul(&t, &k, &by_base[i]);
        c->fr_add(&total, &total, &t);
    }
    free(by_base);
    point_t expected, got;
    uint8_t raw[RESULT_BYTES];
    g->mul(&expected, g->generator, &total);
    check(cudaMemcpy(raw, r->result, r->sum.group->xyzz_bytes, cudaMemcpyDeviceToHost), "result");
    point_from_device(c, r->row->g2, raw, &got);
    return memcmp(&got, &expected, g->bytes) == 0;
}

static void fill_bases(const struct row *row, void *tables, size_t n, size_t point)
{
    const struct group *g = row->g2 ? row->host->g2 : row->host->g1;
    uint8_t *pool = malloc(point << POOL_LOG2);
    point_t at = *g->generator;
    for (size_t i = 0; i < (size_t)1 << POOL_LOG2; i++) {
        memcpy(pool + i * point, &at, point);
        g->add(&at, &at, g->generator);
    }
    const size_t first = n < (size_t)1 << POOL_LOG2 ? n : (size_t)1 << POOL_LOG2;
    check(cudaMemcpy(tables, pool, first * point, cudaMemcpyHostToDevice), "bases");
    for (size_t have = first; have < n; have *= 2) {
        const size_t more = have < n - have ? have : n - have;
        check(cudaMemcpy((uint8_t *)tables + have * point, tables, more * point,
                         cudaMemcpyDeviceToDevice),
              "bases");
    }
    free(pool);
}

static void bench_sum(const struct row *row, unsigned at)
{
    const size_t n = (size_t)1 << row->size[at].log2_n;
    const struct cuda_group *g = row->g2 ? row->device->g2 : row->device->g1;
    struct sum_run r = {.row = row, .sum = {.group = g}};
    for (unsigned sets = 1; sets < 32; sets++) {
        r.sum.shape = shape_for((uint32_t)n, row->device->scalar_bits, sets);
        if ((size_t)r.sum.shape.n_tables * n * g->affine_bytes <= (size_t)TABLE_GIB << 30)
            break;
    }
    const size_t table_bytes = (size_t)r.sum.shape.n_tables * n * g->affine_bytes;
    r.sum.tables = device_memory(table_bytes);
    r.scratch = device_memory((n < 1 << 20 ? n : 1 << 20) * g->xyzz_bytes);
    r.result = device_memory(RESULT_BYTES);
    struct carve size = {NULL, 0};
    lane_carve(&r.lane, &size, &r.sum, 1);
    void *block = device_memory(size.used), *scalars = device_memory(n * sizeof(fr_t));
    struct carve place = {block, 0};
    lane_carve(&r.lane, &place, &r.sum, 1);
    r.scalars.scalars = scalars;
    fill_bases(row, r.sum.tables, n, g->affine_bytes);
    const double table_ms = median_ms(run_multiples, &r, 1);
    fr_t *s = malloc(n * sizeof *s);
    for (unsigned kind = 0; kind < n_kinds; kind++) {
        fill(row->host, s, n, kind);
        check(cudaMemcpy(scalars, s, n * sizeof *s, cudaMemcpyHostToDevice), "scalars");
        const double ms = median_ms(run_sum, &r, RUNS), sort_ms = median_ms(run_sort, &r, RUNS);
        const bool ok = right(&r, s, n);
        if (kind == UNIFORM)
            printf("%-13s 2^%-2u %-14s %8.3f ms (sort %6.3f)  peer %7.2f  x%5.2f  bar %6.1f %-4s "
                   "c=%u x%u sets %u  tables %5.2f GB made in %5.0f ms%s\n",
                   row->name, row->size[at].log2_n, kind_name[kind], ms, sort_ms,
                   row->size[at].peer_ms, row->size[at].peer_ms / ms, row->size[at].bar_ms,
                   ms <= row->size[at].bar_ms ? "met" : "MISS", r.sum.shape.window_bits,
                   r.sum.shape.n_windows, r.sum.shape.n_sets, (double)table_bytes / 1e9, table_ms,
                   ok ? "" : "  WRONG SUM");
        else
            printf("%-13s 2^%-2u %-14s %8.3f ms (sort %6.3f)%s\n", row->name, row->size[at].log2_n,
                   kind_name[kind], ms, sort_ms, ok ? "" : "  WRONG SUM");
        fflush(stdout);
    }
    free(s);
    cudaFree(r.sum.tables), cudaFree(r.scratch), cudaFree(r.result), cudaFree(block),
        cudaFree(scalars);
}

/* ---- transforms ---- */

struct transform_run {
    const struct cuda_curve *device;
    struct ntt_shape shape;
    void *x[1];
    bool forward;
};

static void run_transform(void *arg)
{
    struct transform_run *r = arg;
    check(r->forward ? r->device->ntt_forward(r->x, 1, &r->shape, 0)
                     : r->device->ntt_inverse(r->x, 1, &r->shape, NULL, 0),
          "transform");
}

static void bench_transform(unsigned i)
{
    const unsigned log2_n = transforms[i].log2_n;
    const struct curve *c = transforms[i].host;
    const size_t bytes = sizeof(fr_t) << log2_n;
    fr_t power[32];
    c->fr_root(&power[0], ROOT_SNARKJS, log2_n);
    for (unsigned t = 1; t < log2_n; t++)
        c->fr_mul(&power[t], &power[t - 1], &power[t - 1]);
    struct transform_run r = {.device = transforms[i].device};
    void *table = device_memory(bytes);
    r.x[0] = device_memory(bytes);
    r.shape = (struct ntt_shape){log2_n, table};
    check(r.device->powers(table, log2_n, power, c->fr_one, false, 0), "twiddles");
    check(r.device->powers(r.x[0], log2_n, power + log2_n / 2, &power[1], false, 0), "a vector");
    const double inverse = median_ms(run_transform, &r, RUNS);
    r.forward = true;
    const double forward = median_ms(run_transform, &r, RUNS);
    const double bar = transforms[i].bar_ms;
    printf("NTT %-9s 2^%-2u  inverse %8.3f  forward %8.3f ms  peer %7.3f  x%5.2f",
           transforms[i].name, log2_n, inverse, forward, transforms[i].peer_ms,
           transforms[i].peer_ms / forward);
    if (bar > 0)
        printf("  bar %5.2f %s", bar, forward <= bar && inverse <= bar ? "met" : "MISS");
    printf("\n");
    fflush(stdout);
    cudaFree(table), cudaFree(r.x[0]);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"min-log2", required_argument, NULL, 'l'}, {"uniform", no_argument, NULL, 'u'},
        {"group", required_argument, NULL, 'g'},    {"max-log2", required_argument, NULL, 'm'},
        {"only", required_argument, NULL, 'o'},     {0}};
    unsigned min_log2 = 0, max_log2 = 24;
    const char *only = "", *group = "";
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;)
        if (o == 'm')
            max_log2 = (unsigned)strtoul(optarg, NULL, 10);
        else if (o == 'l')
            min_log2 = (unsigned)strtoul(optarg, NULL, 10);
        else if (o == 'u')
            n_kinds = 1;
        else if (o == 'g')
            group = optarg;
        else if (o == 'o')
            only = optarg;
        else
            return ERR_USAGE;
    int n = 0;
    if (cudaGetDeviceCount(&n) != cudaSuccess || n == 0) {
        printf("gpu-bench: no CUDA device: %s\n", cudaGetErrorString(cudaGetLastError()));
        return ERR_UNAVAILABLE;
    }
    struct cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0), "the device");
    printf("%s, %d multiprocessors; peers: see docs, one NVIDIA H200\n", properties.name,
           properties.multiProcessorCount);
    const bool all = !*only;
    if (all || strcmp(only, "ntt") == 0)
        for (unsigned i = 0; i < sizeof transforms / sizeof *transforms; i++)
            if (transforms[i].log2_n <= max_log2 && transforms[i].log2_n >= min_log2)
                bench_transform(i);
    if (all || strcmp(only, "msm") == 0)
        for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
            for (unsigned k = 0; k < 7 && rows[i].size[k].log2_n; k++)
                if (rows[i].size[k].log2_n <= max_log2 && rows[i].size[k].log2_n >= min_log2 &&
                    strstr(rows[i].name, group))
                    bench_sum(&rows[i], k);
    if (all || strcmp(only, "proof") == 0)
        bench_proofs(min_log2, max_log2);
    return 0;
}
