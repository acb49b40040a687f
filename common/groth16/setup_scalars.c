#include "setup_internal.h"
#include <string.h>

enum { GRAIN = 1024 }; /* also how many are inverted at once */

uint32_t setup_matrix_code(const struct matrix *m, uint64_t i)
{
    switch (m->code_bytes) {
    case 1:
        return ((const uint8_t *)m->code)[i];
    case 2:
        return ((const uint16_t *)m->code)[i];
    default:
        return ((const uint32_t *)m->code)[i];
    }
}

void setup_power(const struct curve *c, fr_t *r, const fr_t *base, uint64_t exponent)
{
    fr_t square = *base, product = *c->fr_one;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            c->fr_mul(&product, &product, &square);
        c->fr_mul(&square, &square, &square);
    }
    *r = product;
}

void setup_column_sums(const struct curve *c, const struct matrix *m, const fr_t *row, fr_t *out)
{
    for (uint32_t i = 0; i < m->n_rows; i++)
        for (uint32_t k = m->row_start[i]; k < m->row_start[i + 1]; k++) {
            uint32_t code = setup_matrix_code(m, k);
            fr_t *sum = &out[m->wire[k]], term;
            if (code == 0) {
                c->fr_add(sum, sum, &row[i]);
            } else if (code == 1) {
                c->fr_sub(sum, sum, &row[i]);
            } else {
                c->fr_mul(&term, &row[i], &m->dictionary[code]);
                c->fr_add(sum, sum, &term);
            }
        }
}

struct lagrange {
    const struct curve *c;
    fr_t point, root, factor; /* tau / shift; the N-th root; of every value */
    fr_t *out;
};

/* out_i = factor w^i / (point - w^i), with one inversion for the range. */
static void lagrange_range(void *arg, size_t begin, size_t end, unsigned worker)
{
    (void)worker;
    const struct lagrange *l = arg;
    const struct curve *c = l->c;
    while (begin < end) {
        size_t n = end - begin < GRAIN ? end - begin : GRAIN;
        fr_t difference[GRAIN], prefix[GRAIN], w, inverse, product = *c->fr_one;
        fr_t *out = l->out + begin;
        setup_power(c, &w, &l->root, begin);
        for (size_t i = 0; i < n; i++) {
            out[i] = w;
            c->fr_sub(&difference[i], &l->point, &w);
            prefix[i] = product;
            c->fr_mul(&product, &product, &difference[i]);
            c->fr_mul(&w, &w, &l->root);
        }
        /* tau is a root of unity with a probability of 2^-200: not with any seed that is used. */
        static const fr_t zero;
        INVARIANT(memcmp(&product, &zero, sizeof zero) != 0);
        c->fr_inv(&inverse, &product);
        c->fr_mul(&inverse, &inverse, &l->factor);
        for (size_t i = n; i-- > 0;) {
            c->fr_mul(&out[i], &out[i], &inverse);
            c->fr_mul(&out[i], &out[i], &prefix[i]);
            c->fr_mul(&inverse, &inverse, &difference[i]);
        }
        begin += n;
    }
}

/* plain 2^log2 -> mont inverse */
static void inverse_of_size(const struct curve *c, unsigned log2_n, fr_t *out)
{
    fr_t n = {{0}};
    n.limb[log2_n / 64] = (uint64_t)1 << (log2_n % 64);
    c->fr_to_mont(&n, &n, 1);
    c->fr_inv(out, &n);
}

void setup_lagrange(const struct curve *c, enum root_convention roots, unsigned log2_n,
                    const fr_t *tau, const fr_t *shift, const fr_t *scale, fr_t *out,
                    struct pool *pool)
{
    struct lagrange l = {.c = c, .out = out};
    fr_t inverse, power;
    c->fr_inv(&inverse, shift);
    c->fr_mul(&l.point, tau, &inverse);
    c->fr_root(&l.root, roots, log2_n);
    /* factor = scale (point^N - 1) / N */
    setup_power(c, &power, &l.point, (uint64_t)1 << log2_n);
    c->fr_sub(&l.factor, &power, c->fr_one);
    inverse_of_size(c, log2_n, &inverse);
    c->fr_mul(&l.factor, &l.factor, &inverse);
    c->fr_mul(&l.factor, &l.factor, scale);
    pool_range(pool, lagrange_range, &l, (size_t)1 << log2_n, GRAIN);
}

struct powers {
    const struct curve *c;
    fr_t base, factor;
    fr_t *out;
};

static void powers_range(void *arg, size_t begin, size_t end, unsigned worker)
{
    (void)worker;
    const struct powers *p = arg;
    fr_t x;
    setup_power(p->c, &x, &p->base, begin);
    p->c->fr_mul(&x, &x, &p->factor);
    for (size_t i = begin; i < end; i++) {
        p->out[i] = x;
        p->c->fr_mul(&x, &x, &p->base);
    }
}

/* (tau^N - 1) / (shift^N - 1) makes it vanish on the N-th roots and is 1 on the whole coset. */
void setup_coset_lagrange(const struct curve *c, enum root_convention roots, unsigned log2_n,
                          const fr_t *tau, const fr_t *shift, const fr_t *scale, fr_t *out,
                          struct pool *pool)
{
    uint64_t n = (uint64_t)1 << log2_n;
    fr_t factor, x;
    setup_power(c, &factor, tau, n);
    c->fr_sub(&factor, &factor, c->fr_one);
    setup_power(c, &x, shift, n);
    c->fr_sub(&x, &x, c->fr_one);
    c->fr_inv(&x, &x);
    c->fr_mul(&factor, &factor, &x);
    c->fr_mul(&factor, &factor, scale);
    setup_lagrange(c, roots, log2_n, tau, shift, &factor, out, pool);
}

void setup_h_scalars(const struct setup *s, fr_t *out, struct pool *pool)
{
    const struct curve *c = s->curve;
    uint64_t n = (uint64_t)1 << s->domain_log2;
    fr_t inverse, shift, z;
    c->fr_inv(&inverse, &s->secret.delta);
    if (s->options.h_basis == H_MONOMIAL) {
        setup_power(c, &z, &s->secret.tau, n);
        c->fr_sub(&z, &z, c->fr_one);
        c->fr_mul(&z, &z, &inverse);
        struct powers p = {c, s->secret.tau, z, out};
        pool_range(pool, powers_range, &p, n, GRAIN);
        return;
    }
    c->fr_coset_shift(&shift, s->options.roots, s->domain_log2);
    setup_coset_lagrange(c, s->options.roots, s->domain_log2, &s->secret.tau, &shift, &inverse, out,
                         pool);
}
