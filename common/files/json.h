/* json: proofs, public values and verification keys as snarkjs and rapidsnark write them.
 *
 * Numbers are decimal strings, canonical (no sign, no leading zero, no white space), coordinates
 * below q and public values below r. A point's last coordinate is 1, or 0 for infinity, which is
 * ["0","1","0"] in G1 and [["0","0"],["1","0"],["0","0"]] in G2. Curve names in use (bn128, bn254,
 * altbn128, bls12381, bls12-381) are accepted. ERR_FORMAT, ERR_VALUE and ERR_MISMATCH name file,
 * field and what was expected. */
#pragma once
#include "circuit.h"
#include "jsonio.h"

enum json_form {
    JSON_SNARKJS = 0,    /* indented by one space, with "curve" */
    JSON_ONE_LINE = 1,   /* no white space */
    JSON_RAPIDSNARK = 3, /* one line and, in a proof, no "curve", as rapidsnark writes it */
};

/* --- proof ----------------------------------------------------------------------------------- */

/* expected: the curve that the proof must be of, NULL when any will do. A proof without "curve"
 * is of the expected curve, or of BN254 when there is none. Points need not be on the curve:
 * groth16_verify tells that. */
enum err_code proof_read(const char *path, const struct curve *expected, struct proof *out,
                         struct err *e);
enum err_code proof_from_json(const json_t *json, const char *name, const struct curve *expected,
                              struct proof *out, struct err *e);
json_t *proof_to_json(const struct proof *p, enum json_form form); /* new reference, NULL: memory */
enum err_code proof_write(const char *path, const struct proof *p, enum json_form form,
                          struct err *e);

/* --- public values --------------------------------------------------------------------------- */

/* *out is malloc'ed (also when there are none), plain. null is taken for an empty list. */
enum err_code public_read(const char *path, const struct curve *c, fr_t **out, size_t *n,
                          struct err *e);
enum err_code public_from_json(const json_t *json, const char *name, const struct curve *c,
                               fr_t **out, size_t *n, struct err *e);
json_t *public_to_json(const fr_t *plain, size_t n);
enum err_code public_write(const char *path, const fr_t *plain, size_t n, enum json_form form,
                           struct err *e);

/* --- verification key ------------------------------------------------------------------------ */

/* All points are checked: on the curve, in the subgroup, and alpha, beta, gamma, delta are not
 * infinity. vk->ic is owned: vk_free, also allowed after a failure. */
enum err_code vk_read(const char *path, struct verification_key *out, struct err *e);
enum err_code vk_from_json(const json_t *json, const char *name, struct verification_key *out,
                           struct err *e);
void vk_free(struct verification_key *vk);
json_t *vk_to_json(const struct verification_key *vk); /* with vk_alphabeta_12 */
enum err_code vk_write(const char *path, const struct verification_key *vk, enum json_form form,
                       struct err *e);

/* --- numbers --------------------------------------------------------------------------------- */

/* A canonical decimal number below `modulus` (n_limbs little-endian limbs) to plain limbs.
 * NULL when fine, else what is wrong ("is not a decimal number", "has a leading zero", "is not
 * below the modulus"). */
const char *decimal_to_limbs(const char *text, const uint64_t *modulus, size_t n_limbs,
                             uint64_t *out);

enum { DECIMAL_ROOM = 120 }; /* digits of a 384-bit number and a NUL */
void decimal_from_limbs(const uint64_t *limbs, size_t n_limbs, char text[DECIMAL_ROOM]);
