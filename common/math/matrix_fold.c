#include "matrix_fold.h"
#include <stdlib.h>
#include <string.h>

/* Copies stored rows [from, to) of m behind the rows that out has already. */
struct copying {
    const struct matrix *m;
    uint32_t *row_start, *wire;
    uint8_t *code;
    uint32_t n_rows;
    uint64_t n_entries;
};

static void copy_rows(struct copying *c, uint32_t from, uint32_t to, const struct matrix_fold *f,
                      uint32_t copy)
{
    const struct matrix *m = c->m;
    uint32_t begin = m->row_start[from], n = m->row_start[to] - begin;
    for (uint32_t row = from; row < to; row++)
        c->row_start[++c->n_rows] = (uint32_t)(c->n_entries + m->row_start[row + 1] - begin);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t wire = m->wire[begin + i];
        c->wire[c->n_entries + i] = f ? matrix_moved_wire(f, copy, wire) : wire;
    }
    memcpy(c->code + c->n_entries * m->code_bytes,
           (const uint8_t *)m->code + (uint64_t)begin * m->code_bytes, (size_t)n * m->code_bytes);
    c->n_entries += n;
}

/* Arrays for n_rows rows and n_entries terms, and m's dictionary. */
static enum err_code begin_copying(const struct matrix *m, uint32_t n_rows, uint64_t n_entries,
                                   struct copying *c, struct matrix *out, struct err *e)
{
    fr_t *dictionary = malloc(m->n_dictionary * sizeof *dictionary);
    *c = (struct copying){
        .m = m,
        .row_start = calloc((size_t)n_rows + 1, sizeof *c->row_start),
        .wire = malloc(n_entries * sizeof *c->wire + 1),
        .code = malloc(n_entries * m->code_bytes + 1),
    };
    *out = *m;
    out->fold = NULL;
    out->n_folds = 0;
    out->n_entries = n_entries;
    out->row_start = c->row_start;
    out->wire = c->wire;
    out->code = c->code;
    out->dictionary = dictionary;
    if (c->row_start && c->wire && c->code && dictionary) {
        memcpy(dictionary, m->dictionary, m->n_dictionary * sizeof *dictionary);
        return ERR_OK;
    }
    matrix_free(out);
    return err_set(e, ERR_MEMORY, "no memory for a matrix of %u rows", n_rows);
}

enum err_code matrix_fold(const struct matrix *m, const struct matrix_fold *folds, uint32_t n,
                          struct matrix *out, struct err *e)
{
    struct matrix folded = {.n_rows = m->n_rows, .fold = folds, .n_folds = n};
    uint64_t n_entries = m->n_entries;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t first = folds[i].row + folds[i].n_rows;
        n_entries -=
            m->row_start[first + folds[i].n_rows * (folds[i].count - 1)] - m->row_start[first];
    }
    struct copying c;
    enum err_code code = begin_copying(m, matrix_stored_rows(&folded), n_entries, &c, out, e);
    if (code)
        return code;
    uint32_t row = 0;
    for (uint32_t i = 0; i < n; i++) {
        copy_rows(&c, row, folds[i].row + folds[i].n_rows, NULL, 0);
        row = folds[i].row + folds[i].n_rows * folds[i].count;
    }
    copy_rows(&c, row, m->n_rows, NULL, 0);
    INVARIANT(c.n_entries == n_entries);
    out->fold = folds;
    out->n_folds = n;
    return ERR_OK;
}

uint64_t matrix_terms(const struct matrix *m)
{
    uint64_t n = m->n_entries;
    for (uint32_t i = 0; i < m->n_folds; i++) {
        uint32_t at = matrix_find_row(m, m->fold[i].row).stored;
        n += (uint64_t)(m->row_start[at + m->fold[i].n_rows] - m->row_start[at]) *
             (m->fold[i].count - 1);
    }
    return n;
}

enum err_code matrix_unfold(const struct matrix *m, struct matrix *out, struct err *e)
{
    uint64_t n_entries = matrix_terms(m);
    if (n_entries > UINT32_MAX)
        return err_set(e, ERR_UNSUPPORTED, "%llu terms: without folds a matrix has fewer than 2^32",
                       (unsigned long long)n_entries);
    struct copying c;
    enum err_code code = begin_copying(m, m->n_rows, n_entries, &c, out, e);
    for (uint32_t row = 0; row < m->n_rows && !code;) {
        struct matrix_place p = matrix_find_row(m, row);
        copy_rows(&c, p.stored, p.stored + p.left, p.fold, p.copy);
        row += p.left;
    }
    return code;
}
