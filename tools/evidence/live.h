/* live: what an instance is doing at this moment, seen from outside: heartbeats and counters out of
 * the stat pages, leases out of the arenas, the last steps out of the span rings, and what only the
 * desk knows by asking it. For top and the gateway.
 *
 *     struct live *v = live_open(&instance, &(struct live_options){.window_s = 60}, &err);
 *     for (;;) { live_turn(v, 100); draw(v); }
 *     live_close(&v);
 *
 * live_turn never waits for the desk: a desk that is away leaves its last report in place, with its
 * age. Reading shared memory takes no lock and cannot slow what is read. Times are CLOCK_MONOTONIC
 * where not said otherwise. All pointers are valid until the next live_turn. One thread. */
#pragma once
#include <jansson.h>
#include "account.h"
#include "collect.h"
#include "instance.h"
#include "lease.h"
#include "stat.h"

enum { LIVE_SPANS_MAX = 200000, LIVE_STEP_OPEN = 1 };

struct live_options {
    double window_s;        /* how far back spans, partitions and accounts reach (60) */
    double ask_s;           /* how often the desk is asked for its reports (1); < 0: never */
    unsigned jobs;          /* how many of the newest jobs to keep (100) */
    bool as_gateway;        /* asks as the gateway, else as a client */
    bool account_of_window; /* make .account at each turn */
};

/* A daemon: the newest run of its name. */
struct live_actor {
    struct actor who;
    char name[ACTOR_NAME_MAX];
    bool running; /* the process of the page is there */
    uint32_t pid;
    uint64_t started_ns;       /* CLOCK_REALTIME */
    uint64_t heartbeat_age_ns; /* since its work loop turned last */
    char step[64];             /* what it is doing, for a person */
    uint64_t value[STAT_IDS];  /* of this run */
    uint64_t total[STAT_IDS];  /* counters over all runs of the name since live_open: never fall */
    double rate[STAT_IDS];     /* counters: growth a second over the last seconds */
};

struct live_node {
    unsigned node;
    uint64_t total_bytes, used_bytes, largest_free_bytes;
    uint32_t rows;
    uint32_t count[LEASE_STATES];     /* rows in that state */
    uint64_t oldest_ns[LEASE_STATES]; /* age of the one that is longest in it; 0: none */
    uint64_t edges[LEASE_EDGES], stale;
    enum arena_placement placement;
};

/* A row of a lease table that is not FREE. */
struct live_lease {
    unsigned node;
    uint32_t row, generation;
    enum lease_state state;
    struct actor owner, synthd, gpud; /* kind ACTOR_NONE: nobody yet */
    uint64_t job, age_ns;             /* age: in this state */
    uint32_t partition, n_partitions, attempt, priority;
    uint64_t extent_bytes; /* 0: given back already */
    bool cancelled;
};

/* A partition with what is known of it: its spans within the window, all attempts together, and its
 * lease while it has one. Ascending by begin. */
struct live_partition {
    uint64_t job;
    uint32_t partition, attempt; /* attempt: the latest seen */
    uint64_t begin_ns, end_ns;   /* end: of the last step seen, or now while it holds a lease */
    uint16_t outcome;            /* enum err_code of the last step that did not go well */
    bool open;                   /* holds a lease */
    struct live_lease lease;     /* when open */
    uint32_t first, n;           /* its spans: view.span_of[first .. first + n), by begin */
};

/* The desk's own account: JSON as in its reports (finalizd/report.c); NULL until it came. */
struct live_desk {
    bool present;      /* it answered within the last seconds */
    uint64_t heard_ns; /* age of its last sign; UINT64_MAX: never */
    json_t *status;    /* an object: state, jobs_open, partitions_waiting, memory, actors, ... */
    json_t *jobs;      /* an array, ascending by number: the newest */
    json_t *circuits;  /* an array */
};

struct live_view {
    uint64_t now_ns, wall_ns; /* CLOCK_MONOTONIC, CLOCK_REALTIME */
    uint64_t begin_ns;        /* of the window, or of this reader's beginning */
    struct live_actor *actor; /* finalizd, gpuds, synthds */
    size_t n_actors;
    struct live_node *node;
    size_t n_nodes;
    struct live_lease *lease;
    size_t n_leases;
    /* Those of the window, sorted; .lost counts since live_open. A step that a lease is in now has
     * a span too, from its begin until now, with `reserved` LIVE_STEP_OPEN: what kind of step it
     * is, only its end will tell for sure. */
    struct spans spans;
    struct live_partition *partition;
    size_t n_partitions;
    uint32_t *span_of;       /* indices into spans.at, grouped by partition */
    struct account *account; /* one a gpud that there is or was, over the window, when asked for */
    size_t n_accounts;
    struct live_desk desk;
};

struct live;
struct live *live_open(const struct instance *in, const struct live_options *o, struct err *e);
void live_close(struct live **v);

/* Waits up to wait_ms (less when the desk answers), then reads everything. ERR_MEMORY alone. An
 * instance that is down is no error: the view says so. */
enum err_code live_turn(struct live *v, int wait_ms, struct err *e);
const struct live_view *live_view(const struct live *v);

/* Called with every span once, in ring order, as live_turn reads it (for counters over all time).
 * Those that ended before live_open are not shown. */
typedef void live_span_fn(void *arg, const struct span *s, const struct span_source *from);
void live_on_span(struct live *v, live_span_fn *fn, void *arg);
