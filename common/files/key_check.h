/* key_check: facts of a key that hold whatever file it came from; private to files/. */
#pragma once
#include "circuit.h"

/* beta and delta stand in a key once in G1 and once in G2 and must be the same multiples:
 * e(x in G1, G2's generator) = e(G1's generator, x in G2). The points are in their subgroups.
 * ERR_MISMATCH "name: beta in G1 and beta in G2 are not the same multiple of the generators". */
enum err_code key_check_consistent(const struct circuit *c, const char *name, struct err *e);
