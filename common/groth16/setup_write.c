/* From the set-up's scalars to a key: points are made and written a piece at a time. */
#include "setup_internal.h"
#include "prepared.h"
#include "zkey.h"
#include <stdlib.h>
#include <string.h>

enum { PIECE_POINTS = 1 << 19, STAGES = 6 };

/* Where the points go. */
struct sink {
    const struct setup *s;
    struct pool *pool;
    setup_stage *stage;
    void *stage_arg;
    unsigned stages;
    uint8_t *points; /* PIECE_POINTS of the larger group */
    struct zkey_writer *zkey;
    struct prepared_writer *prepared;
};

/* One section of a key. */
struct section {
    const char *what;
    const fr_t *scalars;
    uint64_t n;
    uint32_t wire; /* of the first */
    bool g2;
    enum zkey_points zkey;
    enum prepared_section prepared;
    struct query *query; /* prepared: filtered, its facts go here; NULL: as it is */
};

static enum err_code put(struct sink *k, const struct section *x, const struct group *g,
                         uint64_t first, size_t n, struct err *e)
{
    if (k->zkey)
        return zkey_write_points(k->zkey, x->zkey, k->points, n, e);
    if (x->query)
        return prepared_append_query(k->prepared, x->prepared, g, k->points,
                                     x->wire + (uint32_t)first, n, e);
    return prepared_append(k->prepared, x->prepared, k->points, n * g->bytes, e);
}

static enum err_code write_section(struct sink *k, const struct section *x, struct err *e)
{
    const struct curve *c = k->s->curve;
    const struct group *g = x->g2 ? c->g2 : c->g1;
    k->stages++;
    if (k->stage)
        k->stage(k->stage_arg, x->what, k->stages, STAGES);
    enum err_code rc = ERR_OK;
    for (uint64_t first = 0; first < x->n && !rc; first += PIECE_POINTS) {
        size_t n = x->n - first < PIECE_POINTS ? (size_t)(x->n - first) : PIECE_POINTS;
        rc = g->mul_fixed(k->points, g->generator, x->scalars + first, n, k->pool, e);
        if (!rc)
            rc = put(k, x, g, first, n, e);
    }
    if (!rc && k->prepared && x->query)
        rc = prepared_end_query(k->prepared, x->query, e);
    return rc;
}

/* circuit: the facts of the prepared form; NULL when a .zkey is written. */
static enum err_code write_sections(struct sink *k, struct circuit *circuit, struct err *e)
{
    const struct setup *s = k->s;
    struct circuit dummy;
    struct circuit *c = circuit ? circuit : &dummy;
    uint32_t n_ic = s->n_public + 1;
    const struct section sections[STAGES] = {
        {"IC", s->k_scalar, n_ic, 0, false, ZKEY_IC, PREPARED_IC, NULL},
        {"A in G1", s->a_scalar, s->n_wires, 0, false, ZKEY_A, PREPARED_A_POINTS, &c->a_query},
        {"B in G1", s->b_scalar, s->n_wires, 0, false, ZKEY_B1, PREPARED_B1_POINTS, &c->b1_query},
        {"B in G2", s->b_scalar, s->n_wires, 0, true, ZKEY_B2, PREPARED_B2_POINTS, &c->b2_query},
        {"L in G1", s->k_scalar + n_ic, s->n_wires - n_ic, n_ic, false, ZKEY_L, PREPARED_L_POINTS,
         &c->l_query},
        {"H in G1", s->h_scalar, s->n_h, 0, false, ZKEY_H, PREPARED_H_POINTS, NULL},
    };
    k->points = malloc((size_t)PIECE_POINTS * s->curve->g2->bytes);
    if (!k->points)
        return err_set(e, ERR_MEMORY, "no memory for %d points", PIECE_POINTS);
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < STAGES && !rc; i++)
        rc = write_section(k, &sections[i], e);
    free(k->points);
    return rc;
}

void setup_multiple(const struct curve *c, const struct group *g, const fr_t *k_mont, point_t *out)
{
    fr_t plain;
    c->fr_from_mont(&plain, k_mont, 1);
    memset(out, 0, sizeof *out);
    g->mul(out, g->generator, &plain);
}

enum err_code setup_write_zkey(const struct setup *s, const char *path, setup_stage *stage,
                               void *stage_arg, struct pool *pool, struct err *e)
{
    const struct curve *c = s->curve;
    if (s->options.roots != ROOT_SNARKJS || s->options.h_basis != H_ODD_LAGRANGE)
        return err_set(e, ERR_UNSUPPORTED,
                       "%s: a .zkey has snarkjs's roots of unity and H basis, not bellman's", path);
    if (memcmp(&s->secret.gamma, c->fr_one, sizeof(fr_t)) != 0)
        return err_set(e, ERR_UNSUPPORTED, "%s: gamma is 1 in every .zkey", path);
    struct zkey_facts facts = {
        .curve = c, .n_wires = s->n_wires, .n_public = s->n_public, .domain_log2 = s->domain_log2};
    setup_multiple(c, c->g1, &s->secret.alpha, &facts.alpha_g1);
    setup_multiple(c, c->g1, &s->secret.beta, &facts.beta_g1);
    setup_multiple(c, c->g2, &s->secret.beta, &facts.beta_g2);
    setup_multiple(c, c->g2, &s->secret.gamma, &facts.gamma_g2);
    setup_multiple(c, c->g1, &s->secret.delta, &facts.delta_g1);
    setup_multiple(c, c->g2, &s->secret.delta, &facts.delta_g2);
    struct sink k = {.s = s, .pool = pool, .stage = stage, .stage_arg = stage_arg};
    k.zkey = zkey_create(path, &facts, e);
    if (!k.zkey)
        return e->code;
    enum err_code rc = zkey_write_matrices(k.zkey, &s->a, &s->b, e);
    if (!rc)
        rc = write_sections(&k, NULL, e);
    if (!rc)
        return zkey_commit(&k.zkey, e);
    zkey_abort(&k.zkey);
    return rc;
}

enum err_code setup_write_prepared(const struct setup *s, const char *path, uint8_t digest[32],
                                   setup_stage *stage, void *stage_arg, struct pool *pool,
                                   struct err *e)
{
    const struct curve *c = s->curve;
    struct circuit facts = {
        .curve = c,
        .n_wires = s->n_wires,
        .n_public = s->n_public,
        .n_constraints = s->system->n_constraints,
        .domain_log2 = s->domain_log2,
        .roots = s->options.roots,
        .h_basis = s->options.h_basis,
        .has_c = s->options.with_c,
        .a = s->a,
        .b = s->b,
        .n_h = s->n_h,
        .vk = {.curve = c, .n_public = s->n_public},
    };
    if (facts.has_c)
        facts.c = s->system->c;
    setup_multiple(c, c->g1, &s->secret.alpha, &facts.vk.alpha_g1);
    setup_multiple(c, c->g1, &s->secret.beta, &facts.beta_g1);
    setup_multiple(c, c->g2, &s->secret.beta, &facts.vk.beta_g2);
    setup_multiple(c, c->g2, &s->secret.gamma, &facts.vk.gamma_g2);
    setup_multiple(c, c->g1, &s->secret.delta, &facts.delta_g1);
    setup_multiple(c, c->g2, &s->secret.delta, &facts.vk.delta_g2);
    struct sink k = {.s = s, .pool = pool, .stage = stage, .stage_arg = stage_arg};
    k.prepared = prepared_create(path, pool, e);
    if (!k.prepared)
        return e->code;
    enum err_code rc =
        prepared_append_matrices(k.prepared, &facts.a, &facts.b, facts.has_c ? &facts.c : NULL, e);
    if (!rc)
        rc = write_sections(&k, &facts, e);
    if (!rc)
        return prepared_commit(&k.prepared, &facts, digest, e);
    prepared_abort(&k.prepared);
    return rc;
}
