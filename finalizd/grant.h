/* grant: takes the next partition in order, picks a GPU and a node with room, cuts an extent,
 * commits the attempt, then grants (flight_launch).
 *
 * GPU: its key resident, then the shortest queue; its READY queue is bounded, so that memory is not
 * hoarded there. Node: one with room and a synthd that has credit, nearest to the GPU first.
 *
 * Who evaluates the matrices ([gpud] evaluate, auto): synthd, as long as a filled partition waits
 * for the GPU; where none does, the GPU waits for synthd, and evaluates this one itself: it needs
 * only the witness. The same where w, a and b find no room but w alone does.
 *
 * Order is strict but for two stated, bounded exceptions, both counted in the order entry:
 *   - a head that finds no room may be passed `room_passes` times by partitions of other circuits
 *     that fit; then nobody is granted anything before it, and room gathers;
 *   - a head whose key is not resident may be passed `key_passes` times by partitions whose key is.
 * A head that needs both is passed by key_passes + room_passes partitions at most. The urgent class
 * goes first, may use the node's reserve, and has a ready bound of its own.
 * A suspect (death.h) waits for a synthd and a gpud of its own; both are kept free for it. */
#pragma once
#include "state.h"

/* Grants what can be granted; at most so many a turn that the loop stays quick (d->grant_due stays
 * set when there may be more). */
void grant_run(struct desk *d);

/* The gpud for a partition, or NULL. nodes: arenas that it must have mapped. alone: one that has
 * nothing else (when there is none, one is kept for it). */
struct peer *grant_pick_gpud(struct desk *d, const struct partition *p,
                             const struct circuit_entry *c, uint64_t nodes, bool alone,
                             bool evaluates);
