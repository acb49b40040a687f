/* conns: every open connection with what it is at, so that none can be held by being slow.
 *
 * microhttpd ends a connection that is silent; a client that sends or reads one byte now and then
 * is not silent. So each phase has an end: 10 s for a request's head, 30 s between two requests,
 * and for a body or an answer 20 s more than its bytes take at the lowest rate that is allowed. A
 * connection past its end is shut down, which its server thread then sees. Any thread. */
#pragma once
#include <stdint.h>

enum conn_phase {
    CONN_OPEN,   /* connected, nothing asked yet */
    CONN_IDLE,   /* between two requests */
    CONN_HEAD,   /* the request line is there */
    CONN_BODY,   /* the upload */
    CONN_WORK,   /* ours: suspended until the answer is known */
    CONN_ANSWER, /* the answer is on its way */
    CONN_EVENTS, /* an open stream of events */
    CONN_PHASES
};

struct conn;
struct conns;
struct conns *conns_new(uint64_t rate_bytes);
void conns_free(struct conns **c);

struct conn *conns_add(struct conns *c, int fd);
void conns_remove(struct conns *c, struct conn *conn); /* before its descriptor is closed */
/* bytes: of the answer, for CONN_ANSWER. */
void conns_phase(struct conns *c, struct conn *conn, enum conn_phase phase, uint64_t bytes);
void conns_received(struct conns *c, struct conn *conn, uint64_t bytes);
/* Shuts down those past their end; returns how many. */
unsigned conns_reap(struct conns *c, uint64_t now_ns);
void conns_count(struct conns *c, uint64_t phase[CONN_PHASES], uint64_t *reaped);
