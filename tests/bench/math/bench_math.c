/* Times of the arithmetic in one instruction-set variant: fields, groups, pairing, point checks.
 *
 * Each line is the median of several runs, in nanoseconds per call. "chain" is the latency of calls
 * that wait for each other, "many" the throughput of independent ones. Integers only: like the
 * library this file is compiled without vector registers. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "cpu.h"
#include "curve_variants.h"
#include "towers.h"

enum { RUNS = 9, LANES = 8 };

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t median(uint64_t *runs)
{
    qsort(runs, RUNS, sizeof *runs, by_size);
    return runs[RUNS / 2];
}

/* Times `statement`, which may use i (0 .. calls - 1), and prints name and nanoseconds a call. */
#define TIME(name, kind, calls, statement)                                                         \
    do {                                                                                           \
        uint64_t runs_[RUNS];                                                                      \
        for (int run_ = 0; run_ < RUNS; run_++) {                                                  \
            uint64_t begin_ = now_ns();                                                            \
            for (int i = 0; i < (calls); i++) {                                                    \
                statement;                                                                         \
                __asm__ volatile("" ::: "memory");                                                 \
            }                                                                                      \
            runs_[run_] = (now_ns() - begin_) * 100 / (calls);                                     \
        }                                                                                          \
        uint64_t m_ = median(runs_);                                                               \
        printf("%-32s %-6s %10llu.%02u\n", name, kind, (unsigned long long)(m_ / 100),             \
               (unsigned)(m_ % 100));                                                              \
    } while (0)

#define BENCH_FIELD(f)                                                                             \
    static void bench_##f(void)                                                                    \
    {                                                                                              \
        f##_t x[LANES], y, w;                                                                      \
        f##_set_one(&y);                                                                           \
        f##_dbl(&y, &y);                                                                           \
        f##_inv(&y, &y);                                                                           \
        for (int i = 0; i < LANES; i++) {                                                          \
            f##_mul(&y, &y, &y);                                                                   \
            x[i] = y;                                                                              \
        }                                                                                          \
        w = y;                                                                                     \
        TIME(#f "_add", "many", 200000, f##_add(&x[i % LANES], &x[i % LANES], &y));                \
        TIME(#f "_sub", "many", 200000, f##_sub(&x[i % LANES], &x[i % LANES], &y));                \
        TIME(#f "_mul", "many", 200000, f##_mul(&x[i % LANES], &x[i % LANES], &y));                \
        TIME(#f "_mul", "chain", 200000, f##_mul(&w, &w, &y));                                     \
        TIME(#f "_sqr", "many", 200000, f##_sqr(&x[i % LANES], &x[i % LANES]));                    \
        TIME(#f "_inv", "chain", 500, f##_inv(&w, &w));                                            \
    }

#define BENCH_GROUP(g, curve, table)                                                               \
    static void bench_##g(void)                                                                    \
    {                                                                                              \
        const struct group *t = MATH_NAME(curve).table;                                            \
        g##_affine_t a = *(const g##_affine_t *)t->generator;                                      \
        g##_xyzz_t x[LANES];                                                                       \
        g##_jacobian_t j;                                                                          \
        point_t p;                                                                                 \
        fr_t k = *MATH_NAME(curve).r;                                                              \
        k.limb[0] /= 3;                                                                            \
        g##_xyzz_dbl_affine(&x[0], &a);                                                            \
        for (int i = 1; i < LANES; i++)                                                            \
            g##_xyzz_add_affine(&x[i], &x[i - 1], &a);                                             \
        g##_jacobian_from_affine(&j, &a);                                                          \
        TIME(#g "_xyzz_add_affine", "many", 20000,                                                 \
             g##_xyzz_add_affine(&x[i % LANES], &x[i % LANES], &a));                               \
        TIME(#g "_xyzz_add", "many", 20000,                                                        \
             g##_xyzz_add(&x[i % LANES], &x[i % LANES], &x[(i + 1) % LANES]));                     \
        TIME(#g "_xyzz_dbl", "many", 20000, g##_xyzz_dbl(&x[i % LANES], &x[i % LANES]));           \
        TIME(#g "_jacobian_dbl", "chain", 20000, g##_jacobian_dbl(&j, &j));                        \
        TIME(#g " on_curve", "many", 20000, (void)t->on_curve(t->generator));                      \
        TIME(#g " in_subgroup", "many", 200, (void)t->in_subgroup(t->generator));                  \
        TIME(#g " mul", "many", 100, t->mul(&p, t->generator, &k));                                \
    }

#define BENCH_PAIRING(c)                                                                           \
    static void bench_##c##_pairing(void)                                                          \
    {                                                                                              \
        const struct curve *t = &MATH_NAME(c##_curve);                                             \
        c##_g1_affine_t p[4];                                                                      \
        c##_g2_affine_t q[4];                                                                      \
        uint64_t gt[72];                                                                           \
        for (int i = 0; i < 4; i++) {                                                              \
            p[i] = *(const c##_g1_affine_t *)t->g1->generator;                                     \
            q[i] = *(const c##_g2_affine_t *)t->g2->generator;                                     \
        }                                                                                          \
        c##_fq12_t f;                                                                              \
        c##_fq12_set_one(&f);                                                                      \
        TIME(#c "_fq12_mul", "chain", 2000, c##_fq12_mul(&f, &f, &f));                             \
        TIME(#c "_fq12_sqr", "chain", 2000, c##_fq12_sqr(&f, &f));                                 \
        TIME(#c "_fq12_cyclotomic_sqr", "chain", 2000, c##_fq12_cyclotomic_sqr(&f, &f));           \
        TIME(#c " pairing", "many", 50, t->pairing(gt, p, q));                                     \
        TIME(#c " pairing_is_one of 4", "many", 30, (void)t->pairing_is_one(p, q, 4));             \
    }

BENCH_FIELD(bn254_fr)
BENCH_FIELD(bn254_fq)
BENCH_FIELD(bn254_fq2)
BENCH_FIELD(bls12_381_fr)
BENCH_FIELD(bls12_381_fq)
BENCH_FIELD(bls12_381_fq2)
BENCH_GROUP(bn254_g1, bn254_curve, g1)
BENCH_GROUP(bn254_g2, bn254_curve, g2)
BENCH_GROUP(bls12_381_g1, bls12_381_curve, g1)
BENCH_GROUP(bls12_381_g2, bls12_381_curve, g2)
BENCH_PAIRING(bn254)
BENCH_PAIRING(bls12_381)

int main(void)
{
#if defined(MATH_ADX)
    if (cpu_variant() < CPU_ADX)
        return 77; /* skipped */
#endif
    bench_bn254_fr();
    bench_bn254_fq();
    bench_bn254_fq2();
    bench_bls12_381_fr();
    bench_bls12_381_fq();
    bench_bls12_381_fq2();
    bench_bn254_g1();
    bench_bn254_g2();
    bench_bls12_381_g1();
    bench_bls12_381_g2();
    bench_bn254_pairing();
    bench_bls12_381_pairing();
    return 0;
}
