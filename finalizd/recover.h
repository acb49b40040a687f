/* recover: what a starting desk rebuilds. The ledger says which jobs are open and which partitions
 * have their proof; the lease tables say what synthd and gpud hold at this moment (they work on
 * while the desk is away). Blocks; before the loop. */
#pragma once
#include "state.h"

enum err_code recover(struct desk *d, struct err *e);

/* Removes spool files that belong to no open job and are older than [desk] orphan_input: what a
 * client left that died before its SUBMIT. On a worker. */
void recover_sweep_spool(struct desk *d);
