/* msm and mul_fixed: against single multiples, and for many points against one multiple of the
 * generator (bases are known multiples of it), on every kind of scalar and base that has a path of
 * its own or could be slow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>
#include "seeded.h"

enum { N_MANY = 3001 };

struct setting {
    const struct curve *c;
    const struct group *g;
    struct pool *pool;
    unsigned char *bases; /* N_MANY points, logs[i] times the generator */
    fr_t *logs;           /* plain */
};

static struct setting settings[4];

static int begin(void **state)
{
    static const struct curve *const curves[] = {&curve_bn254, &curve_bls12_381};
    (void)state;
    struct pool *pool = pool_new(3, NULL, NULL);
    for (size_t i = 0; i < 4; i++) {
        struct setting *s = &settings[i];
        s->c = curves[i / 2];
        s->g = i % 2 ? s->c->g2 : s->c->g1;
        s->pool = pool;
        s->bases = malloc(N_MANY * s->g->bytes);
        s->logs = malloc(N_MANY * sizeof *s->logs);
        for (size_t k = 0; k < N_MANY; k++)
            s->logs[k] = seed_fr(s->c);
        if (s->g->mul_fixed(s->bases, s->g->generator, s->logs, N_MANY, pool, NULL))
            return -1;
    }
    return 0;
}

static int end(void **state)
{
    (void)state;
    pool_free(&settings[0].pool);
    for (size_t i = 0; i < 4; i++) {
        free(settings[i].bases);
        free(settings[i].logs);
    }
    return 0;
}

/* The last value below r, plain: -1. */
static fr_t minus_one(const struct curve *c)
{
    fr_t x = *c->r;
    x.limb[0]--;
    return x;
}

static fr_t small(uint64_t x)
{
    return (fr_t){{x}};
}

/* sum scalar[index ? index[i] : i] log[i] mod r, times the generator */
static void expected_sum(const struct setting *s, const fr_t *logs, const fr_t *scalars,
                         const uint32_t *index, size_t n, void *out)
{
    const struct curve *c = s->c;
    fr_t sum = {{0}};
    for (size_t i = 0; i < n; i++) {
        fr_t k = reduced(c, &scalars[index ? index[i] : i]), l = logs[i];
        c->fr_to_mont(&k, &k, 1);
        c->fr_to_mont(&l, &l, 1);
        c->fr_mul(&k, &k, &l);
        c->fr_add(&sum, &sum, &k);
    }
    c->fr_from_mont(&sum, &sum, 1);
    s->g->mul(out, s->g->generator, &sum);
}

static void check_sum(const struct setting *s, const void *bases, const fr_t *logs,
                      const fr_t *scalars, const uint32_t *index, size_t n)
{
    point_t want, got;
    memset(&got, 0xa5, sizeof got);
    expected_sum(s, logs, scalars, index, n, &want);
    for (int any = 0; any < 2; any++) {
        struct err e;
        assert_int_equal(s->g->msm(&got, bases, scalars, index, n, any, any ? NULL : s->pool, &e),
                         ERR_OK);
        assert_true(s->g->is_reduced(&got));
        assert_true(s->g->equal(&want, &got));
    }
}

static void fixed_multiples_are_multiples(void **state)
{
    (void)state;
    for (size_t t = 0; t < 4; t++) {
        const struct setting *s = &settings[t];
        fr_t k[12] = {small(0), small(1), small(2), minus_one(s->c), *s->c->r};
        memset(&k[5], 0xff, sizeof k[5]);
        k[6] = (fr_t){{0, 0, 0, 0x8000000000000000u}};
        for (int i = 7; i < 12; i++)
            k[i] = seed_256();
        unsigned char *out = malloc(12 * s->g->bytes);
        const void *base = s->bases + s->g->bytes;
        assert_int_equal(s->g->mul_fixed(out, base, k, 12, s->pool, NULL), ERR_OK);
        for (size_t i = 0; i < 12; i++) {
            point_t want;
            s->g->mul(&want, base, &k[i]);
            assert_true(s->g->equal(&want, out + i * s->g->bytes));
        }
        point_t infinity = {{0}};
        assert_int_equal(s->g->mul_fixed(out, &infinity, k, 12, s->pool, NULL), ERR_OK);
        for (size_t i = 0; i < 12; i++)
            assert_true(s->g->is_infinity(out + i * s->g->bytes));
        assert_int_equal(s->g->mul_fixed(out, base, k, 0, s->pool, NULL), ERR_OK);
        free(out);
    }
}

static void small_counts(void **state)
{
    (void)state;
    for (size_t t = 0; t < 4; t++) {
        const struct setting *s = &settings[t];
        fr_t k[70];
        for (size_t i = 0; i < 70; i++)
            k[i] = i % 3 ? seed_fr(s->c) : seed_256();
        for (size_t n = 0; n <= 70; n += n < 20 ? 1 : 17)
            check_sum(s, s->bases, s->logs, k, NULL, n);
    }
}

typedef fr_t kind_of_scalar(const struct curve *c, size_t i);

static fr_t uniform(const struct curve *c, size_t i)
{
    (void)i;
    return seed_fr(c);
}
static fr_t any_256_bits(const struct curve *c, size_t i)
{
    (void)c;
    (void)i;
    return seed_256();
}
static fr_t mix(const struct curve *c, size_t i)
{
    (void)i;
    return seed_mix(c);
}
static fr_t all_equal(const struct curve *c, size_t i)
{
    (void)i;
    fr_t x = minus_one(c);
    x.limb[0] ^= 0x123456789abcdefu;
    return x;
}
static fr_t one_hot(const struct curve *c, size_t i)
{
    return i % 10 ? all_equal(c, i) : seed_fr(c);
}
static fr_t half_ones(const struct curve *c, size_t i)
{
    return i % 2 ? small(1) : seed_fr(c);
}
static fr_t zeros(const struct curve *c, size_t i)
{
    (void)c;
    (void)i;
    return small(0);
}
static fr_t edges(const struct curve *c, size_t i)
{
    fr_t x = i % 16 < 8 ? *c->r : (fr_t){{~0ull, ~0ull, ~0ull, ~0ull}};
    switch (i % 8) {
    case 0:
        return small(0);
    case 1:
        return small(1);
    case 2:
        x.limb[0]--;
        return x;
    case 3:
        return x;
    case 4: /* the middle, where the sign changes */
        x = *c->r;
        for (int l = 0; l < 4; l++)
            x.limb[l] = x.limb[l] >> 1 | (l < 3 ? x.limb[l + 1] << 63 : 0);
        x.limb[0] += i % 16 < 8;
        return x;
    case 5:
        x.limb[0] -= seed_below(1 << 16);
        return x;
    case 6:
        return small((uint64_t)1 << (i % 60));
    default:
        return (fr_t){{0, 0, (uint64_t)1 << (i % 64), 0}};
    }
}

static kind_of_scalar *const kinds[] = {uniform, any_256_bits, mix,   all_equal,
                                        one_hot, half_ones,    zeros, edges};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static void many_points(void **state)
{
    (void)state;
    static const size_t counts[] = {N_MANY, 1000, 257};
    fr_t *k = malloc(N_MANY * sizeof *k);
    for (size_t t = 0; t < 4; t++)
        for (size_t kind = 0; kind < N_KINDS; kind++) {
            for (size_t i = 0; i < N_MANY; i++)
                k[i] = kinds[kind](settings[t].c, i);
            check_sum(&settings[t], settings[t].bases, settings[t].logs, k, NULL, counts[kind % 3]);
        }
    free(k);
}

static void gathered_scalars(void **state)
{
    (void)state;
    enum { N_SCALARS = 500 };
    fr_t k[N_SCALARS];
    uint32_t *index = malloc(N_MANY * sizeof *index);
    for (size_t t = 0; t < 4; t++) {
        for (size_t i = 0; i < N_SCALARS; i++)
            k[i] = seed_mix(settings[t].c);
        for (size_t i = 0; i < N_MANY; i++)
            index[i] = (uint32_t)seed_below(N_SCALARS);
        check_sum(&settings[t], settings[t].bases, settings[t].logs, k, index, N_MANY);
    }
    free(index);
}

typedef size_t
kind_of_base(size_t i); /* a number of a base; +N_MANY: negated; 2 N_MANY: infinity */

static size_t all_the_same(size_t i)
{
    (void)i;
    return 7;
}
static size_t same_or_opposite(size_t i)
{
    return i % 2 ? 7 : 7 + N_MANY;
}
static size_t few(size_t i)
{
    (void)i;
    return seed_below(3) + (seed_below(2) ? N_MANY : 0);
}
static size_t mostly_infinity(size_t i)
{
    return i % 5 ? 2 * N_MANY : i;
}
static size_t nothing_but_infinity(size_t i)
{
    (void)i;
    return 2 * N_MANY;
}

/* Sums within a bucket meet equal points, opposite points and infinity. */
static void awkward_bases(void **state)
{
    (void)state;
    static kind_of_base *const base_kinds[] = {all_the_same, same_or_opposite, few, mostly_infinity,
                                               nothing_but_infinity};
    static kind_of_scalar *const with[] = {all_equal, half_ones, uniform};
    fr_t *k = malloc(N_MANY * sizeof *k), *logs = malloc(N_MANY * sizeof *logs);
    for (size_t t = 0; t < 4; t++) {
        const struct setting *s = &settings[t];
        size_t bytes = s->g->bytes, n = t % 2 ? 700 : 2100;
        unsigned char *bases = malloc(N_MANY * bytes);
        for (size_t b = 0; b < sizeof base_kinds / sizeof *base_kinds; b++)
            for (size_t w = 0; w < 3; w++) {
                for (size_t i = 0; i < n; i++) {
                    size_t which = base_kinds[b](i);
                    fr_t zero = {{0}};
                    k[i] = with[w](s->c, i);
                    logs[i] = which < 2 * N_MANY ? s->logs[which % N_MANY] : zero;
                    if (which >= 2 * N_MANY) {
                        memset(bases + i * bytes, 0, bytes);
                    } else if (which >= N_MANY) {
                        s->g->neg(bases + i * bytes, s->bases + (which - N_MANY) * bytes);
                        s->c->fr_sub(&logs[i], &zero, &logs[i]);
                    } else {
                        memcpy(bases + i * bytes, s->bases + which * bytes, bytes);
                    }
                }
                check_sum(s, bases, logs, k, NULL, n);
            }
        free(bases);
    }
    free(k);
    free(logs);
}

/* The groups have points outside the subgroup (BN254's G1 has none); with any_subgroup they are
 * multiplied by the scalar as it is, not by its residue mod r. */
static void points_outside_the_subgroup(void **state)
{
    (void)state;
    enum { N = 300 };
    for (size_t t = 1; t < 4; t++) {
        const struct setting *s = &settings[t];
        size_t bytes = s->g->bytes, coordinate = bytes / 2;
        bool g2 = t % 2;
        unsigned char *bases = malloc(N * bytes);
        size_t outside = 0;
        uint64_t x = 1;
        for (size_t i = 0; i < N;) {
            uint64_t plain[12] = {x++}, mont[12];
            s->c->fq_to_mont(mont, plain, coordinate / s->c->fq_bytes);
            if (!(g2 ? s->c->g2_decompress : s->c->g1_decompress)(bases + i * bytes, mont, i % 2))
                continue;
            outside += !s->g->in_subgroup(bases + i * bytes);
            i++;
        }
        assert_true(outside > 0);
        fr_t k[N];
        point_t want = {{0}}, got, term;
        for (size_t i = 0; i < N; i++) {
            k[i] = i % 3 ? seed_256() : edges(s->c, i / 3);
            s->g->mul(&term, bases + i * bytes, &k[i]);
            s->g->add(&want, &want, &term);
        }
        assert_int_equal(s->g->msm(&got, bases, k, NULL, N, true, s->pool, NULL), ERR_OK);
        assert_true(s->g->equal(&want, &got));
        free(bases);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_multiples_are_multiples),
        cmocka_unit_test(small_counts),
        cmocka_unit_test(many_points),
        cmocka_unit_test(gathered_scalars),
        cmocka_unit_test(awkward_bases),
        cmocka_unit_test(points_outside_the_subgroup),
    };
    seed_begin();
    return cmocka_run_group_tests(tests, begin, end);
}
