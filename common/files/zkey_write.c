#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "file.h"
#include "zkey_file.h"

enum { ZKEY_VERSION = 1, ZKEY_SECTIONS = 10, EMPTY_CONTRIBUTIONS_BYTES = 68 };

struct zkey_writer {
    struct file_writer *file;
    struct zkey k; /* facts only: zkey_points_count looks at nothing else */
    uint32_t done; /* bit per section that is complete or begun */
    uint32_t current;
    uint64_t left; /* points that the current section still waits for */
};

static enum err_code put_u32(struct file_writer *f, uint32_t v, struct err *e)
{
    return file_writer_write(f, &v, sizeof v, e);
}

static enum err_code put_section(struct zkey_writer *w, uint32_t id, uint64_t length, struct err *e)
{
    INVARIANT(w->left == 0 && !(w->done >> id & 1));
    w->done |= 1u << id;
    w->current = id;
    enum err_code code = put_u32(w->file, id, e);
    return code ? code : file_writer_write(w->file, &length, sizeof length, e);
}

static enum err_code put_header(struct zkey_writer *w, struct err *e)
{
    const struct zkey_facts *k = &w->k.facts;
    const struct curve *c = k->curve;
    size_t g1 = c->g1->bytes, g2 = c->g2->bytes;
    uint32_t n_q = (uint32_t)c->fq_bytes, n_r = sizeof(fr_t);
    uint64_t length = 4 + n_q + 4 + n_r + 3 * 4 + 3 * g1 + 3 * g2;
    struct {
        const void *data;
        size_t n;
    } parts[] = {
        {&n_q, 4},
        {c->q, n_q},
        {&n_r, 4},
        {c->r, n_r},
        {&k->n_wires, 4},
        {&k->n_public, 4},
        {&(uint32_t){1u << k->domain_log2}, 4},
        {&k->alpha_g1, g1},
        {&k->beta_g1, g1},
        {&k->beta_g2, g2},
        {&k->gamma_g2, g2},
        {&k->delta_g1, g1},
        {&k->delta_g2, g2},
    };
    enum err_code code = put_section(w, ZKEY_HEADER, length, e);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !code; i++)
        code = file_writer_write(w->file, parts[i].data, parts[i].n, e);
    return code;
}

struct zkey_writer *zkey_create(const char *path, const struct zkey_facts *facts, struct err *e)
{
    INVARIANT(facts->n_public < facts->n_wires && facts->domain_log2 <= facts->curve->two_adicity);
    struct zkey_writer *w = calloc(1, sizeof *w);
    if (!w) {
        err_set(e, ERR_MEMORY, "%s: no memory", path);
        return NULL;
    }
    w->k.facts = *facts;
    w->file = file_writer_open(path, 0644, e);
    if (!w->file || file_writer_write(w->file, "zkey", 4, e) || put_u32(w->file, ZKEY_VERSION, e) ||
        put_u32(w->file, ZKEY_SECTIONS, e) || put_section(w, ZKEY_PROTOCOL, 4, e) ||
        put_u32(w->file, 1, e) || put_header(w, e))
        zkey_abort(&w);
    return w;
}

/* The entries of one row of one matrix, values as coef * R^2. */
static enum err_code put_row(struct zkey_writer *w, uint32_t which, const struct matrix *m,
                             uint32_t row, struct err *e)
{
    if (row >= m->n_rows)
        return ERR_OK;
    unsigned char record[COEFFICIENT_BYTES];
    for (uint64_t i = m->row_start[row]; i < m->row_start[row + 1]; i++) {
        fr_t value;
        w->k.facts.curve->fr_to_mont(&value, matrix_value(m, i), 1);
        memcpy(record, &which, 4);
        memcpy(record + 4, &row, 4);
        memcpy(record + 8, &m->wire[i], 4);
        memcpy(record + 12, &value, sizeof value);
        enum err_code code = file_writer_write(w->file, record, sizeof record, e);
        if (code)
            return code;
    }
    return ERR_OK;
}

enum err_code zkey_write_matrices(struct zkey_writer *w, const struct matrix *a,
                                  const struct matrix *b, struct err *e)
{
    uint64_t n = a->n_entries + b->n_entries;
    if (n > UINT32_MAX)
        return err_set(e, ERR_UNSUPPORTED,
                       "a .zkey holds at most %" PRIu32
                       " coefficients, these matrices have %" PRIu64,
                       UINT32_MAX, n);
    uint32_t rows = a->n_rows > b->n_rows ? a->n_rows : b->n_rows;
    INVARIANT(rows <= 1ull << w->k.facts.domain_log2);
    enum err_code code = put_section(w, ZKEY_COEFFICIENTS, 4 + COEFFICIENT_BYTES * n, e);
    if (!code)
        code = put_u32(w->file, (uint32_t)n, e);
    for (uint32_t row = 0; row < rows && !code; row++) {
        code = put_row(w, 0, a, row, e);
        if (!code)
            code = put_row(w, 1, b, row, e);
    }
    return code;
}

enum err_code zkey_write_points(struct zkey_writer *w, enum zkey_points which, const void *points,
                                uint64_t n, struct err *e)
{
    size_t bytes = zkey_group(w->k.facts.curve, which)->bytes;
    if (w->current != (uint32_t)which) {
        uint64_t count = zkey_points_count(&w->k, which);
        enum err_code code = put_section(w, which, count * bytes, e);
        if (code)
            return code;
        w->left = count;
    }
    INVARIANT(n <= w->left);
    w->left -= n;
    return file_writer_write(w->file, points, (size_t)(n * bytes), e);
}

/* No contribution was made: a zero hash of the circuit and a count of zero. */
static enum err_code put_contributions(struct zkey_writer *w, struct err *e)
{
    static const unsigned char none[EMPTY_CONTRIBUTIONS_BYTES];
    enum err_code code = put_section(w, ZKEY_CONTRIBUTIONS, sizeof none, e);
    return code ? code : file_writer_write(w->file, none, sizeof none, e);
}

enum err_code zkey_commit(struct zkey_writer **wp, struct err *e)
{
    struct zkey_writer *w = *wp;
    enum err_code code = ERR_OK;
    if (!(w->done >> ZKEY_L & 1) && zkey_points_count(&w->k, ZKEY_L) == 0)
        code = put_section(w, ZKEY_L, 0, e);
    if (!code)
        code = put_contributions(w, e);
    INVARIANT(code || w->done == 0x7fe); /* sections 1 to 10 */
    if (!code)
        code = file_writer_commit(&w->file, e);
    zkey_abort(wp);
    return code;
}

void zkey_abort(struct zkey_writer **w)
{
    if (!w || !*w)
        return;
    file_writer_abort(&(*w)->file);
    free(*w);
    *w = NULL;
}
