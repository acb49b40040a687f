/* matrix: a constraint matrix in compressed rows, with a dictionary of its values.
 *
 * Real circuits hold mostly +1 and -1, so an entry is a 32-bit wire and a small code into a
 * dictionary; dictionary[0] is 1 and dictionary[1] is -1, always (Montgomery form, both present
 * even when unused). Entries of a row are in ascending wire order, a wire at most once, and no
 * value is zero. The arrays are borrowed (a mapped prepared circuit or a matrix_build). */
#pragma once
#include "curve.h"

struct matrix {
    uint32_t n_rows;           /* rows stored; rows from here to the domain's end are zero */
    uint32_t n_wires;          /* every wire index is below this */
    uint64_t n_entries;        /* < 2^32 */
    uint32_t n_dictionary;     /* >= 2 */
    uint32_t code_bytes;       /* 1, 2 or 4: width of a code */
    const uint32_t *row_start; /* n_rows + 1, row_start[0] = 0, ascending, last = n_entries */
    const uint32_t *wire;      /* n_entries */
    const void *code;          /* n_entries codes, each below n_dictionary */
    const fr_t *dictionary;    /* n_dictionary, mont */
};

/* The value of entry i, mont. For code outside hot loops. */
static inline const fr_t *matrix_value(const struct matrix *m, uint64_t i)
{
    uint32_t code = m->code_bytes == 1   ? ((const uint8_t *)m->code)[i]
                    : m->code_bytes == 2 ? ((const uint16_t *)m->code)[i]
                                         : ((const uint32_t *)m->code)[i];
    return &m->dictionary[code];
}

/* One entry as it comes from a file; the builder sorts, merges repeats and drops zeros. */
struct matrix_entry {
    uint32_t row, wire;
    fr_t value; /* mont */
};

/* Builds the compressed form; the result owns its arrays (matrix_free). n_rows is the number of
 * rows to keep (every entry's row is below it). Entries are reordered in place. */
enum err_code matrix_build(const struct curve *c, struct matrix_entry *entries, uint64_t n,
                           uint32_t n_rows, uint32_t n_wires, struct matrix *out, struct err *e);
void matrix_free(struct matrix *m);

/* Checks every invariant above (for a matrix mapped from a file), all threads; ERR_FORMAT with the
 * first offence. */
enum err_code matrix_check(const struct curve *c, const struct matrix *m, struct pool *pool,
                           struct err *e);

/* out[i] = row i of m times w, mont, i < n_out; rows from n_rows on are zero. The witness is plain
 * (every value below r). */
void matrix_evaluate(const struct curve *c, const struct matrix *m, const fr_t *w_plain, fr_t *out,
                     size_t n_out, struct pool *pool);

/* The first row where (A w)(B w) != C w, or n_rows of a. */
size_t matrix_first_unsatisfied(const struct curve *c, const struct matrix *a,
                                const struct matrix *b, const struct matrix *m_c,
                                const fr_t *w_plain, struct pool *pool);
