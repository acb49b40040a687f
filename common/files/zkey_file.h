/* zkey_file: what the parts of the zkey reader share; private to files/. */
#pragma once
#include <string.h>
#include "binfile.h"
#include "first_error.h"
#include "zkey.h"

enum {
    ZKEY_PROTOCOL = 1,
    ZKEY_HEADER = 2,
    ZKEY_COEFFICIENTS = 4,
    ZKEY_CONTRIBUTIONS = 10,
};

enum {
    COEFFICIENT_BYTES = 44,    /* u32 matrix, u32 row, u32 wire, value */
    COEFFICIENTS_PIECE = 4096, /* that a thread reads at a time: 176 KiB */
};

struct coefficient {
    uint32_t matrix, row, wire;
};
_Static_assert(sizeof(struct coefficient) == 12, "the three indices of a coefficient");

static inline struct coefficient coefficient_at(const unsigned char *raw, size_t i)
{
    struct coefficient r;
    memcpy(&r, raw + i * COEFFICIENT_BYTES, sizeof r);
    return r;
}

struct zkey {
    struct binfile *file;
    struct zkey_facts facts;
};

const struct group *zkey_group(const struct curve *c, enum zkey_points which);

/* Everything of c that needs no array: counts, points of the verification key, conventions. */
void zkey_fill_facts(const struct zkey *z, struct circuit *c);

/* Reads coefficients [first, first + n), n <= COEFFICIENTS_PIECE, to raw as they are and their
 * values (doubly Montgomery, as stored) to values, and checks each: matrix, row, wire, value. False
 * after the first offence was put to `error` under its index. Any thread. */
bool zkey_load_coefficients(const struct zkey *z, uint64_t first, size_t n, unsigned char *raw,
                            fr_t *values, struct first_error *error);
