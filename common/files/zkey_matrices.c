/* The coefficients of a zkey, read twice by all threads: once to check and count, once to put each
 * into its matrix's list. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "first_error.h"
#include "zkey_file.h"

enum { PIECE = COEFFICIENTS_PIECE };

struct piece_counts {
    uint32_t n_a, n_b; /* then: where the piece's entries begin in each list */
    uint32_t rows;     /* one more than the highest row */
};

struct coefficients_loop {
    const struct zkey *z;
    uint64_t n;
    struct piece_counts *pieces;
    unsigned char *scratch;     /* a piece for each thread: raw records, then values */
    struct matrix_entry *a, *b; /* NULL in the first pass */
    struct first_error error;
};

static size_t scratch_bytes(void)
{
    return PIECE * (COEFFICIENT_BYTES + sizeof(fr_t));
}

static void count_piece(struct piece_counts *c, size_t n, const unsigned char *raw)
{
    for (size_t i = 0; i < n; i++) {
        struct coefficient r = coefficient_at(raw, i);
        c->n_a += r.matrix == 0;
        c->n_b += r.matrix == 1;
        if (r.row >= c->rows)
            c->rows = r.row + 1;
    }
}

/* Values are stored as coef * R^2; taking one R away leaves Montgomery form. */
static void place_piece(struct coefficients_loop *l, struct piece_counts at, size_t n,
                        const unsigned char *raw, fr_t *values)
{
    l->z->facts.curve->fr_from_mont(values, values, n);
    for (size_t i = 0; i < n; i++) {
        struct coefficient r = coefficient_at(raw, i);
        struct matrix_entry *to = r.matrix ? &l->b[at.n_b++] : &l->a[at.n_a++];
        *to = (struct matrix_entry){r.row, r.wire, values[i]};
    }
}

static void piece_body(void *arg, size_t index, unsigned worker)
{
    struct coefficients_loop *l = arg;
    uint64_t first = (uint64_t)index * PIECE;
    size_t n = l->n - first < PIECE ? (size_t)(l->n - first) : PIECE;
    unsigned char *raw = l->scratch + worker * scratch_bytes();
    fr_t *values = (fr_t *)(raw + PIECE * COEFFICIENT_BYTES);
    /* The second pass checks again: the file may have been written to between the two, and the
     * places of a piece hold what the first pass counted, no more. */
    if (!first_error_still_wanted(&l->error, first) ||
        !zkey_load_coefficients(l->z, first, n, raw, values, &l->error))
        return;
    if (!l->a) {
        count_piece(&l->pieces[index], n, raw);
        return;
    }
    struct piece_counts now = {0}, at = l->pieces[index], next = l->pieces[index + 1];
    count_piece(&now, n, raw);
    if (now.n_a != next.n_a - at.n_a || now.n_b != next.n_b - at.n_b || now.rows > next.rows) {
        struct err e;
        err_set(&e, ERR_IO, "%s: changed while it was read", binfile_name(l->z->file));
        first_error_put(&l->error, first, &e);
        return;
    }
    place_piece(l, at, n, raw, values);
}

/* Counts become places; the last element then holds the totals. `rows` becomes the total
 * everywhere. */
static void accumulate(struct piece_counts *pieces, size_t n)
{
    struct piece_counts sum = {0};
    for (size_t i = 0; i <= n; i++) {
        struct piece_counts c = pieces[i];
        pieces[i].n_a = sum.n_a;
        pieces[i].n_b = sum.n_b;
        sum.n_a += c.n_a;
        sum.n_b += c.n_b;
        if (c.rows > sum.rows)
            sum.rows = c.rows;
    }
    for (size_t i = 0; i <= n; i++)
        pieces[i].rows = sum.rows;
}

/* The last n_public + 1 rows bind the publics when row s of them is A: 1 at wire s, and nothing. */
static bool binds_publics(const struct curve *c, const struct matrix *a, const struct matrix *b,
                          uint32_t n_public)
{
    if (a->n_rows < (uint64_t)n_public + 1)
        return false;
    uint32_t first = a->n_rows - n_public - 1;
    for (uint32_t s = 0; s <= n_public; s++) {
        uint32_t at = a->row_start[first + s];
        if (a->row_start[first + s + 1] != at + 1 || a->wire[at] != s ||
            b->row_start[first + s + 1] != b->row_start[first + s])
            return false;
        if (memcmp(matrix_value(a, at), c->fr_one, sizeof(fr_t)) != 0)
            return false;
    }
    return true;
}

static enum err_code build(struct coefficients_loop *l, size_t n_pieces, struct pool *pool,
                           struct matrix *a, struct matrix *b, struct err *e)
{
    struct piece_counts total = l->pieces[n_pieces];
    const struct zkey_facts *k = &l->z->facts;
    l->a = malloc((l->n + 1) * sizeof *l->a); /* + 1: never NULL, which would mean the first pass */
    if (!l->a)
        return err_set(e, ERR_MEMORY, "%s: no memory for %" PRIu64 " coefficients",
                       binfile_name(l->z->file), l->n);
    l->b = l->a + total.n_a;
    pool_run(pool, piece_body, l, n_pieces);
    enum err_code code = first_error_take(&l->error, e);
    if (!code)
        code = matrix_build(k->curve, l->a, total.n_a, total.rows, k->n_wires, a, e);
    if (!code) {
        code = matrix_build(k->curve, l->b, total.n_b, total.rows, k->n_wires, b, e);
        if (code)
            matrix_free(a);
    }
    free(l->a);
    return code;
}

enum err_code zkey_read_matrices(struct zkey *z, struct matrix *a, struct matrix *b,
                                 uint32_t *n_constraints, struct pool *pool, struct err *e)
{
    struct coefficients_loop l = {.z = z, .n = z->facts.n_coefficients, .error = FIRST_ERROR_INIT};
    size_t n_pieces = (size_t)((l.n + PIECE - 1) / PIECE);
    l.pieces = calloc(n_pieces + 1, sizeof *l.pieces);
    l.scratch = malloc(pool_threads(pool) * scratch_bytes());
    enum err_code code = ERR_OK;
    if (!l.pieces || !l.scratch)
        code = err_set(e, ERR_MEMORY, "%s: no memory to read coefficients", binfile_name(z->file));
    if (!code) {
        pool_run(pool, piece_body, &l, n_pieces);
        if (atomic_load(&l.error.index) != UINT64_MAX)
            code = first_error_take(&l.error, e);
    }
    if (!code) {
        accumulate(l.pieces, n_pieces);
        code = build(&l, n_pieces, pool, a, b, e);
    }
    free(l.pieces);
    free(l.scratch);
    if (!code)
        *n_constraints =
            a->n_rows -
            (binds_publics(z->facts.curve, a, b, z->facts.n_public) ? z->facts.n_public + 1 : 0);
    return code;
}
