/* bellman_r1cs: the constraints of a circuit written with bellperson, which is what a .params does
 * not hold: from a PCE file (version 2) of cuzk, or from an r1cs.bin ("FR1C").
 *
 * Both hold matrices in compressed rows over the inputs and then the auxiliary variables, terms of
 * a row merged, sorted and not zero, and end with the rows that bind the inputs (A: 1 at input i,
 * nothing in B and C), which the result leaves out again. Wires: the inputs, the constant one
 * first, then the auxiliary variables. A file that breaks any of this is refused: bellperson takes
 * from the terms which variables are dense, so a term too many would give another key.
 *
 * On BLS12-381. Little-endian; docs/formats.md has the layouts. */
#pragma once
#include "r1cs.h"

/* ERR_IO, ERR_FORMAT, ERR_VALUE, ERR_MISMATCH (the densities of a PCE file are not those of its
 * matrices), ERR_MEMORY. r1cs_free. */
enum err_code pce_read(const char *path, struct r1cs *out, struct err *e);
enum err_code fr1c_read(const char *path, struct r1cs *out, struct err *e);
/* Whichever of the two it is by its magic; ERR_FORMAT for another. */
enum err_code bellman_r1cs_read(const char *path, struct r1cs *out, struct err *e);

/* Both are written beside and renamed. r needs all matrices. */
enum err_code pce_write(const char *path, const struct r1cs *r, struct err *e);

struct bellman_r1cs_facts {
    uint32_t n_inputs, n_aux;
    uint32_t n_rows; /* with those that bind the inputs */
    uint64_t n_terms, file_bytes;
};
/* From the headers alone: what inspect tells. */
enum err_code pce_read_facts(const char *path, struct bellman_r1cs_facts *out, struct err *e);
enum err_code fr1c_read_facts(const char *path, struct bellman_r1cs_facts *out, struct err *e);

/* a and b of r with the rows that bind the constant one and the publics behind its own, as a key
 * has them; owned by the caller (matrix_free). */
enum err_code r1cs_bind_publics(const struct r1cs *r, struct matrix *a, struct matrix *b,
                                struct err *e);
