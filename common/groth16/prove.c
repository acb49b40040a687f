#include "prove.h"
#include "big.h"
#include "ntt.h"
#include <stdlib.h>
#include <string.h>

enum { GRAIN = 4096 }; /* elements a thread takes at a time in the element-wise loops */

void groth16_watch_step(const struct groth16_watch *watch, enum groth16_step step, bool begun)
{
    if (watch && watch->step)
        watch->step(watch->arg, step, begun);
}

enum err_code groth16_check_witness(const struct circuit *ck, const fr_t *w, size_t n,
                                    struct err *e)
{
    if (n != ck->n_wires)
        return err_set(e, ERR_MISMATCH, "witness holds %zu values, the circuit has %u wires", n,
                       ck->n_wires);
    static const fr_t one = {{1}};
    if (memcmp(&w[0], &one, sizeof one) != 0)
        return err_set(e, ERR_VALUE, "witness value 0 is not 1");
    size_t bad = ck->curve->fr_first_unreduced(w, n);
    if (bad < n)
        return err_set(e, ERR_VALUE, "witness value %zu is not below the group order of %s", bad,
                       ck->curve->name);
    return ERR_OK;
}

struct vectors {
    const struct curve *curve;
    fr_t *a, *b, *c;
    const fr_t *factor; /* of every element of the quotient; NULL for one */
    bool plain;
};

static void product_range(void *arg, size_t begin, size_t end, unsigned worker)
{
    (void)worker;
    const struct vectors *v = arg;
    v->curve->fr_mul_many(v->c + begin, v->a + begin, v->b + begin, end - begin);
}

/* a = (a b - c) factor */
static void quotient_range(void *arg, size_t begin, size_t end, unsigned worker)
{
    (void)worker;
    const struct vectors *v = arg;
    v->curve->fr_mul_many(v->a + begin, v->a + begin, v->b + begin, end - begin);
    for (size_t i = begin; i < end; i++) {
        v->curve->fr_sub(&v->a[i], &v->a[i], &v->c[i]);
        if (v->factor)
            v->curve->fr_mul(&v->a[i], &v->a[i], v->factor);
    }
    if (v->plain)
        v->curve->fr_from_mont(v->a + begin, v->a + begin, end - begin);
}

static void plain_range(void *arg, size_t begin, size_t end, unsigned worker)
{
    (void)worker;
    const struct vectors *v = arg;
    v->curve->fr_from_mont(v->a + begin, v->a + begin, end - begin);
}

/* 1 / (g^N - 1), g the coset's shift: the value of 1/Z on the whole coset. */
static void vanishing_inverse(const struct curve *c, enum root_convention roots, unsigned log2_n,
                              fr_t *out)
{
    fr_t g;
    c->fr_coset_shift(&g, roots, log2_n);
    for (unsigned i = 0; i < log2_n; i++)
        c->fr_mul(&g, &g, &g);
    c->fr_sub(&g, &g, c->fr_one);
    c->fr_inv(out, &g);
}

enum err_code groth16_quotient(const struct curve *curve, enum root_convention roots,
                               enum h_basis basis, const struct ntt_domain *dom,
                               unsigned domain_log2, fr_t *a, fr_t *b, struct pool *pool,
                               struct err *e)
{
    size_t n = (size_t)1 << domain_log2;
    fr_t *c = big_alloc(n * sizeof *c);
    if (!c)
        return err_set(e, ERR_MEMORY, "no memory for %zu scalars of the quotient", n);
    struct vectors v = {.curve = curve, .a = a, .b = b, .c = c};
    pool_range(pool, product_range, &v, n, GRAIN);
    ntt_to_coset(dom, a, pool);
    ntt_to_coset(dom, b, pool);
    ntt_to_coset(dom, c, pool);
    if (basis == H_ODD_LAGRANGE) {
        /* a b - c vanishes on the N-th roots, so its values on the odd 2N-th roots determine it,
         * and the division by Z is in the bases. */
        v.plain = true;
        pool_range(pool, quotient_range, &v, n, GRAIN);
    } else {
        fr_t z_inverse;
        vanishing_inverse(curve, roots, domain_log2, &z_inverse);
        v.factor = &z_inverse;
        pool_range(pool, quotient_range, &v, n, GRAIN);
        ntt_from_coset(dom, a, pool);
        pool_range(pool, plain_range, &v, n, GRAIN);
    }
    explicit_bzero(c, n * sizeof *c); /* as secret as the witness */
    free(c);
    return ERR_OK;
}

enum err_code groth16_query_sum(const struct group *g, const struct query *q, const fr_t *w,
                                point_t *r, struct pool *pool, struct err *e)
{
    memset(r, 0, sizeof *r);
    if (q->n == 0)
        return ERR_OK;
    const fr_t *scalars = q->wire ? w : w + q->first_wire;
    return g->msm(r, q->points, scalars, q->wire, q->n, false, pool, e);
}

enum err_code groth16_sums(const struct circuit *ck, const struct ntt_domain *dom, const fr_t *w,
                           fr_t *a, fr_t *b, struct groth16_sums *out,
                           const struct groth16_watch *watch, struct pool *pool, struct err *e)
{
    const struct curve *c = ck->curve;
    memset(out, 0, sizeof *out);
    groth16_watch_step(watch, STEP_QUOTIENT, true);
    enum err_code rc =
        groth16_quotient(c, ck->roots, ck->h_basis, dom, ck->domain_log2, a, b, pool, e);
    groth16_watch_step(watch, STEP_QUOTIENT, false);
    if (rc)
        return rc;
    const struct query h_query = {.points = ck->h_points, .n = ck->n_h};
    const struct {
        enum groth16_step step;
        const struct group *group;
        const struct query *query;
        const fr_t *scalars;
        point_t *sum;
    } sums[] = {
        {STEP_SUM_H, c->g1, &h_query, a, &out->h},
        {STEP_SUM_A, c->g1, &ck->a_query, w, &out->a},
        {STEP_SUM_B1, c->g1, &ck->b1_query, w, &out->b1},
        {STEP_SUM_B2, c->g2, &ck->b2_query, w, &out->b2},
        {STEP_SUM_L, c->g1, &ck->l_query, w, &out->l},
    };
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        groth16_watch_step(watch, sums[i].step, true);
        rc = groth16_query_sum(sums[i].group, sums[i].query, sums[i].scalars, sums[i].sum, pool, e);
        groth16_watch_step(watch, sums[i].step, false);
        if (rc)
            return rc;
    }
    return ERR_OK;
}
