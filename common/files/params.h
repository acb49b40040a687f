/* params: bellperson's Groth16 parameters (BLS12-381): .params, and .vk, which is its beginning.
 *
 *   alpha_g1 beta_g1 beta_g2 gamma_g2 delta_g1 delta_g2 | ic          this much is the .vk
 *   h | l | a | b_g1 | b_g2          each list is preceded by its length, u32 big-endian
 *
 * Points are uncompressed (zcash_point.h). Of a and b the points at infinity were left out, so that
 * the i-th point belongs to the i-th dense wire; which wires are dense only the circuit's matrices
 * tell (r1cs). Lists hold no infinity at all: bellperson neither writes nor reads one.
 *
 * Opening checks every length in 64 bits against the file's size (b_g2 at 192 bytes a point), that
 * nothing follows, that h has 2^k - 1 points, and the points of the verification key in full. */
#pragma once
#include "circuit.h"

struct params; /* an open file. One thread; params_read_points uses its pool. */

enum params_list { PARAMS_IC, PARAMS_H, PARAMS_L, PARAMS_A, PARAMS_B1, PARAMS_B2, PARAMS_LISTS };

struct params_facts {
    uint32_t n_inputs; /* the constant one included: n_public + 1 */
    uint32_t n[PARAMS_LISTS];
    unsigned domain_log2;
    uint64_t file_bytes;
    point_t alpha_g1, beta_g1, beta_g2, gamma_g2, delta_g1, delta_g2; /* checked */
};

struct params *params_open(const char *path, struct err *e);
void params_close(struct params **p);
const struct params_facts *params_facts(const struct params *p);
const char *params_name(const struct params *p);
const struct group *params_group(enum params_list which);

/* Reads points [first, first + n) of a list to out (dense) and checks them: flags, coordinates, not
 * infinity, on the curve; subgroup: also that they are of order r. */
enum err_code params_read_points(const struct params *p, enum params_list which, uint64_t first,
                                 uint64_t n, void *out, bool subgroup, struct pool *pool,
                                 struct err *e);

/* *vk is freed with vk_free (json.h). */
enum err_code params_read_vk(const struct params *p, struct verification_key *vk, struct err *e);

/* The digest that parameters.json names for a file of this name: the first 16 bytes of BLAKE2b-512
 * of all its bytes, in hexadecimal (33 bytes with the NUL). */
enum err_code params_digest(const char *path, char hex[33], struct err *e);
/* Compares with the entry that `list` (a parameters.json) has under the file's name. ERR_MISMATCH
 * when the digests differ or there is no such entry. */
enum err_code params_check_digest(const char *path, const char *list, struct err *e);

/* --- .vk ------------------------------------------------------------------------------------- */

/* All points are checked, the subgroup too. beta_g1, delta_g1: may be NULL. vk_free, also after a
 * failure. A .params is no .vk: bytes after ic are refused. */
enum err_code vk_bytes_read(const char *path, struct verification_key *out, point_t *beta_g1,
                            point_t *delta_g1, struct err *e);
/* ERR_UNSUPPORTED for a curve other than BLS12-381. The two points in G1 are part of the format;
 * no verifier looks at them. */
enum err_code vk_bytes_write(const char *path, const struct verification_key *vk,
                             const point_t *beta_g1, const point_t *delta_g1, struct err *e);

/* --- writing --------------------------------------------------------------------------------- */

struct params_writer;

/* Starts a file with these points and, in n, the exact length of each list. */
struct params_writer *params_create(const char *path, const struct params_facts *facts,
                                    struct err *e);
/* Appends n points to a list; lists come in the order of the enum, each complete. A point at
 * infinity is ERR_VALUE: the format has none. */
enum err_code params_write_points(struct params_writer *w, enum params_list which,
                                  const void *points, size_t n, struct pool *pool, struct err *e);
enum err_code params_commit(struct params_writer **w, struct err *e); /* *w is freed */
void params_abort(struct params_writer **w);
