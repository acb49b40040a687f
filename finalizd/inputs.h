/* inputs: the files in DIR/spool. A client writes them and names them in its SUBMIT; from the job's
 * acceptance to its end they are the desk's, which wipes each when its partition is done. What a
 * client left that died before its SUBMIT is swept after [desk] orphan_input. */
#pragma once
#include "state.h"

/* The file name of one partition's input, below spool/. Returns out. */
const char *spool_name(const char *spool, uint32_t index, char out[LEASE_SPOOL_MAX + 1]);

/* Are all inputs of a job's waiting partitions there? Blocks; for recovery, before the loop. */
bool inputs_are_there(const struct job *j);

/* Before a job is committed: makes sure on a worker that its n inputs are there and that no sweep
 * takes them any more (they become young), then calls then(arg, e) on the desk's thread, with
 * ERR_UNAVAILABLE and the file's name when one is missing: the client sends it again. */
void inputs_claim(struct desk *d, const char *spool, uint32_t n,
                  void (*then)(void *arg, const struct err *e), void *arg);

/* The inputs first .. first + n - 1 are overwritten and removed, on a worker. */
void spool_wipe(struct desk *d, const char *spool, uint32_t first, uint32_t n);

/* Removes what belongs to no open job and is older than [desk] orphan_input, on a worker. */
void inputs_sweep(struct desk *d);
