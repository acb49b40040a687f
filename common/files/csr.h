/* csr: matrices in compressed rows as bellperson's tools store them; private to files/. */
#pragma once
#include "bellman_r1cs.h"
#include "bytefile.h"

/* The header's counts, checked against each other. */
struct csr_counts {
    uint32_t n_inputs, n_aux, n_rows;
    bool aux_flag; /* a column with bit 31 set is an auxiliary variable; else they follow inputs */
};

/* Empties r, with these counts; ERR_FORMAT when they contradict each other. */
enum err_code csr_begin(const struct bytefile *f, const struct csr_counts *k, struct r1cs *r,
                        struct err *e);

/* Where the arrays of one matrix stand. */
struct csr_place {
    char name; /* 'A' */
    uint64_t rows_at, columns_at;
    uint64_t n_entries;
};

/* Reads and checks where the rows begin and the columns, into *m, whose arrays are malloc'ed and
 * whose codes and dictionary are still missing. */
enum err_code csr_read_shape(const struct bytefile *f, const struct csr_counts *k,
                             const struct csr_place *p, struct matrix *m, struct err *e);

/* Checks that the last n_inputs rows bind the inputs, and takes them off all three matrices, which
 * are complete otherwise. */
enum err_code csr_unbind(const struct bytefile *f, const struct csr_counts *k, struct r1cs *r,
                         struct err *e);

/* "rows of A" and the like, for messages; static. */
const char *csr_part(const char *part, char name);
