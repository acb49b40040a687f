/* generate: satisfiable constraint systems of any size with their witness, for tests and
 * benchmarks.
 *
 * Two kinds of constraint, mixed in a given share, over wires made before:
 *   full-size   (sum of a_j w_j) (sum of b_j w_j) = w_new; entries mostly +-1, some other values
 *   bit         a fresh bit (x x = x), or the AND or XOR of two bits: w_new is 0 or 1, as in
 *               circuits for hashes
 * Half of an entry's wires are near (the last 1024), half anywhere, so that the matrices have both
 * the locality and the jumps of real ones. The same options give the same circuit everywhere. */
#pragma once
#include "r1cs.h"

struct generate_options {
    const struct curve *curve;
    uint32_t n_constraints; /* >= 1 */
    uint32_t n_public;      /* outputs; the first n_public full-size wires; <= n_constraints */
    double density; /* mean entries of a row of A, and of B, in a full-size constraint, >= 1 */
    double bits;    /* share of the constraints that are of the second kind, 0..1 */
    uint64_t seed;
};

/* *witness: n_wires plain values, malloc'ed. ERR_USAGE for options out of range, ERR_MEMORY. */
enum err_code generate_circuit(const struct generate_options *o, struct r1cs *out, fr_t **witness,
                               struct err *e);
