#include "result.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "file.h"
#include "json.h"
#include "proof_bytes.h"

struct part {
    bool has_proof;
    enum curve_id curve;
    struct proof proof;
    uint32_t n_public;
    fr_t *publics;
    uint8_t *has_public; /* one a value */
    uint32_t n_received;
};

struct millrace_result {
    struct part *part;
    uint32_t n;
    bool failed; /* no memory on the way */
    char *proof_text, *public_text;
};

struct millrace_result *result_new(void)
{
    return calloc(1, sizeof(struct millrace_result));
}

static struct part *part_at(struct millrace_result *r, uint32_t index)
{
    enum { PARTITIONS_MAX = 4096 }; /* as in SUBMIT */
    if (index >= PARTITIONS_MAX)
        return NULL;
    if (index >= r->n) {
        struct part *more = realloc(r->part, ((size_t)index + 1) * sizeof *more);
        if (!more) {
            r->failed = true;
            return NULL;
        }
        memset(more + r->n, 0, ((size_t)index + 1 - r->n) * sizeof *more);
        r->part = more;
        r->n = index + 1;
    }
    return &r->part[index];
}

void result_proof(struct millrace_result *r, const struct msg_proof *p)
{
    const struct curve *c = curve_by_id((enum curve_id)p->curve);
    struct part *part = part_at(r, p->partition);
    if (!part || !c || part->has_proof)
        return;
    size_t g1 = c->g1->bytes, g2 = c->g2->bytes;
    if (p->proof_len != 2 * g1 + g2)
        return;
    part->publics = calloc(p->n_public + 1u, sizeof *part->publics);
    part->has_public = calloc(p->n_public + 1u, 1);
    if (!part->publics || !part->has_public) {
        r->failed = true;
        return;
    }
    part->proof.curve = c;
    memcpy(&part->proof.a, p->proof, g1);
    memcpy(&part->proof.b, p->proof + g1, g2);
    memcpy(&part->proof.c, p->proof + g1 + g2, g1);
    part->n_public = p->n_public;
    part->has_proof = true;
}

void result_publics(struct millrace_result *r, const struct msg_publics *p)
{
    struct part *part = part_at(r, p->partition);
    uint32_t n = p->values.len / (uint32_t)sizeof(fr_t);
    if (!part || !part->has_proof || p->first > part->n_public || n > part->n_public - p->first)
        return;
    for (uint32_t i = 0; i < n; i++) {
        memcpy(&part->publics[p->first + i], p->values.data + i * sizeof(fr_t), sizeof(fr_t));
        part->n_received += !part->has_public[p->first + i];
        part->has_public[p->first + i] = 1;
    }
}

bool result_complete(const struct millrace_result *r, uint32_t partitions)
{
    if (r->failed)
        return true; /* result_finish says so */
    if (r->n != partitions)
        return false;
    for (uint32_t i = 0; i < r->n; i++)
        if (!r->part[i].has_proof || r->part[i].n_received != r->part[i].n_public)
            return false;
    return true;
}

enum err_code result_finish(struct millrace_result *r, struct err *e)
{
    json_t *proofs = json_array(), *publics = json_array();
    for (uint32_t i = 0; i < r->n && !r->failed; i++) {
        json_t *proof = proof_to_json(&r->part[i].proof, JSON_SNARKJS);
        json_t *values = public_to_json(r->part[i].publics, r->part[i].n_public);
        if (json_array_append_new(proofs, proof) || json_array_append_new(publics, values))
            r->failed = true;
    }
    /* One partition: the objects themselves, as snarkjs writes them. */
    bool one = r->n == 1;
    if (!r->failed) {
        r->proof_text = json_dumps(one ? json_array_get(proofs, 0) : proofs, JSON_INDENT(1));
        r->public_text = json_dumps(one ? json_array_get(publics, 0) : publics, JSON_INDENT(1));
    }
    json_decref(proofs);
    json_decref(publics);
    if (!r->proof_text || !r->public_text)
        return err_set(e, ERR_MEMORY, "no memory for the proof's text");
    return ERR_OK;
}

size_t millrace_result_partitions(const struct millrace_result *r)
{
    return r->n;
}

const char *millrace_result_proof(const struct millrace_result *r)
{
    return r->proof_text;
}

const char *millrace_result_public(const struct millrace_result *r)
{
    return r->public_text;
}

static struct file_writer *begin(const char *path, const void *data, size_t n, struct err *e)
{
    struct file_writer *w = file_writer_open(path, 0644, e);
    if (w && file_writer_write(w, data, n, e))
        file_writer_abort(&w);
    return w;
}

static struct file_writer *begin_text(const char *path, const char *text, struct err *e)
{
    struct file_writer *w = begin(path, text, strlen(text), e);
    if (w && file_writer_write(w, "\n", 1, e))
        file_writer_abort(&w);
    return w;
}

/* Both are complete beside their targets before the first is renamed. */
static int put_in_place(struct file_writer *proof, struct file_writer *publics, struct err *e,
                        struct millrace_error *out)
{
    if (proof && publics && file_writer_commit(&publics, e) == ERR_OK)
        file_writer_commit(&proof, e);
    file_writer_abort(&publics);
    file_writer_abort(&proof);
    if (e->code && out) {
        out->code = (int)e->code;
        snprintf(out->text, sizeof out->text, "%s", e->text);
    }
    return (int)e->code;
}

int millrace_result_write(const struct millrace_result *r, const char *proof_path,
                          const char *public_path, struct millrace_error *out)
{
    struct err e = {0};
    struct file_writer *proof = begin_text(proof_path, r->proof_text, &e);
    struct file_writer *publics = proof ? begin_text(public_path, r->public_text, &e) : NULL;
    return put_in_place(proof, publics, &e, out);
}

int millrace_result_write_bytes(const struct millrace_result *r, const char *proof_path,
                                const char *public_path, struct millrace_error *out)
{
    struct err e = {0};
    uint8_t *bytes = malloc((size_t)r->n * PROOF_BYTES + 1);
    if (!bytes)
        err_set(&e, ERR_MEMORY, "no memory for %u proofs", r->n);
    for (uint32_t i = 0; i < r->n && !e.code; i++)
        proof_to_bytes(&r->part[i].proof, bytes + (size_t)i * PROOF_BYTES, &e);
    struct file_writer *proof =
        e.code ? NULL : begin(proof_path, bytes, (size_t)r->n * PROOF_BYTES, &e);
    struct file_writer *publics = proof ? begin_text(public_path, r->public_text, &e) : NULL;
    free(bytes);
    return put_in_place(proof, publics, &e, out);
}

void millrace_result_free(struct millrace_result **r)
{
    if (!r || !*r)
        return;
    for (uint32_t i = 0; i < (*r)->n; i++) {
        free((*r)->part[i].publics);
        free((*r)->part[i].has_public);
    }
    free((*r)->part);
    free((*r)->proof_text);
    free((*r)->public_text);
    free(*r);
    *r = NULL;
}
