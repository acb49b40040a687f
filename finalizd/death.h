/* death: what follows a proven death, by the lease table; who is blamed; who is killed.
 *
 * A dead synthd: what it was granted or was filling is abandoned and granted anew. A dead gpud:
 * what was READY or PROVING there keeps its extent and waits (parked) until a living gpud can take
 * it; what was UPLOADED is granted anew; what is on its way is sent elsewhere. Partitions that the
 * dead was working on are suspects: each runs alone next, at a synthd and a gpud that have nothing
 * else. Only a death while alone counts, three fail the job. Drains do not count, nor does SIGKILL
 * from outside (the operator, the kernel for want of memory): a daemon's own fault never ends so.
 * The supervisor tells them apart in run/NAME.ended; a death that nobody tells of counts. */
#pragma once
#include "state.h"

void death_of(struct desk *d, struct peer *p);

/* One flight whose owner is dead and that nobody wants any more. */
void death_takes(struct flight *f, struct peer *dead);

/* Finds new owners for parked flights; in grant's turn, before anything new is granted. */
void death_parked(struct desk *d);

/* Every 100 ms: blames that are due; owners past their time limit are killed (and reaped by their
 * pidfd). */
void death_tick(struct desk *d);
