/* state: what the objects of the desk share. All of it belongs to the desk's thread.
 *
 *   job ──▶ partition ──▶ flight (one attempt that has an extent) ──▶ row of the lease table
 *
 * A partition's life here, beside the lease word's:
 *
 *   WAITING ──grant──▶ STARTING ──attempt committed──▶ FLYING ──PROVED──▶ FINISHING
 *      ▲                  │                              │                   │ verified
 *      └──────────────────┴────── failed attempt ────────┴───────────────────┤
 *                                                                            ▼
 *                                     DONE ◀──────result committed────── COMMITTING
 *
 * A job that ends early leaves its flights behind as orphans (part == NULL): they are cancelled,
 * and their rows and extents come back as their owners let go. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include "actors.h"
#include "alive.h"
#include "arena.h"
#include "circuit.h"
#include "finisher.h"
#include "keys.h"
#include "lane.h"
#include "lease.h"
#include "ledger.h"
#include "order.h"
#include "settings.h"
#include "span.h"
#include "stat.h"
#include "workers.h"

enum { NAME_BYTES = 64, SYNTHD_STATES = (1 << LEASE_GRANTED) | (1 << LEASE_FILLING) };

struct desk;

/* --- circuits.c ---------------------------------------------------------------------------- */

struct circuit_entry {
    unsigned index; /* in the table, stable; what order.h calls circuit */
    uint8_t digest[32];
    char alias[NAME_BYTES];
    bool urgent, removed, removing; /* removing: until its file is gone */
    struct circuit *map; /* counts and verification key (circuit_head); NULL: cannot be read */
    uint64_t key_bytes;  /* its file: what the host is charged while any daemon maps it, and a
                            device until its daemon says better */
    uint64_t extent_bytes, w_offset, a_offset, b_offset; /* layout with a and b */
    uint64_t witness_bytes; /* extent where the backend evaluates: w alone, at w_offset */
    uint32_t open_jobs, flights;
};

/* --- peers.c ------------------------------------------------------------------------------- */

/* A daemon that said HELLO (or whose death is still to be dealt with), or a supervisor. */
struct peer {
    struct peer *next;
    struct actor actor;
    actor_id id;
    char route[ROUTING_ID_MAX];
    struct alive_id who;
    int pidfd;                                    /* -1: cannot be watched */
    bool introduced, ready, draining, dead, late; /* introduced: it said HELLO to this desk */
    bool succeeded; /* a later incarnation of its name has entered: it is dead */
    bool innocent;  /* it said BYE: a drain is nobody's fault */
    bool killed;    /* by the desk, for its time limit */
    bool said_bye;  /* it went by itself */
    uint64_t nodes; /* arenas it has mapped */
    uint64_t heard_ns;
    unsigned numa_node; /* 255: unknown */
    /* gpud */
    char backend[16], device[128];
    unsigned max_in_flight;
    bool evaluates, early_upload;
    uint64_t memory_bytes;
    uint64_t done, charged_bytes; /* as its last heartbeat said */
    struct key_set keys;          /* gpud: on its device; synthd: what it has mapped */
    /* Leases by state, as last looked at: synthd GRANTED, FILLING; gpud those that are on their
     * way to it (GRANTED, FILLING), READY, PROVING, UPLOADED. */
    unsigned count[LEASE_STATES];
    unsigned refs;                   /* flights that name it */
    const struct partition *suspect; /* that runs alone here, or waits until it can */
    uint64_t died_ns;
};

/* --- nodes --------------------------------------------------------------------------------- */

struct node {
    bool present;
    struct arena arena;
    struct flight **row; /* by lease row; NULL: free for a grant */
    uint32_t n_rows;
    uint32_t *free_rows, n_free_rows;
    struct extent reserve; /* kept for the urgent class; bytes 0: none */
    bool reserve_lent;
};

/* --- jobs and partitions ------------------------------------------------------------------- */

enum partition_state {
    PART_WAITING,
    PART_STARTING,
    PART_FLYING,
    PART_FINISHING,
    PART_COMMITTING,
    PART_DONE
};

struct partition {
    struct job *job;
    uint32_t index, attempts, deaths_alone, rejections;
    enum partition_state state;
    bool suspect;   /* it was in flight at a death with others: it runs alone next */
    bool checking;  /* its witness is being checked against the constraints */
    actor_id avoid; /* gpud whose proof failed its check: another one is preferred */
    struct flight *flight;
    uint64_t wait_ns;         /* since when it waits, CLOCK_MONOTONIC */
    uint8_t *proof, *publics; /* kept until the job is answered */
    uint32_t proof_bytes, publics_bytes;
};

enum job_state { JOB_COMMITTING, JOB_OPEN, JOB_ENDING };

struct awaiter {
    struct awaiter *next;
    char route[ROUTING_ID_MAX];
    uint64_t tag;
    bool progress;
};

struct job {
    struct order_entry order;
    struct desk *desk;
    struct job *hash_next;
    struct job *next, **link; /* every job of the desk, oldest first */
    uint64_t id;
    enum job_state state;
    struct circuit_entry *circuit;
    char client[NAME_BYTES], request[NAME_BYTES], spool[NAME_BYTES];
    uint8_t content[32];
    uint32_t flags;                  /* enum ledger_job_flag */
    uint64_t submit_ns, deadline_ns; /* CLOCK_REALTIME */
    uint64_t accepted_ns;            /* CLOCK_MONOTONIC, for its span */
    int wait_kind;                   /* what its next partition waits for: enum span_kind */
    uint64_t wait_since_ns;
    uint32_t n, n_waiting, n_done, n_committing;
    uint32_t first_waiting; /* none waits before that */
    enum ledger_job_state end_state;
    struct err end;
    struct awaiter *awaiters;
    char submit_route[ROUTING_ID_MAX]; /* whom ACCEPTED goes to */
    uint64_t submit_tag;
    struct awaiter *cancellers;
    struct partition part[];
};

/* --- flights ------------------------------------------------------------------------------- */

struct flight {
    struct work work;            /* capture and wipe, on a worker */
    struct finish finish;        /* the proof, on a finisher */
    struct flight *next, **link; /* all of them */
    struct desk *desk;
    struct partition *part; /* NULL: its job has ended */
    struct circuit_entry *circuit;
    uint64_t job;
    uint32_t index, attempt;
    unsigned node;
    uint32_t row;
    struct lease_ref ref;
    struct extent extent;
    bool from_reserve;
    struct peer *synthd, *gpud;
    enum lease_state seen;    /* FREE: the attempt is being committed, nothing is granted yet */
    enum lease_state counted; /* as what it stands in its peers' counts; FREE: not at all */
    bool urgent, evaluate_gpu;
    const struct partition *alone_for; /* its peers are kept for it alone; only compared */
    bool captured;                     /* publics are copied out of the extent */
    bool sweeping;                     /* a worker has the extent */
    bool extent_gone;                  /* the extent went back */
    bool with_finisher, committing;
    bool settled; /* the row is FREE again */
    bool cancelled, killed, gone;
    struct flight *grave;
    uint64_t wiped_ns;
    uint64_t publics_bytes;
    fr_t *publics;
    uint64_t attempt_ns;   /* its commit was begun */
    uint64_t committed_ns; /* the verdict; 0: there was none to commit */
    enum err_code failed;  /* why the attempt ends without a proof */
};

/* --- the desk ------------------------------------------------------------------------------ */

enum { JOB_HASH = 65536 };

struct desk {
    struct settings set;
    struct instance instance;
    struct actor self;
    actor_id self_id;
    int lock_fd;
    struct lanes *lanes;
    struct lane *peer_lane, *client_lane;
    struct ledger *ledger;
    struct finisher *finisher;
    struct workers *sweepers, *intake, *trimmer;
    struct work trim;
    bool trim_queued;
    struct stats *stats;
    struct span_ring *spans;
    struct node nodes[ARENA_NODES_MAX];
    unsigned n_nodes;
    uint64_t node_mask;
    struct job *kept_for; /* grant.c: room gathers on kept_node for the head, this job */
    unsigned kept_node;
    struct circuit_entry **circuits;
    unsigned n_circuits;
    struct peer *peers;
    struct job *jobs, **jobs_tail, *hash[JOB_HASH];
    uint64_t n_jobs, n_open_partitions, n_waiting;
    struct order *order;
    struct quota *quotas;
    struct flight *flights, *graves;
    uint64_t n_flights;
    struct key_set host_keys; /* circuits mapped by any daemon */
    uint64_t evidence_bytes;  /* span rings and counters, as last looked at */
    uint64_t evidence_room;   /* and what they may come to */
    struct sending *sendings; /* answer.c: answers that are not out yet */
    struct blame *blames;     /* death.c: deaths whose reason is not known yet */
    uint64_t trim_began_ns, trim_ended_ns;
    struct fin_line *lines; /* timing.c: lines that wait for malloc_trim to end */
    size_t n_lines, line_cap;
    struct outage *outages; /* outage.c: daemons that are down */
    bool has_dead;          /* a dead peer may still be named by flights */
    bool grant_due, draining, stopping;
    uint64_t drain_until_ns;
    struct awaiter *drain_askers;
    uint64_t now_ns; /* CLOCK_MONOTONIC, once a turn */
    uint64_t next_scan_ns, next_second_ns, next_sweep_ns;
    uint64_t ended_done, ended_failed;
    int signal_fd;
};

static inline uint64_t wall_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
