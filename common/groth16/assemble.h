/* assemble: from the five sums to a proof, with blinding from the system's random source. */
#pragma once
#include "prove.h"

struct proof {
    const struct curve *curve;
    point_t a;  /* G1 */
    point_t b;  /* G2 */
    point_t c;  /* G1 */
};

/* Draws r and s uniformly (64 random bytes each reduced mod r, libsodium) and forms A, B, C.
 * In a build with -Dtest_randomness=true the environment variable MILLRACE_TEST_RS="r,s" (decimal)
 * fixes them; a release build does not contain that code. */
void groth16_assemble(const struct circuit *ck, const struct groth16_sums *sums,
                      struct proof *out);
