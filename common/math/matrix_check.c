/* A mapped matrix is only bytes: every index is checked before it is followed. */
#include "matrix.h"
#include <stdatomic.h>
#include <string.h>

enum { ROWS_A_PIECE = 4096, VALUES_A_PIECE = 4096 };

struct check {
    const struct curve *c;
    const struct matrix *m;
    atomic_uint_least64_t first; /* the first row, entry or value that offends */
};

static void offends(struct check *k, uint64_t at)
{
    uint64_t old = atomic_load_explicit(&k->first, memory_order_relaxed);
    while (at < old && !atomic_compare_exchange_weak_explicit(
                           &k->first, &old, at, memory_order_relaxed, memory_order_relaxed)) {
    }
}

static void check_starts(void *arg, size_t begin, size_t end, unsigned worker)
{
    (void)worker;
    struct check *k = arg;
    for (size_t i = begin; i < end; i++)
        if (k->m->row_start[i] > k->m->row_start[i + 1]) {
            offends(k, i);
            return;
        }
}

static bool is_zero(const fr_t *x)
{
    return (x->limb[0] | x->limb[1] | x->limb[2] | x->limb[3]) == 0;
}

static void check_values(void *arg, size_t begin, size_t end, unsigned worker)
{
    (void)worker;
    struct check *k = arg;
    size_t bad = begin + k->c->fr_first_unreduced(k->m->dictionary + begin, end - begin);
    for (size_t i = begin; i < bad; i++)
        if (is_zero(&k->m->dictionary[i]))
            bad = i;
    if (bad < end)
        offends(k, bad);
}

static uint32_t code_at(const struct matrix *m, uint32_t i)
{
    switch (m->code_bytes) {
    case 1:
        return ((const uint8_t *)m->code)[i];
    case 2:
        return ((const uint16_t *)m->code)[i];
    default:
        return ((const uint32_t *)m->code)[i];
    }
}

/* Entries of the rows [begin,end); the row starts are known to be in order. */
static void check_entries(void *arg, size_t begin, size_t end, unsigned worker)
{
    (void)worker;
    struct check *k = arg;
    const struct matrix *m = k->m;
    for (size_t row = begin; row < end; row++)
        for (uint32_t i = m->row_start[row]; i < m->row_start[row + 1]; i++)
            if (m->wire[i] >= m->n_wires || code_at(m, i) >= m->n_dictionary ||
                (i > m->row_start[row] && m->wire[i] <= m->wire[i - 1])) {
                offends(k, i);
                return;
            }
}

static enum err_code entry_error(const struct matrix *m, uint32_t i, struct err *e)
{
    if (m->wire[i] >= m->n_wires)
        return err_set(e, ERR_FORMAT, "matrix entry %u: wire %u: expected below %u", i, m->wire[i],
                       m->n_wires);
    if (code_at(m, i) >= m->n_dictionary)
        return err_set(e, ERR_FORMAT, "matrix entry %u: value code %u: expected below %u", i,
                       code_at(m, i), m->n_dictionary);
    return err_set(e, ERR_FORMAT, "matrix entry %u: wire %u: expected above %u, the one before", i,
                   m->wire[i], m->wire[i - 1]);
}

static enum err_code fold_error(uint32_t i, const char *what, uint64_t found, struct err *e)
{
    return err_set(e, ERR_FORMAT, "matrix fold %u: %s: found %llu", i, what,
                   (unsigned long long)found);
}

enum err_code matrix_check_folds(const struct matrix *m, struct err *e)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < m->n_folds; i++) {
        const struct matrix_fold *f = &m->fold[i];
        if (f->row < end)
            return fold_error(i, "expected it to begin behind the one before", f->row, e);
        if (f->count < 2 || f->n_rows == 0)
            return fold_error(i, "expected rows, at least twice", f->count, e);
        if (f->n_rows > m->n_rows / f->count || f->row > m->n_rows - f->n_rows * f->count)
            return fold_error(i, "expected it inside the matrix's rows", f->row, e);
        end = (uint64_t)f->row + f->n_rows * f->count;
        if (f->n_shifts == 0 || f->n_shifts > MATRIX_SHIFTS_MAX || f->shift[0].from != 0)
            return fold_error(i, "expected 1 to 8 shifts, the first from wire 0", f->n_shifts, e);
        for (uint32_t k = 1; k < f->n_shifts; k++)
            if (f->shift[k].from <= f->shift[k - 1].from)
                return fold_error(i, "expected ascending shifts", f->shift[k].from, e);
    }
    return ERR_OK;
}

/* The last copy of every folded term has a wire that exists; those before it have smaller ones. */
static enum err_code check_moved(const struct matrix *m, struct err *e)
{
    for (uint32_t i = 0; i < m->n_folds; i++) {
        const struct matrix_fold *f = &m->fold[i];
        uint32_t at = matrix_find_row(m, f->row).stored;
        for (uint32_t k = m->row_start[at]; k < m->row_start[at + f->n_rows]; k++) {
            uint32_t wire = m->wire[k], shift = f->n_shifts - 1;
            while (wire < f->shift[shift].from)
                shift--;
            uint64_t last = wire + (uint64_t)(f->count - 1) * f->shift[shift].by;
            if (last >= m->n_wires)
                return fold_error(i, "expected wires below the matrix's in its last copy", last, e);
        }
    }
    return ERR_OK;
}

static uint64_t run_check(struct check *k, pool_range_body *body, size_t n, size_t grain,
                          struct pool *pool)
{
    atomic_store(&k->first, UINT64_MAX);
    pool_range(pool, body, k, n, grain);
    return atomic_load(&k->first);
}

enum err_code matrix_check(const struct curve *c, const struct matrix *m, struct pool *pool,
                           struct err *e)
{
    if (m->code_bytes != 1 && m->code_bytes != 2 && m->code_bytes != 4)
        return err_set(e, ERR_FORMAT, "matrix codes of %u bytes: expected 1, 2 or 4",
                       m->code_bytes);
    if (m->n_entries > UINT32_MAX)
        return err_set(e, ERR_FORMAT, "matrix of %llu entries: expected fewer than 2^32",
                       (unsigned long long)m->n_entries);
    if (m->n_dictionary < 2)
        return err_set(e, ERR_FORMAT, "matrix dictionary of %u values: expected 1 and -1 at least",
                       m->n_dictionary);
    enum err_code code = matrix_check_folds(m, e);
    if (code)
        return code;
    uint32_t stored = matrix_stored_rows(m);
    if (m->row_start[0] != 0 || m->row_start[stored] != m->n_entries)
        return err_set(e, ERR_FORMAT, "matrix rows span entries %u to %u: expected 0 to %llu",
                       m->row_start[0], m->row_start[stored], (unsigned long long)m->n_entries);
    fr_t zero = {{0}}, minus_one;
    c->fr_sub(&minus_one, &zero, c->fr_one);
    if (memcmp(&m->dictionary[0], c->fr_one, sizeof zero) != 0 ||
        memcmp(&m->dictionary[1], &minus_one, sizeof zero) != 0)
        return err_set(e, ERR_FORMAT, "matrix dictionary: expected it to begin with 1 and -1");
    struct check k = {.c = c, .m = m};
    uint64_t bad = run_check(&k, check_values, m->n_dictionary, VALUES_A_PIECE, pool);
    if (bad != UINT64_MAX)
        return err_set(e, ERR_FORMAT, "matrix dictionary value %llu: expected 1 to r - 1",
                       (unsigned long long)bad);
    bad = run_check(&k, check_starts, stored, ROWS_A_PIECE, pool);
    if (bad != UINT64_MAX)
        return err_set(e, ERR_FORMAT, "matrix row %llu: begins at entry %u and ends at %u",
                       (unsigned long long)bad, m->row_start[bad], m->row_start[bad + 1]);
    bad = run_check(&k, check_entries, stored, ROWS_A_PIECE, pool);
    if (bad != UINT64_MAX)
        return entry_error(m, (uint32_t)bad, e);
    return check_moved(m, e);
}
