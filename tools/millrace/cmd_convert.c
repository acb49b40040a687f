/* millrace convert: proofs, verification keys and constraints from one form to another. */
#include <stdlib.h>
#include <string.h>
#include "bellman_r1cs.h"
#include "command.h"
#include "file.h"
#include "inspect.h"
#include "json.h"
#include "json_point.h"
#include "output.h"
#include "proof_bytes.h"
#include "read_files.h"
#include "solidity.h"

struct args {
    const char *to, *publics;
};

static const struct option options[] = {
    {"to", 0, OPTION_TEXT, "FORM", offsetof(struct args, to),
     "json, bytes, vk, pce or solidity, where FROM alone does not tell"},
    {"public", 0, OPTION_TEXT, "FILE", offsetof(struct args, publics),
     "the public.json of the proof (for solidity)"},
    {0},
};

static enum err_code write_json(const char *path, json_t *json, struct err *e)
{
    if (!json)
        return err_set(e, ERR_MEMORY, "%s: no memory", path);
    enum err_code rc = json_save(path, json, false, 0644, e);
    json_decref(json);
    return rc;
}

static enum err_code proofs_to_json(const char *to, const struct proof *proofs, size_t n,
                                    struct err *e)
{
    if (n == 1)
        return write_json(to, proof_to_json(proofs, JSON_SNARKJS), e);
    json_t *all = json_array();
    for (size_t i = 0; i < n; i++)
        if (json_array_append_new(all, proof_to_json(&proofs[i], JSON_SNARKJS))) {
            json_decref(all);
            return err_set(e, ERR_MEMORY, "%s: no memory", to);
        }
    return write_json(to, all, e);
}

static enum err_code proofs_to_solidity(const struct args *a, const char *to,
                                        const struct proof *proofs, size_t n, struct err *e)
{
    if (!a->publics)
        return err_set(e, ERR_USAGE, "convert: --to solidity: --public is missing");
    if (n != 1)
        return err_set(e, ERR_UNSUPPORTED, "convert: call data is of one proof, not of %zu", n);
    fr_t *publics;
    size_t n_public;
    enum err_code rc = public_read(a->publics, proofs->curve, &publics, &n_public, e);
    if (rc)
        return rc;
    char *text;
    rc = solidity_call_data(proofs, publics, n_public, &text, e);
    free(publics);
    if (!rc) {
        rc = file_replace(to, text, strlen(text), 0644, e);
        free(text);
    }
    return rc;
}

static enum err_code convert_proofs(const struct args *a, const char *from, const char *to,
                                    bool to_json, struct err *e)
{
    struct proof *proofs;
    size_t n;
    enum err_code rc = read_any_proofs(from, NULL, &proofs, &n, e);
    if (rc)
        return rc;
    if (a->to && !strcmp(a->to, "solidity"))
        rc = proofs_to_solidity(a, to, proofs, n, e);
    else
        rc = to_json ? proofs_to_json(to, proofs, n, e) : proof_bytes_write(to, proofs, n, e);
    free(proofs);
    return rc;
}

static enum err_code convert_vk(const char *from, const char *to, bool to_json, struct err *e)
{
    struct verification_key vk;
    struct vk_extra extra;
    enum err_code rc = read_any_vk(from, &vk, &extra, e);
    if (rc)
        return rc;
    if (!to_json && !extra.known) {
        rc = err_set(e, ERR_FORMAT,
                     "%s: vk_beta_1 and vk_delta_1: missing: a .vk holds both points in G1, and "
                     "snarkjs's form does not; take the .vk from the .params",
                     from);
    } else if (!to_json) {
        rc = vk_bytes_write(to, &vk, &extra.beta_g1, &extra.delta_g1, e);
    } else {
        json_t *json = vk_to_json(&vk);
        if (json && extra.known) {
            const struct curve *c = vk.curve;
            json_object_set_new(json, "vk_beta_1", json_from_point(c, c->g1, &extra.beta_g1));
            json_object_set_new(json, "vk_delta_1", json_from_point(c, c->g1, &extra.delta_g1));
        }
        rc = write_json(to, json, e);
    }
    vk_free(&vk);
    return rc;
}

static enum err_code convert_constraints(const char *from, const char *to, struct err *e)
{
    struct r1cs r;
    enum err_code rc = bellman_r1cs_read(from, &r, e);
    if (!rc)
        rc = pce_write(to, &r, e);
    r1cs_free(&r);
    return rc;
}

/* What a kind becomes when nothing is said, and what it may be asked for. */
static const struct {
    enum file_kind kind;
    const char *first, *second;
} forms[] = {
    {FILE_PROOF_BYTES, "json", NULL},  {FILE_PROOF_JSON, "bytes", "solidity"},
    {FILE_PUBLIC_JSON, "bytes", NULL}, {FILE_OTHER_JSON, "bytes", NULL},
    {FILE_VK_BYTES, "json", NULL},     {FILE_VK_JSON, "vk", NULL},
    {FILE_PARAMS, "vk", "json"},       {FILE_FR1C, "pce", NULL},
};

static bool ends_in(const char *path, const char *ending)
{
    size_t n = strlen(path), k = strlen(ending);
    return n >= k && strcmp(path + n - k, ending) == 0;
}

/* A broken file is given to the reader of what its name says it is, which tells what is wrong. */
static enum err_code kind_of(const char *path, enum file_kind *kind, struct err *e)
{
    enum err_code rc = file_kind_of(path, kind, e);
    if (!rc && ends_in(path, ".vk") && *kind != FILE_VK_JSON)
        *kind = FILE_VK_BYTES;
    else if (!rc && ends_in(path, ".proof") && *kind == FILE_UNKNOWN)
        *kind = FILE_PROOF_BYTES;
    else if (!rc && ends_in(path, ".params") && *kind == FILE_UNKNOWN)
        *kind = FILE_PARAMS;
    return rc;
}

/* What `from` is to become; NULL with ERR_UNSUPPORTED or ERR_USAGE. */
static const char *form_of(const struct args *a, const char *from, enum file_kind kind,
                           struct err *e)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (forms[i].kind != kind)
            continue;
        const char *form = a->to ? a->to : forms[i].first;
        if (!strcmp(form, forms[i].first) || (forms[i].second && !strcmp(form, forms[i].second)))
            return form;
        err_set(e, ERR_USAGE, "%s: a %s is not converted to \"%s\"", from, file_kind_word(kind),
                form);
        return NULL;
    }
    err_set(e, ERR_UNSUPPORTED, "%s: neither proofs, a verification key, .params nor r1cs.bin",
            from);
    return NULL;
}

static enum err_code run(const struct invocation *in, struct err *e)
{
    const struct args *a = in->args;
    const char *from = in->operand[0], *to = in->operand[1];
    enum file_kind kind;
    enum err_code rc = kind_of(from, &kind, e);
    const char *form = rc ? NULL : form_of(a, from, kind, e);
    if (!form)
        return e->code;
    bool json = !strcmp(form, "json");
    if (kind == FILE_FR1C)
        rc = convert_constraints(from, to, e);
    else if (kind == FILE_VK_BYTES || kind == FILE_VK_JSON || kind == FILE_PARAMS)
        rc = convert_vk(from, to, json, e);
    else
        rc = convert_proofs(a, from, to, json, e);
    if (!rc && in->json)
        rc = print_json(json_pack("{s:s,s:s}", "written", to, "form", form), e);
    return rc;
}

const struct command command_convert = {
    .name = "convert",
    .summary = "proofs and keys between snarkjs's and bellperson's forms",
    .operands = "FROM TO",
    .text =
        "Proofs: snarkjs's JSON (one, or a list) to 192 bytes each and back; with --to solidity\n"
        "the call data of a BN254 verifier contract, as snarkjs prints it. Verification keys:\n"
        "verification_key.json to .vk and back. A .vk also holds beta and delta in G1, which\n"
        "snarkjs's form lacks: they are kept in vk_beta_1 and vk_delta_1, which snarkjs ignores,\n"
        "and asked for on the way back. A .params gives its verification key (--to vk or json),\n"
        "an r1cs.bin a PCE file.",
    .options = options,
    .args_bytes = sizeof(struct args),
    .min_operands = 2,
    .max_operands = 2,
    .run = run,
};
