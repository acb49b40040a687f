#include "csr.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { AUX_BIT = 31 };

const char *csr_part(const char *part, char name)
{
    static const char *const texts[][4] = {
        {"rows", "rows of A", "rows of B", "rows of C"},
        {"columns", "columns of A", "columns of B", "columns of C"},
        {"values", "values of A", "values of B", "values of C"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!strcmp(texts[i][0], part))
            return texts[i][1 + name - 'A'];
    DIE("no part \"%s\"", part);
}

enum err_code csr_begin(const struct bytefile *f, const struct csr_counts *k, struct r1cs *r,
                        struct err *e)
{
    uint64_t wires = (uint64_t)k->n_inputs + k->n_aux;
    if (k->n_inputs == 0)
        return bytefile_error(f, "header", 8, ERR_FORMAT, e,
                              "expected at least one input (the constant one), found none");
    if (wires > UINT32_MAX || k->n_aux >= 1u << AUX_BIT || k->n_inputs >= 1u << AUX_BIT)
        return bytefile_error(f, "header", 8, ERR_UNSUPPORTED, e,
                              "%" PRIu64 " variables: expected fewer than 2^31 of a kind and 2^32 "
                              "in all",
                              wires);
    if (k->n_rows < k->n_inputs)
        return bytefile_error(f, "header", 16, ERR_FORMAT, e,
                              "%" PRIu32 " rows are too few for those that bind %" PRIu32 " inputs",
                              k->n_rows, k->n_inputs);
    *r = (struct r1cs){
        .curve = &curve_bls12_381,
        .n_wires = (uint32_t)wires,
        .n_public_inputs = k->n_inputs - 1,
        .n_constraints = k->n_rows - k->n_inputs,
        .n_labels = wires,
    };
    return ERR_OK;
}

static enum err_code read_array(const struct bytefile *f, uint64_t at, uint64_t n, uint32_t **out,
                                struct err *e)
{
    *out = malloc(n * sizeof **out + 1);
    if (!*out)
        return err_set(e, ERR_MEMORY, "%s: no memory for %" PRIu64 " numbers", bytefile_name(f), n);
    return bytefile_read(f, at, *out, n * sizeof **out, e);
}

static enum err_code check_rows(const struct bytefile *f, const struct csr_place *p,
                                const uint32_t *start, uint32_t n_rows, struct err *e)
{
    const char *what = csr_part("rows", p->name);
    for (uint32_t i = 0; i <= n_rows; i++) {
        uint32_t least = i ? start[i - 1] : 0;
        if (start[i] < least || (i == 0 && start[i] != 0) || start[i] > p->n_entries ||
            (i == n_rows && start[i] != p->n_entries))
            return bytefile_error(f, what, p->rows_at + 4ull * i, ERR_FORMAT, e,
                                  "row %" PRIu32 ": expected %s%" PRIu64 ", found %" PRIu32, i,
                                  i == n_rows ? ""
                                  : i         ? "at least "
                                              : "",
                                  i == n_rows ? p->n_entries : least, start[i]);
    }
    return ERR_OK;
}

/* A column to the wire that it is, or UINT32_MAX. */
static uint32_t wire_of(const struct csr_counts *k, uint32_t column)
{
    if (k->aux_flag && column >> AUX_BIT) {
        uint32_t aux = column & ~(1u << AUX_BIT);
        return aux < k->n_aux ? k->n_inputs + aux : UINT32_MAX;
    }
    uint64_t n = k->aux_flag ? k->n_inputs : (uint64_t)k->n_inputs + k->n_aux;
    return column < n ? column : UINT32_MAX;
}

static enum err_code make_wires(const struct bytefile *f, const struct csr_counts *k,
                                const struct csr_place *p, const uint32_t *start, uint32_t *column,
                                struct err *e)
{
    const char *what = csr_part("columns", p->name);
    for (uint32_t row = 0; row < k->n_rows; row++)
        for (uint32_t i = start[row]; i < start[row + 1]; i++) {
            uint32_t wire = wire_of(k, column[i]);
            if (wire == UINT32_MAX)
                return bytefile_error(f, what, p->columns_at + 4ull * i, ERR_FORMAT, e,
                                      "row %" PRIu32 ": column %" PRIu32
                                      " is neither one of %" PRIu32 " inputs nor of %" PRIu32
                                      " auxiliary variables",
                                      row, column[i], k->n_inputs, k->n_aux);
            if (i > start[row] && wire <= column[i - 1])
                return bytefile_error(f, what, p->columns_at + 4ull * i, ERR_FORMAT, e,
                                      "row %" PRIu32 ": expected variables in ascending order, "
                                      "each once",
                                      row);
            column[i] = wire;
        }
    return ERR_OK;
}

enum err_code csr_read_shape(const struct bytefile *f, const struct csr_counts *k,
                             const struct csr_place *p, struct matrix *m, struct err *e)
{
    uint32_t *start = NULL, *wire = NULL;
    *m = (struct matrix){
        .n_rows = k->n_rows, .n_wires = k->n_inputs + k->n_aux, .n_entries = p->n_entries};
    enum err_code code = read_array(f, p->rows_at, (uint64_t)k->n_rows + 1, &start, e);
    m->row_start = start;
    if (!code)
        code = check_rows(f, p, start, k->n_rows, e);
    if (!code)
        code = read_array(f, p->columns_at, p->n_entries, &wire, e);
    m->wire = wire;
    return code ? code : make_wires(f, k, p, start, wire, e);
}

/* In A the row of input i is 1 at wire i; in B and C it is empty. */
static bool binds(const struct matrix *m, uint32_t row, uint32_t input, bool is_a)
{
    uint32_t at = m->row_start[row], n = m->row_start[row + 1] - at;
    return is_a ? n == 1 && m->wire[at] == input && matrix_value(m, at) == &m->dictionary[0] /* 1 */
                : n == 0;
}

static void drop_rows(struct matrix *m, uint32_t n_rows)
{
    m->n_rows = n_rows;
    m->n_entries = m->row_start[n_rows];
}

enum err_code csr_unbind(const struct bytefile *f, const struct csr_counts *k, struct r1cs *r,
                         struct err *e)
{
    struct matrix *const all[3] = {&r->a, &r->b, &r->c};
    for (uint32_t i = 0; i < k->n_inputs; i++)
        for (int m = 0; m < 3; m++)
            if (!binds(all[m], r->n_constraints + i, i, m == 0))
                return err_set(e, ERR_FORMAT,
                               "%s: rows of %c: row %" PRIu32
                               ": expected the row that binds input %" PRIu32 " (A: 1 at the "
                               "input, nothing in B and C)",
                               bytefile_name(f), "ABC"[m], r -> n_constraints + i, i);
    for (int m = 0; m < 3; m++)
        drop_rows(all[m], r->n_constraints);
    return ERR_OK;
}
