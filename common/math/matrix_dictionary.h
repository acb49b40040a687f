/* matrix_dictionary: gives each distinct value of a matrix its code, in the order in which they
 * come; 1 and -1 are there from the beginning (matrix.h). */
#pragma once
#include "matrix.h"

struct matrix_dictionary {
    fr_t *value; /* mont */
    uint32_t n, room;
    uint32_t *slot;   /* code + 1, or 0: free */
    uint64_t n_slots; /* a power of two, at least twice room */
};

/* False without memory; matrix_dictionary_free in any case. */
bool matrix_dictionary_begin(const struct curve *c, struct matrix_dictionary *d);
/* The code of x, added when new; false without memory. */
bool matrix_dictionary_code(struct matrix_dictionary *d, const fr_t *x, uint32_t *code);
void matrix_dictionary_free(struct matrix_dictionary *d);

/* Makes m's dictionary and codes from d, whose values m then owns, and from `code`, a malloc'ed
 * array of m->n_entries codes that m then owns too, made as narrow as the dictionary allows. */
void matrix_dictionary_finish(struct matrix_dictionary *d, uint32_t *code, struct matrix *m);
