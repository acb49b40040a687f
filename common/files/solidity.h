/* solidity: a proof as the call data of the verifier contract that snarkjs exports. */
#pragma once
#include "circuit.h"

/* The arguments of verifyProof as text, exactly what `snarkjs zkey export soliditycalldata` prints:
 * [a], [[b]] with c1 before c0, [c], [publics], 32-byte hexadecimal strings. *out is malloc'ed and
 * ends with a newline. ERR_UNSUPPORTED unless the proof is on BN254: the EVM pairs on no other. */
enum err_code solidity_call_data(const struct proof *p, const fr_t *publics, size_t n, char **out,
                                 struct err *e);
