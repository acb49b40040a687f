/* The rows of A and B times a witness, straight from the coefficients: a prover that uses a key
 * once need not build its matrices. */
#include <stdatomic.h>
#include <stdlib.h>
#include "zkey_file.h"

enum { LOCKS = 4096 }; /* for the rows, by their low bits; a row may stand in two threads' pieces */

struct evaluation {
    const struct zkey *z;
    const fr_t *w;
    fr_t *rows[2];
    unsigned char *scratch; /* for each thread: raw records, values, wires' values */
    atomic_flag *lock;
    struct first_error error;
};

static size_t scratch_bytes(void)
{
    return COEFFICIENTS_PIECE * (COEFFICIENT_BYTES + 2 * sizeof(fr_t));
}

static void add_to_row(struct evaluation *v, struct coefficient at, const fr_t *sum)
{
    atomic_flag *lock = &v->lock[at.row % LOCKS];
    fr_t *row = &v->rows[at.matrix][at.row];
    while (atomic_flag_test_and_set_explicit(lock, memory_order_acquire))
        ;
    v->z->facts.curve->fr_add(row, row, sum);
    atomic_flag_clear_explicit(lock, memory_order_release);
}

/* Neighbours of one row are summed first: keys hold their coefficients by rows. */
static void add_piece(struct evaluation *v, size_t n, const unsigned char *raw, fr_t *products)
{
    const struct curve *c = v->z->facts.curve;
    struct coefficient at = coefficient_at(raw, 0);
    fr_t sum = products[0];
    for (size_t i = 1; i < n; i++) {
        struct coefficient next = coefficient_at(raw, i);
        if (next.row == at.row && next.matrix == at.matrix) {
            c->fr_add(&sum, &sum, &products[i]);
            continue;
        }
        add_to_row(v, at, &sum);
        at = next;
        sum = products[i];
    }
    add_to_row(v, at, &sum);
}

static void piece_body(void *arg, size_t index, unsigned worker)
{
    struct evaluation *v = arg;
    uint64_t first = (uint64_t)index * COEFFICIENTS_PIECE;
    uint64_t left = v->z->facts.n_coefficients - first;
    size_t n = left < COEFFICIENTS_PIECE ? (size_t)left : COEFFICIENTS_PIECE;
    unsigned char *raw = v->scratch + worker * scratch_bytes();
    fr_t *values = (fr_t *)(raw + COEFFICIENTS_PIECE * COEFFICIENT_BYTES);
    fr_t *wires = values + COEFFICIENTS_PIECE;
    if (!first_error_still_wanted(&v->error, first) ||
        !zkey_load_coefficients(v->z, first, n, raw, values, &v->error))
        return;
    for (size_t i = 0; i < n; i++)
        wires[i] = v->w[coefficient_at(raw, i).wire];
    /* (coef R^2) w / R: values are stored so that this one product gives Montgomery form. */
    v->z->facts.curve->fr_mul_many(values, values, wires, n);
    add_piece(v, n, raw, values);
    explicit_bzero(values, 2 * COEFFICIENTS_PIECE * sizeof *values);
}

static void zero_range(void *arg, size_t begin, size_t end, unsigned worker)
{
    (void)worker;
    struct evaluation *v = arg;
    memset(v->rows[0] + begin, 0, (end - begin) * sizeof(fr_t));
    memset(v->rows[1] + begin, 0, (end - begin) * sizeof(fr_t));
}

enum err_code zkey_evaluate(struct zkey *z, const fr_t *w_plain, fr_t *a, fr_t *b,
                            struct pool *pool, struct err *e)
{
    struct evaluation v = {.z = z, .w = w_plain, .rows = {a, b}, .error = FIRST_ERROR_INIT};
    size_t n_pieces =
        (size_t)((z->facts.n_coefficients + COEFFICIENTS_PIECE - 1) / COEFFICIENTS_PIECE);
    v.scratch = malloc(pool_threads(pool) * scratch_bytes());
    v.lock = malloc(LOCKS * sizeof *v.lock);
    enum err_code code = ERR_OK;
    if (v.scratch && v.lock) {
        for (size_t i = 0; i < LOCKS; i++)
            atomic_flag_clear(&v.lock[i]);
        pool_range(pool, zero_range, &v, (size_t)1 << z->facts.domain_log2, 4096);
        pool_run(pool, piece_body, &v, n_pieces);
        code = first_error_take(&v.error, e);
    } else {
        code = err_set(e, ERR_MEMORY, "%s: no memory to read coefficients", binfile_name(z->file));
    }
    free(v.lock);
    free(v.scratch);
    return code;
}
