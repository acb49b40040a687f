/* Opening a .params or .vk: everything that can be known without reading the long lists. */
#include "params.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "first_error.h"
#include "json.h"
#include "params_file.h"
#include "zcash_point.h"

enum { POINTS_PER_PIECE = 1024 };

static const struct curve *const curve = &curve_bls12_381;

static const char *const list_names[PARAMS_LISTS] = {
    [PARAMS_IC] = "IC points", [PARAMS_H] = "H points",        [PARAMS_L] = "L points",
    [PARAMS_A] = "A points",   [PARAMS_B1] = "B points in G1", [PARAMS_B2] = "B points in G2"};

const struct group *params_group(enum params_list which)
{
    return which == PARAMS_B2 ? curve->g2 : curve->g1;
}

static uint32_t load_big_endian(const uint8_t b[4])
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static enum err_code read_key_points(struct params *p, struct err *e)
{
    struct params_facts *k = &p->facts;
    const struct {
        const char *name;
        const struct group *g;
        point_t *out;
    } points[] = {
        {"alpha in G1", curve->g1, &k->alpha_g1}, {"beta in G1", curve->g1, &k->beta_g1},
        {"beta in G2", curve->g2, &k->beta_g2},   {"gamma in G2", curve->g2, &k->gamma_g2},
        {"delta in G1", curve->g1, &k->delta_g1}, {"delta in G2", curve->g2, &k->delta_g2},
    };
    enum err_code code = bytefile_expect(p->file, "verification key", 0, PARAMS_KEY_BYTES + 4, e);
    uint64_t at = 0;
    for (size_t i = 0; i < sizeof points / sizeof *points && !code; i++) {
        const struct group *g = points[i].g;
        uint8_t bytes[POINT_MAX_BYTES];
        code = bytefile_read(p->file, at, bytes, g->bytes, e);
        if (code)
            return code;
        const char *why = zcash_point_read(g, bytes, false, points[i].out);
        if (!why && g->is_infinity(points[i].out))
            why = "point is at infinity";
        if (!why)
            g->check(points[i].out, 1, true, NULL, &why);
        if (why)
            return bytefile_error(p->file, points[i].name, at, ERR_VALUE, e, "%s", why);
        at += g->bytes;
    }
    return code;
}

static enum err_code read_list(struct params *p, enum params_list which, uint64_t *at,
                               struct err *e)
{
    uint8_t count[4];
    enum err_code code = bytefile_expect(p->file, list_names[which], *at, sizeof count, e);
    if (!code)
        code = bytefile_read(p->file, *at, count, sizeof count, e);
    if (code)
        return code;
    uint32_t n = load_big_endian(count);
    size_t bytes = params_group(which)->bytes;
    uint64_t left = bytefile_size(p->file) - *at - sizeof count;
    if ((uint64_t)n * bytes > left)
        return bytefile_error(p->file, list_names[which], *at, ERR_FORMAT, e,
                              "%" PRIu32 " points of %zu bytes, but the file has %" PRIu64
                              " bytes left",
                              n, bytes, left);
    p->facts.n[which] = n;
    p->at[which] = *at + sizeof count;
    *at = p->at[which] + (uint64_t)n * bytes;
    return ERR_OK;
}

static enum err_code check_counts(struct params *p, struct err *e)
{
    struct params_facts *k = &p->facts;
    uint64_t domain = (uint64_t)k->n[PARAMS_H] + 1;
    if (domain < 2 || (domain & (domain - 1)) || domain > 1ull << curve->two_adicity)
        return bytefile_error(p->file, list_names[PARAMS_H], p->at[PARAMS_H] - 4, ERR_FORMAT, e,
                              "expected 2^k - 1 points, found %" PRIu32, k->n[PARAMS_H]);
    k->domain_log2 = (unsigned)__builtin_ctzll(domain);
    uint64_t wires = (uint64_t)k->n_inputs + k->n[PARAMS_L];
    if (wires > UINT32_MAX)
        return bytefile_error(p->file, list_names[PARAMS_L], p->at[PARAMS_L] - 4, ERR_UNSUPPORTED,
                              e, "%" PRIu64 " variables: a circuit has fewer than 2^32", wires);
    /* Every input is dense in A, by the row that binds it. */
    if (k->n[PARAMS_A] < k->n_inputs || k->n[PARAMS_A] > wires)
        return bytefile_error(p->file, list_names[PARAMS_A], p->at[PARAMS_A] - 4, ERR_FORMAT, e,
                              "expected %" PRIu32 " (a point for each input) to %" PRIu64
                              " points, found %" PRIu32,
                              k->n_inputs, wires, k->n[PARAMS_A]);
    if (k->n[PARAMS_B1] > wires)
        return bytefile_error(p->file, list_names[PARAMS_B1], p->at[PARAMS_B1] - 4, ERR_FORMAT, e,
                              "expected no more than %" PRIu64 " points, found %" PRIu32, wires,
                              k->n[PARAMS_B1]);
    if (k->n[PARAMS_B2] != k->n[PARAMS_B1])
        return bytefile_error(p->file, list_names[PARAMS_B2], p->at[PARAMS_B2] - 4, ERR_FORMAT, e,
                              "expected %" PRIu32 " points, as many as in G1, found %" PRIu32,
                              k->n[PARAMS_B1], k->n[PARAMS_B2]);
    return ERR_OK;
}

enum err_code params_read_facts(struct params *p, bool only_vk, struct err *e)
{
    uint64_t at = PARAMS_KEY_BYTES;
    enum err_code code = read_key_points(p, e);
    for (int i = 0; i < (only_vk ? 1 : PARAMS_LISTS) && !code; i++)
        code = read_list(p, i, &at, e);
    if (!code && p->facts.n[PARAMS_IC] == 0)
        code = bytefile_error(p->file, list_names[PARAMS_IC], PARAMS_KEY_BYTES, ERR_FORMAT, e,
                              "expected at least one point (of the constant one), found none");
    if (!code)
        code = bytefile_expect_end(p->file, at, e);
    p->facts.n_inputs = p->facts.n[PARAMS_IC];
    p->facts.file_bytes = bytefile_size(p->file);
    return code || only_vk ? code : check_counts(p, e);
}

struct params *params_open(const char *path, struct err *e)
{
    struct params *p = calloc(1, sizeof *p);
    if (!p) {
        err_set(e, ERR_MEMORY, "%s: no memory", path);
        return NULL;
    }
    p->file = bytefile_open(path, "file of Groth16 parameters (.params)", e);
    if (!p->file || params_read_facts(p, false, e))
        params_close(&p);
    return p;
}

void params_close(struct params **p)
{
    if (!p || !*p)
        return;
    bytefile_close(&(*p)->file);
    free(*p);
    *p = NULL;
}

const struct params_facts *params_facts(const struct params *p)
{
    return &p->facts;
}

const char *params_name(const struct params *p)
{
    return bytefile_name(p->file);
}

struct points_loop {
    const struct params *p;
    enum params_list which;
    const struct group *group;
    uint64_t first;
    unsigned char *out;
    bool subgroup;
    struct first_error error;
};

static void point_is_wrong(struct points_loop *l, size_t i, const char *why)
{
    struct err e;
    bytefile_error(l->p->file, list_names[l->which],
                   l->p->at[l->which] + (l->first + i) * l->group->bytes, ERR_VALUE, &e,
                   "point %" PRIu64 ": %s", l->first + i, why);
    first_error_put(&l->error, i, &e);
}

/* The bytes are read into the points' place and converted there one by one. */
static void read_piece(void *arg, size_t begin, size_t end, unsigned worker)
{
    (void)worker;
    struct points_loop *l = arg;
    if (!first_error_still_wanted(&l->error, begin))
        return;
    const struct group *g = l->group;
    unsigned char *out = l->out + begin * g->bytes;
    struct err e;
    if (bytefile_read(l->p->file, l->p->at[l->which] + (l->first + begin) * g->bytes, out,
                      (end - begin) * g->bytes, &e)) {
        first_error_put(&l->error, begin, &e);
        return;
    }
    for (size_t i = begin; i < end; i++, out += g->bytes) {
        uint8_t bytes[POINT_MAX_BYTES];
        memcpy(bytes, out, g->bytes);
        const char *why = zcash_point_read(g, bytes, false, out);
        if (!why && g->is_infinity(out))
            why = "point is at infinity";
        if (!why && l->subgroup && !g->in_subgroup(out))
            why = "point is not in the subgroup of order r";
        if (why) {
            point_is_wrong(l, i, why);
            return;
        }
    }
}

enum err_code params_read_points(const struct params *p, enum params_list which, uint64_t first,
                                 uint64_t n, void *out, bool subgroup, struct pool *pool,
                                 struct err *e)
{
    INVARIANT(first <= p->facts.n[which] && n <= p->facts.n[which] - first);
    struct points_loop l = {
        .p = p,
        .which = which,
        .group = params_group(which),
        .first = first,
        .out = out,
        .subgroup = subgroup,
        .error = FIRST_ERROR_INIT,
    };
    pool_range(pool, read_piece, &l, n, POINTS_PER_PIECE);
    return first_error_take(&l.error, e);
}

enum err_code params_read_vk(const struct params *p, struct verification_key *vk, struct err *e)
{
    const struct params_facts *k = &p->facts;
    *vk = (struct verification_key){
        .curve = curve,
        .n_public = k->n_inputs - 1,
        .alpha_g1 = k->alpha_g1,
        .beta_g2 = k->beta_g2,
        .gamma_g2 = k->gamma_g2,
        .delta_g2 = k->delta_g2,
    };
    void *ic = malloc((size_t)k->n_inputs * curve->g1->bytes);
    if (!ic)
        return err_set(e, ERR_MEMORY, "%s: no memory for %" PRIu32 " IC points", params_name(p),
                       k->n_inputs);
    vk->ic = ic;
    enum err_code code = params_read_points(p, PARAMS_IC, 0, k->n_inputs, ic, true, NULL, e);
    if (code)
        vk_free(vk);
    return code;
}

enum err_code vk_bytes_read(const char *path, struct verification_key *out, point_t *beta_g1,
                            point_t *delta_g1, struct err *e)
{
    *out = (struct verification_key){0};
    struct params p = {.file = bytefile_open(path, "verification key (.vk)", e)};
    if (!p.file)
        return e ? e->code : ERR_IO;
    enum err_code code = params_read_facts(&p, true, e);
    if (!code)
        code = params_read_vk(&p, out, e);
    if (beta_g1)
        *beta_g1 = p.facts.beta_g1;
    if (delta_g1)
        *delta_g1 = p.facts.delta_g1;
    bytefile_close(&p.file);
    return code;
}
