#include "assemble.h"
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#ifdef MILLRACE_TEST_RANDOMNESS
#include <stdlib.h>
#include "json.h"

/* Reads a decimal number below r and moves past it and a comma. */
static bool fixed_scalar(const struct curve *c, const char **text, fr_t *plain)
{
    char number[DECIMAL_ROOM];
    size_t n = strcspn(*text, ",");
    snprintf(number, sizeof number, "%.*s", (int)n, *text);
    *text += n + ((*text)[n] == ',');
    return n < sizeof number && !decimal_to_limbs(number, c->r->limb, 4, plain->limb);
}

/* TEST BUILD ONLY: r and s from the environment. */
static bool fixed_blinding(const struct curve *c, fr_t *r, fr_t *s)
{
    const char *text = getenv("MILLRACE_TEST_RS");
    return text && fixed_scalar(c, &text, r) && fixed_scalar(c, &text, s);
}
#else
static bool fixed_blinding(const struct curve *c, fr_t *r, fr_t *s)
{
    (void)c, (void)r, (void)s;
    return false;
}
#endif

static void draw_scalar(const struct curve *c, fr_t *plain)
{
    uint8_t bytes[64];
    randombytes_buf(bytes, sizeof bytes);
    c->fr_reduce_512(plain, bytes);
    sodium_memzero(bytes, sizeof bytes);
}

/* plain -r s */
static void minus_product(const struct curve *c, fr_t *out, const fr_t *r, const fr_t *s)
{
    fr_t x[2] = {*r, *s}, zero = {{0}};
    c->fr_to_mont(x, x, 2);
    c->fr_mul(&x[0], &x[0], &x[1]);
    c->fr_sub(&x[0], &zero, &x[0]);
    c->fr_from_mont(out, x, 1);
    sodium_memzero(x, sizeof x);
}

/* acc += k p */
static void add_multiple(const struct group *g, point_t *acc, const point_t *p, const fr_t *k)
{
    point_t t;
    g->mul(&t, p, k);
    g->add(acc, acc, &t);
    sodium_memzero(&t, sizeof t);
}

void groth16_assemble_points(const struct blinding_points *key, const struct groth16_sums *sums,
                             struct proof *out)
{
    const struct curve *c = key->curve;
    const struct group *g1 = c->g1, *g2 = c->g2;
    INVARIANT(sodium_init() >= 0); /* no random source: no proof */
    fr_t r, s, minus_rs;
    if (!fixed_blinding(c, &r, &s)) {
        draw_scalar(c, &r);
        draw_scalar(c, &s);
    }
    minus_product(c, &minus_rs, &r, &s);

    memset(out, 0, sizeof *out);
    out->curve = c;
    /* A = alpha + a + r delta */
    g1->add(&out->a, &sums->a, key->alpha_g1);
    add_multiple(g1, &out->a, key->delta_g1, &r);
    /* B = beta + b + s delta, in both groups */
    g2->add(&out->b, &sums->b2, key->beta_g2);
    add_multiple(g2, &out->b, key->delta_g2, &s);
    point_t b1 = {{0}};
    g1->add(&b1, &sums->b1, key->beta_g1);
    add_multiple(g1, &b1, key->delta_g1, &s);
    /* C = l + h + s A + r B - r s delta */
    g1->add(&out->c, &sums->l, &sums->h);
    add_multiple(g1, &out->c, &out->a, &s);
    add_multiple(g1, &out->c, &b1, &r);
    add_multiple(g1, &out->c, key->delta_g1, &minus_rs);

    sodium_memzero(&b1, sizeof b1);
    sodium_memzero(&r, sizeof r);
    sodium_memzero(&s, sizeof s);
    sodium_memzero(&minus_rs, sizeof minus_rs);
}

struct blinding_points groth16_blinding_points(const struct circuit *ck)
{
    return (struct blinding_points){
        .curve = ck->curve,
        .alpha_g1 = &ck->vk.alpha_g1,
        .beta_g1 = &ck->beta_g1,
        .beta_g2 = &ck->vk.beta_g2,
        .delta_g1 = &ck->delta_g1,
        .delta_g2 = &ck->vk.delta_g2,
    };
}

void groth16_assemble(const struct circuit *ck, const struct groth16_sums *sums, struct proof *out)
{
    const struct blinding_points key = groth16_blinding_points(ck);
    groth16_assemble_points(&key, sums, out);
}
