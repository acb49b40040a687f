#include "setup.h"
#include "setup_internal.h"
#include "bellman_r1cs.h"
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GRAIN = 4096 };

static void derive(const struct curve *c, const char *seed, const char *name, fr_t *mont)
{
    crypto_generichash_state state;
    uint8_t hash[64];
    const char *const parts[] = {"millrace testkit", seed, c->name, name};
    crypto_generichash_init(&state, NULL, 0, sizeof hash);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        crypto_generichash_update(&state, (const uint8_t *)parts[i], strlen(parts[i]) + 1);
    crypto_generichash_final(&state, hash, sizeof hash);
    c->fr_reduce_512(mont, hash);
    c->fr_to_mont(mont, mont, 1);
}

static unsigned smallest_domain(uint64_t rows)
{
    unsigned k = 0;
    while (((uint64_t)1 << k) < rows)
        k++;
    return k;
}

struct columns {
    const struct setup *s;
    const fr_t *row;
    fr_t *a, *b, *c;
};

static void one_matrix(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    const struct columns *t = arg;
    const struct matrix *const m[3] = {&t->s->a, &t->s->b, &t->s->system->c};
    fr_t *const out[3] = {t->a, t->b, t->c};
    setup_column_sums(t->s->curve, m[index], t->row, out[index]);
}

/* k = (beta a + alpha b + c) / (gamma, delta); then all three to plain form. */
static void finish_range(void *arg, size_t begin, size_t end, unsigned worker)
{
    (void)worker;
    const struct columns *t = arg;
    const struct setup *s = t->s;
    const struct curve *c = s->curve;
    fr_t x, of_public, of_private;
    c->fr_inv(&of_public, &s->secret.gamma);
    c->fr_inv(&of_private, &s->secret.delta);
    for (size_t i = begin; i < end; i++) {
        c->fr_mul(&x, &t->a[i], &s->secret.beta);
        c->fr_add(&t->c[i], &t->c[i], &x);
        c->fr_mul(&x, &t->b[i], &s->secret.alpha);
        c->fr_add(&t->c[i], &t->c[i], &x);
        c->fr_mul(&t->c[i], &t->c[i], i > s->n_public ? &of_private : &of_public);
    }
    c->fr_from_mont(t->a + begin, t->a + begin, end - begin);
    c->fr_from_mont(t->b + begin, t->b + begin, end - begin);
    c->fr_from_mont(t->c + begin, t->c + begin, end - begin);
}

static void plain_range(void *arg, size_t begin, size_t end, unsigned worker)
{
    (void)worker;
    const struct setup *s = arg;
    s->curve->fr_from_mont(s->h_scalar + begin, s->h_scalar + begin, end - begin);
}

static enum err_code compute(struct setup *s, struct pool *pool, struct err *e)
{
    const struct curve *c = s->curve;
    size_t n = (size_t)1 << s->domain_log2;
    enum err_code code = r1cs_bind_publics(s->system, &s->a, &s->b, e);
    if (code)
        return code;
    s->a_scalar = calloc(s->n_wires, sizeof(fr_t));
    s->b_scalar = calloc(s->n_wires, sizeof(fr_t));
    s->k_scalar = calloc(s->n_wires, sizeof(fr_t));
    s->h_scalar = malloc(n * sizeof(fr_t));
    if (!s->a_scalar || !s->b_scalar || !s->k_scalar || !s->h_scalar)
        return err_set(e, ERR_MEMORY, "no memory for a set-up of %u wires and 2^%u rows",
                       s->n_wires, s->domain_log2);
    /* h_scalar holds the Lagrange basis first. */
    setup_lagrange(c, s->options.roots, s->domain_log2, &s->secret.tau, c->fr_one, c->fr_one,
                   s->h_scalar, pool);
    struct columns t = {s, s->h_scalar, s->a_scalar, s->b_scalar, s->k_scalar};
    pool_run(pool, one_matrix, &t, 3);
    pool_range(pool, finish_range, &t, s->n_wires, GRAIN);
    setup_h_scalars(s, s->h_scalar, pool);
    pool_range(pool, plain_range, s, n, GRAIN);
    s->n_h = s->options.h_basis == H_MONOMIAL ? n - 1 : n;
    return ERR_OK;
}

static void choose_secrets(struct setup *s)
{
    const struct setup_secrets *given = s->options.secrets;
    const char *seed = s->options.seed ? s->options.seed : "testkit";
    const struct curve *c = s->curve;
    struct trapdoor *t = &s->secret;
    if (given) {
        const fr_t plain[5] = {given->tau, given->alpha, given->beta, given->gamma, given->delta};
        fr_t *const mont[5] = {&t->tau, &t->alpha, &t->beta, &t->gamma, &t->delta};
        for (size_t i = 0; i < 5; i++)
            c->fr_to_mont(mont[i], &plain[i], 1);
        s->options.secrets = NULL; /* borrowed no longer */
        return;
    }
    derive(c, seed, "tau", &t->tau);
    derive(c, seed, "alpha", &t->alpha);
    derive(c, seed, "beta", &t->beta);
    derive(c, seed, "delta", &t->delta);
    t->gamma = *c->fr_one;
}

struct setup *setup_new(const struct r1cs *system, const struct setup_options *options,
                        struct pool *pool, struct err *e)
{
    const struct curve *c = system->curve;
    uint32_t n_public = system->n_public_outputs + system->n_public_inputs;
    uint64_t rows = (uint64_t)system->n_constraints + n_public + 1;
    unsigned domain_log2 = smallest_domain(rows);
    if (domain_log2 > c->two_adicity) {
        err_set(e, ERR_UNSUPPORTED, "%llu rows need a domain of 2^%u, %s has at most 2^%u",
                (unsigned long long)rows, domain_log2, c->name, c->two_adicity);
        return NULL;
    }
    struct setup *s = calloc(1, sizeof *s);
    if (!s) {
        err_set(e, ERR_MEMORY, "no memory for a set-up");
        return NULL;
    }
    *s = (struct setup){
        .curve = c,
        .system = system,
        .options = *options,
        .n_wires = system->n_wires,
        .n_public = n_public,
        /* snarkjs's smallest domain is 2, for a single row too. */
        .domain_log2 = domain_log2 ? domain_log2 : 1,
    };
    choose_secrets(s);
    if (compute(s, pool, e))
        setup_free(&s);
    return s;
}

void setup_free(struct setup **s)
{
    if (!*s)
        return;
    matrix_free(&(*s)->a);
    matrix_free(&(*s)->b);
    free((*s)->a_scalar);
    free((*s)->b_scalar);
    free((*s)->k_scalar);
    free((*s)->h_scalar);
    free(*s);
    *s = NULL;
}
