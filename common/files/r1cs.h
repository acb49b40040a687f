/* r1cs: constraint systems as circom writes them. */
#pragma once
#include "circuit.h"

struct r1cs {
    const struct curve *curve;
    /* n_private_inputs is what the source declares; wires of unused ones may be gone. */
    uint32_t n_wires, n_public_outputs, n_public_inputs, n_private_inputs, n_constraints;
    uint64_t n_labels;
    struct matrix a, b, c; /* n_constraints rows each; repeats merged, zeros dropped; owned */
};

enum r1cs_parts { R1CS_COUNTS = 0, R1CS_C = 1, R1CS_ALL = 3 };

/* Reads and checks the file: container, curve, counts against each other, wires below n_wires,
 * values below r; custom gates are ERR_UNSUPPORTED. parts says which matrices are built (the
 * others are empty: n_rows = 0); all of the constraints are checked in any case unless it is
 * R1CS_COUNTS. Reads the constraints once to count and once more for each matrix; beside the
 * matrices it needs 40 bytes for each entry of the largest. */
enum err_code r1cs_read(const char *path, enum r1cs_parts parts, struct r1cs *out,
                        struct pool *pool, struct err *e);
void r1cs_free(struct r1cs *r);

/* Writes sections 1, 2, 3 (labels: wire i has label i). */
enum err_code r1cs_write(const char *path, const struct r1cs *r, struct err *e);

/* Is this the constraint system of the key whose matrices are a and b? Rows [0, n_constraints) must
 * be equal entry by entry, the wires and publics counted alike. ERR_MISMATCH names the first
 * difference. r needs all matrices. */
enum err_code r1cs_matches(const struct r1cs *r, const struct curve *curve, const struct matrix *a,
                           const struct matrix *b, uint32_t n_constraints, uint32_t n_wires,
                           uint32_t n_public, struct err *e);
