/* verify: Groth16 verification, single and batched.
 *
 * A verification key is trusted to have been checked when it was read (points reduced, on their
 * curves, in the subgroup); a proof and its public inputs are not trusted at all. A proof with
 * infinity among its elements is decided by the equation alone, as in snarkjs. */
#pragma once
#include "assemble.h"

/* ERR_OK, or ERR_REJECTED with what failed first: a coordinate, the curve, the subgroup, a public
 * input not below r, the pairing equation; ERR_MISMATCH when proof and key are of two curves.
 * publics: vk->n_public plain scalars. */
enum err_code groth16_verify(const struct verification_key *vk, const fr_t *publics,
                             const struct proof *proof, struct err *e);

/* What of groth16_verify does not need a pairing: coordinates, curve, subgroup, publics. */
enum err_code groth16_verify_elements(const struct verification_key *vk, const fr_t *publics,
                                      const struct proof *proof, struct err *e);

/* m proofs of one key under one random combination (128-bit non-zero factors drawn after all
 * proofs are fixed); m + 3 Miller loops, one final exponentiation. On failure the culprits are
 * found by bisection: bad[i] is set for each proof that does not verify alone and cleared for the
 * others. publics[i] points to vk->n_public scalars. Returns ERR_OK when all verify, else the
 * message is that of the first that does not ("proof 3: ..."). A wrong proof passes with a
 * probability of at most 2^-127. */
enum err_code groth16_verify_batch(const struct verification_key *vk, const fr_t *const *publics,
                                   const struct proof *proofs, size_t m, bool *bad, struct err *e);
