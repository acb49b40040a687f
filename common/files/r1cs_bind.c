#include <stdlib.h>
#include <string.h>
#include "bellman_r1cs.h"

/* m with n_rows rows: those beyond m's own bind one public each (bind), or are empty. The arrays
 * are owned by *out. */
static bool extended(const struct matrix *m, uint32_t n_rows, bool bind, struct matrix *out)
{
    uint32_t more = n_rows - m->n_rows;
    uint64_t n = m->n_entries + (bind ? more : 0);
    uint32_t *row_start = malloc(((size_t)n_rows + 1) * sizeof *row_start);
    uint32_t *wire = malloc((n ? n : 1) * sizeof *wire);
    uint8_t *code = calloc(n ? n : 1, m->code_bytes); /* code 0 is the value 1 */
    fr_t *dictionary = malloc(m->n_dictionary * sizeof *dictionary);
    *out = *m;
    out->n_rows = n_rows;
    out->n_entries = n;
    out->row_start = row_start;
    out->wire = wire;
    out->code = code;
    out->dictionary = dictionary;
    if (!row_start || !wire || !code || !dictionary)
        return false;
    memcpy(row_start, m->row_start, ((size_t)m->n_rows + 1) * sizeof *row_start);
    memcpy(wire, m->wire, m->n_entries * sizeof *wire);
    memcpy(code, m->code, m->n_entries * m->code_bytes);
    memcpy(dictionary, m->dictionary, m->n_dictionary * sizeof *dictionary);
    for (uint32_t s = 0; s < more; s++) {
        if (bind)
            wire[m->n_entries + s] = s;
        row_start[m->n_rows + 1 + s] = row_start[m->n_rows + s] + (bind ? 1 : 0);
    }
    return true;
}

enum err_code r1cs_bind_publics(const struct r1cs *r, struct matrix *a, struct matrix *b,
                                struct err *e)
{
    uint32_t n_rows = r->n_constraints + r->n_public_outputs + r->n_public_inputs + 1;
    *b = (struct matrix){0};
    if (extended(&r->a, n_rows, true, a) && extended(&r->b, n_rows, false, b))
        return ERR_OK;
    matrix_free(a);
    matrix_free(b);
    return err_set(e, ERR_MEMORY, "no memory for matrices of %u rows", n_rows);
}
