#include "local.h"
#include "local_steps.h"
#include "big.h"
#include "inspect.h"
#include "ntt.h"
#include "verify.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void local_stage(struct local_run *run, const char *what)
{
    run->stage++;
    if (run->job->stage)
        run->job->stage(run->job->stage_arg, what, run->stage, LOCAL_STAGES_MAX);
}

fr_t *local_vector(size_t n, struct err *e)
{
    fr_t *v = big_alloc(n * sizeof *v);
    if (!v)
        err_set(e, ERR_MEMORY, "no memory for %zu scalars", n);
    return v;
}

void local_vector_free(fr_t **v, size_t n)
{
    if (!*v)
        return;
    explicit_bzero(*v, n * sizeof **v);
    free(*v);
    *v = NULL;
}

enum err_code local_read_witness(struct local_run *run, const struct curve *curve, size_t n_wires,
                                 struct err *e)
{
    enum err_code rc = wtns_expect(run->witness, curve, n_wires, e);
    if (rc)
        return rc;
    run->w = local_vector(n_wires, e);
    if (!run->w)
        return ERR_MEMORY;
    run->n_wires = n_wires;
    return wtns_read(run->witness, run->w, run->pool, e);
}

enum err_code local_rows_new(unsigned domain_log2, fr_t *rows[2], struct err *e)
{
    size_t n = (size_t)1 << domain_log2;
    rows[0] = local_vector(n, e);
    rows[1] = rows[0] ? local_vector(n, e) : NULL;
    if (rows[1])
        return ERR_OK;
    local_vector_free(&rows[0], n);
    return ERR_MEMORY;
}

enum err_code local_quotient(struct local_run *run, const struct local_shape *s, fr_t *rows[2],
                             struct err *e)
{
    size_t n = (size_t)1 << s->domain_log2;
    local_stage(run, "transforms");
    struct ntt_domain *domain = ntt_domain_new(s->curve, s->roots, s->domain_log2, run->pool, e);
    enum err_code rc = domain ? groth16_quotient(s->curve, s->roots, s->h_basis, domain,
                                                 s->domain_log2, rows[0], rows[1], run->pool, e)
                              : e->code;
    ntt_domain_free(&domain);
    local_vector_free(&rows[1], n);
    if (rc)
        local_vector_free(&rows[0], n);
    return rc;
}

/* "A: wires 3, 5" of one row; never a value. */
static void print_row(const struct matrix *m, const char *name, size_t row, char *text, size_t n)
{
    enum { MOST = 6 };
    size_t used = (size_t)snprintf(text, n, "%s:", name);
    struct matrix_place p = {0};
    uint32_t begin = 0, end = 0;
    if (row < m->n_rows) {
        p = matrix_find_row(m, (uint32_t)row);
        begin = m->row_start[p.stored];
        end = m->row_start[p.stored + 1];
    }
    if (begin == end)
        snprintf(text + used, n - used, " none");
    for (uint32_t i = begin; i < end && used < n; i++) {
        if (i - begin == MOST) {
            snprintf(text + used, n - used, " and %u more", end - i);
            break;
        }
        used +=
            (size_t)snprintf(text + used, n - used, "%s%u", i == begin ? " " : ", ",
                             p.copy ? matrix_moved_wire(p.fold, p.copy, m->wire[i]) : m->wire[i]);
    }
}

enum err_code local_check_constraints(const struct local_run *run, const struct curve *curve,
                                      const struct matrix *a, const struct matrix *b,
                                      const struct matrix *c, struct err *e)
{
    size_t row = matrix_first_unsatisfied(curve, a, b, c, run->w, run->pool);
    if (row >= a->n_rows)
        return ERR_OK;
    char wires[3][128];
    print_row(a, "A", row, wires[0], sizeof wires[0]);
    print_row(b, "B", row, wires[1], sizeof wires[1]);
    print_row(c, "C", row, wires[2], sizeof wires[2]);
    return err_set(e, ERR_UNSATISFIED,
                   "%s: the witness does not satisfy the circuit: constraint %zu fails (wires of "
                   "%s; %s; %s)",
                   run->job->witness_path, row, wires[0], wires[1], wires[2]);
}

enum err_code local_finish(struct local_run *run, const struct blinding_points *key,
                           const struct verification_key *vk, const struct groth16_sums *sums,
                           struct local_proof *out, struct err *e)
{
    local_stage(run, "verification");
    groth16_assemble_points(key, sums, &out->proof);
    struct err why = {0};
    enum err_code rc = groth16_verify(vk, run->w + 1, &out->proof, &why);
    if (rc == ERR_REJECTED)
        return err_set(
            e, ERR_UNSATISFIED,
            "%s: the witness does not satisfy the circuit of %s (the finished proof does "
            "not verify)%s",
            run->job->witness_path, run->job->key_path,
            run->job->r1cs_path ? "" : "; with --r1cs the constraint can be named");
    if (rc) {
        if (e)
            *e = why;
        return rc;
    }
    out->n_public = vk->n_public;
    out->publics = local_vector(vk->n_public ? vk->n_public : 1, e);
    if (!out->publics)
        return ERR_MEMORY;
    memcpy(out->publics, run->w + 1, vk->n_public * sizeof(fr_t));
    return ERR_OK;
}

enum err_code local_prove(const struct local_job *job, struct local_proof *out, struct pool *pool,
                          struct err *e)
{
    *out = (struct local_proof){0};
    struct local_run run = {.job = job, .pool = pool};
    enum file_kind kind;
    enum err_code rc = file_kind_of(job->key_path, &kind, e);
    if (rc)
        return rc;
    if (kind == FILE_PARAMS)
        return err_set(e, ERR_USAGE,
                       "%s: a .params holds no matrices: make a prepared circuit of it with "
                       "`millrace prepare` first",
                       job->key_path);
    run.witness = wtns_open(job->witness_path, e);
    if (!run.witness)
        return e->code;
    /* Whatever is not a prepared circuit is read as a .zkey, whose reader says what is wrong. */
    rc =
        kind == FILE_PREPARED ? local_prove_prepared(&run, out, e) : local_prove_zkey(&run, out, e);
    wtns_close(&run.witness);
    local_vector_free(&run.w, run.n_wires);
    return rc;
}

void local_proof_free(struct local_proof *p)
{
    free(p->publics);
    *p = (struct local_proof){0};
}
