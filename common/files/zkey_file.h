/* zkey_file: what the parts of the zkey reader share; private to files/. */
#pragma once
#include "binfile.h"
#include "zkey.h"

enum {
    ZKEY_PROTOCOL = 1,
    ZKEY_HEADER = 2,
    ZKEY_COEFFICIENTS = 4,
    ZKEY_CONTRIBUTIONS = 10,
};

enum { COEFFICIENT_BYTES = 44 }; /* u32 matrix, u32 row, u32 wire, value */

struct zkey {
    struct binfile *file;
    struct zkey_facts facts;
};

const struct group *zkey_group(const struct curve *c, enum zkey_points which);

/* Everything of c that needs no array: counts, points of the verification key, conventions. */
void zkey_fill_facts(const struct zkey *z, struct circuit *c);
