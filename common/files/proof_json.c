#include <stdlib.h>
#include "json_point.h"

enum { MAX_PROOF_BYTES = 1 << 16, MAX_PUBLIC_BYTES = 1 << 30 };

enum err_code proof_from_json(const json_t *json, const char *name, const struct curve *expected,
                              struct proof *out, struct err *e)
{
    if (!json_is_object(json))
        return err_set(e, ERR_FORMAT, "%s: expected a proof: a JSON object", name);
    enum err_code code = json_protocol(json, name, e);
    if (code)
        return code;
    *out = (struct proof){.curve = json_curve(json, name, expected ? expected : &curve_bn254, e)};
    if (!out->curve)
        return e ? e->code : ERR_FORMAT;
    if (expected && out->curve != expected)
        return err_set(e, ERR_MISMATCH, "%s: curve: a proof on %s, but the key is on %s", name,
                       out->curve->name, expected->name);
    const struct curve *c = out->curve;
    code = json_point(json_object_get(json, "pi_a"), name, "pi_a", c, c->g1, &out->a, e);
    if (!code)
        code = json_point(json_object_get(json, "pi_b"), name, "pi_b", c, c->g2, &out->b, e);
    if (!code)
        code = json_point(json_object_get(json, "pi_c"), name, "pi_c", c, c->g1, &out->c, e);
    return code;
}

enum err_code proof_read(const char *path, const struct curve *expected, struct proof *out,
                         struct err *e)
{
    json_t *json = json_read(path, MAX_PROOF_BYTES, 0, e);
    if (!json)
        return e ? e->code : ERR_FORMAT;
    enum err_code code = proof_from_json(json, path, expected, out, e);
    json_decref(json);
    return code;
}

json_t *proof_to_json(const struct proof *p, enum json_form form)
{
    const struct curve *c = p->curve;
    json_t *json = json_pack("{s:o,s:o,s:o,s:s}", "pi_a", json_from_point(c, c->g1, &p->a), "pi_b",
                             json_from_point(c, c->g2, &p->b), "pi_c",
                             json_from_point(c, c->g1, &p->c), "protocol", "groth16");
    if (json && form != JSON_RAPIDSNARK)
        json_object_set_new(json, "curve", json_string(c->snarkjs_name));
    return json;
}

enum err_code proof_write(const char *path, const struct proof *p, enum json_form form,
                          struct err *e)
{
    json_t *json = proof_to_json(p, form);
    if (!json)
        return err_set(e, ERR_MEMORY, "%s: no memory", path);
    enum err_code code = json_save(path, json, form & JSON_ONE_LINE, 0644, e);
    json_decref(json);
    return code;
}

enum err_code public_from_json(const json_t *json, const char *name, const struct curve *c,
                               fr_t **out, size_t *n, struct err *e)
{
    if (!json_is_array(json) && !json_is_null(json))
        return err_set(e, ERR_FORMAT, "%s: expected public values: a JSON array of numbers", name);
    size_t count = json_array_size(json);
    fr_t *values = malloc((count + 1) * sizeof *values); /* + 1: never NULL for none */
    if (!values)
        return err_set(e, ERR_MEMORY, "%s: no memory for %zu values", name, count);
    for (size_t i = 0; i < count; i++) {
        char place[32];
        snprintf(place, sizeof place, "[%zu]", i);
        enum err_code code = json_scalar(json_array_get(json, i), name, place, c, &values[i], e);
        if (code) {
            free(values);
            return code;
        }
    }
    *out = values;
    *n = count;
    return ERR_OK;
}

enum err_code public_read(const char *path, const struct curve *c, fr_t **out, size_t *n,
                          struct err *e)
{
    json_t *json = json_read(path, MAX_PUBLIC_BYTES, 0, e);
    if (!json)
        return e ? e->code : ERR_FORMAT;
    enum err_code code = public_from_json(json, path, c, out, n, e);
    json_decref(json);
    return code;
}

json_t *public_to_json(const fr_t *plain, size_t n)
{
    json_t *json = json_array();
    for (size_t i = 0; i < n && json; i++) {
        if (json_array_append_new(json, json_from_scalar(&plain[i])) != 0) {
            json_decref(json);
            json = NULL;
        }
    }
    return json;
}

enum err_code public_write(const char *path, const fr_t *plain, size_t n, enum json_form form,
                           struct err *e)
{
    json_t *json = public_to_json(plain, n);
    if (!json)
        return err_set(e, ERR_MEMORY, "%s: no memory", path);
    enum err_code code = json_save(path, json, form & JSON_ONE_LINE, 0644, e);
    json_decref(json);
    return code;
}
