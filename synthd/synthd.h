/* synthd: fills extents. One process works on one NUMA node; the life of a partition here:
 *
 *   take (main thread)     GRANTED and mine: claim -> FILLING; its input opened in the spool
 *   program (main thread)  input.json: the circuit's program runs in a process of its own
 *   witness (fill thread)  the witness read from its file straight into the extent, and checked
 *   evaluate (fill thread) a = A w and b = B w, in place, on all CPUs of the node
 *   publish (fill thread)  FILLING -> READY; the main thread rings the gpud and tells the desk
 *
 * What goes wrong on the way is a stated failure of that partition (lease_fail) and of no other.
 * The cancel word is looked at between the steps; a running program is killed for it. */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "arena.h"
#include "circuit_cache.h"
#include "instance.h"
#include "lane.h"
#include "lease.h"
#include "member.h"
#include "pool.h"
#include "program.h"
#include "span.h"
#include "stat.h"

enum { WORK_MAX = 16, GPUDS_MAX = 256 };

enum work_stage {
    WORK_NONE,
    WORK_PROGRAM, /* its witness program runs; main thread */
    WORK_QUEUED,  /* its witness can be read; waits for the fill thread */
    WORK_FILLING, /* the fill thread has it */
    WORK_ENDED,   /* published, failed or taken away; the main thread tells and forgets it */
};

/* One lease that this process holds. */
struct work {
    enum work_stage stage; /* guarded by synthd.lock */
    struct lease_ref ref;
    struct lease_terms terms;
    struct program program;
    int input_fd;       /* what the next step reads; -1: none */
    uint64_t queued_ns; /* since when it waits for the fill thread */
    /* How it ended. */
    bool published, lost; /* lost: the lease was taken away, nothing is to be said */
    enum err_code code;
    struct err why;
};

struct synthd_settings {
    unsigned threads;  /* of the pool; 0: one per CPU of the node */
    unsigned programs; /* witness programs at once; 0: one per CPU, 8 at most */
    struct program_limits program;
};

struct synthd {
    struct instance instance;
    struct actor self;
    actor_id id;
    struct arena arena;
    struct synthd_settings settings;
    char runner[4096]; /* millrace-wasm; "" where it was not found, runner_why says so */
    char runner_why[256];
    struct circuit_cache *circuits;
    struct pool *pool;
    struct stats *stats;

    /* main thread */
    struct lanes *lanes;
    struct member member;
    struct lane *gpud[GPUDS_MAX]; /* connected when first needed */
    struct span_ring *take_ring;
    uint64_t done;
    int lock_fd;

    /* fill thread */
    pthread_t fill_thread;
    struct span_ring *fill_ring;

    /* between them */
    pthread_mutex_t lock;
    pthread_cond_t wake; /* something is QUEUED, or closing */
    bool closing;
    int ended_fd; /* eventfd: something is ENDED */
    struct work work[WORK_MAX];
};

/* --- settings.c ---------------------------------------------------------------------------- */

struct synthd_options {
    const char *dir; /* NULL: instance_default_dir */
    unsigned node, index;
};
enum err_code options_parse(int argc, char **argv, struct synthd_options *o, struct err *e);
/* DIR/millrace.conf, [synthd]. cpus: that this process may use. */
enum err_code settings_read(const struct instance *in, unsigned cpus, struct synthd_settings *out,
                            struct err *e);

/* --- take.c: main thread ------------------------------------------------------------------- */

/* Claims the lease in this row if it is granted to us and there is room for it. */
void take_row(struct synthd *s, uint32_t row);
/* Claims whatever the table has for us; `late`: by the timer, so that a doorbell was lost. */
void take_scan(struct synthd *s, bool late);
/* Programs that ended or ran too long, cancelled work. Call at each turn; true when one ended. */
bool take_watch(struct synthd *s);
void take_abort(struct synthd *s);       /* kills every running program */
unsigned take_in_hand(struct synthd *s); /* leases held */

/* --- fill.c: the fill thread --------------------------------------------------------------- */

enum err_code fill_begin(struct synthd *s, struct err *e); /* starts the thread */
void fill_end(struct synthd *s);                           /* after its present work */
/* Fails the lease with the reason in w->why (or marks it lost) and marks the work ENDED. */
void work_fail(struct synthd *s, struct work *w);
struct span_who work_who(const struct work *w);

/* --- witness.c, evaluate.c: steps of the fill thread ---------------------------------------- */

/* Opens the lease's input in the spool: a regular file of ours, no link followed. */
enum err_code witness_open(struct synthd *s, struct work *w, struct err *e);
/* The witness straight into the extent: curve, count, every value below r, w[0] = 1. */
enum err_code witness_read(struct synthd *s, struct work *w, const struct circuit *c,
                           struct err *e);
/* a and b in place. */
enum err_code evaluate(struct synthd *s, struct work *w, const struct circuit *c, struct err *e);

/* --- publish.c ----------------------------------------------------------------------------- */

/* Moves the lease to READY; false when it was taken away. Fill thread. */
bool publish(struct synthd *s, struct work *w);
/* Rings gpud and desk for what has ended, and forgets it; true when there was any. Main thread. */
bool publish_ended(struct synthd *s);
