#include <inttypes.h>
#include <string.h>
#include "r1cs.h"

static bool same_row(const struct matrix *x, const struct matrix *y, uint32_t row)
{
    uint64_t at_x = x->row_start[row], at_y = y->row_start[row];
    uint64_t n = x->row_start[row + 1] - at_x;
    if (y->row_start[row + 1] - at_y != n ||
        (n && memcmp(x->wire + at_x, y->wire + at_y, n * sizeof *x->wire)))
        return false;
    for (uint64_t i = 0; i < n; i++)
        if (memcmp(matrix_value(x, at_x + i), matrix_value(y, at_y + i), sizeof(fr_t)) != 0)
            return false;
    return true;
}

static enum err_code differ(struct err *e, const char *what, uint64_t in_r1cs, uint64_t in_key)
{
    return err_set(e, ERR_MISMATCH,
                   "the constraint system has %" PRIu64 " %s, the key %" PRIu64
                   ": they do not belong together",
                   in_r1cs, what, in_key);
}

enum err_code r1cs_matches(const struct r1cs *r, const struct curve *curve, const struct matrix *a,
                           const struct matrix *b, uint32_t n_constraints, uint32_t n_wires,
                           uint32_t n_public, struct err *e)
{
    uint64_t r1cs_public = (uint64_t)r->n_public_outputs + r->n_public_inputs;
    if (r->curve != curve)
        return err_set(e, ERR_MISMATCH, "the constraint system is on %s, the key on %s",
                       r->curve->name, curve->name);
    if (r->n_wires != n_wires)
        return differ(e, "wires", r->n_wires, n_wires);
    if (r1cs_public != n_public)
        return differ(e, "public values", r1cs_public, n_public);
    if (r->n_constraints != n_constraints)
        return differ(e, "constraints", r->n_constraints, n_constraints);
    for (uint32_t row = 0; row < n_constraints; row++) {
        bool same_a = same_row(&r->a, a, row);
        if (!same_a || !same_row(&r->b, b, row))
            return err_set(e, ERR_MISMATCH,
                           "constraint %" PRIu32
                           " has another %c in the constraint system than in the key: they do not "
                           "belong together",
                           row, same_a ? 'B' : 'A');
    }
    return ERR_OK;
}
