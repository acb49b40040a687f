/* A proof from a prepared circuit, which is mapped. */
#include "local_steps.h"
#include "prepared.h"
#include <stdlib.h>
#include <string.h>

static enum err_code check_wires(const struct circuit *ck, const struct query *q, const char *name,
                                 struct err *e)
{
    if (!q->wire)
        return q->n > ck->n_wires || q->first_wire > ck->n_wires - q->n
                   ? err_set(e, ERR_FORMAT, "query %s reaches beyond the circuit's %u wires", name,
                             ck->n_wires)
                   : ERR_OK;
    for (uint64_t i = 0; i < q->n; i++)
        if (q->wire[i] >= ck->n_wires)
            return err_set(e, ERR_FORMAT, "query %s: entry %llu: wire %u, expected below %u", name,
                           (unsigned long long)i, q->wire[i], ck->n_wires);
    return ERR_OK;
}

/* What keeps every index in range. A store's circuits are trusted; a file that a person names is
 * not, and a full check (circuit_check) would take longer than the proof. Points that are wrong
 * give a proof that does not verify, and nothing worse. */
static enum err_code check_indices(struct local_run *run, const struct circuit *ck, struct err *e)
{
    enum err_code rc = matrix_check(ck->curve, &ck->a, run->pool, e);
    if (!rc)
        rc = matrix_check(ck->curve, &ck->b, run->pool, e);
    if (!rc && ck->has_c)
        rc = matrix_check(ck->curve, &ck->c, run->pool, e);
    if (!rc)
        rc = check_wires(ck, &ck->a_query, "A", e);
    if (!rc)
        rc = check_wires(ck, &ck->b1_query, "B in G1", e);
    if (!rc)
        rc = check_wires(ck, &ck->b2_query, "B in G2", e);
    if (!rc)
        rc = check_wires(ck, &ck->l_query, "L", e);
    if (rc)
        err_prefix(e, "%s", run->job->key_path);
    return rc;
}

static enum err_code sums_of(struct local_run *run, const struct circuit *ck,
                             struct groth16_sums *sums, struct err *e)
{
    const struct curve *c = ck->curve;
    const struct local_shape shape = {c, ck->roots, ck->h_basis, ck->domain_log2};
    size_t n = (size_t)1 << ck->domain_log2;
    fr_t *rows[2];
    enum err_code rc = ERR_OK;
    local_stage(run, "matrices");
    if (ck->has_c)
        rc = local_check_constraints(run, c, &ck->a, &ck->b, &ck->c, e);
    if (!rc)
        rc = local_rows_new(ck->domain_log2, rows, e);
    if (rc)
        return rc;
    matrix_evaluate(c, &ck->a, run->w, rows[0], n, run->pool);
    matrix_evaluate(c, &ck->b, run->w, rows[1], n, run->pool);
    rc = local_quotient(run, &shape, rows, e);
    if (rc)
        return rc;
    local_stage(run, "sum of H in G1");
    const struct query h_query = {.points = ck->h_points, .n = ck->n_h};
    rc = groth16_query_sum(c->g1, &h_query, rows[0], &sums->h, run->pool, e);
    local_vector_free(&rows[0], n);
    const struct {
        const char *what;
        const struct group *group;
        const struct query *query;
        point_t *sum;
    } sections[] = {
        {"sum of A in G1", c->g1, &ck->a_query, &sums->a},
        {"sum of B in G1", c->g1, &ck->b1_query, &sums->b1},
        {"sum of B in G2", c->g2, &ck->b2_query, &sums->b2},
        {"sum of L in G1", c->g1, &ck->l_query, &sums->l},
    };
    for (size_t i = 0; i < sizeof sections / sizeof sections[0] && !rc; i++) {
        local_stage(run, sections[i].what);
        rc = groth16_query_sum(sections[i].group, sections[i].query, run->w, sections[i].sum,
                               run->pool, e);
    }
    return rc;
}

enum err_code local_prove_prepared(struct local_run *run, struct local_proof *out, struct err *e)
{
    if (run->job->r1cs_path)
        return err_set(e, ERR_USAGE,
                       "%s is a prepared circuit: give --r1cs to `millrace prepare` instead",
                       run->job->key_path);
    struct circuit *ck = circuit_map(run->job->key_path, e);
    if (!ck)
        return e->code;
    struct groth16_sums sums = {0};
    enum err_code rc = check_indices(run, ck, e);
    local_stage(run, "witness");
    if (!rc)
        rc = local_read_witness(run, ck->curve, ck->n_wires, e);
    if (!rc)
        rc = sums_of(run, ck, &sums, e);
    if (!rc) {
        const struct blinding_points points = groth16_blinding_points(ck);
        rc = local_finish(run, &points, &ck->vk, &sums, out, e);
    }
    explicit_bzero(&sums, sizeof sums);
    circuit_free(&ck);
    return rc;
}
