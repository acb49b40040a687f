/* setup: proving keys from known secrets. FOR TESTS AND BENCHMARKS ALONE: whoever knows the seed
 * can forge proofs for the key, and the default seed is public.
 *
 * With tau, alpha, beta, delta derived from the seed (gamma = 1, as in snarkjs), or with five given
 * secrets, a wire s and the Lagrange basis L_i of the N-th roots of unity:
 *   A_s = sum_i A[i][s] L_i(tau), B_s and C_s alike; A_s also has L_{n_constraints + s}(tau) for
 * the rows that bind the publics; IC_s, L_s = (beta A_s + alpha B_s + C_s) / (gamma, delta)
 *   H_ODD_LAGRANGE: H_i = the Lagrange polynomial, over the N-th roots and their coset, of the i-th
 *     coset point, at tau, / delta. Where the coset is the odd 2N-th roots that is L_{2i+1} of
 *     the 2N-th roots; where the field has no 2N-th root it is snarkjs's special last level.
 *   H_MONOMIAL: H_i = tau^i (tau^N - 1) / delta
 * Source: Groth 2016, and the layout of snarkjs's and bellman's keys (docs/formats.md). */
#pragma once
#include "r1cs.h"

struct setup;

/* Plain, not zero, below r; tau no root of unity of the domain. */
struct setup_secrets {
    fr_t tau, alpha, beta, gamma, delta;
};

struct setup_options {
    const char *seed;                    /* NULL: "testkit" */
    const struct setup_secrets *secrets; /* NULL: from the seed, gamma = 1 */
    enum root_convention roots;
    enum h_basis h_basis;
    bool with_c; /* prepared form: keep matrix C */
};

/* Computes all scalars (about 6 N of them in memory). system is borrowed and has all matrices;
 * the domain is the smallest that holds its constraints and the rows that bind the publics.
 * ERR_UNSUPPORTED when the curve has none that large. */
struct setup *setup_new(const struct r1cs *system, const struct setup_options *options,
                        struct pool *pool, struct err *e);
void setup_free(struct setup **s);

/* Both stream: beside the scalars, one piece of points is in memory. Written beside and renamed.
 * A .zkey is of ROOT_SNARKJS and H_ODD_LAGRANGE and its gamma is 1, a .params is on BLS12-381, of
 * ROOT_BELLMAN and H_MONOMIAL (ERR_UNSUPPORTED otherwise). digest may be NULL.
 * stage: told before each section, may be NULL. */
typedef void setup_stage(void *arg, const char *what, unsigned number, unsigned count);
enum err_code setup_write_zkey(const struct setup *s, const char *path, setup_stage *stage,
                               void *stage_arg, struct pool *pool, struct err *e);
enum err_code setup_write_prepared(const struct setup *s, const char *path, uint8_t digest[32],
                                   setup_stage *stage, void *stage_arg, struct pool *pool,
                                   struct err *e);

/* bellperson's form; a private wire that no constraint has a term of is ERR_VALUE, as there. */
enum err_code setup_write_params(const struct setup *s, const char *path, setup_stage *stage,
                                 void *stage_arg, struct pool *pool, struct err *e);
/* The .vk of the same key. */
enum err_code setup_write_vk(const struct setup *s, const char *path, struct pool *pool,
                             struct err *e);

/* A row's code for entry i (1, 2 or 4 bytes wide). */
uint32_t setup_matrix_code(const struct matrix *m, uint64_t i);
