/* Rows that repeat: found, folded, evaluated as if they were all stored, and broken folds told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "matrix_fold.h"

enum {
    INPUTS = 20,
    FIXED = 50,  /* aux variables that every block uses */
    BLOCK = 700, /* rows, and aux variables of each block's own */
    COPIES = 9,
    BEFORE = 130, /* rows that are in no block */
    AFTER = 75,
    ROWS = BEFORE + COPIES * BLOCK + AFTER,
    WIRES = INPUTS + FIXED + COPIES * BLOCK,
    TERMS_A_ROW = 5,
};

static const struct curve *const curve = &curve_bls12_381;

static uint64_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Term t of a row of the block, in its first copy; input: wires 2.. of which move by 2 a copy. */
static uint32_t wire_in_block(uint32_t row, uint32_t t, uint32_t copy, uint64_t *state)
{
    switch (t) {
    case 0:
        return 0;
    case 1:
        return row % 7 ? 1 : 2 + 2 * copy;
    case 2:
        return INPUTS + (uint32_t)(next(state) % FIXED);
    case 3: /* the first half of the block's own */
        return INPUTS + FIXED + copy * BLOCK + (uint32_t)(next(state) % (BLOCK / 2));
    default:
        return INPUTS + FIXED + copy * BLOCK + BLOCK / 2 + (uint32_t)(next(state) % (BLOCK / 2));
    }
}

static void value_of(uint64_t n, fr_t *mont)
{
    fr_t plain = {{n % 3 == 0 ? 1 : n % 40 + 2}};
    curve->fr_to_mont(mont, &plain, 1);
}

/* A matrix of blocks, each row of which repeats; spoilt: one term of the third copy has another
 * value. */
static void make(uint64_t seed, bool spoilt, struct matrix *m)
{
    struct matrix_entry *x = malloc(ROWS * TERMS_A_ROW * sizeof *x);
    uint64_t n = 0, outside = seed + 99;
    for (uint32_t row = 0; row < ROWS; row++) {
        bool in = row >= BEFORE && row < BEFORE + COPIES * BLOCK;
        uint32_t local = (row - BEFORE) % BLOCK, copy = (row - BEFORE) / BLOCK;
        uint64_t of_row = seed + local;
        for (uint32_t t = 0; t < TERMS_A_ROW; t++) {
            uint64_t *state = in ? &of_row : &outside;
            x[n].row = row;
            x[n].wire = in ? wire_in_block(local, t, copy, state) : (uint32_t)(next(state) % WIRES);
            value_of(next(state), &x[n].value);
            n++;
        }
        if (spoilt && in && copy == 2 && local == 300)
            x[n - 1].value = (fr_t){{12345}};
    }
    struct err e;
    assert_int_equal(matrix_build(curve, x, n, ROWS, WIRES, m, &e), ERR_OK);
    free(x);
}

static void same_matrix(const struct matrix *x, const struct matrix *y)
{
    assert_int_equal(x->n_rows, y->n_rows);
    assert_int_equal(x->n_entries, y->n_entries);
    assert_memory_equal(x->row_start, y->row_start, (x->n_rows + 1) * sizeof *x->row_start);
    assert_memory_equal(x->wire, y->wire, x->n_entries * sizeof *x->wire);
    assert_memory_equal(x->code, y->code, x->n_entries * x->code_bytes);
}

static void evaluates_alike(const struct matrix *whole, const struct matrix *folded)
{
    fr_t *w = malloc(WIRES * sizeof *w), *x = malloc(2 * (ROWS + 100) * sizeof *x);
    uint64_t state = 5;
    for (uint32_t i = 0; i < WIRES; i++)
        w[i] = (fr_t){{next(&state), next(&state), next(&state), 1}};
    struct err e;
    struct pool *pool = pool_new(3, NULL, &e);
    matrix_evaluate(curve, whole, w, x, ROWS + 100, NULL);
    matrix_evaluate(curve, folded, w, x + ROWS + 100, ROWS + 100, pool);
    assert_memory_equal(x, x + ROWS + 100, (ROWS + 100) * sizeof *x);
    pool_free(&pool);
    free(w);
    free(x);
}

static void blocks_are_found_and_folded(void **state)
{
    (void)state;
    struct matrix m[3], folded, whole;
    const struct matrix *const all[3] = {&m[0], &m[1], &m[2]};
    struct matrix_fold *folds;
    uint32_t n;
    struct err e;
    for (int i = 0; i < 3; i++)
        make((uint64_t)i * 1000, false, &m[i]);
    assert_int_equal(matrix_find_folds(all, 3, ROWS, &folds, &n, &e), ERR_OK);
    assert_int_equal(n, 1);
    assert_int_equal(folds[0].row, BEFORE);
    assert_int_equal(folds[0].n_rows, BLOCK);
    assert_int_equal(folds[0].count, COPIES);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(matrix_fold(&m[i], folds, n, &folded, &e), ERR_OK);
        assert_int_equal(matrix_stored_rows(&folded), BEFORE + BLOCK + AFTER);
        assert_int_equal(matrix_terms(&folded), m[i].n_entries);
        assert_int_equal(matrix_check(curve, &folded, NULL, &e), ERR_OK);
        evaluates_alike(&m[i], &folded);
        assert_int_equal(matrix_unfold(&folded, &whole, &e), ERR_OK);
        same_matrix(&m[i], &whole);
        matrix_free(&folded);
        matrix_free(&whole);
        matrix_free(&m[i]);
    }
    free(folds);
}

/* Blocks that differ in one value of one matrix are not the same block. */
static void a_block_that_differs_is_left_out(void **state)
{
    (void)state;
    struct matrix m[2], folded;
    const struct matrix *const all[2] = {&m[0], &m[1]};
    struct matrix_fold *folds;
    uint32_t n, rows = 0;
    struct err e;
    make(0, false, &m[0]);
    make(1000, true, &m[1]);
    assert_int_equal(matrix_find_folds(all, 2, ROWS, &folds, &n, &e), ERR_OK);
    for (uint32_t i = 0; i < n; i++)
        rows += folds[i].n_rows * (folds[i].count - 1);
    assert_true(n >= 1 && rows >= 4 * BLOCK && rows < (COPIES - 1) * BLOCK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(matrix_fold(&m[i], folds, n, &folded, &e), ERR_OK);
        evaluates_alike(&m[i], &folded);
        matrix_free(&folded);
        matrix_free(&m[i]);
    }
    free(folds);
}

static void broken_folds_are_told(void **state)
{
    (void)state;
    struct matrix m[2], folded;
    const struct matrix *const all[2] = {&m[0], &m[1]};
    struct matrix_fold *f;
    uint32_t n;
    struct err e;
    for (int i = 0; i < 2; i++)
        make((uint64_t)i, false, &m[i]);
    assert_int_equal(matrix_find_folds(all, 2, ROWS, &f, &n, &e), ERR_OK);
    assert_int_equal(n, 1);
    assert_int_equal(matrix_fold(&m[0], f, n, &folded, &e), ERR_OK);
    const struct matrix_fold good = f[0];
#define BROKEN(change, piece)                                                                      \
    change;                                                                                        \
    assert_int_equal(matrix_check(curve, &folded, NULL, &e), ERR_FORMAT);                          \
    assert_non_null(strstr(e.text, piece));                                                        \
    f[0] = good
    BROKEN(f[0].count = 1, "at least twice");
    BROKEN(f[0].n_rows = 0, "at least twice");
    BROKEN(f[0].n_rows = UINT32_MAX, "inside the matrix's rows");
    BROKEN(f[0].row = ROWS - BLOCK, "inside the matrix's rows");
    BROKEN(f[0].n_shifts = 0, "1 to 8 shifts");
    BROKEN(f[0].n_shifts = 9, "1 to 8 shifts");
    BROKEN(f[0].shift[0].from = 1, "1 to 8 shifts");
    BROKEN(f[0].shift[1].from = 0, "ascending shifts");
    BROKEN(f[0].shift[f[0].n_shifts - 1].by++, "in its last copy");
    BROKEN(f[0].shift[0].by = UINT32_MAX, "in its last copy");
    assert_int_equal(matrix_check(curve, &folded, NULL, &e), ERR_OK);
    struct matrix_fold twice[2] = {good, good};
    folded.fold = twice;
    folded.n_folds = 2;
    assert_int_equal(matrix_check(curve, &folded, NULL, &e), ERR_FORMAT);
    assert_non_null(strstr(e.text, "behind the one before"));
    matrix_free(&folded);
    matrix_free(&m[0]);
    matrix_free(&m[1]);
    free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_found_and_folded),
        cmocka_unit_test(a_block_that_differs_is_left_out),
        cmocka_unit_test(broken_folds_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
