/* From a zkey to a prepared circuit, one section at a time. */
#include <stdlib.h>
#include <string.h>
#include "key_check.h"
#include "prepared.h"
#include "r1cs.h"
#include "zkey_file.h"

enum { WINDOW_POINTS = 1 << 16 };

struct preparing {
    struct zkey *z;
    struct prepared_writer *w;
    struct circuit facts; /* what prepared_commit needs; its arrays are never read */
    struct pool *pool;
    void *window; /* room for WINDOW_POINTS points */
};

/* Matrix C comes from the .r1cs, which is of use only when it is this key's. */
static enum err_code add_c(struct preparing *p, const char *r1cs_path, struct matrix *c,
                           struct err *e)
{
    struct circuit *f = &p->facts;
    struct r1cs r;
    enum err_code code = r1cs_read(r1cs_path, R1CS_ALL, &r, p->pool, e);
    if (code)
        return code;
    code = r1cs_matches(&r, f->curve, &f->a, &f->b, f->n_constraints, f->n_wires, f->n_public, e);
    if (code) {
        err_prefix(e, "%s", r1cs_path);
    } else {
        *c = r.c;
        r.c = (struct matrix){0};
        f->has_c = true;
    }
    r1cs_free(&r);
    return code;
}

static enum err_code put_matrices(struct preparing *p, const char *r1cs_path, struct err *e)
{
    struct circuit *f = &p->facts;
    enum err_code code = zkey_read_matrices(p->z, &f->a, &f->b, &f->n_constraints, p->pool, e);
    if (code)
        return code;
    if (r1cs_path)
        code = add_c(p, r1cs_path, &f->c, e);
    if (!code)
        code = prepared_append_matrices(p->w, &f->a, &f->b, f->has_c ? &f->c : NULL, e);
    matrix_free(&f->a);
    matrix_free(&f->b);
    matrix_free(&f->c);
    return code;
}

/* Calls for each window of a section's points, which are checked by then. */
static enum err_code put_points(struct preparing *p, enum zkey_points from,
                                enum prepared_section to, bool is_query, uint32_t first_wire,
                                struct query *q, struct err *e)
{
    const struct group *g = zkey_group(p->facts.curve, from);
    uint64_t n = zkey_points_count(p->z, from);
    enum err_code code = ERR_OK;
    for (uint64_t at = 0; at < n && !code; at += WINDOW_POINTS) {
        size_t step = n - at < WINDOW_POINTS ? (size_t)(n - at) : WINDOW_POINTS;
        code = zkey_read_points(p->z, from, at, step, p->window, true, p->pool, e);
        if (!code && is_query)
            code =
                prepared_append_query(p->w, to, g, p->window, first_wire + (uint32_t)at, step, e);
        else if (!code)
            code = prepared_append(p->w, to, p->window, step * g->bytes, e);
    }
    if (!code && is_query)
        code = prepared_end_query(p->w, q, e);
    return code;
}

static enum err_code put_all(struct preparing *p, const char *r1cs_path, struct err *e)
{
    struct circuit *f = &p->facts;
    uint32_t private_wire = f->n_public + 1;
    enum err_code code = put_matrices(p, r1cs_path, e);
    if (code || (code = put_points(p, ZKEY_IC, PREPARED_IC, false, 0, NULL, e)) ||
        (code = put_points(p, ZKEY_A, PREPARED_A_POINTS, true, 0, &f->a_query, e)) ||
        (code = put_points(p, ZKEY_B1, PREPARED_B1_POINTS, true, 0, &f->b1_query, e)) ||
        (code = put_points(p, ZKEY_B2, PREPARED_B2_POINTS, true, 0, &f->b2_query, e)) ||
        (code = put_points(p, ZKEY_L, PREPARED_L_POINTS, true, private_wire, &f->l_query, e)))
        return code;
    return put_points(p, ZKEY_H, PREPARED_H_POINTS, false, 0, NULL, e);
}

enum err_code prepare_zkey(const char *zkey_path, const char *r1cs_path, const char *out_path,
                           uint8_t digest[32], struct pool *pool, struct err *e)
{
    struct err local;
    e = e ? e : &local;
    struct preparing p = {.z = zkey_open(zkey_path, e), .pool = pool};
    if (!p.z)
        return e->code;
    zkey_fill_facts(p.z, &p.facts);
    enum err_code code = key_check_consistent(&p.facts, zkey_path, e);
    p.window = malloc(WINDOW_POINTS * p.facts.curve->g2->bytes);
    if (!code && !p.window)
        code = err_set(e, ERR_MEMORY, "%s: no memory to read points", zkey_path);
    if (!code && !(p.w = prepared_create(out_path, pool, e)))
        code = e->code;
    if (!code)
        code = put_all(&p, r1cs_path, e);
    if (!code)
        code = prepared_commit(&p.w, &p.facts, digest, e);
    prepared_abort(&p.w);
    free(p.window);
    zkey_close(&p.z);
    return code;
}
