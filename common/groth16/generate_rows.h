/* generate_rows: what the two generators of constraint systems have in common: a fixed sequence of
 * random numbers, and a matrix that grows row by row. */
#pragma once
#include "matrix.h"

enum { N_VALUES = 32 /* dictionary: 1, -1, then others */ };

/* splitmix64 (S. Vigna, public domain algorithm): a fixed sequence on every machine. */
static inline uint64_t draw(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline uint32_t below(uint64_t *state, uint32_t n)
{
    return (uint32_t)(((draw(state) >> 32) * n) >> 32);
}

static inline double share(uint64_t *state)
{
    return (double)(draw(state) >> 11) * 0x1p-53;
}

struct entry {
    uint32_t wire;
    uint8_t code;
};

/* One matrix as it grows row by row. */
struct grower {
    struct matrix m;
    uint32_t *row_start, *wire;
    uint8_t *code;
    size_t room;
    /* A matrix's dictionary holds the values in the order of their first use, as matrix_build gives
     * it, so that a matrix and its copy read back from a file are equal byte for byte. */
    uint8_t own_code[N_VALUES]; /* of a value of the generator's dictionary; 0: not yet used */
    fr_t *dictionary;
};

/* dictionary: N_VALUES, 1 and -1 first. per_row: mean entries expected (room grows by need). */
bool grower_new(struct grower *g, uint32_t n_rows, const fr_t *dictionary, double per_row);
/* Appends a row; false: no memory. Entries come in ascending wire order, each wire once. */
bool grower_row(struct grower *g, const fr_t *dictionary, const struct entry *row, size_t n);
/* Inserts into an ascending row; a wire that is there already is left as it is. */
size_t row_insert(struct entry *row, size_t n, struct entry x);
