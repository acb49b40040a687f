#include "lease.h"
#include <string.h>
#include <time.h>
#include "lease_cells.h"

static const char *const state_names[LEASE_STATES] = {"FREE",    "GRANTED",  "FILLING", "READY",
                                                      "PROVING", "UPLOADED", "PROVED",  "FAILED"};
static const char *const edge_names[LEASE_EDGES] = {"grant",    "claim",   "publish",  "take",
                                                    "uploaded", "proved",  "fail",     "settle",
                                                    "withdraw", "abandon", "reassign", "requeue"};
static const char *const cancel_names[] = {"none", "by-client", "deadline", "sibling-failed",
                                           "duplicate"};

const char *lease_state_name(enum lease_state s)
{
    return (unsigned)s < LEASE_STATES ? state_names[s] : "?";
}

const char *lease_edge_name(enum lease_edge edge)
{
    return (unsigned)edge < LEASE_EDGES ? edge_names[edge] : "?";
}

const char *lease_cancel_name(enum lease_cancel why)
{
    return (unsigned)why < sizeof cancel_names / sizeof *cancel_names ? cancel_names[why] : "?";
}

enum { GENERATION_MASK = 0xffffff };
static const uint64_t OWNER_MASK = (UINT64_C(1) << ACTOR_ID_BITS) - 1;

uint64_t lease_pack(struct lease_view v)
{
    INVARIANT(v.generation <= GENERATION_MASK && (unsigned)v.state < LEASE_STATES &&
              v.owner <= OWNER_MASK);
    return (uint64_t)v.generation << 40 | (uint64_t)v.state << 36 | v.owner;
}

struct lease_view lease_unpack(uint64_t word)
{
    return (struct lease_view){.generation = (uint32_t)(word >> 40),
                               .state = (enum lease_state)(word >> 36 & 15),
                               .owner = word & OWNER_MASK};
}

struct lease_row *lease_row(const struct arena *a, uint32_t row)
{
    if (row >= a->header->rows)
        return NULL;
    return (struct lease_row *)((uint8_t *)a->header + a->header->rows_offset) + row;
}

struct lease_view lease_look(const struct arena *a, uint32_t row)
{
    const struct lease_row *r = lease_row(a, row);
    INVARIANT(r != NULL);
    return lease_unpack(atomic_load_explicit(&r->word, memory_order_acquire));
}

struct lease_ref lease_ref_of(const struct arena *a, uint32_t row)
{
    return (struct lease_ref){.arena_epoch = a->header->epoch,
                              .node = a->node,
                              .row = row,
                              .generation = lease_look(a, row).generation};
}

static uint64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void count(_Atomic uint64_t *counters, enum lease_edge edge)
{
    atomic_fetch_add_explicit(&counters[edge], 1, memory_order_relaxed);
}

/* One transition: the row must stand in one of the states `from` (bits), with this generation and
 * owner (0: any). The only compare-and-swap on a lease word. */
static bool move(struct arena *a, struct lease_ref ref, enum lease_edge edge, unsigned from,
                 actor_id owner, enum lease_state to, actor_id new_owner)
{
    struct lease_row *row = lease_row(a, ref.row);
    if (row && ref.arena_epoch == a->header->epoch) {
        uint64_t word = atomic_load_explicit(&row->word, memory_order_acquire);
        struct lease_view v = lease_unpack(word);
        if (v.generation == ref.generation && (from >> v.state & 1) &&
            (owner == 0 || v.owner == owner)) {
            struct lease_view next = {ref.generation, to, new_owner};
            /* Before the word moves: afterwards the row may be another's already. A late writer
             * that loses the race below has then noted a time in a row it held until now. */
            atomic_store_explicit(&row->at_ns[to], now_ns(), memory_order_relaxed);
            if (atomic_compare_exchange_strong_explicit(&row->word, &word, lease_pack(next),
                                                        memory_order_acq_rel,
                                                        memory_order_acquire)) {
                count(a->header->edges, edge);
                return true;
            }
        }
    }
    count(a->header->stale, edge);
    return false;
}

#define BIT(state) (1u << LEASE_##state)

bool lease_grant(struct arena *a, uint32_t index, const struct lease_terms *t, actor_id synthd,
                 struct lease_ref *ref)
{
    struct lease_row *row = lease_row(a, index);
    INVARIANT(row && t->job > 0 && t->extent.bytes > 0 && synthd != 0 && t->target != 0 &&
              memchr(t->spool, 0, sizeof t->spool));
    struct lease_view was = lease_look(a, index);
    if (was.state != LEASE_FREE ||
        atomic_load_explicit(&row->extent_held, memory_order_relaxed) != 0) {
        count(a->header->stale, EDGE_GRANT);
        return false;
    }
    KILL_POINT("lease.grant.before");
    lease_cell_wipe(a, index);
    row->job = t->job;
    row->partition = t->partition;
    row->n_partitions = t->n_partitions;
    row->attempt = t->attempt;
    row->priority = t->priority;
    row->flags = t->flags;
    row->submitted_ns = t->submitted_ns;
    row->deadline_ns = t->deadline_ns;
    row->step_limit_ns = t->step_limit_ns;
    row->extent_offset = t->extent.offset;
    row->extent_bytes = t->extent.bytes;
    row->w_offset = t->w_offset;
    row->a_offset = t->a_offset;
    row->b_offset = t->b_offset;
    row->w_count = t->w_count;
    row->ab_count = t->ab_count;
    row->domain_log2 = t->domain_log2;
    memcpy(row->circuit, t->circuit, sizeof row->circuit);
    memcpy(row->spool, t->spool, sizeof row->spool);
    atomic_store_explicit(&row->synthd, synthd, memory_order_relaxed);
    atomic_store_explicit(&row->gpud, 0, memory_order_relaxed);
    for (unsigned s = 0; s < LEASE_STATES; s++)
        atomic_store_explicit(&row->at_ns[s], 0, memory_order_relaxed);
    for (unsigned i = 0; i < 3; i++)
        atomic_store_explicit(&row->finish_ns[i], 0, memory_order_relaxed);
    atomic_store_explicit(&row->target, t->target, memory_order_relaxed);
    atomic_store_explicit(&row->extent_held, 1, memory_order_release);
    KILL_POINT("lease.grant.terms");
    struct lease_view next = {(was.generation + 1) & GENERATION_MASK, LEASE_GRANTED, synthd};
    atomic_store_explicit(&row->cancel, (uint64_t)next.generation << 8, memory_order_relaxed);
    atomic_store_explicit(&row->at_ns[LEASE_GRANTED], now_ns(), memory_order_relaxed);
    /* Nobody else moves a FREE row, so a plain store is the one compare-and-swap here. */
    atomic_store_explicit(&row->word, lease_pack(next), memory_order_release);
    KILL_POINT("lease.grant.after");
    count(a->header->edges, EDGE_GRANT);
    *ref = lease_ref_of(a, index);
    return true;
}

bool lease_claim(struct arena *a, struct lease_ref r, actor_id self)
{
    KILL_POINT("lease.claim.before");
    bool ok = move(a, r, EDGE_CLAIM, BIT(GRANTED), self, LEASE_FILLING, self);
    KILL_POINT("lease.claim.after");
    return ok;
}

bool lease_publish(struct arena *a, struct lease_ref r, actor_id self)
{
    const struct lease_row *row = lease_row(a, r.row);
    actor_id target = row ? atomic_load_explicit(&row->target, memory_order_acquire) : 0;
    KILL_POINT("lease.publish.before");
    bool ok = move(a, r, EDGE_PUBLISH, BIT(FILLING), self, LEASE_READY, target);
    KILL_POINT("lease.publish.after");
    return ok;
}

bool lease_take(struct arena *a, struct lease_ref r, actor_id self)
{
    KILL_POINT("lease.take.before");
    bool ok = move(a, r, EDGE_TAKE, BIT(READY), self, LEASE_PROVING, self);
    if (ok)
        atomic_store_explicit(&lease_row(a, r.row)->gpud, self, memory_order_relaxed);
    KILL_POINT("lease.take.after");
    return ok;
}

bool lease_uploaded(struct arena *a, struct lease_ref r, actor_id self)
{
    KILL_POINT("lease.uploaded.before");
    bool ok = move(a, r, EDGE_UPLOADED, BIT(PROVING), self, LEASE_UPLOADED, self);
    KILL_POINT("lease.uploaded.after");
    return ok;
}

/* Only the owner in one of these states may touch the result cell. */
static bool holds(const struct arena *a, struct lease_ref r, unsigned states, actor_id self)
{
    const struct lease_row *row = lease_row(a, r.row);
    if (!row || r.arena_epoch != a->header->epoch)
        return false;
    struct lease_view v = lease_look(a, r.row);
    return v.generation == r.generation && v.owner == self && (states >> v.state & 1);
}

bool lease_proved(struct arena *a, struct lease_ref r, actor_id self,
                  const struct lease_result *result)
{
    INVARIANT(result->code == 0 && result->sums_bytes <= LEASE_SUMS_MAX);
    if (!holds(a, r, BIT(PROVING) | BIT(UPLOADED), self)) {
        count(a->header->stale, EDGE_PROVED);
        return false;
    }
    KILL_POINT("lease.proved.before");
    lease_cell_write(a, r, result);
    bool ok = move(a, r, EDGE_PROVED, BIT(PROVING) | BIT(UPLOADED), self, LEASE_PROVED, self);
    KILL_POINT("lease.proved.after");
    return ok;
}

bool lease_fail(struct arena *a, struct lease_ref r, actor_id self, uint32_t code,
                const char *reason)
{
    const unsigned from = BIT(FILLING) | BIT(PROVING) | BIT(UPLOADED);
    INVARIANT(code != 0);
    if (!holds(a, r, from, self)) {
        count(a->header->stale, EDGE_FAIL);
        return false;
    }
    struct lease_result result = {.code = code};
    size_t n = strnlen(reason, LEASE_REASON_MAX);
    memcpy(result.reason, reason, n);
    KILL_POINT("lease.fail.before");
    lease_cell_write(a, r, &result);
    bool ok = move(a, r, EDGE_FAIL, from, self, LEASE_FAILED, self);
    KILL_POINT("lease.fail.after");
    return ok;
}

void lease_note_finish(struct arena *a, struct lease_ref r, actor_id self, uint64_t begin_ns,
                       uint64_t end_ns, uint64_t release_ns)
{
    const uint64_t at[3] = {begin_ns, end_ns, release_ns};
    if (!holds(a, r, BIT(PROVING) | BIT(UPLOADED), self))
        return;
    for (unsigned i = 0; i < 3; i++)
        atomic_store_explicit(&lease_row(a, r.row)->finish_ns[i], at[i], memory_order_relaxed);
}

bool lease_settle(struct arena *a, struct lease_ref r)
{
    KILL_POINT("lease.settle.before");
    bool ok = move(a, r, EDGE_SETTLE, BIT(PROVED) | BIT(FAILED), 0, LEASE_FREE, 0);
    KILL_POINT("lease.settle.after");
    if (ok)
        lease_cell_wipe(a, r.row);
    return ok;
}

bool lease_withdraw(struct arena *a, struct lease_ref r)
{
    KILL_POINT("lease.withdraw.before");
    bool ok = move(a, r, EDGE_WITHDRAW, BIT(GRANTED) | BIT(READY), 0, LEASE_FREE, 0);
    KILL_POINT("lease.withdraw.after");
    return ok;
}

bool lease_abandon(struct arena *a, struct lease_ref r, actor_id dead)
{
    INVARIANT(dead != 0);
    KILL_POINT("lease.abandon.before");
    bool ok = move(a, r, EDGE_ABANDON, BIT(GRANTED) | BIT(FILLING) | BIT(PROVING) | BIT(UPLOADED),
                   dead, LEASE_FREE, 0);
    KILL_POINT("lease.abandon.after");
    if (ok)
        lease_cell_wipe(a, r.row);
    return ok;
}

bool lease_reassign(struct arena *a, struct lease_ref r, actor_id from, actor_id to)
{
    INVARIANT(to != 0);
    KILL_POINT("lease.reassign.before");
    bool ok = move(a, r, EDGE_REASSIGN, BIT(READY), from, LEASE_READY, to);
    KILL_POINT("lease.reassign.after");
    return ok;
}

bool lease_requeue(struct arena *a, struct lease_ref r, actor_id dead, actor_id to)
{
    INVARIANT(dead != 0 && to != 0);
    KILL_POINT("lease.requeue.before");
    bool ok = move(a, r, EDGE_REQUEUE, BIT(PROVING), dead, LEASE_READY, to);
    KILL_POINT("lease.requeue.after");
    return ok;
}
