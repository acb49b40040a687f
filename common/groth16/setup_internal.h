/* setup_internal: the scalars of a set-up, shared by setup.c (makes them), setup_scalars.c (the
 * mathematics) and setup_write.c (turns them into points and files). */
#pragma once
#include "setup.h"

struct trapdoor {
    fr_t tau, alpha, beta, gamma, delta; /* mont */
};

struct setup {
    const struct curve *curve;
    const struct r1cs *system;
    struct setup_options options;
    uint32_t n_wires, n_public;
    unsigned domain_log2;
    struct trapdoor secret;
    struct matrix a, b; /* with the rows that bind the publics; owned */
    /* plain scalars of the bases */
    fr_t *a_scalar, *b_scalar, *k_scalar; /* n_wires; k: IC, then L */
    fr_t *h_scalar;                       /* N */
    uint64_t n_h;
};

/* out_i = scale * l_i(tau / shift) for the N-th roots' Lagrange basis l (mont). */
void setup_lagrange(const struct curve *c, enum root_convention roots, unsigned log2_n,
                    const fr_t *tau, const fr_t *shift, const fr_t *scale, fr_t *out,
                    struct pool *pool);

/* out_i = scale times the polynomial that is 1 at the i-th point of the coset (shift w^i), and 0 at
 * its other points and at the N-th roots, at tau (mont). shift^N must not be 1. */
void setup_coset_lagrange(const struct curve *c, enum root_convention roots, unsigned log2_n,
                          const fr_t *tau, const fr_t *shift, const fr_t *scale, fr_t *out,
                          struct pool *pool);

/* The H scalars of s (mont), N of them. */
void setup_h_scalars(const struct setup *s, fr_t *out, struct pool *pool);

/* out[wire] += sum over rows of m's value times row[i] (mont). */
void setup_column_sums(const struct curve *c, const struct matrix *m, const fr_t *row, fr_t *out);

/* k times the generator of g. */
void setup_multiple(const struct curve *c, const struct group *g, const fr_t *k_mont, point_t *out);

void setup_power(const struct curve *c, fr_t *r, const fr_t *base, uint64_t exponent);
