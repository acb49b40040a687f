/* recover: what a starting desk rebuilds. The ledger says which jobs are open and which partitions
 * have their proof; the lease tables say what synthd and gpud hold at this moment (they work on
 * while the desk is away). Blocks; before the loop. */
#pragma once
#include "state.h"

enum err_code recover(struct desk *d, struct err *e);
