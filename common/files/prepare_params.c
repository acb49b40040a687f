/* From a .params and the circuit's constraints to a prepared circuit, one list at a time. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "bellman_r1cs.h"
#include "key_check.h"
#include "params.h"
#include "prepared.h"

enum { WINDOW_POINTS = 1 << 16 };

/* The wires that a matrix has a term of. */
struct dense {
    uint32_t *wire; /* ascending */
    uint32_t n;
    bool gap; /* they are not consecutive */
};

struct preparing {
    struct params *key;
    struct prepared_writer *w;
    struct r1cs system;
    struct circuit facts; /* what prepared_commit needs; its arrays are never read there */
    struct dense a, b;
    struct pool *pool;
    void *window; /* room for WINDOW_POINTS points */
};

static enum err_code find_dense(const struct matrix *m, struct dense *out, struct err *e)
{
    uint64_t n_words = (uint64_t)m->n_wires / 64 + 1;
    uint64_t *occurs = calloc(n_words, sizeof *occurs);
    *out = (struct dense){0};
    for (uint64_t i = 0; occurs && i < m->n_entries; i++)
        occurs[m->wire[i] / 64] |= 1ull << m->wire[i] % 64;
    for (uint64_t i = 0; occurs && i < n_words; i++)
        out->n += (uint32_t)__builtin_popcountll(occurs[i]);
    out->wire = occurs ? malloc((size_t)out->n * sizeof *out->wire + 1) : NULL;
    uint32_t n = 0;
    for (uint32_t w = 0; out->wire && w < m->n_wires; w++)
        if (occurs[w / 64] >> w % 64 & 1)
            out->wire[n++] = w;
    free(occurs);
    if (!out->wire)
        return err_set(e, ERR_MEMORY, "no memory for the densities of %u wires", m->n_wires);
    out->gap = n && out->wire[n - 1] - out->wire[0] + 1 != n;
    return ERR_OK;
}

static enum err_code differ(struct err *e, const char *key, const char *what, uint64_t in_key,
                            uint64_t in_system)
{
    return err_set(e, ERR_MISMATCH,
                   "%s: has %" PRIu64 " %s, the constraint system %" PRIu64
                   ": they do not belong together",
                   key, in_key, what, in_system);
}

/* Everything that says whether this key was made for these constraints. */
static enum err_code check_same_circuit(const struct preparing *p, struct err *e)
{
    const struct params_facts *k = params_facts(p->key);
    const char *name = params_name(p->key);
    uint32_t n_inputs = p->system.n_public_inputs + 1;
    if (k->n_inputs != n_inputs)
        return differ(e, name, "inputs", k->n_inputs, n_inputs);
    if (k->n[PARAMS_L] != p->system.n_wires - n_inputs)
        return differ(e, name, "auxiliary variables", k->n[PARAMS_L], p->system.n_wires - n_inputs);
    unsigned domain_log2 = 0;
    while (1ull << domain_log2 < p->facts.a.n_rows)
        domain_log2++;
    if (k->domain_log2 != (domain_log2 ? domain_log2 : 1))
        return differ(e, name, "rows in its domain", 1ull << k->domain_log2, 1ull << domain_log2);
    if (k->n[PARAMS_A] != p->a.n)
        return differ(e, name, "dense variables in A", k->n[PARAMS_A], p->a.n);
    if (k->n[PARAMS_B1] != p->b.n)
        return differ(e, name, "dense variables in B", k->n[PARAMS_B1], p->b.n);
    return ERR_OK;
}

static void fill_facts(const struct params_facts *k, struct circuit *c)
{
    *c = (struct circuit){
        .curve = &curve_bls12_381,
        .n_public = k->n_inputs - 1,
        .domain_log2 = k->domain_log2,
        .roots = ROOT_BELLMAN,
        .h_basis = H_MONOMIAL,
        .has_c = true,
        .n_h = k->n[PARAMS_H],
        .beta_g1 = k->beta_g1,
        .delta_g1 = k->delta_g1,
        .vk = {.curve = &curve_bls12_381,
               .n_public = k->n_inputs - 1,
               .alpha_g1 = k->alpha_g1,
               .beta_g2 = k->beta_g2,
               .gamma_g2 = k->gamma_g2,
               .delta_g2 = k->delta_g2},
    };
}

static enum err_code read_system(struct preparing *p, const char *r1cs_path, struct err *e)
{
    struct circuit *f = &p->facts;
    enum err_code code = bellman_r1cs_read(r1cs_path, &p->system, e);
    if (!code)
        code = r1cs_bind_publics(&p->system, &f->a, &f->b, e);
    if (code)
        return code;
    matrix_free(&p->system.a);
    matrix_free(&p->system.b);
    f->c = p->system.c;
    f->n_wires = p->system.n_wires;
    f->n_constraints = p->system.n_constraints;
    code = find_dense(&f->a, &p->a, e);
    if (!code)
        code = find_dense(&f->b, &p->b, e);
    return code ? code : check_same_circuit(p, e);
}

static enum err_code put_points(struct preparing *p, enum params_list from,
                                enum prepared_section to, struct err *e)
{
    uint64_t n = params_facts(p->key)->n[from];
    size_t bytes = params_group(from)->bytes;
    enum err_code code = ERR_OK;
    for (uint64_t at = 0; at < n && !code; at += WINDOW_POINTS) {
        size_t step = n - at < WINDOW_POINTS ? (size_t)(n - at) : WINDOW_POINTS;
        code = params_read_points(p->key, from, at, step, p->window, true, p->pool, e);
        if (!code)
            code = prepared_append(p->w, to, p->window, step * bytes, e);
    }
    return code;
}

static enum err_code put_query(struct preparing *p, enum params_list from, enum prepared_section to,
                               const struct dense *d, struct query *q, struct err *e)
{
    enum err_code code = put_points(p, from, to, e);
    if (!code && d->gap)
        code = prepared_append(p->w, to + 1, d->wire, (size_t)d->n * sizeof *d->wire, e);
    *q = (struct query){
        .n = d->n, .wire = d->gap ? d->wire : NULL, .first_wire = d->gap || !d->n ? 0 : d->wire[0]};
    return code;
}

static enum err_code put_all(struct preparing *p, struct err *e)
{
    struct circuit *f = &p->facts;
    enum err_code code;
    if ((code = prepared_append_matrices(p->w, &f->a, &f->b, &f->c, e)) ||
        (code = put_points(p, PARAMS_IC, PREPARED_IC, e)) ||
        (code = put_query(p, PARAMS_A, PREPARED_A_POINTS, &p->a, &f->a_query, e)) ||
        (code = put_query(p, PARAMS_B1, PREPARED_B1_POINTS, &p->b, &f->b1_query, e)) ||
        (code = put_query(p, PARAMS_B2, PREPARED_B2_POINTS, &p->b, &f->b2_query, e)) ||
        (code = put_points(p, PARAMS_L, PREPARED_L_POINTS, e)))
        return code;
    f->l_query = (struct query){.n = params_facts(p->key)->n[PARAMS_L],
                                .first_wire = params_facts(p->key)->n_inputs};
    return put_points(p, PARAMS_H, PREPARED_H_POINTS, e);
}

enum err_code prepare_params(const char *params_path, const char *r1cs_path, const char *out_path,
                             uint8_t digest[32], struct pool *pool, struct err *e)
{
    struct err local;
    e = e ? e : &local;
    struct preparing p = {.key = params_open(params_path, e), .pool = pool};
    if (!p.key)
        return e->code;
    fill_facts(params_facts(p.key), &p.facts);
    enum err_code code = key_check_consistent(&p.facts, params_path, e);
    if (!code)
        code = read_system(&p, r1cs_path, e);
    p.window = malloc(WINDOW_POINTS * curve_bls12_381.g2->bytes);
    if (!code && !p.window)
        code = err_set(e, ERR_MEMORY, "%s: no memory to read points", params_path);
    if (!code && !(p.w = prepared_create(out_path, pool, e)))
        code = e->code;
    if (!code)
        code = put_all(&p, e);
    if (!code)
        code = prepared_commit(&p.w, &p.facts, digest, e);
    prepared_abort(&p.w);
    r1cs_free(&p.system);
    matrix_free(&p.facts.a);
    matrix_free(&p.facts.b);
    free(p.a.wire);
    free(p.b.wire);
    free(p.window);
    params_close(&p.key);
    return code;
}
