/* prove: the five sums of a Groth16 proof on the CPU, and the parts of it that a daemon runs.
 *
 * A proof is made in three parts by three processes: synthd makes a, b (matrix_evaluate), a backend
 * of gpud makes the five sums (groth16_sums), finalizd blinds and assembles (assemble.h). The
 * in-process prover (local.h) runs the same three, in the same order.
 * Equations: J. Groth, "On the Size of Pairing-based Non-interactive Arguments" (2016), in the form
 * that snarkjs and bellman give them; docs/formats.md has both. */
#pragma once
#include "circuit.h"

/* The unblinded group elements of one proof: SECRET until blinded. Affine, canonical. */
struct groth16_sums {
    point_t a;  /* G1: sum over all wires of w_i A_i */
    point_t b1; /* G1 */
    point_t b2; /* G2 */
    point_t l;  /* G1: sum over private wires */
    point_t h;  /* G1 */
};

struct ntt_domain;

/* The steps that make the sums, in the order in which they are done. */
enum groth16_step {
    STEP_QUOTIENT, /* a, b -> the scalars of H: six transforms */
    STEP_SUM_H,
    STEP_SUM_A,
    STEP_SUM_B1,
    STEP_SUM_B2,
    STEP_SUM_L,
    STEP_COUNT
};

/* Told when a step begins (begun) and when it is done (!begun); for spans and progress. May be NULL
 * wherever it is asked for. Called on the thread that called the prover. */
struct groth16_watch {
    void (*step)(void *arg, enum groth16_step step, bool begun);
    void *arg;
};
void groth16_watch_step(const struct groth16_watch *watch, enum groth16_step step, bool begun);

/* a, b: N = 2^domain_log2 values each (mont), as matrix_evaluate gives them, zero-padded; both are
 * overwritten and are scratch afterwards. w: n_wires plain values. c is derived as a o b.
 * A key with points outside the subgroup gives wrong sums and no crash: every proof is verified
 * before it leaves. ERR_MEMORY when scratch (N scalars and that of group->msm) cannot be had. */
enum err_code groth16_sums(const struct circuit *ck, const struct ntt_domain *dom, const fr_t *w,
                           fr_t *a, fr_t *b, struct groth16_sums *out,
                           const struct groth16_watch *watch, struct pool *pool, struct err *e);

/* w[0] = 1, every value below r, n = n_wires; the message names the first offence. */
enum err_code groth16_check_witness(const struct circuit *ck, const fr_t *w, size_t n,
                                    struct err *e);

/* The pieces of groth16_sums, for a prover that does not hold the whole key at once.
 *
 * quotient: a, b as above; a ends as the N plain scalars of the H bases (of H_MONOMIAL the last is
 * not used), b as scratch. */
enum err_code groth16_quotient(const struct curve *curve, enum root_convention roots,
                               enum h_basis basis, const struct ntt_domain *dom,
                               unsigned domain_log2, fr_t *a, fr_t *b, struct pool *pool,
                               struct err *e);
/* r = sum of the query's bases, each times its wire's value in w. */
enum err_code groth16_query_sum(const struct group *g, const struct query *q, const fr_t *w,
                                point_t *r, struct pool *pool, struct err *e);
