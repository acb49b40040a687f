/* ntt_path: the passes of a transform over memory, one set of functions for each scalar field and
 * instruction set (ntt_template.h is their source, ntt.c their only caller).
 *
 * A domain of N = N1 N2 elements is read as a matrix, element N2 i + j at row i, column j, N1 = N2
 * or 2 N2. A pass takes 8 columns (of N1 elements, stepping over memory) or 8 rows (of N2 adjacent
 * elements) at a time into a buffer that fits a core's cache, transforms the 8 side by side and
 * puts them back. rev(i) is i with its bits in the opposite order.
 *
 * Source: D. H. Bailey "FFTs in external or hierarchical memory" (1990); the order of the factors
 * in the decimation from natural to reversed order is G. Seiler "Faster AVX2 optimized NTT
 * multiplication for Ring-LWE lattice cryptography" (2018). */
#pragma once
#include "curve.h"

enum { NTT_LANES = 8 };

/* The powers that passes multiply by, for one direction (w, or its inverse). They are in a form of
 * the path's own: value * 2^form_shift, Montgomery. */
struct ntt_factors {
    fr_t *reversed; /* N1/2: [b] = w1^rev(b), w1 the root of order N1, rev over log2(N1) - 1 bits */
    fr_t *stage;    /* N1: [h + j] = (root of order 2h)^j, j < h, h = 1, 2, 4, ... */
    fr_t *step;     /* N1: [j] = w^j */
};

struct ntt_pass {
    fr_t *x;
    unsigned log2_rows, log2_columns; /* of N1, N2 */
    const struct ntt_factors *f;      /* of the transform */
    const struct ntt_factors *back;   /* of the second transform in rows_there_and_back */
    const fr_t *first;                /* columns_reversing: factor of every element */
    const fr_t *growth;    /* columns_reversing: row k1 is also multiplied by growth^k1; or NULL */
    const fr_t *by_column; /* rows_*: N2, the factor of coefficient k2; or NULL */
};

struct ntt_path {
    unsigned form_shift;  /* of every factor above */
    unsigned bits_max;    /* of log2 N1 */
    size_t element_bytes; /* of a buffer of one row or column: times max(N1, N2) */
    /* Columns 8 index .. 8 index + 7: natural to reversed order, element k1 of column j times
     * first * (w^j growth)^k1. */
    void (*columns_reversing)(const struct ntt_pass *p, size_t index, void *buffer);
    /* Columns: reversed to natural order. */
    void (*columns_ordering)(const struct ntt_pass *p, size_t index, void *buffer);
    /* Rows: natural to reversed order, coefficient k2 times by_column[k2]. */
    void (*rows_reversing)(const struct ntt_pass *p, size_t index, void *buffer);
    /* The same, then reversed to natural order again with `back`, element j of row rev(k1) times
     * (back's w)^(j k1). */
    void (*rows_there_and_back)(const struct ntt_pass *p, size_t index, void *buffer);
};

/* The best path of this CPU for domains of 2^log2_n. */
const struct ntt_path *ntt_path_for(enum curve_id id, unsigned log2_n);
