/* lane: the only code that speaks ZeroMQ. ROUTER where the consumer binds, DEALER where others
 * connect; one frame a message; nothing here ever blocks but lanes_wait.
 *
 *     struct lanes *ls = lanes_new(&instance, &self, &err);
 *     struct lane *desk = lane_connect(ls, LANE_DESK, 0, &err);
 *     lanes_watch(ls, pidfd, PEER_DIED);
 *     for (;;) {
 *         lanes_wait(ls, 100);                        at most 100 ms: then re-scan the table
 *         while (lane_receive(desk, &in)) ...         in.m, in.from
 *         while (lanes_ready(ls, &fd, &tag)) ...      watched descriptors
 *     }
 *
 * A lanes object belongs to the thread that made it, with all its sockets (an invariant: libzmq
 * aborts on the other thing). lanes_wait pumps every socket, also idle ones, because libzmq frees
 * what disconnected peers leave behind only then.
 *
 * What can be lost: whatever was queued to a peer that died. Nothing here acknowledges or repeats;
 * the lease table does. What cannot happen: a peer's queue growing without bound (its bound is
 * 1,000 messages, far above any credit), a peer's frame larger than 64 KiB, a second process on one
 * address. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "actors.h"
#include "err.h"
#include "messages.h"

struct lanes;
struct lane;

struct incoming {
    struct message m;
    struct actor from;         /* on a bound lane: as its routing id says; else the binder */
    char peer[ROUTING_ID_MAX]; /* what lane_send takes; "" on a connected lane */
};

enum lane_sent {
    LANE_SENT, /* handed to the socket; that says nothing about arrival */
    LANE_GONE, /* no such peer is connected (EHOSTUNREACH) */
    LANE_FULL, /* its queue is full: it is stuck or dead (EAGAIN) */
};

struct lane_counts {
    uint64_t sent, received, gone, full;
    uint64_t refused;      /* frames dropped: malformed, not allowed on this lane, bad peer name */
    char last_refusal[96]; /* what was wrong with the last of them, and from whom */
};

/* ERR_UNAVAILABLE when ZeroMQ cannot be started (limits), ERR_UNSUPPORTED below 4.3.4. */
struct lanes *lanes_new(const struct instance *in, const struct actor *self, struct err *e);
void lanes_free(struct lanes **ls); /* closes all of it; queued messages are dropped */

/* Takes DIR/run/NAME.lock first: ERR_REFUSED when another process holds it. index: which one, on a
 * lane that is per index. The socket is mode 0600. */
struct lane *lane_bind(struct lanes *ls, enum lane_id id, unsigned index, struct err *e);
/* Never fails because nobody is there yet: ZeroMQ connects when the other side comes. */
struct lane *lane_connect(struct lanes *ls, enum lane_id id, unsigned index, struct err *e);
void lane_close(struct lane **l);

/* peer: a routing id on a bound lane, NULL on a connected one. The message must be one that the
 * table allows self to send on this lane (invariant). */
enum lane_sent lane_send(struct lane *l, const char *peer, const struct message *m);

/* The next message, or false when none waits. Frames that are not valid are counted, dropped and
 * passed over. Blobs in `in` live until the next lane_receive on the same lane. */
bool lane_receive(struct lane *l, struct incoming *in);
const struct lane_counts *lane_counts(const struct lane *l);

/* Watches a plain descriptor for reading (pidfd, timerfd, eventfd, signalfd). */
void lanes_watch(struct lanes *ls, int fd, uint64_t tag);
void lanes_unwatch(struct lanes *ls, int fd);

/* Waits until a lane or a descriptor has something or timeout_ms passed (-1: for ever; 0: only
 * looks), then does the housekeeping of all sockets and of the tap. Interrupted by a signal it
 * returns early. Returns how many lanes and descriptors are ready. */
int lanes_wait(struct lanes *ls, int timeout_ms);
/* The next watched descriptor that was readable in the last wait. */
bool lanes_ready(struct lanes *ls, int *fd, uint64_t *tag);

/* This actor's mirror (tap.h), opened by lanes_new for daemons; NULL for clients and taps. */
struct tap *lanes_tap(struct lanes *ls);
