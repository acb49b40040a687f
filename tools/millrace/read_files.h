/* read_files: verification keys and proofs in any of the forms that Millrace knows. */
#pragma once
#include "params.h"

/* Both points of the key in G1 that a .vk holds and no verifier needs; known is false when the file
 * does not have them. */
struct vk_extra {
    bool known;
    point_t beta_g1, delta_g1;
};

/* A .vk, the beginning of a .params, or snarkjs's JSON. extra may be NULL. vk_free. */
enum err_code read_any_vk(const char *path, struct verification_key *out, struct vk_extra *extra,
                          struct err *e);

/* 192 bytes a proof, or snarkjs's JSON: one proof, or an array of them. *out is malloc'ed, *n at
 * least 1. expected as in proof_read. */
enum err_code read_any_proofs(const char *path, const struct curve *expected, struct proof **out,
                              size_t *n, struct err *e);

/* Public values of n proofs: a list, or with n > 1, or as `millrace await` writes it, a list of n
 * lists. Each must have per_proof values. *out is malloc'ed, n * per_proof plain. */
enum err_code read_any_publics(const char *path, const struct curve *c, size_t n, size_t per_proof,
                               fr_t **out, struct err *e);
