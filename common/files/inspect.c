#include "inspect.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bellman_r1cs.h"
#include "json.h"
#include "params.h"
#include "prepared_layout.h"
#include "proof_bytes.h"
#include "ptau.h"
#include "r1cs.h"
#include "wtns.h"
#include "zkey.h"

static void put_u64(json_t *o, const char *key, uint64_t v)
{
    json_object_set_new(o, key, json_integer((json_int_t)v));
}

static void put_text(json_t *o, const char *key, const char *v)
{
    json_object_set_new(o, key, json_string(v));
}

static bool facts_zkey(const char *path, json_t *o, struct err *e)
{
    struct zkey *z = zkey_open(path, e);
    if (!z)
        return false;
    const struct zkey_facts *k = zkey_facts(z);
    put_text(o, "protocol", "groth16");
    put_text(o, "curve", k->curve->name);
    put_u64(o, "wires", k->n_wires);
    put_u64(o, "publics", k->n_public);
    put_u64(o, "domain", 1ull << k->domain_log2);
    put_u64(o, "domain_log2", k->domain_log2);
    put_u64(o, "coefficients", k->n_coefficients);
    if (k->has_contributions)
        put_u64(o, "contributions", k->n_contributions);
    put_u64(o, "file_bytes", k->file_bytes);
    zkey_close(&z);
    return true;
}

static bool facts_wtns(const char *path, json_t *o, struct err *e)
{
    struct wtns *w = wtns_open(path, e);
    if (!w)
        return false;
    put_text(o, "curve", wtns_facts(w)->curve->name);
    put_u64(o, "wires", wtns_facts(w)->n);
    put_u64(o, "file_bytes", wtns_facts(w)->file_bytes);
    wtns_close(&w);
    return true;
}

static bool facts_r1cs(const char *path, json_t *o, struct err *e)
{
    struct r1cs r;
    if (r1cs_read(path, R1CS_COUNTS, &r, NULL, e))
        return false;
    put_text(o, "curve", r.curve->name);
    put_u64(o, "wires", r.n_wires);
    put_u64(o, "constraints", r.n_constraints);
    put_u64(o, "public_outputs", r.n_public_outputs);
    put_u64(o, "public_inputs", r.n_public_inputs);
    put_u64(o, "private_inputs", r.n_private_inputs);
    put_u64(o, "labels", r.n_labels);
    r1cs_free(&r);
    return true;
}

static bool facts_ptau(const char *path, json_t *o, struct err *e)
{
    struct ptau_facts k;
    if (ptau_read_facts(path, &k, e))
        return false;
    put_text(o, "curve", k.curve->name);
    put_u64(o, "power", k.power);
    put_u64(o, "ceremony_power", k.ceremony_power);
    json_object_set_new(o, "prepared_for_phase_2", json_boolean(k.prepared));
    put_u64(o, "file_bytes", k.file_bytes);
    return true;
}

/* What folding the rows that repeat has made of the matrices. */
static void put_folds(const struct prepared_header *h, json_t *o)
{
    uint64_t stored = 0, bytes = h->section[PREPARED_FOLDS].length, unfolded = 0;
    for (int i = 0; i < 3; i++) {
        const struct prepared_matrix *m = &h->matrix[i];
        stored += m->n_entries;
        for (unsigned part = 0; part < 4; part++)
            bytes += h->section[PREPARED_A_ROW_START + 4 * i + part].length;
        unfolded += 4ull * (m->n_rows + 1ull) + 32ull * m->n_dictionary;
    }
    /* Codes are of about one width in all three. */
    unfolded += h->n_terms * (4 + h->matrix[0].code_bytes);
    put_u64(o, "folds", h->n_folds);
    put_u64(o, "terms", h->n_terms);
    put_u64(o, "terms_stored", stored);
    put_u64(o, "matrices_bytes", bytes);
    put_u64(o, "matrices_bytes_unfolded", h->n_folds ? unfolded : bytes);
}

static bool facts_prepared(const char *path, json_t *o, struct err *e)
{
    struct prepared_header h;
    int fd;
    if (prepared_open(path, &h, &fd, e))
        return false;
    close(fd);
    char hex[2 * sizeof h.digest + 1];
    for (size_t i = 0; i < sizeof h.digest; i++)
        snprintf(hex + 2 * i, 3, "%02x", h.digest[i]);
    put_text(o, "digest", hex);
    put_u64(o, "version", h.version);
    put_text(o, "curve", curve_by_id(h.curve)->name);
    put_text(o, "h_basis", h.h_basis == H_MONOMIAL ? "monomial (bellman)" : "lagrange (snarkjs)");
    put_u64(o, "wires", h.n_wires);
    put_u64(o, "publics", h.n_public);
    put_u64(o, "constraints", h.n_constraints);
    put_u64(o, "domain", 1ull << h.domain_log2);
    put_u64(o, "domain_log2", h.domain_log2);
    json_object_set_new(o, "has_c", json_boolean(h.flags & PREPARED_HAS_C));
    put_u64(o, "a_entries", h.matrix[0].n_entries);
    put_u64(o, "b_entries", h.matrix[1].n_entries);
    if (h.flags & PREPARED_HAS_C)
        put_u64(o, "c_entries", h.matrix[2].n_entries);
    put_folds(&h, o);
    put_u64(o, "a_points", h.query[QUERY_A].n);
    put_u64(o, "b_points", h.query[QUERY_B2].n);
    put_u64(o, "l_points", h.query[QUERY_L].n);
    put_u64(o, "h_points", h.n_h);
    put_u64(o, "file_bytes", h.file_bytes);
    json_t *sections = json_array();
    for (unsigned id = 1; id < PREPARED_SECTIONS; id++)
        if (h.section[id].length)
            json_array_append_new(sections,
                                  json_pack("{s:s,s:I,s:I}", "name", prepared_section_name(id),
                                            "offset", (json_int_t)h.section[id].offset, "bytes",
                                            (json_int_t)h.section[id].length));
    json_object_set_new(o, "sections", sections);
    return true;
}

static bool facts_params(const char *path, json_t *o, struct err *e)
{
    struct params *p = params_open(path, e);
    if (!p)
        return false;
    const struct params_facts *k = params_facts(p);
    put_text(o, "protocol", "groth16");
    put_text(o, "curve", "bls12-381");
    put_text(o, "h_basis", "monomial (bellman)");
    put_u64(o, "wires", (uint64_t)k->n_inputs + k->n[PARAMS_L]);
    put_u64(o, "publics", k->n_inputs - 1);
    put_u64(o, "domain", 1ull << k->domain_log2);
    put_u64(o, "domain_log2", k->domain_log2);
    put_u64(o, "a_points", k->n[PARAMS_A]);
    put_u64(o, "b_points", k->n[PARAMS_B2]);
    put_u64(o, "l_points", k->n[PARAMS_L]);
    put_u64(o, "h_points", k->n[PARAMS_H]);
    put_u64(o, "file_bytes", k->file_bytes);
    params_close(&p);
    char digest[33];
    if (params_digest(path, digest, e))
        return false;
    put_text(o, "digest", digest);
    return true;
}

static bool facts_constraints(const char *path, enum file_kind kind, json_t *o, struct err *e)
{
    struct bellman_r1cs_facts k;
    if ((kind == FILE_PCE ? pce_read_facts : fr1c_read_facts)(path, &k, e))
        return false;
    put_text(o, "curve", "bls12-381");
    put_u64(o, "wires", (uint64_t)k.n_inputs + k.n_aux);
    put_u64(o, "publics", k.n_inputs - 1);
    put_u64(o, "constraints", k.n_rows - k.n_inputs);
    put_u64(o, "terms", k.n_terms);
    put_u64(o, "file_bytes", k.file_bytes);
    return true;
}

static bool facts_proof_bytes(const char *path, json_t *o, struct err *e)
{
    struct proof *proofs;
    size_t n;
    if (proof_bytes_read(path, &proofs, &n, e))
        return false;
    put_text(o, "protocol", "groth16");
    put_text(o, "curve", "bls12-381");
    put_u64(o, "partitions", n);
    free(proofs);
    return true;
}

static bool facts_vk(const char *path, enum file_kind kind, json_t *o, struct err *e)
{
    struct verification_key vk;
    if (kind == FILE_VK_JSON ? vk_read(path, &vk, e) : vk_bytes_read(path, &vk, NULL, NULL, e))
        return false;
    put_text(o, "protocol", "groth16");
    put_text(o, "curve", vk.curve->name);
    put_u64(o, "publics", vk.n_public);
    vk_free(&vk);
    return true;
}

static bool facts_proof(const char *path, json_t *o, struct err *e)
{
    struct proof p;
    if (proof_read(path, NULL, &p, e))
        return false;
    const struct curve *c = p.curve;
    put_text(o, "protocol", "groth16");
    put_text(o, "curve", c->name);
    const struct {
        const char *name;
        const struct group *g;
        const point_t *p;
    } points[] = {{"pi_a", c->g1, &p.a}, {"pi_b", c->g2, &p.b}, {"pi_c", c->g1, &p.c}};
    for (size_t i = 0; i < 3; i++) {
        const char *why = "in the subgroup";
        points[i].g->check(points[i].p, 1, true, NULL, &why);
        put_text(o, points[i].name, points[i].g->is_infinity(points[i].p) ? "at infinity" : why);
    }
    return true;
}

static bool facts_public(const char *path, json_t *o, struct err *e)
{
    fr_t *values;
    size_t n;
    /* The file does not say of which curve they are: the larger field bounds them. */
    if (public_read(path, &curve_bls12_381, &values, &n, e))
        return false;
    put_u64(o, "publics", n);
    bool small = curve_bn254.fr_first_unreduced(values, n) == n;
    put_text(o, "curve", small ? "bn254 or bls12-381" : "bls12-381");
    free(values);
    return true;
}

json_t *inspect_file(const char *path, struct err *e)
{
    enum file_kind kind;
    if (file_kind_of(path, &kind, e))
        return NULL;
    if (kind == FILE_UNKNOWN) {
        err_set(e, ERR_FORMAT,
                "%s: no file of a kind that Millrace knows (.zkey, .wtns, .r1cs, .ptau, prepared "
                "circuit, .params, .vk, PCE, r1cs.bin, proofs of 192 bytes, .wasm, JSON)",
                path);
        return NULL;
    }
    json_t *o =
        json_pack("{s:s,s:s}", "kind", file_kind_tag(kind), "description", file_kind_word(kind));
    bool fine = true;
    switch (kind) {
    case FILE_ZKEY:
        fine = facts_zkey(path, o, e);
        break;
    case FILE_WTNS:
        fine = facts_wtns(path, o, e);
        break;
    case FILE_R1CS:
        fine = facts_r1cs(path, o, e);
        break;
    case FILE_PTAU:
        fine = facts_ptau(path, o, e);
        break;
    case FILE_PREPARED:
        fine = facts_prepared(path, o, e);
        break;
    case FILE_PARAMS:
        fine = facts_params(path, o, e);
        break;
    case FILE_PCE:
    case FILE_FR1C:
        fine = facts_constraints(path, kind, o, e);
        break;
    case FILE_PROOF_BYTES:
        fine = facts_proof_bytes(path, o, e);
        break;
    case FILE_VK_JSON:
    case FILE_VK_BYTES:
        fine = facts_vk(path, kind, o, e);
        break;
    case FILE_PROOF_JSON:
        fine = facts_proof(path, o, e);
        break;
    case FILE_PUBLIC_JSON:
        fine = facts_public(path, o, e);
        break;
    case FILE_WASM:
    case FILE_OTHER_JSON:
    case FILE_UNKNOWN:
        break;
    }
    if (fine)
        return o;
    json_decref(o);
    return NULL;
}

/* "domain_log2" -> "domain log2" */
static void print_key(FILE *out, const char *key)
{
    int n = 0;
    for (; key[n]; n++)
        fputc(key[n] == '_' ? ' ' : key[n], out);
    fprintf(out, "%*s", n < 22 ? 22 - n : 1, "");
}

void inspect_print(const json_t *facts, FILE *out)
{
    const char *key;
    json_t *v;
    fprintf(out, "%s\n", json_string_value(json_object_get(facts, "description")));
    json_object_foreach((json_t *)facts, key, v)
    {
        if (!strcmp(key, "kind") || !strcmp(key, "description"))
            continue;
        fputs("  ", out);
        print_key(out, key);
        if (json_is_string(v))
            fprintf(out, "%s\n", json_string_value(v));
        else if (json_is_integer(v))
            fprintf(out, "%" JSON_INTEGER_FORMAT "\n", json_integer_value(v));
        else if (json_is_boolean(v))
            fprintf(out, "%s\n", json_is_true(v) ? "yes" : "no");
        else
            fputc('\n', out);
        for (size_t i = 0; json_is_array(v) && i < json_array_size(v); i++) {
            const json_t *s = json_array_get(v, i);
            fprintf(out,
                    "    %-20s offset %12" JSON_INTEGER_FORMAT ", %" JSON_INTEGER_FORMAT " bytes\n",
                    json_string_value(json_object_get(s, "name")),
                    json_integer_value(json_object_get(s, "offset")),
                    json_integer_value(json_object_get(s, "bytes")));
        }
    }
}
