/* circuit: a proving key with its constraint matrices, ready to prove with, whatever it came from.
 *
 * This is what a prepared file maps to, what a reader of .zkey or .params builds in memory, and the
 * only form that the prover, synthd and gpud know. All pointers are borrowed from `owner` (a
 * mapping or heap) and live until circuit_free.
 *
 * Wires: 0 is the constant one, 1..n_public are public, the rest private. A query is a list of
 * bases with the wire that each belongs to; bases at infinity are left out, so that no kernel and
 * no loop ever sees one. */
#pragma once
#include "curve.h"
#include "matrix.h"

enum h_basis {
    H_ODD_LAGRANGE = 1, /* snarkjs: N points, scalar i = (a b - c) at the i-th coset point, plain */
    H_MONOMIAL = 2,     /* bellman: N - 1 points tau^i Z(tau)/delta, scalars = coefficients of h */
};

struct query {
    const void *points;   /* n dense affine points */
    const uint32_t *wire; /* n ascending wires; NULL: the wire of base i is first_wire + i */
    uint32_t first_wire;
    uint64_t n;
};

struct verification_key {
    const struct curve *curve;
    uint32_t n_public;
    point_t alpha_g1, beta_g2, gamma_g2, delta_g2;
    const void *ic; /* n_public + 1 dense G1 points */
};

struct proof {
    const struct curve *curve;
    point_t a; /* G1 */
    point_t b; /* G2 */
    point_t c; /* G1 */
};

struct circuit {
    const struct curve *curve;
    uint8_t digest[32]; /* BLAKE2b-256 of the prepared content: the circuit's name in the store */
    uint32_t n_wires, n_public,
        n_constraints; /* n_constraints: rows without those that bind publics */
    unsigned domain_log2;
    enum root_convention roots;
    enum h_basis h_basis;
    bool has_c; /* matrix c is present (from an .r1cs), so a bad witness can be named */
    struct matrix a, b, c;
    struct query a_query, b1_query, b2_query; /* G1, G1, G2, over all wires */
    struct query l_query;                     /* G1, private wires */
    const void *h_points;                     /* G1, n_h = N or N - 1 */
    uint64_t n_h;
    point_t beta_g1, delta_g1;
    struct verification_key vk;
    void *owner; /* how circuit_free gives it back; private to files/ */
};

void circuit_free(struct circuit **c);
uint64_t circuit_mapped_bytes(const struct circuit *c); /* what the memory budget is charged */
