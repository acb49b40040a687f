/* From entries in any order to compressed rows: an in-place distribution by row (the row counts are
 * needed anyway) and a sort by wire within each row. */
#include "matrix_dictionary.h"
#include <stdlib.h>
#include <string.h>

static void swap_entries(struct matrix_entry *a, struct matrix_entry *b)
{
    struct matrix_entry t = *a;
    *a = *b;
    *b = t;
}

static bool in_order(const struct matrix_entry *x, uint64_t n)
{
    for (uint64_t i = 1; i < n; i++)
        if (x[i - 1].row > x[i].row || (x[i - 1].row == x[i].row && x[i - 1].wire > x[i].wire))
            return false;
    return true;
}

/* Puts every entry into the range of its row, start[row] .. start[row + 1]. Each swap brings one
 * entry to its place. cursor: n_rows scratch. */
static void distribute(struct matrix_entry *x, const uint32_t *start, uint32_t *cursor,
                       uint32_t n_rows)
{
    memcpy(cursor, start, n_rows * sizeof *cursor);
    for (uint32_t row = 0; row < n_rows; row++)
        while (cursor[row] < start[row + 1]) {
            uint32_t home = x[cursor[row]].row;
            if (home != row)
                swap_entries(&x[cursor[row]], &x[cursor[home]]);
            cursor[home]++;
        }
}

static void sift_down(struct matrix_entry *x, uint64_t root, uint64_t n)
{
    for (uint64_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && x[child].wire < x[child + 1].wire)
            child++;
        if (x[root].wire >= x[child].wire)
            return;
        swap_entries(&x[root], &x[child]);
    }
}

/* Heap sort: in place, and no order of the input makes it quadratic. */
static void sort_by_wire(struct matrix_entry *x, uint64_t n)
{
    if (in_order(x, n))
        return;
    for (uint64_t i = n / 2; i-- > 0;)
        sift_down(x, i, n);
    for (uint64_t i = n - 1; i > 0; i--) {
        swap_entries(&x[0], &x[i]);
        sift_down(x, 0, i);
    }
}

static bool is_zero(const fr_t *x)
{
    return (x->limb[0] | x->limb[1] | x->limb[2] | x->limb[3]) == 0;
}

/* Sums repeats and drops zeros, row by row; the entries kept come to the front. */
static uint64_t merge(const struct curve *c, struct matrix_entry *x, uint64_t n)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < n;) {
        struct matrix_entry sum = x[i++];
        for (; i < n && x[i].row == sum.row && x[i].wire == sum.wire; i++)
            c->fr_add(&sum.value, &sum.value, &x[i].value);
        if (!is_zero(&sum.value))
            x[kept++] = sum;
    }
    return kept;
}

static void count_rows(const struct matrix_entry *x, uint64_t n, uint32_t *start, uint32_t n_rows)
{
    memset(start, 0, ((size_t)n_rows + 1) * sizeof *start);
    for (uint64_t i = 0; i < n; i++)
        start[x[i].row + 1]++;
    for (uint32_t row = 0; row < n_rows; row++)
        start[row + 1] += start[row];
}

static bool compress(const struct curve *c, const struct matrix_entry *x, struct matrix *m)
{
    uint64_t n = m->n_entries;
    uint32_t *wire = malloc(n * sizeof *wire + 1), *code = malloc(n * sizeof *code + 1);
    struct matrix_dictionary d;
    bool ok = matrix_dictionary_begin(c, &d) && wire && code;
    for (uint64_t i = 0; ok && i < n; i++) {
        wire[i] = x[i].wire;
        ok = matrix_dictionary_code(&d, &x[i].value, &code[i]);
    }
    m->wire = wire;
    if (!ok) {
        free(code);
        matrix_dictionary_free(&d);
        return false;
    }
    matrix_dictionary_finish(&d, code, m);
    return true;
}

enum err_code matrix_build(const struct curve *c, struct matrix_entry *entries, uint64_t n,
                           uint32_t n_rows, uint32_t n_wires, struct matrix *out, struct err *e)
{
    *out = (struct matrix){.n_rows = n_rows, .n_wires = n_wires};
    if (n > UINT32_MAX)
        return err_set(e, ERR_UNSUPPORTED, "%llu entries: a matrix holds fewer than 2^32",
                       (unsigned long long)n);
    for (uint64_t i = 0; i < n; i++)
        if (entries[i].row >= n_rows || entries[i].wire >= n_wires)
            return err_set(e, ERR_VALUE,
                           "entry %llu: row %u, wire %u: expected below %u rows, %u wires",
                           (unsigned long long)i, entries[i].row, entries[i].wire, n_rows, n_wires);
    uint32_t *start = malloc(((size_t)n_rows + 1) * sizeof *start);
    bool ok = start != NULL;
    out->row_start = start;
    if (ok && !in_order(entries, n)) {
        uint32_t *cursor = malloc((size_t)n_rows * sizeof *cursor + 1);
        ok = cursor != NULL;
        if (ok) {
            count_rows(entries, n, start, n_rows);
            distribute(entries, start, cursor, n_rows);
            for (uint32_t row = 0; row < n_rows; row++)
                sort_by_wire(entries + start[row], start[row + 1] - start[row]);
        }
        free(cursor);
    }
    if (ok) {
        out->n_entries = merge(c, entries, n);
        count_rows(entries, out->n_entries, start, n_rows);
        ok = compress(c, entries, out);
    }
    if (!ok) {
        matrix_free(out);
        return err_set(e, ERR_MEMORY, "no memory for a matrix of %u rows and %llu entries", n_rows,
                       (unsigned long long)n);
    }
    return ERR_OK;
}

void matrix_free(struct matrix *m)
{
    free((void *)m->row_start);
    free((void *)m->wire);
    free((void *)m->code);
    free((void *)m->dictionary);
    *m = (struct matrix){0};
}
