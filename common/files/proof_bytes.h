/* proof_bytes: proofs as bellperson writes them: 192 bytes each, A | B | C compressed
 * (zcash_point.h), the proofs of a job's partitions one after the other in partition order with
 * nothing between. On BLS12-381. */
#pragma once
#include "circuit.h"

enum { PROOF_BYTES = 192, PROOF_BYTES_MAX_PARTITIONS = 4096 };

/* NULL when fine, else what is wrong, and in *at where in the 192 bytes: flags, coordinate, no
 * point with this x, infinity, subgroup. */
const char *proof_from_bytes(const uint8_t bytes[PROOF_BYTES], struct proof *out, size_t *at);
/* ERR_UNSUPPORTED when the proof is not on BLS12-381. */
enum err_code proof_to_bytes(const struct proof *p, uint8_t bytes[PROOF_BYTES], struct err *e);

/* *out: malloc'ed, *n proofs (at least one). */
enum err_code proof_bytes_read(const char *path, struct proof **out, size_t *n, struct err *e);
enum err_code proof_bytes_write(const char *path, const struct proof *proofs, size_t n,
                                struct err *e);
