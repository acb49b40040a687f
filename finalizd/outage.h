/* outage: the time in which a daemon is not there, as DOWN spans: from its proven end until its
 * successor said READY. They are written in pieces, so that a reader sees an outage while it
 * lasts; a piece grows with the outage, so that one that nobody ends does not fill the ring. */
#pragma once
#include "state.h"

/* It is proven dead. A synthd that said BYE was taken out of the scale: it is not missed. */
void outage_begin(struct desk *d, const struct peer *dead);
/* One of that name serves again. */
void outage_end(struct desk *d, const struct actor *back);
void outage_turn(struct desk *d); /* some times a second */
/* The desk before this one was killed: it was down since its last heartbeat. At start, when this
 * desk serves. */
void outage_of_predecessor(struct desk *d);
void outages_free(struct desk *d);
