/* matrix: built from shuffled entries with repeats and cancelling values, checked, evaluated
 * against the definition; every rule of the layout broken once; the first unsatisfied row found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>
#include "matrix.h"
#include "seeded.h"

static const struct curve *const curves[] = {&curve_bn254, &curve_bls12_381};

enum { ROWS = 1500, WIRES = 300, ENTRIES = 9000, LONG_ROW = 77 };

static fr_t minus_one(const struct curve *c)
{
    fr_t zero = {{0}}, r;
    c->fr_sub(&r, &zero, c->fr_one);
    return r;
}

/* Coefficients: mostly 1 and -1; `distinct` others. */
static fr_t coefficient(const struct curve *c, const fr_t *others, size_t distinct)
{
    uint64_t kind = seed_below(10);
    return kind < 5 ? *c->fr_one : kind < 8 ? minus_one(c) : others[seed_below(distinct)];
}

static struct matrix_entry *random_entries(const struct curve *c, size_t distinct)
{
    struct matrix_entry *x = malloc(ENTRIES * sizeof *x);
    fr_t *others = malloc(distinct * sizeof *others);
    for (size_t i = 0; i < distinct; i++)
        others[i] = seed_fr(c);
    for (size_t i = 0; i < ENTRIES; i++) {
        x[i].row = i % 9 ? (uint32_t)seed_below(ROWS - 10) : LONG_ROW; /* the last 10 are empty */
        x[i].wire = (uint32_t)seed_below(WIRES);
        x[i].value = coefficient(c, others, distinct);
        if (i && seed_below(20) == 0) { /* a pair that cancels */
            fr_t zero = {{0}};
            x[i] = x[i - 1];
            c->fr_sub(&x[i].value, &zero, &x[i - 1].value);
        }
    }
    free(others);
    return x;
}

static fr_t *random_witness(const struct curve *c)
{
    fr_t *w = malloc(WIRES * sizeof *w);
    for (size_t i = 0; i < WIRES; i++)
        w[i] = seed_mix(c);
    w[1] = *c->r;
    w[1].limb[0]--;
    return w;
}

static fr_t *by_definition(const struct curve *c, const struct matrix_entry *x, size_t n,
                           const fr_t *w)
{
    fr_t *out = calloc(ROWS, sizeof *out);
    for (size_t i = 0; i < n; i++) {
        fr_t t;
        c->fr_to_mont(&t, &w[x[i].wire], 1);
        c->fr_mul(&t, &t, &x[i].value);
        c->fr_add(&out[x[i].row], &out[x[i].row], &t);
    }
    return out;
}

static void built_and_evaluated(void **state)
{
    (void)state;
    static const size_t distinct[] = {1, 40, 500};
    struct pool *pool = pool_new(3, NULL, NULL);
    for (size_t k = 0; k < 2; k++)
        for (size_t d = 0; d < 3; d++) {
            const struct curve *c = curves[k];
            struct matrix_entry *x = random_entries(c, distinct[d]);
            fr_t *w = random_witness(c), *want = by_definition(c, x, ENTRIES, w);
            struct matrix m;
            struct err e;
            assert_int_equal(matrix_build(c, x, ENTRIES, ROWS, WIRES, &m, &e), ERR_OK);
            assert_int_equal(matrix_check(c, &m, pool, &e), ERR_OK);
            assert_int_equal(m.code_bytes, d == 2 ? 2 : 1);
            assert_true(m.n_entries < ENTRIES);
            enum { OUT = 2048 };
            fr_t *out = malloc(OUT * sizeof *out), zero = {{0}};
            memset(out, 0xa5, OUT * sizeof *out);
            matrix_evaluate(c, &m, w, out, OUT, d ? pool : NULL);
            assert_true(memcmp(out, want, ROWS * sizeof *out) == 0);
            for (size_t i = ROWS; i < OUT; i++)
                assert_true(memcmp(&out[i], &zero, sizeof zero) == 0);
            memset(out, 0xa5, OUT * sizeof *out);
            matrix_evaluate(c, &m, w, out, 700, pool); /* fewer rows than stored */
            assert_true(memcmp(out, want, 700 * sizeof *out) == 0);
            assert_true(out[700].limb[0] == 0xa5a5a5a5a5a5a5a5u);
            matrix_free(&m);
            free(out);
            free(want);
            free(w);
            free(x);
        }
    pool_free(&pool);
}

static void wide_codes(void **state)
{
    (void)state;
    enum { N = 70000 };
    const struct curve *c = &curve_bn254;
    struct matrix_entry *x = malloc(N * sizeof *x);
    for (uint32_t i = 0; i < N; i++)
        x[i] = (struct matrix_entry){i, 0, seed_fr(c)};
    struct matrix m;
    assert_int_equal(matrix_build(c, x, N, N, 1, &m, NULL), ERR_OK);
    assert_int_equal(m.code_bytes, 4);
    assert_int_equal(matrix_check(c, &m, NULL, NULL), ERR_OK);
    fr_t one = {{1}}, *out = malloc(N * sizeof *out);
    matrix_evaluate(c, &m, &one, out, N, NULL);
    for (size_t i = 0; i < N; i++)
        assert_true(memcmp(&out[i], &x[i].value, sizeof one) == 0);
    matrix_free(&m);
    free(out);
    free(x);
}

/* The longest carries: thousands of products of r - 1 in one row. */
static void a_long_row_of_extremes(void **state)
{
    (void)state;
    enum { N = 20000 };
    for (size_t k = 0; k < 2; k++) {
        const struct curve *c = curves[k];
        fr_t top = *c->r, sum = {{0}};
        top.limb[0]--; /* as a coefficient: -1 / R, the largest value; as a wire: -1 */
        struct matrix_entry *x = malloc(N * sizeof *x);
        fr_t *w = malloc(N * sizeof *w), out, t;
        for (uint32_t i = 0; i < N; i++) {
            x[i] = (struct matrix_entry){0, i, i % 5 == 4 ? minus_one(c) : top};
            w[i] = top;
            c->fr_to_mont(&t, &w[i], 1);
            c->fr_mul(&t, &t, &x[i].value);
            c->fr_add(&sum, &sum, &t);
        }
        struct matrix m;
        assert_int_equal(matrix_build(c, x, N, 1, N, &m, NULL), ERR_OK);
        matrix_evaluate(c, &m, w, &out, 1, NULL);
        assert_true(memcmp(&out, &sum, sizeof out) == 0);
        matrix_free(&m);
        free(x);
        free(w);
    }
}

static void empty_matrices(void **state)
{
    (void)state;
    struct matrix m;
    fr_t one = {{1}}, out[4], zero = {{0}};
    for (uint32_t rows = 0; rows < 3; rows++) {
        assert_int_equal(matrix_build(&curve_bn254, NULL, 0, rows, 1, &m, NULL), ERR_OK);
        assert_int_equal(matrix_check(&curve_bn254, &m, NULL, NULL), ERR_OK);
        memset(out, 1, sizeof out);
        matrix_evaluate(&curve_bn254, &m, &one, out, 4, NULL);
        for (size_t i = 0; i < 4; i++)
            assert_true(memcmp(&out[i], &zero, sizeof zero) == 0);
        assert_int_equal(matrix_first_unsatisfied(&curve_bn254, &m, &m, &m, &one, NULL), rows);
        matrix_free(&m);
    }
}

static void bad_entries_are_refused(void **state)
{
    (void)state;
    struct matrix m;
    struct err e;
    struct matrix_entry x = {3, 0, *curve_bn254.fr_one};
    assert_int_equal(matrix_build(&curve_bn254, &x, 1, 3, 1, &m, &e), ERR_VALUE);
    x = (struct matrix_entry){0, 5, *curve_bn254.fr_one};
    assert_int_equal(matrix_build(&curve_bn254, &x, 1, 1, 5, &m, &e), ERR_VALUE);
    assert_non_null(strstr(e.text, "wire 5"));
}

static void every_broken_rule_is_named(void **state)
{
    (void)state;
    const struct curve *c = &curve_bls12_381;
    uint32_t start[] = {0, 2, 2, 5}, wire[] = {0, 3, 1, 2, 4};
    uint8_t code[] = {0, 1, 2, 0, 1};
    fr_t dictionary[] = {*c->fr_one, minus_one(c), {{7}}};
    const struct matrix good = {3, 5, 5, 3, 1, start, wire, code, dictionary, NULL, 0};
    struct err e;
    assert_int_equal(matrix_check(c, &good, NULL, &e), ERR_OK);
#define BROKEN(change, undo, word)                                                                 \
    do {                                                                                           \
        struct matrix m = good;                                                                    \
        change;                                                                                    \
        assert_int_equal(matrix_check(c, &m, NULL, &e), ERR_FORMAT);                               \
        assert_non_null(strstr(e.text, word));                                                     \
        undo;                                                                                      \
    } while (0)
    BROKEN(m.code_bytes = 3, (void)0, "codes of 3");
    BROKEN(m.n_dictionary = 1, (void)0, "dictionary");
    BROKEN(m.n_entries = (uint64_t)1 << 32, (void)0, "2^32");
    BROKEN(m.n_entries = 4, (void)0, "rows span");
    BROKEN(start[0] = 1, start[0] = 0, "rows span");
    BROKEN(start[1] = 4, start[1] = 2, "row 1");
    BROKEN(start[1] = 0xffffffff, start[1] = 2, "row 1");
    BROKEN(wire[4] = 5, wire[4] = 4, "entry 4: wire 5");
    BROKEN(wire[3] = 1, wire[3] = 2, "entry 3");
    BROKEN(wire[3] = 0, wire[3] = 2, "entry 3");
    BROKEN(code[2] = 3, code[2] = 2, "entry 2");
    BROKEN(dictionary[2] = (fr_t){{0}}, dictionary[2] = (fr_t){{7}}, "value 2");
    BROKEN(dictionary[2] = *c->r, dictionary[2] = (fr_t){{7}}, "value 2");
    BROKEN(dictionary[0].limb[0]++, dictionary[0].limb[0]--, "begin with 1 and -1");
    BROKEN(dictionary[1].limb[3]--, dictionary[1].limb[3]++, "begin with 1 and -1");
    assert_int_equal(matrix_check(c, &good, NULL, &e), ERR_OK);
}

static void the_first_unsatisfied_row(void **state)
{
    (void)state;
    const struct curve *c = &curve_bn254;
    struct pool *pool = pool_new(3, NULL, NULL);
    /* row i: wire i * wire i = wire N + i */
    enum { N = 5000 };
    struct matrix_entry *x = malloc(N * sizeof *x);
    fr_t *w = malloc(2 * N * sizeof *w);
    struct matrix ab, mc;
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < N; i++)
            x[i] = (struct matrix_entry){i, i + (side ? N : 0), *c->fr_one};
        assert_int_equal(matrix_build(c, x, N, N, 2 * N, side ? &mc : &ab, NULL), ERR_OK);
    }
    for (size_t i = 0; i < N; i++) {
        w[i] = (fr_t){{seed_below(1ull << 31)}};
        w[N + i] = (fr_t){{w[i].limb[0] * w[i].limb[0]}};
    }
    assert_int_equal(matrix_first_unsatisfied(c, &ab, &ab, &mc, w, pool), N);
    static const size_t bad[] = {N - 1, 4000, 1023, 513, 0};
    for (size_t i = 0; i < 5; i++) {
        w[N + bad[i]].limb[0]++;
        assert_int_equal(matrix_first_unsatisfied(c, &ab, &ab, &mc, w, i % 2 ? NULL : pool),
                         bad[i]);
    }
    matrix_free(&ab);
    matrix_free(&mc);
    free(x);
    free(w);
    pool_free(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_and_evaluated),       cmocka_unit_test(wide_codes),
        cmocka_unit_test(a_long_row_of_extremes),    cmocka_unit_test(empty_matrices),
        cmocka_unit_test(bad_entries_are_refused),   cmocka_unit_test(every_broken_rule_is_named),
        cmocka_unit_test(the_first_unsatisfied_row),
    };
    seed_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
