/* lease_cells: the result cell of a row, for lease.c and lease_scan.c alone. */
#pragma once
#include "lease.h"

struct lease_cell *lease_cell(const struct arena *a, uint32_t row);
/* The caller owns the row's state, so nobody else writes. */
void lease_cell_write(struct arena *a, struct lease_ref r, const struct lease_result *result);
/* Sums are secret: overwritten in a way that the compiler keeps. */
void lease_cell_wipe(struct arena *a, uint32_t row);
