#include "verify.h"
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

static enum err_code check_element(const struct group *g, const void *point, const char *name,
                                   struct err *e)
{
    if (!g->is_reduced(point))
        return err_set(e, ERR_REJECTED,
                       "proof element %s: a coordinate is not below the field's modulus", name);
    if (!g->on_curve(point))
        return err_set(e, ERR_REJECTED, "proof element %s: the point is not on the curve", name);
    if (!g->in_subgroup(point))
        return err_set(e, ERR_REJECTED,
                       "proof element %s: the point is not in the subgroup of order r", name);
    return ERR_OK;
}

enum err_code groth16_verify_elements(const struct verification_key *vk, const fr_t *publics,
                                      const struct proof *proof, struct err *e)
{
    const struct curve *c = vk->curve;
    if (proof->curve != c)
        return err_set(e, ERR_MISMATCH, "the proof is of curve %s, the verification key of %s",
                       proof->curve->name, c->name);
    size_t bad = vk->n_public ? c->fr_first_unreduced(publics, vk->n_public) : 0;
    if (bad < vk->n_public)
        return err_set(e, ERR_REJECTED, "public input %zu is not below the group order of %s", bad,
                       c->name);
    enum err_code rc = check_element(c->g1, &proof->a, "A", e);
    if (!rc)
        rc = check_element(c->g2, &proof->b, "B", e);
    if (!rc)
        rc = check_element(c->g1, &proof->c, "C", e);
    return rc;
}

static enum err_code equation_failed(struct err *e)
{
    return err_set(e, ERR_REJECTED,
                   "the proof does not verify: the pairing equation does not hold");
}

/* Pairs of points for pairing_is_one, dense in each group's own size. */
struct pairs {
    uint8_t *g1, *g2;
    size_t n, g1_bytes, g2_bytes;
};

static bool pairs_new(struct pairs *p, const struct curve *c, size_t n)
{
    *p = (struct pairs){.g1_bytes = c->g1->bytes, .g2_bytes = c->g2->bytes};
    p->g1 = malloc(n * p->g1_bytes);
    p->g2 = malloc(n * p->g2_bytes);
    return p->g1 && p->g2;
}

static void pairs_free(struct pairs *p)
{
    free(p->g1);
    free(p->g2);
}

static void pairs_add(struct pairs *p, const void *g1, const void *g2)
{
    memcpy(p->g1 + p->n * p->g1_bytes, g1, p->g1_bytes);
    memcpy(p->g2 + p->n * p->g2_bytes, g2, p->g2_bytes);
    p->n++;
}

enum err_code groth16_verify(const struct verification_key *vk, const fr_t *publics,
                             const struct proof *proof, struct err *e)
{
    enum err_code rc = groth16_verify_elements(vk, publics, proof, e);
    if (rc)
        return rc;
    const struct group *g1 = vk->curve->g1;
    point_t inputs = {{0}}, minus_a = {{0}};
    if (vk->n_public) {
        rc = g1->msm(&inputs, (const uint8_t *)vk->ic + g1->bytes, publics, NULL, vk->n_public,
                     false, NULL, e);
        if (rc)
            return rc;
    }
    g1->add(&inputs, &inputs, vk->ic);
    g1->neg(&minus_a, &proof->a);
    struct pairs p;
    bool holds = false;
    if (!pairs_new(&p, vk->curve, 4)) {
        rc = err_set(e, ERR_MEMORY, "no memory for four pairs of points");
    } else {
        pairs_add(&p, &minus_a, &proof->b);
        pairs_add(&p, &vk->alpha_g1, &vk->beta_g2);
        pairs_add(&p, &inputs, &vk->gamma_g2);
        pairs_add(&p, &proof->c, &vk->delta_g2);
        holds = vk->curve->pairing_is_one(p.g1, p.g2, p.n);
    }
    pairs_free(&p);
    return rc ? rc : holds ? ERR_OK : equation_failed(e);
}

/* What one combination of proofs needs; sized for the whole batch and used again by each half. */
struct batch {
    const struct verification_key *vk;
    const fr_t *const *publics;
    const struct proof *proofs;
    bool *bad;
    fr_t *factor;      /* plain, of each proof of the combination */
    fr_t *ic_scalars;  /* n_public + 1 */
    uint8_t *c_points; /* proofs' C, dense */
    struct pairs pairs;
};

static void draw_factor(fr_t *plain)
{
    do {
        *plain = (fr_t){{0}};
        randombytes_buf(plain->limb, 16);
    } while (!plain->limb[0] && !plain->limb[1]);
}

/* ic_scalars += factor (1, publics), all mont */
static void add_inputs(const struct batch *t, const fr_t *publics, const fr_t *factor_plain)
{
    const struct curve *c = t->vk->curve;
    fr_t factor, x;
    c->fr_to_mont(&factor, factor_plain, 1);
    c->fr_add(&t->ic_scalars[0], &t->ic_scalars[0], &factor);
    for (uint32_t i = 0; i < t->vk->n_public; i++) {
        c->fr_to_mont(&x, &publics[i], 1);
        c->fr_mul(&x, &x, &factor);
        c->fr_add(&t->ic_scalars[i + 1], &t->ic_scalars[i + 1], &x);
    }
}

/* Whether the proofs of [begin, end) that are not yet bad satisfy one random combination:
 * prod e(f_j A_j, B_j) = e(sum f_j alpha, beta) e(sum f_j inputs_j, gamma) e(sum f_j C_j, delta) */
static enum err_code combination_holds(struct batch *t, size_t begin, size_t end, bool *holds,
                                       struct err *e)
{
    const struct verification_key *vk = t->vk;
    const struct curve *c = vk->curve;
    const struct group *g1 = c->g1;
    size_t m = 0, n_ic = (size_t)vk->n_public + 1;
    t->pairs.n = 0;
    memset(t->ic_scalars, 0, n_ic * sizeof(fr_t));
    for (size_t j = begin; j < end; j++) {
        if (t->bad[j])
            continue;
        draw_factor(&t->factor[m]);
        point_t scaled;
        g1->mul(&scaled, &t->proofs[j].a, &t->factor[m]);
        pairs_add(&t->pairs, &scaled, &t->proofs[j].b);
        memcpy(t->c_points + m * g1->bytes, &t->proofs[j].c, g1->bytes);
        add_inputs(t, t->publics[j], &t->factor[m]);
        m++;
    }
    *holds = true;
    if (m == 0)
        return ERR_OK;
    c->fr_from_mont(t->ic_scalars, t->ic_scalars, n_ic);
    point_t alpha = {{0}}, inputs = {{0}}, c_sum = {{0}};
    enum err_code rc = g1->msm(&inputs, vk->ic, t->ic_scalars, NULL, n_ic, false, NULL, e);
    if (!rc)
        rc = g1->msm(&c_sum, t->c_points, t->factor, NULL, m, false, NULL, e);
    if (rc)
        return rc;
    g1->mul(&alpha, &vk->alpha_g1, &t->ic_scalars[0]); /* its scalar is the sum of the factors */
    g1->neg(&alpha, &alpha);
    g1->neg(&inputs, &inputs);
    g1->neg(&c_sum, &c_sum);
    pairs_add(&t->pairs, &alpha, &vk->beta_g2);
    pairs_add(&t->pairs, &inputs, &vk->gamma_g2);
    pairs_add(&t->pairs, &c_sum, &vk->delta_g2);
    *holds = c->pairing_is_one(t->pairs.g1, t->pairs.g2, t->pairs.n);
    return ERR_OK;
}

static enum err_code find_bad(struct batch *t, size_t begin, size_t end, struct err *e)
{
    bool holds;
    enum err_code rc = combination_holds(t, begin, end, &holds, e);
    if (rc || holds)
        return rc;
    if (end - begin == 1) {
        t->bad[begin] = true;
        return ERR_OK;
    }
    size_t middle = begin + (end - begin) / 2;
    rc = find_bad(t, begin, middle, e);
    return rc ? rc : find_bad(t, middle, end, e);
}

/* The message of the first bad proof. */
static enum err_code batch_verdict(const struct batch *t, size_t m, struct err *e)
{
    for (size_t j = 0; j < m; j++) {
        if (!t->bad[j])
            continue;
        enum err_code rc = groth16_verify_elements(t->vk, t->publics[j], &t->proofs[j], e);
        if (!rc)
            rc = equation_failed(e);
        err_prefix(e, "proof %zu", j);
        return rc;
    }
    return ERR_OK;
}

enum err_code groth16_verify_batch(const struct verification_key *vk, const fr_t *const *publics,
                                   const struct proof *proofs, size_t m, bool *bad, struct err *e)
{
    if (m == 0)
        return ERR_OK;
    INVARIANT(sodium_init() >= 0); /* factors that can be guessed prove nothing */
    for (size_t j = 0; j < m; j++)
        bad[j] = groth16_verify_elements(vk, publics[j], &proofs[j], NULL) != ERR_OK;
    struct batch t = {
        .vk = vk,
        .publics = publics,
        .proofs = proofs,
        .bad = bad,
        .factor = malloc(m * sizeof(fr_t)),
        .ic_scalars = malloc(((size_t)vk->n_public + 1) * sizeof(fr_t)),
        .c_points = malloc(m * vk->curve->g1->bytes),
    };
    enum err_code rc;
    if (!pairs_new(&t.pairs, vk->curve, m + 3) || !t.factor || !t.ic_scalars || !t.c_points)
        rc = err_set(e, ERR_MEMORY, "no memory to verify %zu proofs at once", m);
    else
        rc = find_bad(&t, 0, m, e);
    pairs_free(&t.pairs);
    free(t.factor);
    free(t.ic_scalars);
    free(t.c_points);
    return rc ? rc : batch_verdict(&t, m, e);
}
