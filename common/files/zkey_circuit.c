/* A whole zkey as a circuit on the heap. */
#include <inttypes.h>
#include <string.h>
#include "key_check.h"
#include "owner.h"
#include "squeeze.h"
#include "zkey_file.h"

enum { WINDOW_POINTS = 1 << 16 };

/* Reads one section of points into a query of its own; bases at infinity go as they come, so that
 * no memory is ever touched for them. */
static enum err_code load_query(struct zkey *z, enum zkey_points which, uint32_t first_wire,
                                struct region *points, struct region *wires, struct query *out,
                                bool subgroup, struct pool *pool, struct err *e)
{
    const struct group *g = zkey_group(z->facts.curve, which);
    uint64_t n = zkey_points_count(z, which);
    enum err_code code = region_new(points, n * g->bytes, "points", e);
    if (!code)
        code = region_new(wires, n * sizeof(uint32_t), "wire numbers", e);
    struct squeeze s = {.group = g, .wire = wires->base, .first_wire = first_wire};
    for (uint64_t at = 0; at < n && !code; at += WINDOW_POINTS) {
        uint64_t step = n - at < WINDOW_POINTS ? n - at : WINDOW_POINTS;
        unsigned char *to = (unsigned char *)points->base + s.kept * g->bytes;
        code = zkey_read_points(z, which, at, step, to, subgroup, pool, e);
        if (!code)
            squeeze_points(&s, to, (size_t)step);
    }
    if (code)
        return code;
    region_shrink(points, s.kept * g->bytes);
    region_shrink(wires, s.gap ? s.kept * sizeof(uint32_t) : 0);
    *out = (struct query){
        .points = points->base,
        .wire = s.gap ? wires->base : NULL,
        .first_wire = s.gap ? 0 : s.start,
        .n = s.kept,
    };
    return ERR_OK;
}

static enum err_code load_plain(struct zkey *z, enum zkey_points which, struct region *points,
                                bool subgroup, struct pool *pool, struct err *e)
{
    uint64_t n = zkey_points_count(z, which);
    enum err_code code =
        region_new(points, n * zkey_group(z->facts.curve, which)->bytes, "points", e);
    return code ? code : zkey_read_points(z, which, 0, n, points->base, subgroup, pool, e);
}

void zkey_fill_facts(const struct zkey *z, struct circuit *c)
{
    const struct zkey_facts *k = &z->facts;
    c->curve = k->curve;
    c->n_wires = k->n_wires;
    c->n_public = k->n_public;
    c->domain_log2 = k->domain_log2;
    c->roots = ROOT_SNARKJS;
    c->h_basis = H_ODD_LAGRANGE;
    c->beta_g1 = k->beta_g1;
    c->delta_g1 = k->delta_g1;
    c->n_h = 1ull << k->domain_log2;
    c->vk = (struct verification_key){
        .curve = k->curve,
        .n_public = k->n_public,
        .alpha_g1 = k->alpha_g1,
        .beta_g2 = k->beta_g2,
        .gamma_g2 = k->gamma_g2,
        .delta_g2 = k->delta_g2,
    };
}

static enum err_code load(struct zkey *z, struct circuit *c, bool subgroup, struct pool *pool,
                          struct err *e)
{
    struct circuit_owner *o = circuit_owner(c);
    struct region *r = o->regions;
    zkey_fill_facts(z, c);
    enum err_code code = subgroup ? key_check_consistent(c, binfile_name(z->file), e) : ERR_OK;
    if (!code)
        code = zkey_read_matrices(z, &c->a, &c->b, &c->n_constraints, pool, e);
    if (code)
        return code;
    o->heap_matrices = true;
    uint32_t first_private = c->n_public + 1;
    if ((code = load_query(z, ZKEY_A, 0, &r[OWNER_A], &r[OWNER_A_WIRE], &c->a_query, subgroup, pool,
                           e)) ||
        (code = load_query(z, ZKEY_B1, 0, &r[OWNER_B1], &r[OWNER_B1_WIRE], &c->b1_query, subgroup,
                           pool, e)) ||
        (code = load_query(z, ZKEY_B2, 0, &r[OWNER_B2], &r[OWNER_B2_WIRE], &c->b2_query, subgroup,
                           pool, e)) ||
        (code = load_query(z, ZKEY_L, first_private, &r[OWNER_L], &r[OWNER_L_WIRE], &c->l_query,
                           subgroup, pool, e)) ||
        (code = load_plain(z, ZKEY_H, &r[OWNER_H], subgroup, pool, e)) ||
        (code = load_plain(z, ZKEY_IC, &r[OWNER_IC], true, pool, e)))
        return code;
    c->h_points = r[OWNER_H].base;
    c->vk.ic = r[OWNER_IC].base;
    return ERR_OK;
}

struct circuit *zkey_load_circuit(const char *path, enum circuit_checks checks, struct pool *pool,
                                  struct err *e)
{
    struct zkey *z = zkey_open(path, e);
    struct circuit *c = z ? circuit_new(e) : NULL;
    if (c && load(z, c, checks & CHECK_SUBGROUP, pool, e))
        circuit_free(&c);
    zkey_close(&z);
    return c;
}
