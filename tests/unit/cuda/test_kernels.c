/* Every kernel against plain arithmetic of the host, bit for bit. The same source is linked with
 * the kernels as nvcc compiles them (and then skipped where there is no device) and with the
 * kernels over the emulator, where sizes are small. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "curve.h"
#include "device.h"

static bool emulated;
static uint64_t seed = 0x9e3779b97f4a7c15u;

static uint64_t next_random(void)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return seed * 0x2545f4914f6cdd1du;
}

#define CHECK(call) assert_int_equal((call), cudaSuccess)

static void *on_device(const void *host, size_t bytes)
{
    void *p = NULL;
    CHECK(cudaMalloc(&p, bytes ? bytes : 1));
    if (host)
        CHECK(cudaMemcpy(p, host, bytes, cudaMemcpyHostToDevice));
    return p;
}

static void to_host(void *host, const void *device, size_t bytes)
{
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
}

struct both {
    const struct curve *host;
    const struct cuda_curve *device;
};
static const struct both curves[2] = {{&curve_bn254, &cuda_bn254},
                                      {&curve_bls12_381, &cuda_bls12_381}};

static fr_t random_plain(const struct curve *c)
{
    uint64_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = next_random();
    fr_t r;
    c->fr_reduce_512(&r, (const uint8_t *)bytes);
    return r;
}

static fr_t *random_vector(const struct curve *c, size_t n)
{
    fr_t *v = malloc(n * sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i] = random_plain(c); /* any reduced words are also some Montgomery form */
    return v;
}

/* ---- transforms ---- */

/* Decimation in time on the host: natural in and out. */
static void transform(const struct curve *c, fr_t *x, unsigned log2_n, const fr_t *root)
{
    const size_t n = (size_t)1 << log2_n;
    for (size_t i = 0; i < n; i++) {
        size_t j = 0;
        for (unsigned b = 0; b < log2_n; b++)
            j |= ((i >> b) & 1) << (log2_n - 1 - b);
        if (i < j) {
            const fr_t t = x[i];
            x[i] = x[j], x[j] = t;
        }
    }
    for (unsigned s = 0; s < log2_n; s++) {
        fr_t w = *root, factor;
        for (unsigned k = s + 1; k < log2_n; k++)
            c->fr_mul(&w, &w, &w);
        for (size_t block = 0; block < n; block += (size_t)2 << s) {
            factor = *c->fr_one;
            for (size_t i = block; i < block + ((size_t)1 << s); i++) {
                fr_t t;
                c->fr_mul(&t, &x[i + ((size_t)1 << s)], &factor);
                c->fr_sub(&x[i + ((size_t)1 << s)], &x[i], &t);
                c->fr_add(&x[i], &x[i], &t);
                c->fr_mul(&factor, &factor, &w);
            }
        }
    }
}

static size_t reversed(size_t i, unsigned bits)
{
    size_t r = 0;
    for (unsigned b = 0; b < bits; b++)
        r |= ((i >> b) & 1) << (bits - 1 - b);
    return r;
}

static void check_transforms(const struct both *f, unsigned log2_n)
{
    const struct curve *c = f->host;
    const size_t n = (size_t)1 << log2_n, bytes = n * sizeof(fr_t);
    fr_t root, inverse, power[64], shift = random_plain(c);
    c->fr_root(&root, ROOT_SNARKJS, log2_n);
    c->fr_inv(&inverse, &root);
    power[0] = root;
    for (unsigned t = 1; t < log2_n; t++)
        c->fr_mul(&power[t], &power[t - 1], &power[t - 1]);
    void *table = on_device(NULL, bytes), *scale = on_device(NULL, bytes);
    CHECK(f->device->powers(table, log2_n, power, c->fr_one, false, 0));
    power[0] = shift;
    for (unsigned t = 1; t < log2_n; t++)
        c->fr_mul(&power[t], &power[t - 1], &power[t - 1]);
    CHECK(f->device->powers(scale, log2_n, power, &shift, true, 0));

    const struct ntt_shape shape = {log2_n, table};
    fr_t *x[3], *expected[3], *got = malloc(bytes);
    void *device[3];
    for (int v = 0; v < 3; v++) {
        x[v] = random_vector(c, n);
        device[v] = on_device(x[v], bytes);
        expected[v] = malloc(bytes);
        memcpy(expected[v], x[v], bytes);
        transform(c, expected[v], log2_n, &inverse);
        fr_t factor = shift;
        for (size_t i = 0; i < n; i++) {
            c->fr_mul(&expected[v][i], &expected[v][i], &factor);
            c->fr_mul(&factor, &factor, &shift);
        }
    }
    CHECK(f->device->ntt_inverse(device, 3, &shape, scale, 0));
    for (int v = 0; v < 3; v++) {
        to_host(got, device[v], bytes);
        for (size_t i = 0; i < n; i++)
            assert_memory_equal(&got[reversed(i, log2_n)], &expected[v][i], sizeof(fr_t));
        transform(c, expected[v], log2_n, &root);
    }
    CHECK(f->device->ntt_forward(device, 3, &shape, 0));
    for (int v = 0; v < 3; v++) {
        to_host(got, device[v], bytes);
        assert_memory_equal(got, expected[v], bytes);
        free(x[v]), free(expected[v]), cudaFree(device[v]);
    }
    free(got);
    cudaFree(table), cudaFree(scale);
}

static void transforms_equal_the_host(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++)
        for (unsigned log2_n = 0; log2_n <= (emulated ? 10 : 19);
             log2_n += emulated && log2_n > 3 ? 2 : 1)
            check_transforms(&curves[k], log2_n);
}

/* ---- vectors ---- */

static void products_equal_the_host(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        const struct curve *c = curves[k].host;
        const size_t n = 1003, bytes = n * sizeof(fr_t);
        fr_t *a = random_vector(c, n), *b = random_vector(c, n), *got = malloc(bytes);
        fr_t *ab = malloc(bytes), *less = malloc(bytes);
        a[0] = (fr_t){{0}}, a[1] = *c->fr_one, b[1] = *c->fr_one;
        a[2] = *c->r, a[2].limb[0]--, b[2] = a[2];
        void *da = on_device(a, bytes), *db = on_device(b, bytes), *dc = on_device(NULL, bytes);
        CHECK(curves[k].device->multiply(dc, da, db, n, 0));
        to_host(got, dc, bytes);
        for (size_t i = 0; i < n; i++)
            c->fr_mul(&ab[i], &a[i], &b[i]);
        assert_memory_equal(got, ab, bytes);
        for (int plain = 0; plain < 2; plain++) {
            void *d = on_device(a, bytes);
            CHECK(curves[k].device->multiply_subtract(d, db, da, n, plain, 0));
            to_host(got, d, bytes);
            for (size_t i = 0; i < n; i++)
                c->fr_sub(&less[i], &ab[i], &a[i]);
            if (plain)
                c->fr_from_mont(less, less, n);
            assert_memory_equal(got, less, bytes);
            cudaFree(d);
        }
        free(a), free(b), free(got), free(ab), free(less);
        cudaFree(da), cudaFree(db), cudaFree(dc);
    }
}

static void rows_equal_the_host(void **state)
{
    (void)state;
    enum { ROWS = 300, WIRES = 500, WORDS = 5, OUT = 333 };
    for (int k = 0; k < 2; k++)
        for (uint32_t code_bytes = 1; code_bytes <= 4; code_bytes *= 2) {
            const struct curve *c = curves[k].host;
            fr_t *w = random_vector(c, WIRES), *dictionary = random_vector(c, WORDS);
            uint32_t start[ROWS + 1] = {0}, *wire = malloc(ROWS * 400 * 4), n = 0;
            uint8_t *code = calloc(ROWS * 400, 4);
            fr_t *expected = calloc(OUT, sizeof *expected), *got = malloc(OUT * sizeof *got);
            fr_t *mont = malloc(WIRES * sizeof *mont);
            c->fr_to_mont(mont, w, WIRES);
            for (uint32_t row = 0; row < ROWS; row++) {
                const uint32_t length = row % 50 == 7 ? 60 + row : (uint32_t)next_random() % 5;
                for (uint32_t i = 0; i < length; i++, n++) {
                    const uint32_t word = (uint32_t)next_random() % WORDS;
                    wire[n] = (uint32_t)next_random() % WIRES;
                    memcpy(code + n * code_bytes, &word, code_bytes);
                    fr_t t;
                    c->fr_mul(&t, &dictionary[word], &mont[wire[n]]);
                    c->fr_add(&expected[row], &expected[row], &t);
                }
                start[row + 1] = n;
            }
            const struct matrix_device m = {ROWS,
                                            code_bytes,
                                            on_device(start, sizeof start),
                                            on_device(wire, n * 4),
                                            on_device(code, n * code_bytes),
                                            on_device(dictionary, WORDS * sizeof(fr_t))};
            void *dw = on_device(w, WIRES * sizeof(fr_t)),
                 *out = on_device(NULL, OUT * sizeof *got);
            void *scratch = on_device(NULL, (ROWS + 1) * 4);
            CHECK(curves[k].device->evaluate(out, OUT, &m, dw, scratch, 0));
            to_host(got, out, OUT * sizeof *got);
            assert_memory_equal(got, expected, OUT * sizeof *got);
            cudaFree((void *)m.row_start), cudaFree((void *)m.wire), cudaFree((void *)m.code);
            cudaFree((void *)m.dictionary), cudaFree(dw), cudaFree(out), cudaFree(scratch);
            free(w), free(dictionary), free(wire), free(code), free(expected), free(got),
                free(mont);
        }
}

/* ---- sums ---- */

enum pattern {
    UNIFORM,
    ANY_BITS,
    EDGES,
    ALL_EQUAL,
    ONE_HOT,
    HALF_ONES,
    CIRCOM,
    ALL_ZERO,
    N_PATTERNS
};

static void fill_scalars(const struct curve *c, fr_t *s, size_t n, enum pattern p)
{
    const fr_t hot = random_plain(c), zero = {{0}}, one = {{1}};
    fr_t edge[8] = {zero,  one,      *c->r, *c->r, {{~0ull, ~0ull, ~0ull, ~0ull}},
                    {{2}}, {{0, 1}}, *c->r};
    edge[2].limb[0] -= 1; /* r - 1; then r; and (r + 1) / 2 */
    for (int i = 0; i < 4; i++)
        edge[7].limb[i] = edge[7].limb[i] >> 1 | (i < 3 ? edge[7].limb[i + 1] << 63 : 0);
    edge[7].limb[0]++;
    for (size_t i = 0; i < n; i++) {
        const unsigned roll = (unsigned)(next_random() % 100);
        s[i] = random_plain(c);
        switch (p) {
        case UNIFORM:
            break;
        case ANY_BITS:
            for (int k = 0; k < 4; k++)
                s[i].limb[k] = next_random();
            break;
        case EDGES:
            s[i] = edge[roll % 8];
            break;
        case ALL_EQUAL:
            s[i] = hot;
            break;
        case ONE_HOT:
            s[i] = roll < 10 ? hot : s[i];
            break;
        case HALF_ONES:
            s[i] = roll < 50 ? one : roll < 99 ? zero : s[i];
            break;
        case CIRCOM:
            s[i] = roll < 30   ? zero
                   : roll < 60 ? one
                   : roll < 80 ? (fr_t){{next_random() & 0xffff}}
                               : s[i];
            break;
        default:
            s[i] = zero;
        }
    }
}

/* Bases k_i G with known k_i: 0 (infinity), repeats, opposites and a run. */
static void fill_bases(const struct curve *c, const struct group *g, uint8_t *bases, fr_t *k,
                       size_t n)
{
    point_t at = *g->generator;
    fr_t factor = *c->fr_one;
    for (size_t i = 0; i < n; i++) {
        const unsigned roll = (unsigned)(next_random() % 20);
        if (roll == 0) {
            memset(bases + i * g->bytes, 0, g->bytes);
            memset(&k[i], 0, sizeof k[i]);
        } else if (roll == 1) {
            point_t minus;
            fr_t zero = {{0}};
            g->neg(&minus, &at);
            memcpy(bases + i * g->bytes, &minus, g->bytes);
            c->fr_sub(&k[i], &zero, &factor);
        } else {
            memcpy(bases + i * g->bytes, &at, g->bytes);
            k[i] = factor;
        }
        if (roll > 4) {
            g->add(&at, &at, g->generator);
            c->fr_add(&factor, &factor, c->fr_one);
        }
    }
}

struct sum_rig {
    const struct both *f;
    bool g2;
    struct key_sum sum;
    struct lane lane;
    void *block, *result;
};

static void rig_open(struct sum_rig *r, const uint8_t *bases, uint32_t n, unsigned max_sets)
{
    const struct cuda_group *g = r->g2 ? r->f->device->g2 : r->f->device->g1;
    r->sum =
        (struct key_sum){.shape = shape_for(n, r->f->device->scalar_bits, max_sets), .group = g};
    struct carve size = {NULL, 0};
    lane_carve(&r->lane, &size, &r->sum, 1);
    r->block = on_device(NULL, size.used);
    struct carve place = {r->block, 0};
    lane_carve(&r->lane, &place, &r->sum, 1);
    r->sum.tables = on_device(NULL, (size_t)n * r->sum.shape.n_tables * g->affine_bytes);
    CHECK(cudaMemcpy(r->sum.tables, bases, n * g->affine_bytes, cudaMemcpyHostToDevice));
    void *scratch = on_device(NULL, n * g->xyzz_bytes);
    CHECK(g->multiples(r->sum.tables, &r->sum.shape, 0, n / 2, scratch, 0));
    CHECK(g->multiples(r->sum.tables, &r->sum.shape, n / 2, n - n / 2, scratch, 0));
    CHECK(cudaDeviceSynchronize());
    cudaFree(scratch);
    r->result = on_device(NULL, RESULT_BYTES);
}

static void rig_close(struct sum_rig *r)
{
    cudaFree(r->block), cudaFree(r->sum.tables), cudaFree(r->result);
}

static void rig_sum(struct sum_rig *r, const struct msm_scalars *scalars, point_t *out)
{
    uint8_t result[RESULT_BYTES];
    CHECK(r->f->device->sort(&r->lane.sorted, &r->sum.shape, scalars, 0));
    CHECK(r->sum.group->sum(r->result, r->sum.tables, &r->sum.shape, &r->lane.sorted, &r->lane.work,
                            0));
    to_host(result, r->result, r->sum.group->xyzz_bytes);
    point_from_device(r->f->host, r->g2, result, out);
}

static void check_sums(const struct both *f, bool g2, uint32_t n, unsigned max_sets, bool wires)
{
    const struct curve *c = f->host;
    const struct group *g = g2 ? c->g2 : c->g1;
    uint8_t *bases = malloc(n * g->bytes);
    fr_t *k = malloc(n * sizeof *k), *s = malloc(2 * n * sizeof *s);
    uint32_t *wire = malloc(n * sizeof *wire);
    fill_bases(c, g, bases, k, n);
    for (uint32_t i = 0; i < n; i++)
        wire[i] = wires ? 2 * i + (uint32_t)(next_random() & 1) : i + n;
    struct sum_rig r = {.f = f, .g2 = g2};
    rig_open(&r, bases, n, max_sets);
    void *dw = on_device(wire, n * 4), *ds = on_device(NULL, 2 * n * sizeof *s);
    for (unsigned p = 0; p < N_PATTERNS; p++) {
        fill_scalars(c, s, 2 * n, p);
        CHECK(cudaMemcpy(ds, s, 2 * n * sizeof *s, cudaMemcpyHostToDevice));
        point_t got, expected;
        const struct msm_scalars scalars = {ds, wires ? dw : NULL, n};
        rig_sum(&r, &scalars, &got);
        fr_t sum = {{0}};
        for (uint32_t i = 0; i < n; i++) {
            uint8_t wide[64] = {0};
            fr_t t;
            memcpy(wide, &s[wire[i]], 32);
            c->fr_reduce_512(&t, wide);
            c->fr_to_mont(&t, &t, 1);
            c->fr_mul(&t, &t, &k[i]);
            c->fr_add(&sum, &sum, &t);
        }
        c->fr_from_mont(&sum, &sum, 1);
        g->mul(&expected, g->generator, &sum);
        if (memcmp(&got, &expected, g->bytes) != 0)
            fail_msg("%s %s: n %u, window %u bits, %u tables, %u sets, pattern %u: wrong sum",
                     c->name, g->name, n, r.sum.shape.window_bits, r.sum.shape.n_tables,
                     r.sum.shape.n_sets, p);
    }
    rig_close(&r);
    cudaFree(dw), cudaFree(ds);
    free(bases), free(k), free(s), free(wire);
}

static void sums_equal_the_host(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++)
        for (int g2 = 0; g2 < 2; g2++) {
            for (uint32_t n = 1; n <= 5; n += 2)
                check_sums(&curves[k], g2, n, 1, n == 3);
            check_sums(&curves[k], g2, emulated ? 101 : 5001, 1, false);
            check_sums(&curves[k], g2, emulated ? 64 : 4096, 3, true);
            check_sums(&curves[k], g2, emulated ? 20 : 1000, 1000, true);
            if (!emulated) {
                check_sums(&curves[k], g2, 20001, 2, true);
            }
        }
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
        cmocka_unit_test(transforms_equal_the_host),
        cmocka_unit_test(products_equal_the_host),
        cmocka_unit_test(rows_equal_the_host),
        cmocka_unit_test(sums_equal_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
