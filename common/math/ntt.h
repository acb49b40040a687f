/* ntt: number-theoretic transforms over Fr, Montgomery form in and out, natural order unless said.
 *
 * A domain of size N = 2^k holds the tables for one curve, size and root convention; it is
 * immutable after ntt_domain_new and may be used by many threads and calls at once. Each call is
 * given the pool that it may use. k = 0 is valid and is the identity. */
#pragma once
#include "curve.h"

struct ntt_domain;

/* log2_n <= the curve's two-adicity; else ERR_VALUE. Tables take about N fr_t. */
struct ntt_domain *ntt_domain_new(const struct curve *c, enum root_convention roots,
                                  unsigned log2_n, struct pool *pool, struct err *e);
void ntt_domain_free(struct ntt_domain **d);
size_t ntt_domain_bytes(const struct ntt_domain *d);

void ntt_forward(const struct ntt_domain *d, fr_t *x,
                 struct pool *pool); /* coefficients -> values */
void ntt_inverse(const struct ntt_domain *d, fr_t *x, struct pool *pool); /* with the factor 1/N */

/* Values on the N-th roots -> values on the coset shift * <w> (fr_coset_shift): inverse, scale,
 * forward, without any reordering pass between. Natural order in and out. */
void ntt_to_coset(const struct ntt_domain *d, fr_t *x, struct pool *pool);
/* Values on the coset -> coefficients: inverse over the coset. */
void ntt_from_coset(const struct ntt_domain *d, fr_t *x, struct pool *pool);
