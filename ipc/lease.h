/* lease: a row of the lease table: one partition, its extent and the state it is in. The lease word
 * is the truth; a message is a doorbell.
 *
 *                     desk         synthd        synthd         gpud           gpud
 *            ┌──────▶ GRANTED ───▶ FILLING ─────▶ READY ───────▶ PROVING ─────▶ UPLOADED
 *            │ grant     │  claim     │  publish   │ ▲ take       │  │ uploaded   │
 *            │           │            │            │ └─requeue────┘  │            │
 *          FREE ◀────────┴────────────┴────────────┘  (gpud dead)    │proved      │proved
 *            ▲   withdraw / abandon                                  ▼            ▼
 *            │                                                      PROVED ◀──────┘
 *            └── settle ◀── PROVED, FAILED ◀── fail: FILLING, PROVING, UPLOADED
 *
 * Row 64-bit word: generation 24 | state 4 | owner 36 (an actor_id: kind, node, index and
 * incarnation). Every transition below is one compare-and-swap by the one who may make it. When the
 * word is no longer what the caller believes (a stale or repeated message, a lease that was taken
 * away), the function changes nothing, counts it (arena_header.stale) and returns false; that is
 * not an error, the caller drops what it held and goes on. A word that only a broken program could
 * have made is an invariant.
 *
 * Who writes what: the desk's thread writes terms and bookkeeping of a row while it is FREE; the
 * owner writes at_ns of its step and the result cell; `cancel` and `target` are words of the desk
 * that owners read between steps. Memory order: a transition releases everything written before it
 * and acquires what the one before released.
 *
 * The generation grows by one at each grant, so a ref names one attempt at one partition. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "actors.h"
#include "arena.h"

enum lease_state {
    LEASE_FREE = 0,
    LEASE_GRANTED = 1,  /* owner: the synthd that it was granted to, which has not started */
    LEASE_FILLING = 2,  /* owner: that synthd, writing the extent */
    LEASE_READY = 3,    /* owner: the gpud that is to take it */
    LEASE_PROVING = 4,  /* owner: that gpud, reading the extent */
    LEASE_UPLOADED = 5, /* owner: that gpud, no longer reading: the desk may reclaim the extent */
    LEASE_PROVED = 6,   /* owner: that gpud, done with it: the sums are in the result cell */
    LEASE_FAILED = 7,   /* owner: who failed, done with it: the reason is in the result cell */
    LEASE_STATES = 8
};
const char *lease_state_name(enum lease_state s); /* "FREE", "GRANTED", ... */

/* Every edge of the table, in the order of its row in DESIGN.md. */
enum lease_edge {
    EDGE_GRANT,    /* FREE -> GRANTED               desk */
    EDGE_CLAIM,    /* GRANTED -> FILLING            synthd, the owner */
    EDGE_PUBLISH,  /* FILLING -> READY              synthd, the owner */
    EDGE_TAKE,     /* READY -> PROVING              gpud, the owner */
    EDGE_UPLOADED, /* PROVING -> UPLOADED           gpud, the owner */
    EDGE_PROVED,   /* PROVING, UPLOADED -> PROVED   gpud, the owner */
    EDGE_FAIL,     /* FILLING, PROVING, UPLOADED -> FAILED  the owner (also when it sees cancel) */
    EDGE_SETTLE,   /* PROVED, FAILED -> FREE        desk, verdict committed */
    EDGE_WITHDRAW, /* GRANTED, READY -> FREE        desk: nobody has begun with it */
    EDGE_ABANDON,  /* GRANTED, FILLING, PROVING, UPLOADED -> FREE   desk: owner proven dead */
    EDGE_REASSIGN, /* READY -> READY, other owner   desk */
    EDGE_REQUEUE,  /* PROVING -> READY, other owner desk: owner proven dead, extent intact */
    LEASE_EDGES
};
const char *lease_edge_name(enum lease_edge edge); /* "grant", "claim", ... */

/* Flags of the terms. */
enum {
    LEASE_INPUT_JSON = 1 << 0,   /* the spool file is an input.json for the circuit's program */
    LEASE_EVALUATE_GPU = 1 << 1, /* synthd leaves a and b alone: the backend evaluates from w */
    LEASE_VOLATILE = 1 << 2,     /* the input does not survive a crash of the machine */
    LEASE_ALONE = 1 << 3,        /* a suspect: it runs with nothing else in flight at its owner */
    LEASE_RETRY = 1 << 4,        /* proved once already and its check failed */
    LEASE_URGENT = 1 << 5,
};

enum { LEASE_SPOOL_MAX = 95 };

/* What the desk decides about a partition before it grants it. */
struct lease_terms {
    uint64_t job;       /* > 0 */
    uint32_t partition; /* 0 .. n_partitions - 1 */
    uint32_t n_partitions;
    uint32_t attempt;       /* 1 .. */
    uint32_t priority;      /* 0 is served first */
    uint64_t submitted_ns;  /* CLOCK_REALTIME of ACCEPTED: the job's age */
    uint64_t deadline_ns;   /* CLOCK_REALTIME, 0: none */
    uint64_t step_limit_ns; /* an owner that holds one step longer is killed; 0: none */
    uint32_t flags;
    uint32_t domain_log2;
    uint8_t circuit[32]; /* digest: the circuit's name in the store */
    actor_id target;     /* gpud that is to take it */
    struct extent extent;
    uint64_t w_offset, a_offset, b_offset; /* from the start of the bulk segment */
    uint64_t w_count, ab_count;            /* in scalars of 32 bytes; ab_count 0: no a, b */
    char spool[LEASE_SPOOL_MAX + 1];       /* name below DIR/spool */
};

/* One row, 512 bytes in shared memory. */
struct lease_row {
    _Atomic uint64_t word;
    _Atomic uint64_t cancel;      /* desk: generation << 8 | enum lease_cancel */
    _Atomic uint64_t target;      /* desk: actor_id of the gpud that publish hands over to */
    _Atomic uint32_t extent_held; /* desk: 1 while the extent belongs to this row */
    uint32_t attempt;
    uint64_t job;
    uint32_t partition, n_partitions;
    uint32_t priority, flags;
    uint64_t submitted_ns, deadline_ns, step_limit_ns;
    uint64_t extent_offset, extent_bytes;
    uint64_t w_offset, a_offset, b_offset;
    uint64_t w_count, ab_count;
    uint32_t domain_log2, reserved;
    uint8_t circuit[32];
    char spool[LEASE_SPOOL_MAX + 1];
    _Atomic uint64_t at_ns[LEASE_STATES]; /* CLOCK_MONOTONIC: when this state was entered last */
    _Atomic actor_id synthd, gpud;        /* who filled it, who took it (for tools and blame) */
    _Atomic uint64_t finish_ns[3];        /* gpud: see lease_note_finish */
    uint8_t padding[136];
};
_Static_assert(sizeof(struct lease_row) == 512, "shared layout");
_Static_assert(offsetof(struct lease_row, word) == 0, "shared layout");
_Static_assert(offsetof(struct lease_row, job) == 32, "shared layout");
_Static_assert(offsetof(struct lease_row, circuit) == 144, "shared layout");
_Static_assert(offsetof(struct lease_row, spool) == 176, "shared layout");
_Static_assert(offsetof(struct lease_row, at_ns) == 272, "shared layout");

enum { LEASE_SUMS_MAX = 960, LEASE_TIMING_WORDS = 16, LEASE_REASON_MAX = 511 };

/* What an owner leaves for the desk. SECRET while it holds sums: the desk wipes the cell when it
 * settles. */
struct lease_result {
    uint32_t code;                       /* enum err_code; 0: sums are valid */
    uint32_t sums_bytes;                 /* of sums in use */
    uint8_t sums[LEASE_SUMS_MAX];        /* struct groth16_sums, as the backend gave it */
    uint64_t timing[LEASE_TIMING_WORDS]; /* struct prove_timing */
    char reason[LEASE_REASON_MAX + 1];   /* when code is not 0: one line for a person */
};

/* One cell, 2 KiB in shared memory; cell i belongs to row i. */
struct lease_cell {
    uint64_t generation; /* of the attempt that wrote it */
    uint64_t checksum;   /* over generation and result */
    struct lease_result result;
    uint8_t padding[2048 - 16 - sizeof(struct lease_result)];
};
_Static_assert(sizeof(struct lease_cell) == 2048, "shared layout");
_Static_assert(sizeof(struct lease_result) == 8 + 960 + 128 + 512, "shared layout");

/* Names one attempt at one partition; this is what messages carry. */
struct lease_ref {
    uint64_t arena_epoch;
    uint32_t node, row, generation;
};

/* The word taken apart. */
struct lease_view {
    uint32_t generation;
    enum lease_state state;
    actor_id owner;
};
uint64_t lease_pack(struct lease_view v);
struct lease_view lease_unpack(uint64_t word);

struct lease_row *lease_row(const struct arena *a, uint32_t row);   /* NULL when out of range */
struct lease_view lease_look(const struct arena *a, uint32_t row);  /* acquire */
struct lease_ref lease_ref_of(const struct arena *a, uint32_t row); /* of what stands there now */
/* Copies the terms of a row; only for its owner or the desk (others may see a mix of two grants,
 * and check the word again afterwards). */
void lease_terms_read(const struct arena *a, uint32_t row, struct lease_terms *out);

/* --- the edges ----------------------------------------------------------------------------- */

/* desk. The row must be FREE, its extent given back (extent_held 0) and t->extent cut. Wipes the
 * result cell, writes the terms, marks the extent held, and grants. *ref is what GRANT carries. */
bool lease_grant(struct arena *a, uint32_t row, const struct lease_terms *t, actor_id synthd,
                 struct lease_ref *ref);
bool lease_claim(struct arena *a, struct lease_ref r, actor_id self);
/* Hands over to the row's target, whoever that is now. */
bool lease_publish(struct arena *a, struct lease_ref r, actor_id self);
bool lease_take(struct arena *a, struct lease_ref r, actor_id self);
bool lease_uploaded(struct arena *a, struct lease_ref r, actor_id self);
/* Write the result cell, then move the word. result->code must be 0 for proved, not 0 for fail. */
bool lease_proved(struct arena *a, struct lease_ref r, actor_id self,
                  const struct lease_result *result);
bool lease_fail(struct arena *a, struct lease_ref r, actor_id self, uint32_t code,
                const char *reason);
/* gpud, before lease_proved or lease_fail: when prove_finish began and ended and when it began to
 * write the cell (CLOCK_MONOTONIC), for whoever accounts for this attempt. */
void lease_note_finish(struct arena *a, struct lease_ref r, actor_id self, uint64_t begin_ns,
                       uint64_t end_ns, uint64_t release_ns);
/* desk, after the verdict (or the failure) is committed. Wipes the cell. The extent is still the
 * row's when it was held: see lease_extent_due. */
bool lease_settle(struct arena *a, struct lease_ref r);
/* desk: takes back what nobody has begun with (cancelled, better placed, synthd draining). */
bool lease_withdraw(struct arena *a, struct lease_ref r);
/* desk, after `dead` is proven dead (alive.h): the partition is to be granted anew, or its job is
 * cancelled. */
bool lease_abandon(struct arena *a, struct lease_ref r, actor_id dead);
bool lease_reassign(struct arena *a, struct lease_ref r, actor_id from, actor_id to);
bool lease_requeue(struct arena *a, struct lease_ref r, actor_id dead, actor_id to);

/* --- beside the word ----------------------------------------------------------------------- */

enum lease_cancel {
    CANCEL_NONE = 0,
    CANCEL_BY_CLIENT = 1,
    CANCEL_DEADLINE = 2,
    CANCEL_SIBLING_FAILED = 3,
    CANCEL_DUPLICATE = 4, /* another attempt delivered first */
};
const char *lease_cancel_name(enum lease_cancel why);
/* desk: asks the owner to stop at its next step. Harmless when the attempt is over already. */
void lease_cancel(struct arena *a, struct lease_ref r, enum lease_cancel why);
/* Owners, between steps. An owner that sees one calls lease_fail with ERR_CANCELLED. */
enum lease_cancel lease_cancelled(const struct arena *a, struct lease_ref r);

/* desk: names another gpud for a lease that is not published yet. */
void lease_retarget(struct arena *a, struct lease_ref r, actor_id to);

/* Reads the result cell of a PROVED or FAILED lease. false when its generation or checksum does
 * not fit: the result is then treated as a failed attempt. */
bool lease_result_read(const struct arena *a, struct lease_ref r, struct lease_result *out);

/* desk: the row still holds an extent that nobody reads or writes any more (state FREE, UPLOADED,
 * PROVED, or FAILED): wipe it (any thread), then call lease_extent_returned (the desk's). */
bool lease_extent_due(const struct arena *a, uint32_t row, struct extent *out);
/* desk: the wiped extent goes back to the map. */
void lease_extent_returned(struct arena *a, uint32_t row);

/* --- scans --------------------------------------------------------------------------------- */

/* Next row at or after *row (0 to begin) in `state` owned by `owner` (0: anyone); leaves *row on
 * it. false at the end. The re-scan that makes lost doorbells harmless:
 *     for (uint32_t i = 0; lease_next(a, LEASE_READY, self, &i); i++) ... */
bool lease_next(const struct arena *a, enum lease_state state, actor_id owner, uint32_t *row);
/* How many leases `owner` holds, in states of the bit mask (1u << LEASE_PROVING | ...). Credit is
 * derived from this, never counted. */
unsigned lease_count(const struct arena *a, unsigned states, actor_id owner);
/* The order in which a gpud takes what is ready: priority, job age, job, partition. < 0: x first.
 */
int lease_order(const struct lease_row *x, const struct lease_row *y);

/* desk, at start: rebuilds the extent map from the rows (a row holds its extent while extent_held
 * is set), wipes the cells of FREE rows and repairs a grant that was cut short. Returns the number
 * of rows that are not FREE. ERR_FORMAT when two rows hold the same granule. */
enum err_code lease_recover(struct arena *a, uint32_t *in_use, struct err *e);

/* --- kill points --------------------------------------------------------------------------- */

/* In a build with -Dkill_points=true, MILLRACE_KILL_AT="lease.claim.before:3" raises SIGKILL when
 * that point is passed the third time in this process (":1" when left out). In a release build it
 * is nothing. Points: lease.EDGE.before, lease.EDGE.after for every edge, lease.grant.terms (terms
 * written, word not yet moved), lease.result.half (half the cell written), and those of the
 * daemons. Several are separated by commas. */
#ifdef MILLRACE_KILL_POINTS
void kill_point(const char *name);
#define KILL_POINT(name) kill_point(name)
#else
#define KILL_POINT(name) ((void)0)
#endif
