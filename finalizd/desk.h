/* desk: finalizd's event loop. One thread owns everything in struct desk; whatever may take over a
 * millisecond runs elsewhere (ledger, finishers, workers) and comes back through a descriptor.
 *
 *   desk_open     configuration, ledger, arenas, threads, lanes, recovery; may block
 *   desk_serve    until SIGTERM has drained it, or a second SIGTERM
 *   desk_close
 *
 * A turn: wait, hear the daemons, hear the clients, take back what was done elsewhere, look at the
 * lease tables every 100 ms, grant, send. */
#pragma once
#include "state.h"

/* ops: what the finishers do (finisher_groth16; tests and the desk's benchmark give another). */
struct desk *desk_open(const char *dir, const struct finisher_ops *ops, struct err *e);
void desk_serve(struct desk *d);
void desk_close(struct desk **d);
