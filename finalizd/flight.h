/* flight: one attempt at one partition that has an extent, from the cut of the extent until row and
 * extent are back. The lease word says what happens; a message or the re-scan only makes the desk
 * look (flight_look). */
#pragma once
#include "state.h"

struct flight *flight_new(struct desk *d, struct partition *p, unsigned node, uint32_t row,
                          struct extent x, bool from_reserve, struct peer *synthd,
                          struct peer *gpud);
/* The attempt is committed: FREE -> GRANTED, GRANT goes out. */
void flight_launch(struct flight *f);

/* Compares the lease word with what was seen last and does what follows. `rung`: a message said so
 * (else the re-scan found it). */
void flight_look(struct flight *f, bool rung);
void flights_scan(struct desk *d);

/* A flight whose row and extent are back is `gone`; its memory goes at the end of the turn. */
void flights_reap(struct desk *d);

/* Names other peers for it (moves counts, key charge and references). */
void flight_set_gpud(struct flight *f, struct peer *gpud);

/* Its job has ended: the partition lets go of it and it is cancelled. */
void flight_orphan(struct flight *f, enum lease_cancel why);
/* The attempt is over without a proof (the row is or becomes FREE); the partition waits again,
 * unless f is an orphan. */
void flight_abort(struct flight *f);

/* The verdict is committed (or the attempt is over): PROVED or FAILED -> FREE. */
void flight_settle(struct flight *f);

/* The flight that a message is about; NULL (and counted) when it has moved on. */
struct flight *flight_of_message(struct desk *d, const struct message *m);
void flight_count_as(struct flight *f, enum lease_state s);
struct span_who flight_who(const struct flight *f);
