/* gpud: proves on one device. The life of a partition here:
 *
 *   desk (main thread)     doorbells in, outcomes out, heartbeats; owns the lanes
 *   take (take thread)     READY and mine, in order of (priority, job age, partition): READY ->
 *                          PROVING, key loaded if need be, prove_start; PROVING -> UPLOADED when
 *                          the backend no longer reads the extent. Owns the backend.
 *   finish (finish thread) prove_finish in the order of starts; result cell, -> PROVED or FAILED
 *
 * So a key load or a registration never delays a heartbeat, and the copies of the next partition
 * run under the kernels of the present one. What goes wrong is a stated failure of that partition.
 * A device that is lost (ERR_UNAVAILABLE from the backend) ends the process: its leases bring the
 * work back, and the supervisor starts another. */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "arena.h"
#include "backend.h"
#include "circuit_cache.h"
#include "instance.h"
#include "lane.h"
#include "lease.h"
#include "member.h"
#include "span.h"
#include "stat.h"

enum { FLIGHTS_MAX = 16, OUTBOX_MAX = 256, ASKED_MAX = 64 };

/* One partition that this process has taken. */
struct flight {
    struct lease_ref ref;
    struct lease_terms terms;
    struct arena *arena;
    const struct circuit *circuit; /* borrowed from the cache */
    int ticket;
    bool uploaded; /* nothing more to poll for; take thread */
    bool settling; /* the finish thread moves the lease now; guarded by gpud.lock */
    /* CLOCK_MONOTONIC; 0: did not happen */
    uint64_t ready_ns, seen_ns, taken_ns, load_begin_ns, load_end_ns, start_begin_ns, start_end_ns;
    uint64_t uploaded_ns;
};

/* What the main thread is to tell the desk. */
struct note {
    enum message_kind kind;
    struct lease_ref ref;
    uint64_t job;
    uint32_t partition, attempt;
    /* FAILED, CIRCUIT_STATE */
    uint32_t code;
    uint8_t circuit[32];
    bool resident;
    uint64_t bytes;
    char reason[256];
};

/* What the desk asks of the take thread. */
struct asked {
    bool evict; /* else: load */
    uint8_t circuit[32];
};

struct gpud_options {
    const char *dir;     /* NULL: instance_default_dir */
    const char *backend; /* NULL: cuda when it is built and a device is there, else cpu */
    unsigned index, device;
    int node; /* -1: the device's own, where it says one */
};

struct gpud_settings {
    uint64_t memory_bytes; /* of the device, for keys and work; 0: what is there */
    unsigned threads;      /* of the cpu backend; 0: one per CPU */
};

struct gpud {
    struct gpud_options options;
    struct gpud_settings settings;
    struct instance instance;
    struct actor self;
    actor_id id;
    int lock_fd;
    const struct backend_ops *ops;
    struct backend *backend;
    struct backend_caps caps;
    struct arena arena[ARENA_NODES_MAX];
    uint64_t nodes; /* bit n: arena[n] is attached */
    uint64_t register_ns;
    struct circuit_cache *circuits;
    struct stats *stats;

    /* main thread */
    struct lanes *lanes;
    struct lane *own; /* gpud.N: synthds ring here */
    struct member member;
    struct span_ring *main_ring;

    /* take thread */
    pthread_t take_thread;
    struct span_ring *take_ring;
    uint64_t *seen_word[ARENA_NODES_MAX]; /* per row: lease word that was first seen READY ... */
    uint64_t *seen_ns[ARENA_NODES_MAX];   /* ... and when */
    uint64_t idle_since_ns;               /* 0: not idle */
    int take_fd;                          /* eventfd: look at the table, the asked, the finished */

    /* finish thread */
    pthread_t finish_thread;
    struct span_ring *finish_ring;

    /* between them */
    pthread_mutex_t lock;
    pthread_cond_t started; /* a flight was appended, or closing */
    /* A ring in the order of starts: flight[first] is the oldest. The take thread appends and
     * forgets, the finish thread works on number n_finished. */
    struct flight flight[FLIGHTS_MAX];
    unsigned first, n_flights, n_finished;
    bool taking;        /* a lease is being taken and started: not in the ring yet */
    bool closing, lost; /* lost: the device is gone */
    char lost_why[256];
    bool draining;
    struct note outbox[OUTBOX_MAX];
    unsigned out_first, out_n;
    int note_fd;                                     /* eventfd: outbox */
    struct member_circuit held[MEMBER_CIRCUITS_MAX]; /* circuits kept here, as last looked at */
    unsigned n_held;
    struct asked asked[ASKED_MAX];
    unsigned n_asked;
    uint64_t done;
    uint64_t take_turn_ns; /* when the take thread came round last ... */
    const char *long_step; /* ... or what it is doing meanwhile that may take long; NULL */
};

/* --- settings.c ---------------------------------------------------------------------------- */
enum err_code options_parse(int argc, char **argv, struct gpud_options *o, struct err *e);
enum err_code settings_read(const struct instance *in, struct gpud_settings *out, struct err *e);

/* --- choose.c: which backend ----------------------------------------------------------------- */
/* Opens the one asked for, or cuda where it can be had and cpu elsewhere, and says which. */
enum err_code choose_backend(struct gpud *g, struct err *e);

/* --- register.c ------------------------------------------------------------------------------ */
/* Maps every arena and registers it with the backend, once, before the first partition. */
enum err_code register_arenas(struct gpud *g, struct err *e);
void unregister_arenas(struct gpud *g);

/* --- take.c ---------------------------------------------------------------------------------- */
enum err_code take_begin(struct gpud *g, struct err *e);
void take_ring_bell(struct gpud *g);     /* any thread */
unsigned take_in_flight(struct gpud *g); /* any thread */
void take_end(struct gpud *g);           /* joins; nothing may be in flight */

/* --- start.c: one partition, by the take thread ------------------------------------------------
 */
/* Checks the terms, loads the key, prove_start. On failure the lease is failed and told. */
bool start_flight(struct gpud *g, struct flight *f);
/* PRELOAD and EVICT. False: it is in use, ask again when that is over. */
bool start_asked(struct gpud *g, const struct asked *a);

/* --- holdings.c --------------------------------------------------------------------------------
 */
bool holdings_in_use(struct gpud *g, const uint8_t digest[32]); /* by a partition in flight */
void holdings_look(struct gpud *g); /* take thread, whenever a key was loaded or let go */
void holdings_tell(struct gpud *g); /* main thread, once a turn */

/* --- finish.c ----------------------------------------------------------------------------------
 */
enum err_code finish_begin(struct gpud *g, struct err *e);
void finish_end(struct gpud *g); /* joins; nothing may be in flight */

/* --- timing.c ----------------------------------------------------------------------------------
 */
struct finish_times {
    uint64_t finish_begin_ns, finish_end_ns, release_begin_ns, release_end_ns;
};
/* Spans of the steps that only the backend saw, and the GPU_TIMING line. outcome: "proved",
 * "failed", "discarded", "lost" (with the device). timing may be all zero (the proof was never
 * started). */
void timing_report(struct gpud *g, struct span_ring *ring, const struct flight *f,
                   const struct prove_timing *timing, const struct finish_times *times,
                   const char *outcome, uint32_t code);
struct span_who flight_who(const struct flight *f);

/* --- notes.c: to the main thread -----------------------------------------------------------------
 */
void note_lease(struct gpud *g, enum message_kind kind, const struct flight *f, uint32_t code,
                const char *reason);
void note_circuit(struct gpud *g, const uint8_t digest[32], bool resident, uint64_t bytes,
                  uint32_t code, const char *reason);
void notes_send(struct gpud *g); /* main thread */
/* The device is lost: the process is to end. */
void note_lost(struct gpud *g, const char *why);
