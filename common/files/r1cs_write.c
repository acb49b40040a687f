#include <inttypes.h>
#include <string.h>
#include "file.h"
#include "r1cs.h"

struct put {
    struct file_writer *file;
    enum err_code code;
    struct err *e;
};

static void put(struct put *p, const void *data, size_t n)
{
    if (!p->code)
        p->code = file_writer_write(p->file, data, n, p->e);
}

static void put_u32(struct put *p, uint32_t v)
{
    put(p, &v, sizeof v);
}

static void put_u64(struct put *p, uint64_t v)
{
    put(p, &v, sizeof v);
}

static void put_row(struct put *p, const struct curve *c, const struct matrix *m, uint32_t row)
{
    uint64_t begin = m->row_start[row], end = m->row_start[row + 1];
    put_u32(p, (uint32_t)(end - begin));
    for (uint64_t i = begin; i < end; i++) {
        fr_t plain;
        c->fr_from_mont(&plain, matrix_value(m, i), 1);
        put_u32(p, m->wire[i]);
        put(p, &plain, sizeof plain);
    }
}

enum err_code r1cs_write(const char *path, const struct r1cs *r, struct err *e)
{
    INVARIANT(r->a.n_rows == r->n_constraints && r->b.n_rows == r->n_constraints &&
              r->c.n_rows == r->n_constraints);
    struct file_writer *file = file_writer_open(path, 0644, e);
    if (!file)
        return e ? e->code : ERR_IO;
    struct put p = {.file = file, .e = e};
    put(&p, "r1cs", 4);
    put_u32(&p, 1); /* version */
    put_u32(&p, 3); /* sections */

    put_u32(&p, 1);
    put_u64(&p, 64);
    put_u32(&p, sizeof(fr_t));
    put(&p, r->curve->r, sizeof(fr_t));
    put_u32(&p, r->n_wires);
    put_u32(&p, r->n_public_outputs);
    put_u32(&p, r->n_public_inputs);
    put_u32(&p, r->n_private_inputs);
    put_u64(&p, r->n_wires); /* labels: a wire's is its number */
    put_u32(&p, r->n_constraints);

    uint64_t entries = r->a.n_entries + r->b.n_entries + r->c.n_entries;
    put_u32(&p, 2);
    put_u64(&p, 12ull * r->n_constraints + 36 * entries);
    for (uint32_t row = 0; row < r->n_constraints; row++) {
        put_row(&p, r->curve, &r->a, row);
        put_row(&p, r->curve, &r->b, row);
        put_row(&p, r->curve, &r->c, row);
    }

    put_u32(&p, 3);
    put_u64(&p, 8ull * r->n_wires);
    for (uint32_t i = 0; i < r->n_wires; i++)
        put_u64(&p, i);
    if (!p.code)
        return file_writer_commit(&file, e);
    file_writer_abort(&file);
    return p.code;
}
