/* actors: the one table of who there is, which lanes join them, and who binds, connects, produces
 * and consumes on each. The supervisor, the daemons and the tools all read this one.
 *
 *   lane        socket        bound by     connected by                 what runs on it
 *   desk        desk.sock     finalizd     synthd, gpud, supervisor     HELLO, GRANT, PROVED, ...
 *   client      client.sock   finalizd     client, gateway, supervisor  SUBMIT, AWAIT, RESULT, ...
 *   gpud.N      gpud.N.sock   gpud N       synthd                       SYNTHESIZED
 *   tap.ACTOR   tap.A.sock    every daemon tap                          copies of what it sends
 *
 * An actor has a name (finalizd, synthd.NODE.K, gpud.N, supervisor, client, gateway, tap) and an
 * incarnation: which run of that name this is. Name and incarnation together are the routing id on
 * a lane ("gpud.0#17"), so a restarted process never collides with the one that died. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "err.h"
#include "instance.h"

/*      kind        name          indices  doc */
#define ACTORS(A)                                                                                  \
    A(FINALIZD, "finalizd", 0, "the desk, the ledger and the finishers; one an instance")          \
    A(SYNTHD, "synthd", 2, "synthd.NODE.K: fills extents on NUMA node NODE")                       \
    A(GPUD, "gpud", 1, "gpud.N: proves on device N")                                               \
    A(CLIENT, "client", 0, "whoever submits and awaits; as many as there are")                     \
    A(SUPERVISOR, "supervisor", 0, "starts and restarts the daemons; one an instance")             \
    A(TAP, "tap", 0, "reads the mirrors; cannot hurt anybody")                                     \
    A(GATEWAY, "gateway", 0, "HTTP, metrics and the dashboard, in a process of its own")

enum actor_kind {
    ACTOR_NONE = 0,
#define A(kind, name, indices, doc) ACTOR_##kind,
    ACTORS(A)
#undef A
        ACTOR_KINDS
};
#define ACTOR_BIT(kind) (1u << ACTOR_##kind)

enum { ACTOR_NAME_MAX = 32, ROUTING_ID_MAX = 56, INCARNATION_MAX = 0xffff };

struct actor {
    enum actor_kind kind;
    unsigned node;        /* synthd: its NUMA node, 0..255 */
    unsigned index;       /* synthd: K, gpud: N; 0..255 */
    uint64_t incarnation; /* daemons: 1..65535; clients and taps: random; 0: any */
};

/* An actor in 36 bits, as it stands in a lease word: kind 4 | node 8 | index 8 | incarnation 16.
 * Only daemons (finalizd, synthd, gpud) have one. 0 is nobody. */
typedef uint64_t actor_id;
enum { ACTOR_ID_BITS = 36 };
actor_id actor_to_id(const struct actor *a);
struct actor actor_from_id(actor_id id);

/* "synthd.0.2"; out has room for ACTOR_NAME_MAX. Returns out. */
const char *actor_name(const struct actor *a, char out[ACTOR_NAME_MAX]);
/* "synthd.0.2#7" */
const char *actor_routing_id(const struct actor *a, char out[ROUTING_ID_MAX]);
/* Takes a name or a routing id; false for anything that actor_name would not have written. */
bool actor_parse(struct actor *a, const char *text, size_t n);
bool actor_equal(const struct actor *a, const struct actor *b); /* incarnation included */
const char *actor_kind_name(enum actor_kind kind);              /* "synthd"; "none" */

/* One run of a daemon: holds DIR/run/NAME.lock locked, so that no name runs twice, and draws the
 * next incarnation from the number in it. The descriptor stays open (close-on-exec) until the
 * process ends: a released lock says that a name is free to start, never that its owner is dead
 * (alive.h says that). That is why it waits here until the owner before it has ended in full, up to
 * 20 s: from then on the new incarnation is the proof of that death. ERR_REFUSED when that name
 * runs already, ERR_UNAVAILABLE when its predecessor does not end. */
enum err_code actor_enter(struct actor *self, const struct instance *in, int *lock_fd,
                          struct err *e);

/* What the lock file of its name tells about one incarnation. */
enum actor_fate {
    ACTOR_LAST,      /* no later one has entered; *who says which process it is or was */
    ACTOR_SUCCEEDED, /* a later one has entered: it is dead */
    ACTOR_UNKNOWN,   /* nobody of that name was ever here */
};
struct alive_id;
enum actor_fate actor_last_seen(const struct actor *a, const struct instance *in,
                                struct alive_id *who);
/* For clients and taps: a random incarnation, no lock. */
void actor_enter_anonymous(struct actor *self, enum actor_kind kind);

/*      id      name      bound by   per index  connected by                                doc */
#define LANES(L)                                                                                   \
    L(DESK, "desk", FINALIZD, 0, ACTOR_BIT(SYNTHD) | ACTOR_BIT(GPUD) | ACTOR_BIT(SUPERVISOR),      \
      "grants down, outcomes up")                                                                  \
    L(CLIENT, "client", FINALIZD, 0,                                                               \
      ACTOR_BIT(CLIENT) | ACTOR_BIT(GATEWAY) | ACTOR_BIT(SUPERVISOR), "jobs in, results out")      \
    L(GPUD, "gpud", GPUD, 1, ACTOR_BIT(SYNTHD), "what is ready for this GPU")

enum lane_id {
#define L(id, name, binder, per_index, connectors, doc) LANE_##id,
    LANES(L)
#undef L
        LANE_IDS,
    LANE_TAP = LANE_IDS, /* every daemon's mirror: not a ROUTER, opened by tap.h */
};

struct lane_info {
    enum lane_id id;
    const char *name;
    enum actor_kind binder;
    bool per_index; /* one socket for each index of the binder: gpud.0, gpud.1 */
    unsigned connectors;
    const char *doc;
};
const struct lane_info *lane_info(enum lane_id id);

/* The ZeroMQ address of a lane of this instance: "ipc:///proc/self/fd/<run_fd>/gpud.0.sock", which
 * is short however long DIR is (a Unix socket's path ends at 107 bytes). Valid in this process
 * while `in` is open. index: for lanes that are per index. */
void lane_address(const struct instance *in, enum lane_id id, unsigned index, char *out, size_t n);
void tap_address(const struct instance *in, const struct actor *a, char *out, size_t n);
