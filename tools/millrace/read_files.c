#include "read_files.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "inspect.h"
#include "json.h"
#include "json_point.h"
#include "proof_bytes.h"

enum {
    MAX_PROOF_BYTES = 1 << 16,
    MAX_PROOFS_BYTES = 64 << 20,
    MAX_PUBLIC_BYTES = 1 << 30,
    MAX_VK_BYTES = 1 << 30
};

static bool ends_in(const char *path, const char *ending)
{
    size_t n = strlen(path), k = strlen(ending);
    return n >= k && strcmp(path + n - k, ending) == 0;
}

static enum err_code vk_of_params(const char *path, struct verification_key *out,
                                  struct vk_extra *extra, struct err *e)
{
    struct params *p = params_open(path, e);
    if (!p)
        return e->code;
    enum err_code rc = params_read_vk(p, out, e);
    *extra = (struct vk_extra){true, params_facts(p)->beta_g1, params_facts(p)->delta_g1};
    params_close(&p);
    return rc;
}

/* snarkjs ignores members that it does not know, so `millrace convert` keeps the two points of a
 * .vk in them. */
static enum err_code vk_of_json(const char *path, struct verification_key *out,
                                struct vk_extra *extra, struct err *e)
{
    json_t *json = json_read(path, MAX_VK_BYTES, 0, e);
    if (!json)
        return e->code;
    enum err_code rc = vk_from_json(json, path, out, e);
    const json_t *beta = json_object_get(json, "vk_beta_1");
    const json_t *delta = json_object_get(json, "vk_delta_1");
    if (!rc && beta && delta) {
        const struct curve *c = out->curve;
        const char *why = NULL;
        rc = json_point(beta, path, "vk_beta_1", c, c->g1, &extra->beta_g1, e);
        if (!rc)
            rc = json_point(delta, path, "vk_delta_1", c, c->g1, &extra->delta_g1, e);
        if (!rc && (c->g1->check(&extra->beta_g1, 1, true, NULL, &why) == 0 ||
                    c->g1->check(&extra->delta_g1, 1, true, NULL, &why) == 0))
            rc = err_set(e, ERR_VALUE, "%s: vk_beta_1 and vk_delta_1: %s", path, why);
        extra->known = !rc;
        if (rc)
            vk_free(out);
    }
    json_decref(json);
    return rc;
}

enum err_code read_any_vk(const char *path, struct verification_key *out, struct vk_extra *extra,
                          struct err *e)
{
    struct vk_extra unused;
    extra = extra ? extra : &unused;
    *extra = (struct vk_extra){0};
    *out = (struct verification_key){0};
    enum file_kind kind;
    enum err_code rc = file_kind_of(path, &kind, e);
    if (rc)
        return rc;
    bool vk = kind == FILE_VK_BYTES || (ends_in(path, ".vk") && kind != FILE_VK_JSON);
    if (!vk && kind == FILE_PARAMS)
        return vk_of_params(path, out, extra, e);
    if (!vk)
        return vk_of_json(path, out, extra, e);
    extra->known = true;
    return vk_bytes_read(path, out, &extra->beta_g1, &extra->delta_g1, e);
}

static enum err_code proofs_of_json(const char *path, size_t max_bytes,
                                    const struct curve *expected, struct proof **out, size_t *n,
                                    struct err *e)
{
    json_t *json = json_read(path, max_bytes, 0, e);
    if (!json)
        return e->code;
    bool many = json_is_array(json);
    enum err_code rc = ERR_OK;
    *n = many ? json_array_size(json) : 1;
    *out = calloc(*n ? *n : 1, sizeof **out);
    if (!*out)
        rc = err_set(e, ERR_MEMORY, "%s: no memory for %zu proofs", path, *n);
    else if (*n == 0)
        rc = err_set(e, ERR_FORMAT,
                     "%s: expected a proof: a JSON object, or a list of them that is not empty",
                     path);
    for (size_t i = 0; i < *n && !rc; i++) {
        rc = proof_from_json(many ? json_array_get(json, i) : json, path, expected, &(*out)[i], e);
        if (rc && many)
            err_prefix(e, "proof %zu", i);
        expected = rc ? expected : (*out)[0].curve; /* all of one curve */
    }
    json_decref(json);
    if (rc) {
        free(*out);
        *out = NULL;
    }
    return rc;
}

enum err_code read_any_proofs(const char *path, const struct curve *expected, struct proof **out,
                              size_t *n, struct err *e)
{
    enum file_kind kind;
    *out = NULL;
    enum err_code rc = file_kind_of(path, &kind, e);
    if (rc)
        return rc;
    if (kind != FILE_PROOF_BYTES && !(kind == FILE_UNKNOWN && ends_in(path, ".proof")))
        return proofs_of_json(path, kind == FILE_OTHER_JSON ? MAX_PROOFS_BYTES : MAX_PROOF_BYTES,
                              expected, out, n, e);
    if (expected && expected != &curve_bls12_381)
        return err_set(e, ERR_MISMATCH, "%s: a proof on bls12-381, but the key is on %s", path,
                       expected->name);
    return proof_bytes_read(path, out, n, e);
}

static enum err_code one_list(const json_t *json, const char *name, const struct curve *c,
                              size_t per_proof, fr_t *out, struct err *e)
{
    fr_t *values;
    size_t n;
    enum err_code rc = public_from_json(json, name, c, &values, &n, e);
    if (rc)
        return rc;
    if (n != per_proof)
        rc = err_set(e, ERR_MISMATCH, "%s: holds %zu values, the verification key has %zu", name, n,
                     per_proof);
    else
        memcpy(out, values, n * sizeof *out);
    free(values);
    return rc;
}

enum err_code read_any_publics(const char *path, const struct curve *c, size_t n, size_t per_proof,
                               fr_t **out, struct err *e)
{
    json_t *json = json_read(path, MAX_PUBLIC_BYTES, 0, e);
    if (!json)
        return e->code;
    bool lists = json_is_array(json_array_get(json, 0));
    enum err_code rc = ERR_OK;
    *out = calloc(n * per_proof + 1, sizeof **out);
    if (!*out)
        rc = err_set(e, ERR_MEMORY, "%s: no memory for public values", path);
    else if (!lists && n > 1)
        rc = err_set(e, ERR_MISMATCH, "%s: expected a list of %zu lists, one for each proof", path,
                     n);
    else if (lists && json_array_size(json) != n)
        rc = err_set(e, ERR_MISMATCH, "%s: public values of %zu proofs, but there are %zu", path,
                     json_array_size(json), n);
    for (size_t i = 0; i < n && !rc; i++)
        rc = one_list(lists ? json_array_get(json, i) : json, path, c, per_proof,
                      *out + i * per_proof, e);
    json_decref(json);
    if (rc) {
        free(*out);
        *out = NULL;
    }
    return rc;
}
