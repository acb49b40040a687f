/* desk: a small stand-in for finalizd, to drive a real synthd and a real gpud step by step.
 *
 * It owns an instance in a directory of its own, an arena, a store and the desk lane; it writes
 * grants straight into the lease table and can leave doorbells out, ring them twice, cancel, take
 * leases back and give them to others. It judges nothing by itself: a test looks at the table. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "arena.h"
#include "circuit.h"
#include "instance.h"
#include "lane.h"
#include "lease.h"
#include "prove.h"

enum { CHILDREN = 8 };

struct child {
    struct actor actor; /* incarnation as in HELLO; 0: it has not said HELLO */
    pid_t pid;          /* 0: none */
    bool ready, ended;
    int status; /* as waitpid gives it */
    struct msg_hello hello;
    struct msg_heartbeat beat;
    char peer[ROUTING_ID_MAX];
    char log[4200]; /* path of what it prints */
};

struct desk {
    char dir[64];
    struct instance in;
    struct actor self;
    int lock_fd;
    struct arena arena;
    struct lanes *lanes;
    struct lane *lane;
    struct child child[CHILDREN];
    uint64_t next_job;
    unsigned rings; /* how often each doorbell rings: 1; 0: never */
    unsigned heard[MSG_KINDS];
    struct msg_failed failed;               /* the last FAILED */
    struct msg_circuit_state circuit_state; /* the last CIRCUIT_STATE */
};

/* What a grant asks for. */
struct want {
    const uint8_t *circuit;
    const struct circuit *facts; /* sizes */
    const char *spool;
    uint32_t flags, priority, partition;
    uint64_t submitted_ns; /* 0: now */
    uint64_t step_limit_ns;
    bool without_ab;
};

void desk_open(struct desk *d, uint64_t bulk_bytes);
void desk_close(struct desk *d); /* kills what runs, removes everything */

/* A fixture's key ("bn128/mul") into the store; maps it. */
struct circuit *desk_add_circuit(struct desk *d, const char *fixture);
/* Ties a witness program (path of a .wasm or an executable) to it. */
void desk_add_program(struct desk *d, const struct circuit *c, const char *program);
void desk_spool(struct desk *d, const char *name, const char *source_path);
void desk_spool_bytes(struct desk *d, const char *name, const void *data, size_t n);

/* kill_at: MILLRACE_KILL_AT for it, or NULL. Waits for READY unless it is NULL-named. */
struct child *desk_start(struct desk *d, enum actor_kind kind, unsigned index, const char *kill_at);
void desk_signal(struct child *c, int number);
/* True when it ended within the time; status is set. */
bool desk_wait_end(struct desk *d, struct child *c, int timeout_ms);

struct lease_ref desk_grant(struct desk *d, const struct child *synthd, const struct child *gpud,
                            const struct want *w);
void desk_ring(struct desk *d, const struct child *synthd, struct lease_ref r);
void desk_send(struct desk *d, const struct child *c, const struct message *m);
/* Turns the loop until the row is in one of the states (1u << LEASE_...) or time is up. */
bool desk_wait(struct desk *d, struct lease_ref r, unsigned states, int timeout_ms);
bool desk_wait_heard(struct desk *d, enum message_kind kind, unsigned count, int timeout_ms);
void desk_turn(struct desk *d, int timeout_ms);
/* Reads the result, frees the lease and its extent. */
void desk_settle(struct desk *d, struct lease_ref r, struct lease_result *out);
bool desk_all_free(struct desk *d);

/* The sums that a witness file must give, computed here. */
void desk_expected(const struct circuit *c, const char *wtns_path, struct groth16_sums *out);
