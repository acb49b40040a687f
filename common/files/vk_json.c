#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "json_point.h"

enum { MAX_VK_BYTES = 1 << 30, MAX_PUBLICS = 1 << 28 };

/* A point that is on the curve and in the subgroup; finite: not at infinity either. */
static enum err_code read_point(const json_t *v, const char *name, const char *field,
                                const struct curve *c, const struct group *g, bool finite,
                                point_t *out, struct err *e)
{
    enum err_code code = json_point(v, name, field, c, g, out, e);
    if (code)
        return code;
    const char *why = finite && g->is_infinity(out) ? "point is at infinity" : NULL;
    if (why || g->check(out, 1, true, NULL, &why) == 0)
        return json_wrong(e, ERR_VALUE, name, field, why);
    return ERR_OK;
}

static enum err_code read_ic(const json_t *json, const char *name, struct verification_key *vk,
                             struct err *e)
{
    const struct group *g = vk->curve->g1;
    json_t *list = json_need_array(json, name, "IC", e);
    if (!list)
        return ERR_FORMAT;
    size_t n = json_array_size(list);
    if (n != (size_t)vk->n_public + 1)
        return err_set(e, ERR_FORMAT,
                       "%s: IC: expected %" PRIu64 " points for nPublic = %" PRIu32 ", found %zu",
                       name, (uint64_t)vk->n_public + 1, vk->n_public, n);
    unsigned char *ic = malloc(n * g->bytes);
    if (!ic)
        return err_set(e, ERR_MEMORY, "%s: no memory for %zu points", name, n);
    vk->ic = ic;
    for (size_t i = 0; i < n; i++) {
        char place[32];
        point_t p;
        snprintf(place, sizeof place, "IC[%zu]", i);
        enum err_code code =
            read_point(json_array_get(list, i), name, place, vk->curve, g, false, &p, e);
        if (code)
            return code;
        memcpy(ic + i * g->bytes, &p, g->bytes);
    }
    return ERR_OK;
}

static enum err_code read_vk(const json_t *json, const char *name, struct verification_key *vk,
                             struct err *e)
{
    uint64_t n_public;
    if (!json_is_object(json))
        return err_set(e, ERR_FORMAT, "%s: expected a verification key: a JSON object", name);
    enum err_code code = json_protocol(json, name, e);
    if (code)
        return code;
    const struct curve *c = vk->curve = json_curve(json, name, NULL, e);
    if (!c)
        return e ? e->code : ERR_FORMAT;
    if ((code = json_need_u64(json, name, "nPublic", MAX_PUBLICS, &n_public, e)))
        return code;
    vk->n_public = (uint32_t)n_public;
    const struct {
        const char *field;
        const struct group *group;
        point_t *out;
    } points[] = {
        {"vk_alpha_1", c->g1, &vk->alpha_g1},
        {"vk_beta_2", c->g2, &vk->beta_g2},
        {"vk_gamma_2", c->g2, &vk->gamma_g2},
        {"vk_delta_2", c->g2, &vk->delta_g2},
    };
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        code = read_point(json_object_get(json, points[i].field), name, points[i].field, c,
                          points[i].group, true, points[i].out, e);
        if (code)
            return code;
    }
    return read_ic(json, name, vk, e);
}

enum err_code vk_from_json(const json_t *json, const char *name, struct verification_key *out,
                           struct err *e)
{
    *out = (struct verification_key){0};
    enum err_code code = read_vk(json, name, out, e);
    if (code)
        vk_free(out);
    return code;
}

enum err_code vk_read(const char *path, struct verification_key *out, struct err *e)
{
    *out = (struct verification_key){0};
    json_t *json = json_read(path, MAX_VK_BYTES, 0, e);
    if (!json)
        return e ? e->code : ERR_FORMAT;
    enum err_code code = vk_from_json(json, path, out, e);
    json_decref(json);
    return code;
}

void vk_free(struct verification_key *vk)
{
    free((void *)vk->ic);
    *vk = (struct verification_key){0};
}

/* e(alpha, beta) as 2 x 3 x 2 numbers. */
static json_t *alphabeta(const struct verification_key *vk)
{
    const struct curve *c = vk->curve;
    size_t n = c->fq_bytes / 8;
    uint64_t gt[12 * 6];
    c->pairing(gt, &vk->alpha_g1, &vk->beta_g2);
    json_t *half[2];
    for (size_t i = 0; i < 2; i++) {
        const uint64_t *at = gt + i * 6 * n;
        half[i] = json_pack("[o,o,o]", json_from_field(c, at, 2), json_from_field(c, at + 2 * n, 2),
                            json_from_field(c, at + 4 * n, 2));
    }
    return json_pack("[o,o]", half[0], half[1]);
}

json_t *vk_to_json(const struct verification_key *vk)
{
    const struct curve *c = vk->curve;
    const unsigned char *ic = vk->ic;
    json_t *list = json_array();
    for (uint64_t i = 0; i <= vk->n_public && list; i++) {
        if (json_array_append_new(list, json_from_point(c, c->g1, ic + i * c->g1->bytes)) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return json_pack(
        "{s:s,s:s,s:I,s:o,s:o,s:o,s:o,s:o,s:o}", "protocol", "groth16", "curve", c->snarkjs_name,
        "nPublic", (json_int_t)vk->n_public, "vk_alpha_1", json_from_point(c, c->g1, &vk->alpha_g1),
        "vk_beta_2", json_from_point(c, c->g2, &vk->beta_g2), "vk_gamma_2",
        json_from_point(c, c->g2, &vk->gamma_g2), "vk_delta_2",
        json_from_point(c, c->g2, &vk->delta_g2), "vk_alphabeta_12", alphabeta(vk), "IC", list);
}

enum err_code vk_write(const char *path, const struct verification_key *vk, enum json_form form,
                       struct err *e)
{
    json_t *json = vk_to_json(vk);
    if (!json)
        return err_set(e, ERR_MEMORY, "%s: no memory", path);
    enum err_code code = json_save(path, json, form & JSON_ONE_LINE, 0644, e);
    json_decref(json);
    return code;
}
