/* prove: the five sums of a Groth16 proof on the CPU, and the parts of it that a daemon runs.
 *
 * A proof is made in three parts by three processes: synthd makes a, b (matrix_evaluate), a backend
 * of gpud makes the five sums (groth16_sums), finalizd blinds and assembles (assemble.h). The
 * in-process prover runs the same three, in the same order.
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

/* a, b: N = 2^domain_log2 values each (mont), as matrix_evaluate gives them, zero-padded; both are
 * overwritten and are scratch afterwards. w: n_wires plain values. c is derived as a o b.
 * ERR_MEMORY when scratch cannot be had. */
enum err_code groth16_sums(const struct circuit *ck, const struct ntt_domain *dom, const fr_t *w,
                           fr_t *a, fr_t *b, struct groth16_sums *out, struct pool *pool,
                           struct err *e);

/* w[0] = 1, every value below r, n = n_wires; the message names the first offence. */
enum err_code groth16_check_witness(const struct circuit *ck, const fr_t *w, size_t n,
                                    struct err *e);
