/* A proof from a prepared circuit, which is mapped. */
#include "local_steps.h"
#include "ntt.h"
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

static void announce(void *arg, enum groth16_step step, bool begun)
{
    static const char *const what[STEP_COUNT] = {
        [STEP_QUOTIENT] = "transforms",   [STEP_SUM_H] = "sum of H in G1",
        [STEP_SUM_A] = "sum of A in G1",  [STEP_SUM_B1] = "sum of B in G1",
        [STEP_SUM_B2] = "sum of B in G2", [STEP_SUM_L] = "sum of L in G1",
    };
    if (begun)
        local_stage(arg, what[step]);
}

static enum err_code sums_of(struct local_run *run, const struct circuit *ck,
                             struct groth16_sums *sums, struct err *e)
{
    size_t n = (size_t)1 << ck->domain_log2;
    local_stage(run, "matrices");
    if (ck->has_c) {
        enum err_code rc = local_check_constraints(run, ck->curve, &ck->a, &ck->b, &ck->c, e);
        if (rc)
            return rc;
    }
    fr_t *a = local_vector(n, e), *b = a ? local_vector(n, e) : NULL;
    struct ntt_domain *domain =
        b ? ntt_domain_new(ck->curve, ck->roots, ck->domain_log2, run->pool, e) : NULL;
    enum err_code rc = domain ? ERR_OK : e->code;
    if (!rc) {
        const struct groth16_watch watch = {announce, run};
        matrix_evaluate(ck->curve, &ck->a, run->w, a, n, run->pool);
        matrix_evaluate(ck->curve, &ck->b, run->w, b, n, run->pool);
        rc = groth16_sums(ck, domain, run->w, a, b, sums, &watch, run->pool, e);
    }
    ntt_domain_free(&domain);
    local_vector_free(&a, n);
    local_vector_free(&b, n);
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
