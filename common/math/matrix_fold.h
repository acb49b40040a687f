/* matrix_fold: finds the rows of a circuit's matrices that repeat, and stores them once.
 *
 * A circuit that does the same for each of many challenges (or sectors) has the same rows for each,
 * with the same values, on wires that have moved by a constant; Filecoin's are so almost entirely.
 *
 * Found by the rows' values alone first, which do not move: a hash of each row's values in all
 * matrices, hashes of windows of rows, and the distances at which the same windows come again, are
 * candidates for the length of a block. The one that would save most is then checked term by term,
 * extended as far as it holds, and the search goes on in the rows that are left. What is found is
 * exact; that nothing is missed is not claimed. */
#pragma once
#include "matrix.h"

/* m: 2 or 3 matrices without folds; rows [0, n_rows) of all are looked at. *folds is malloc'ed
 * (NULL with *n = 0 when nothing repeats enough to be worth it). ERR_MEMORY. */
enum err_code matrix_find_folds(const struct matrix *const *m, size_t n_matrices, uint32_t n_rows,
                                struct matrix_fold **folds, uint32_t *n, struct err *e);

/* m with these folds, which must be m's (matrix_find_folds); out owns its arrays but `fold`, which
 * is borrowed (matrix_free). */
enum err_code matrix_fold(const struct matrix *m, const struct matrix_fold *folds, uint32_t n,
                          struct matrix *out, struct err *e);

/* How many terms m has with every copy. */
uint64_t matrix_terms(const struct matrix *m);

/* The same matrix with every row stored; out owns its arrays. ERR_UNSUPPORTED from 2^32 terms on.
 */
enum err_code matrix_unfold(const struct matrix *m, struct matrix *out, struct err *e);
