/* From the set-up's scalars to bellperson's files. */
#include "setup_internal.h"
#include "params.h"
#include <stdlib.h>
#include <string.h>

enum { PIECE_POINTS = 1 << 18, STAGES = 6 };

static bool is_zero(const fr_t *x)
{
    return (x->limb[0] | x->limb[1] | x->limb[2] | x->limb[3]) == 0;
}

static uint32_t count_non_zero(const fr_t *x, uint64_t n)
{
    uint32_t count = 0;
    for (uint64_t i = 0; i < n; i++)
        count += !is_zero(&x[i]);
    return count;
}

/* One list of the file. */
struct list {
    const char *what;
    const fr_t *scalars;
    uint64_t n;
    bool dense; /* scalars that are zero are left out */
};

struct sink {
    const struct setup *s;
    struct params_writer *w;
    struct pool *pool;
    fr_t *scalars; /* PIECE_POINTS of a list, without those left out */
    uint8_t *points;
};

static enum err_code write_list(struct sink *k, enum params_list which, const struct list *l,
                                struct err *e)
{
    const struct group *g = params_group(which);
    enum err_code rc = ERR_OK;
    for (uint64_t at = 0; at < l->n && !rc;) {
        size_t n = 0;
        for (; at < l->n && n < PIECE_POINTS; at++)
            if (!l->dense || !is_zero(&l->scalars[at]))
                k->scalars[n++] = l->scalars[at];
        if (n)
            rc = g->mul_fixed(k->points, g->generator, k->scalars, n, k->pool, e);
        if (!rc)
            rc = params_write_points(k->w, which, k->points, n, k->pool, e);
    }
    return rc;
}

static enum err_code check_form(const struct setup *s, const char *path, struct err *e)
{
    if (s->curve->id != CURVE_BLS12_381)
        return err_set(e, ERR_UNSUPPORTED, "%s: bellperson's files are on bls12-381, not %s", path,
                       s->curve->name);
    if (s->options.roots != ROOT_BELLMAN || s->options.h_basis != H_MONOMIAL)
        return err_set(e, ERR_UNSUPPORTED,
                       "%s: a .params has bellman's roots of unity and H basis, not snarkjs's",
                       path);
    return ERR_OK;
}

static void key_points(const struct setup *s, struct params_facts *k)
{
    const struct curve *c = s->curve;
    setup_multiple(c, c->g1, &s->secret.alpha, &k->alpha_g1);
    setup_multiple(c, c->g1, &s->secret.beta, &k->beta_g1);
    setup_multiple(c, c->g2, &s->secret.beta, &k->beta_g2);
    setup_multiple(c, c->g2, &s->secret.gamma, &k->gamma_g2);
    setup_multiple(c, c->g1, &s->secret.delta, &k->delta_g1);
    setup_multiple(c, c->g2, &s->secret.delta, &k->delta_g2);
}

enum err_code setup_write_params(const struct setup *s, const char *path, setup_stage *stage,
                                 void *stage_arg, struct pool *pool, struct err *e)
{
    enum err_code rc = check_form(s, path, e);
    if (rc)
        return rc;
    uint32_t n_inputs = s->n_public + 1;
    const struct list lists[STAGES] = {
        [PARAMS_IC] = {"IC", s->k_scalar, n_inputs, false},
        [PARAMS_H] = {"H in G1", s->h_scalar, s->n_h, false},
        [PARAMS_L] = {"L in G1", s->k_scalar + n_inputs, s->n_wires - n_inputs, false},
        [PARAMS_A] = {"A in G1", s->a_scalar, s->n_wires, true},
        [PARAMS_B1] = {"B in G1", s->b_scalar, s->n_wires, true},
        [PARAMS_B2] = {"B in G2", s->b_scalar, s->n_wires, true},
    };
    struct params_facts facts = {0};
    key_points(s, &facts);
    for (int i = 0; i < STAGES; i++)
        facts.n[i] =
            lists[i].dense ? count_non_zero(lists[i].scalars, lists[i].n) : (uint32_t)lists[i].n;
    struct sink k = {.s = s,
                     .pool = pool,
                     .scalars = malloc(PIECE_POINTS * sizeof(fr_t)),
                     .points = malloc((size_t)PIECE_POINTS * s->curve->g2->bytes)};
    if (!k.scalars || !k.points)
        rc = err_set(e, ERR_MEMORY, "no memory for %d points", PIECE_POINTS);
    else if (!(k.w = params_create(path, &facts, e)))
        rc = e->code;
    for (int i = 0; i < STAGES && !rc; i++) {
        if (stage)
            stage(stage_arg, lists[i].what, (unsigned)i + 1, STAGES);
        rc = write_list(&k, i, &lists[i], e);
    }
    if (!rc)
        rc = params_commit(&k.w, e);
    params_abort(&k.w);
    free(k.scalars);
    free(k.points);
    return rc;
}

enum err_code setup_write_vk(const struct setup *s, const char *path, struct pool *pool,
                             struct err *e)
{
    enum err_code rc = check_form(s, path, e);
    if (rc)
        return rc;
    const struct group *g1 = s->curve->g1;
    struct params_facts k = {0};
    key_points(s, &k);
    void *ic = malloc((s->n_public + 1) * g1->bytes);
    if (!ic)
        return err_set(e, ERR_MEMORY, "no memory for %u points", s->n_public + 1);
    const struct verification_key vk = {.curve = s->curve,
                                        .n_public = s->n_public,
                                        .alpha_g1 = k.alpha_g1,
                                        .beta_g2 = k.beta_g2,
                                        .gamma_g2 = k.gamma_g2,
                                        .delta_g2 = k.delta_g2,
                                        .ic = ic};
    rc = g1->mul_fixed(ic, g1->generator, s->k_scalar, s->n_public + 1, pool, e);
    if (!rc)
        rc = vk_bytes_write(path, &vk, &k.beta_g1, &k.delta_g1, e);
    free(ic);
    return rc;
}
