/* verify: Groth16 verification, single and batched. */
#pragma once
#include "assemble.h"

/* ERR_OK, or ERR_REJECTED with what failed first: a coordinate, the curve, the subgroup, a public
 * input not below r, the pairing equation. publics: vk->n_public plain scalars. */
enum err_code groth16_verify(const struct verification_key *vk, const fr_t *publics,
                             const struct proof *proof, struct err *e);

/* m proofs of one key under one random combination (128-bit non-zero factors drawn after all
 * proofs are fixed); m + 2 Miller loops, one final exponentiation. On failure the culprits are
 * found by bisection: bad[i] is set for each proof that does not verify alone. publics[i] points
 * to vk->n_public scalars. Returns ERR_OK when all verify. */
enum err_code groth16_verify_batch(const struct verification_key *vk, const fr_t *const *publics,
                                   const struct proof *proofs, size_t m, bool *bad, struct err *e);
