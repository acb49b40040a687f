/* ntt: every transform against the definition (Horner's rule at the point), sizes 2^0 to 2^13 and
 * one large, both curves, both root conventions, with and without a pool. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>
#include "ntt.h"
#include "seeded.h"

static const struct curve *const curves[] = {&curve_bn254, &curve_bls12_381};
static const enum root_convention conventions[] = {ROOT_SNARKJS, ROOT_BELLMAN};

static fr_t *random_vector(const struct curve *c, size_t n)
{
    fr_t *x = malloc(n * sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = seed_fr(c); /* a uniform value in Montgomery form is a uniform value */
    return x;
}

static fr_t *copy_of(const fr_t *x, size_t n)
{
    fr_t *y = malloc(n * sizeof *y);
    memcpy(y, x, n * sizeof *y);
    return y;
}

static fr_t power(const struct curve *c, const fr_t *base, uint64_t exponent)
{
    fr_t r = *c->fr_one, b = *base;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            c->fr_mul(&r, &r, &b);
        c->fr_mul(&b, &b, &b);
    }
    return r;
}

static fr_t value_at(const struct curve *c, const fr_t *coefficients, size_t n, const fr_t *point)
{
    fr_t v = {{0}};
    for (size_t i = n; i-- > 0;) {
        c->fr_mul(&v, &v, point);
        c->fr_add(&v, &v, &coefficients[i]);
    }
    return v;
}

static void assert_same(const fr_t *a, const fr_t *b, size_t n)
{
    assert_true(memcmp(a, b, n * sizeof *a) == 0);
}

static void check_domain(const struct curve *c, enum root_convention roots, unsigned k,
                         struct pool *pool)
{
    struct err e;
    size_t n = (size_t)1 << k, probes = n < 32 ? n : 4;
    struct ntt_domain *d = ntt_domain_new(c, roots, k, pool, &e);
    assert_non_null(d);
    assert_true(ntt_domain_bytes(d) <= 4096 + 32 * n);
    fr_t w, shift;
    c->fr_root(&w, roots, k);
    c->fr_coset_shift(&shift, roots, k);
    fr_t *coefficients = random_vector(c, n), *x = copy_of(coefficients, n);
    ntt_forward(d, x, pool);
    for (size_t i = 0; i < probes; i++) {
        size_t at = n < 32 ? i : seed_below(n);
        fr_t point = power(c, &w, at), v = value_at(c, coefficients, n, &point);
        assert_same(&x[at], &v, 1);
    }
    fr_t *values = copy_of(x, n);
    ntt_inverse(d, x, pool);
    assert_same(x, coefficients, n);

    ntt_to_coset(d, values, pool);
    for (size_t i = 0; i < probes; i++) {
        size_t at = n < 32 ? i : seed_below(n);
        fr_t point = power(c, &w, at);
        c->fr_mul(&point, &point, &shift);
        fr_t v = value_at(c, coefficients, n, &point);
        assert_same(&values[at], &v, 1);
    }
    ntt_from_coset(d, values, pool);
    assert_same(values, coefficients, n);
    free(coefficients);
    free(values);
    free(x);
    ntt_domain_free(&d);
    assert_null(d);
}

static void every_small_size(void **state)
{
    (void)state;
    struct pool *pool = pool_new(3, NULL, NULL);
    for (size_t c = 0; c < 2; c++)
        for (size_t r = 0; r < 2; r++)
            for (unsigned k = 0; k <= 13; k++)
                check_domain(curves[c], conventions[r], k, k % 2 ? pool : NULL);
    pool_free(&pool);
}

static void a_large_size(void **state)
{
    (void)state;
    struct pool *pool = pool_new(0, NULL, NULL);
    for (size_t c = 0; c < 2; c++)
        check_domain(curves[c], ROOT_SNARKJS, 17, pool);
    pool_free(&pool);
}

/* Values that a lazy reduction could let through unreduced: 0, 1, r - 1 throughout. */
static void extreme_values(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        const struct curve *c = curves[k];
        fr_t zero = {{0}}, one = {{1}}, top;
        c->fr_sub(&top, &zero, &one);
        const fr_t *all[] = {&zero, &one, &top};
        enum { LOG2 = 12, N = 1 << LOG2 };
        struct ntt_domain *d = ntt_domain_new(c, ROOT_SNARKJS, LOG2, NULL, NULL);
        for (size_t v = 0; v < 4; v++) {
            fr_t *x = malloc(N * sizeof *x);
            for (size_t i = 0; i < N; i++)
                x[i] = *all[v < 3 ? v : seed_below(3)];
            fr_t *before = copy_of(x, N);
            ntt_forward(d, x, NULL);
            assert_int_equal(c->fr_first_unreduced(x, N), N);
            fr_t sum = value_at(c, before, N, c->fr_one);
            assert_same(&x[0], &sum, 1);
            ntt_inverse(d, x, NULL);
            assert_same(x, before, N);
            ntt_to_coset(d, x, NULL);
            assert_int_equal(c->fr_first_unreduced(x, N), N);
            ntt_from_coset(d, x, NULL);
            ntt_forward(d, x, NULL);
            assert_same(x, before, N);
            free(x);
            free(before);
        }
        ntt_domain_free(&d);
    }
}

static void a_domain_beyond_the_field_is_refused(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct err e;
        assert_null(ntt_domain_new(curves[k], ROOT_SNARKJS, curves[k]->two_adicity + 1, NULL, &e));
        assert_int_equal(e.code, ERR_VALUE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_small_size),
        cmocka_unit_test(a_large_size),
        cmocka_unit_test(extreme_values),
        cmocka_unit_test(a_domain_beyond_the_field_is_refused),
    };
    seed_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
