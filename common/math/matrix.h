/* matrix: a constraint matrix in compressed rows, with a dictionary of its values.
 *
 * Real circuits hold mostly +1 and -1, so an entry is a 32-bit wire and a small code into a
 * dictionary; dictionary[0] is 1 and dictionary[1] is -1, always (Montgomery form, both present
 * even when unused). Entries of a row are in ascending wire order, a wire at most once, and no
 * value is zero. The arrays are borrowed (a mapped prepared circuit or a matrix_build).
 *
 * Rows that repeat may be folded: a block of rows stands for `count` copies of itself, one after
 * the other, in which the values are the same and the wires have moved. Only the first is stored.
 *
 *   rows of the matrix   0 .. row | row .. row + n_rows | n_rows more | n_rows more | ...
 *   rows stored          0 .. row | row .. row + n_rows |                             ... */
#pragma once
#include "curve.h"

enum { MATRIX_SHIFTS_MAX = 8 };

/* Wires from `from` up to the next shift's are moved by `by` from one copy to the next. */
struct matrix_shift {
    uint32_t from, by;
};

/* Copy k (0 <= k < count) of the block has wire w + k * by wherever the block has w. */
struct matrix_fold {
    uint32_t row, n_rows, count, n_shifts;        /* row: of the matrix; n_shifts >= 1 */
    struct matrix_shift shift[MATRIX_SHIFTS_MAX]; /* from ascending, shift[0].from = 0; rest zero */
};
_Static_assert(sizeof(struct matrix_fold) == 80, "as it stands in a prepared circuit");

struct matrix {
    uint32_t n_rows;           /* with every copy; rows from here to the domain's end are zero */
    uint32_t n_wires;          /* every wire index is below this */
    uint64_t n_entries;        /* stored; < 2^32 */
    uint32_t n_dictionary;     /* >= 2 */
    uint32_t code_bytes;       /* 1, 2 or 4: width of a code */
    const uint32_t *row_start; /* stored rows + 1, row_start[0] = 0, ascending, last = n_entries */
    const uint32_t *wire;      /* n_entries */
    const void *code;          /* n_entries codes, each below n_dictionary */
    const fr_t *dictionary;    /* n_dictionary, mont */
    const struct matrix_fold *fold; /* n_folds, by row, no row in two; NULL: every row is stored */
    uint32_t n_folds;
};

/* How many rows are stored. */
static inline uint32_t matrix_stored_rows(const struct matrix *m)
{
    uint32_t n = m->n_rows;
    for (uint32_t i = 0; i < m->n_folds; i++)
        n -= m->fold[i].n_rows * (m->fold[i].count - 1);
    return n;
}

/* Where a row is stored. */
struct matrix_place {
    uint32_t stored;                /* the row in row_start */
    uint32_t copy;                  /* 0: as it is stored */
    uint32_t left;                  /* rows from here on, this one too, that lie as this one does */
    const struct matrix_fold *fold; /* whose shifts apply; NULL in no block */
};
static inline struct matrix_place matrix_find_row(const struct matrix *m, uint32_t row)
{
    uint32_t hidden = 0; /* rows before that are not stored */
    for (uint32_t i = 0; i < m->n_folds; i++) {
        const struct matrix_fold *f = &m->fold[i];
        if (row < f->row)
            return (struct matrix_place){row - hidden, 0, f->row - row, NULL};
        if (row - f->row < f->n_rows * f->count) {
            uint32_t copy = (row - f->row) / f->n_rows, in = (row - f->row) % f->n_rows;
            return (struct matrix_place){f->row - hidden + in, copy, f->n_rows - in, f};
        }
        hidden += f->n_rows * (f->count - 1);
    }
    return (struct matrix_place){row - hidden, 0, m->n_rows - row, NULL};
}

/* The wire that copy `copy` of a block has where the block has `wire`. */
static inline uint32_t matrix_moved_wire(const struct matrix_fold *f, uint32_t copy, uint32_t wire)
{
    uint32_t i = f->n_shifts - 1;
    while (wire < f->shift[i].from)
        i--;
    return wire + copy * f->shift[i].by;
}

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

/* What of that is about folds alone and needs no other array: blocks inside the rows, one behind
 * the other, with proper shifts. */
enum err_code matrix_check_folds(const struct matrix *m, struct err *e);

/* out[i] = row i of m times w, mont, i < n_out; rows from n_rows on are zero. The witness is plain
 * (every value below r). */
void matrix_evaluate(const struct curve *c, const struct matrix *m, const fr_t *w_plain, fr_t *out,
                     size_t n_out, struct pool *pool);

/* The first row where (A w)(B w) != C w, or n_rows of a. */
size_t matrix_first_unsatisfied(const struct curve *c, const struct matrix *a,
                                const struct matrix *b, const struct matrix *m_c,
                                const fr_t *w_plain, struct pool *pool);
