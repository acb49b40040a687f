/* prepared: a circuit in one file that is mapped and used as it is.
 *
 *   4096-byte header: facts, verification key, table of sections, digest
 *   sections, in the order of their ids, each at a multiple of 4096, zeros between
 *
 * Each section's checksum is a two-level BLAKE2b-256: of the digests of its 1 MiB pieces, so that
 * all cores can check one section. The header's digest is BLAKE2b-256 of the header with the digest
 * field zero; the section checksums stand in the header, so this one digest covers everything and
 * is the circuit's name in the store. The same key gives the same bytes, and so the same name, on
 * every machine; with and without matrix C are two circuits. Little-endian, like the host. */
#pragma once
#include "circuit.h"

/* Maps the file read-only and shared. Checks magic, version, every bound and count of the header,
 * the file's size and the header's digest, which costs no more than reading 4 KiB; the content is
 * trusted from there on (the store is the instance's own). */
struct circuit *circuit_map(const char *path, struct err *e);
/* The same without what is large: counts, curve and verification key. Matrices, queries and H bases
 * have their counts and no data (NULL). Nothing stays mapped. *file_bytes: what circuit_map maps.
 */
struct circuit *circuit_head(const char *path, uint64_t *file_bytes, struct err *e);

/* The full check of a mapped circuit: checksums, matrix invariants, wire lists ascending and in
 * range, padding zero, every point reduced, on its curve, in the subgroup and not at infinity. */
enum err_code circuit_check(const struct circuit *c, const char *name, struct pool *pool,
                            struct err *e);

/* The digest of a prepared file, from its (checked) header alone. */
enum err_code prepared_digest(const char *path, uint8_t digest[32], struct err *e);

/* Writes c, which may come from anywhere, as a prepared file, mode 0444, beside and renamed. The
 * caller has checked the points. digest may be NULL. */
enum err_code prepared_write(const char *path, const struct circuit *c, uint8_t digest[32],
                             struct pool *pool, struct err *e);

/* From a zkey, streaming: at no time more than the matrices and one piece of points in memory.
 * Every point is checked, the subgroup too. r1cs_path may be NULL; with it matrix C is added, and
 * the constraint system must be the key's (ERR_MISMATCH). */
enum err_code prepare_zkey(const char *zkey_path, const char *r1cs_path, const char *out_path,
                           uint8_t digest[32], struct pool *pool, struct err *e);

/* From bellperson's .params and the circuit's constraints (a PCE file or an r1cs.bin, which also
 * gives matrix C), streaming in the same way. Every point is checked, the subgroup too;
 * ERR_MISMATCH when the two do not belong together: other inputs, variables, domain or densities.
 */
enum err_code prepare_params(const char *params_path, const char *r1cs_path, const char *out_path,
                             uint8_t digest[32], struct pool *pool, struct err *e);

/* --- writing piece by piece (large set-ups, other key formats) ---------------------------------
 */

enum prepared_section {
    PREPARED_A_ROW_START = 1, /* matrices: uint32_t, uint32_t, codes, fr_t */
    PREPARED_A_WIRE,
    PREPARED_A_CODE,
    PREPARED_A_DICTIONARY,
    PREPARED_B_ROW_START,
    PREPARED_B_WIRE,
    PREPARED_B_CODE,
    PREPARED_B_DICTIONARY,
    PREPARED_C_ROW_START, /* the four of C are absent without has_c */
    PREPARED_C_WIRE,
    PREPARED_C_CODE,
    PREPARED_C_DICTIONARY,
    PREPARED_IC,
    PREPARED_A_POINTS,
    PREPARED_A_WIRES, /* wire lists: absent when the query's wires are first_wire + i */
    PREPARED_B1_POINTS,
    PREPARED_B1_WIRES,
    PREPARED_B2_POINTS,
    PREPARED_B2_WIRES,
    PREPARED_L_POINTS,
    PREPARED_L_WIRES,
    PREPARED_H_POINTS,
    PREPARED_FOLDS,    /* struct matrix_fold, of all matrices alike; absent without */
    PREPARED_SECTIONS, /* one more than the last id */
};

struct prepared_writer;

/* pool: for the checksums; borrowed until commit or abort. */
struct prepared_writer *prepared_create(const char *path, struct pool *pool, struct err *e);

/* Appends to a section. Ids must not descend; a section comes in as many calls as wanted. */
enum err_code prepared_append(struct prepared_writer *w, enum prepared_section id, const void *data,
                              size_t n, struct err *e);

/* The matrices, first of all and once; c: NULL when there is none. Rows that repeat are found and
 * folded (math/matrix_fold.h) unless the matrices come with folds. What is written is noted for
 * prepared_commit, which takes nothing of the matrices from its circuit. */
enum err_code prepared_append_matrices(struct prepared_writer *w, const struct matrix *a,
                                       const struct matrix *b, const struct matrix *c,
                                       struct err *e);

/* The next n points of a query (id: PREPARED_A_POINTS or its like), which belong to the n wires
 * from `wire` on. Bases at infinity are squeezed out of `points` in place before it is written.
 * prepared_end_query then writes the list of wires where one is needed and gives the facts of the
 * query for prepared_commit (n, first_wire, and wire not NULL when there is a list: not to be
 * read). */
enum err_code prepared_append_query(struct prepared_writer *w, enum prepared_section id,
                                    const struct group *g, void *points, uint32_t wire, size_t n,
                                    struct err *e);
enum err_code prepared_end_query(struct prepared_writer *w, struct query *facts, struct err *e);

/* Writes the header from c's facts (its counts, n's, points of the verification key; no array of it
 * is read), fsync, rename. Lengths of the sections must fit these facts (broken invariant). */
enum err_code prepared_commit(struct prepared_writer **w, const struct circuit *c,
                              uint8_t digest[32], struct err *e);
void prepared_abort(struct prepared_writer **w);
