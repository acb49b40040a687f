/* assemble: from the five sums to a proof, with blinding from the system's random source. */
#pragma once
#include "prove.h"

/* The points of a proving key that blinding needs; all borrowed. */
struct blinding_points {
    const struct curve *curve;
    const point_t *alpha_g1, *beta_g1, *beta_g2, *delta_g1, *delta_g2;
};

struct blinding_points groth16_blinding_points(const struct circuit *ck);

/* Draws r and s uniformly (64 random bytes each reduced mod r, libsodium) and forms A, B, C.
 * In a build with -Dtest_randomness=true the environment variable MILLRACE_TEST_RS="r,s" (decimal)
 * fixes them; a release build does not contain that code.
 * The time taken depends on r and s. */
void groth16_assemble(const struct circuit *ck, const struct groth16_sums *sums, struct proof *out);
void groth16_assemble_points(const struct blinding_points *key, const struct groth16_sums *sums,
                             struct proof *out);
