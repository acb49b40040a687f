/* zkey: snarkjs's Groth16 proving keys, read and written, both curves.
 *
 * Everything that a key claims is checked before it is used: sections (binfile.h), counts against
 * each other and against the lengths of the sections, domain a power of two <= 2^two_adicity,
 * wires, rows and values of the coefficients, every point reduced and on its curve, and in the
 * subgroup of order r when asked. Keys of 9 sections (before contributions were recorded) are
 * accepted.
 *
 * Memory: coefficients go straight into the two matrices (while they are built: 40 bytes for each
 * coefficient beside them), points straight into their final place, bases at infinity squeezed out
 * as they come; beyond that a few MiB a thread. The root convention of these keys is ROOT_SNARKJS,
 * also on BLS12-381, where it differs from bellman's; the H basis is H_ODD_LAGRANGE.
 *
 * A zkey holds neither matrix C nor the number of constraints. Rows that bind the publics (row
 * m + s holds A: 1 at wire s, for s = 0..n_public, and nothing else) are recognised at the end of
 * the rows and left out of n_constraints; a key without them is taken as it is. */
#pragma once
#include "circuit.h"

struct zkey; /* an open key: header checked, points not yet read. One thread. */

struct zkey_facts {
    const struct curve *curve;
    uint32_t n_wires, n_public;
    unsigned domain_log2;
    uint64_t n_coefficients; /* A and B together, with the rows that bind publics */
    bool has_contributions;  /* section 10 is present */
    uint32_t n_contributions;
    uint64_t file_bytes;
    point_t alpha_g1, beta_g1, beta_g2, gamma_g2, delta_g1, delta_g2; /* checked */
};

/* ERR_IO, ERR_FORMAT, ERR_VALUE, ERR_UNSUPPORTED (plonk, fflonk, an unknown curve), ERR_MEMORY. */
struct zkey *zkey_open(const char *path, struct err *e);
void zkey_close(struct zkey **z);
const struct zkey_facts *zkey_facts(const struct zkey *z);

/* Both matrices, with the same number of rows: those that bind publics included. *n_constraints
 * as in struct circuit. The caller frees them (matrix_free). */
enum err_code zkey_read_matrices(struct zkey *z, struct matrix *a, struct matrix *b,
                                 uint32_t *n_constraints, struct pool *pool, struct err *e);

/* a, b = the rows of A and B times the witness (plain, every value below r), N values each (mont),
 * as matrix_evaluate gives them, straight from the file and without building the matrices. */
enum err_code zkey_evaluate(struct zkey *z, const fr_t *w_plain, fr_t *a, fr_t *b,
                            struct pool *pool, struct err *e);

enum zkey_points {
    ZKEY_IC = 3,
    ZKEY_A = 5,
    ZKEY_B1 = 6,
    ZKEY_B2 = 7,
    ZKEY_L = 8,
    ZKEY_H = 9,
};

uint64_t zkey_points_count(const struct zkey *z, enum zkey_points which);

/* Reads points [first, first + n) of a section to out (dense) and checks them; subgroup: also that
 * they are in the subgroup of order r. */
enum err_code zkey_read_points(struct zkey *z, enum zkey_points which, uint64_t first, uint64_t n,
                               void *out, bool subgroup, struct pool *pool, struct err *e);

enum circuit_checks {
    CHECK_ON_CURVE = 0, /* always */
    CHECK_SUBGROUP = 1, /* every point in the subgroup of order r; beta and delta equal in G1, G2 */
};

/* The whole key as a circuit on the heap; digest is zero (only a prepared circuit has a name). */
struct circuit *zkey_load_circuit(const char *path, enum circuit_checks checks, struct pool *pool,
                                  struct err *e);

/* Only what a verifier needs; *vk is freed with vk_free (json.h). */
enum err_code zkey_read_vk(struct zkey *z, struct verification_key *vk, struct err *e);

/* --- writing ------------------------------------------------------------------------------- */

struct zkey_writer;

/* Starts a key of these facts (n_coefficients, has_contributions and file_bytes are ignored: what
 * is written has a section 10 with no contribution, as of a key before its ceremony). */
struct zkey_writer *zkey_create(const char *path, const struct zkey_facts *facts, struct err *e);

/* a and b hold their n_rows rows, those that bind the publics included; entries come out by row, A
 * before B, as snarkjs does. Once. */
enum err_code zkey_write_matrices(struct zkey_writer *w, const struct matrix *a,
                                  const struct matrix *b, struct err *e);

/* Appends n points to a section. The points of a section come in order and in one run (in as many
 * calls as wanted); the sections themselves in any order. */
enum err_code zkey_write_points(struct zkey_writer *w, enum zkey_points which, const void *points,
                                uint64_t n, struct err *e);

/* Every section must be complete (broken invariant otherwise); fsync and rename. *w is freed. */
enum err_code zkey_commit(struct zkey_writer **w, struct err *e);
void zkey_abort(struct zkey_writer **w);
