/* generate_shape: a satisfiable constraint system with the statistics of a shape (shape.h) at any
 * scale, for benchmarks: rows, inputs and aux wires exactly; non-zeros of A, B and C, wires that
 * are dense in A and in B, and the share of zeros and ones in the witness in the same proportion.
 *
 * Scale 2^k: rows and aux wires are 2^(k - domain_log2) of the shape's, so that the domain is as
 * full as the shape's. Inputs are kept where the shape fixes the number of publics, else they
 * scale too. As in bellman's circuits an input occurs in A alone (and the constant one in B).
 *
 * Kinds of row, over wires made before, Z, O and F being wires that hold 0, 1 or a full-size value:
 *   full     (any) (B) = other wires + z       z full-size; B is an O, an F or the constant one
 *   masked   (any) (Z) = Z.. [+ z - O]         z a bit; A can hold any wire, since B is zero
 *   linear   (Z.. [+ O]) (O or one) = Z.. + z  z a bit
 *   check    as masked, without a new wire
 *   input    (input) (one) = wire
 * The same arguments give the same system everywhere. */
#pragma once
#include "r1cs.h"
#include "shape.h"

/* What was aimed at and what came out, in the words of shape.h. */
enum err_code generate_shape(const struct shape *shape, unsigned log2, uint64_t seed,
                             struct r1cs *out, fr_t **witness, struct err *e);

/* The shape's statistics at a scale: what generate_shape aims at. ERR_USAGE when 2^log2 cannot hold
 * the shape's inputs beside twice as many rows. */
enum err_code shape_scale(const struct shape *shape, unsigned log2, struct shape_statistics *out,
                          struct err *e);

/* Counts a system and its witness (plain values). */
enum err_code shape_measure(const struct r1cs *system, const fr_t *witness,
                            struct shape_statistics *out, struct err *e);
