#include "flight.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sodium.h>
#include "budget.h"
#include "death.h"
#include "inputs.h"
#include "jobs.h"
#include "log.h"
#include "peers.h"
#include "settle.h"
#include "slow_point.h"
#include "timing.h"

/* What the desk's thread copies and wipes itself; more goes to a worker. */
#define INLINE_WIPE_BYTES    (UINT64_C(128) << 10)
#define INLINE_CAPTURE_BYTES (UINT64_C(1) << 20)

struct span_who flight_who(const struct flight *f)
{
    return (struct span_who){
        .job = f->job, .partition = f->index, .attempt = f->attempt, .row = f->row | f->node << 16};
}

/* ---- counts: which leases are at which peer, as last looked at ---- */

void flight_count_as(struct flight *f, enum lease_state s)
{
    if (f->counted) {
        f->gpud->count[f->counted]--;
        if (f->counted == LEASE_GRANTED || f->counted == LEASE_FILLING)
            f->synthd->count[f->counted]--;
    }
    f->counted = s == LEASE_PROVED || s == LEASE_FAILED ? LEASE_FREE : s;
    if (f->counted) {
        f->gpud->count[f->counted]++;
        if (f->counted == LEASE_GRANTED || f->counted == LEASE_FILLING)
            f->synthd->count[f->counted]++;
    }
}

void flight_set_gpud(struct flight *f, struct peer *gpud)
{
    enum lease_state counted = f->counted;
    flight_count_as(f, LEASE_FREE);
    budget_key_done(f->desk, f->gpud, f->circuit);
    f->gpud->refs--;
    f->gpud = gpud;
    gpud->refs++;
    budget_key_use(f->desk, gpud, f->circuit);
    flight_count_as(f, counted);
}

struct flight *flight_new(struct desk *d, struct partition *p, unsigned node, uint32_t row,
                          struct extent x, bool from_reserve, struct peer *synthd,
                          struct peer *gpud)
{
    struct flight *f = calloc(1, sizeof *f);
    INVARIANT(f && d->nodes[node].row[row] == NULL);
    f->desk = d;
    f->part = p;
    f->circuit = p->job->circuit;
    f->job = p->job->id;
    f->index = p->index;
    f->attempt = p->attempts;
    f->node = node;
    f->row = row;
    f->extent = x;
    f->from_reserve = from_reserve;
    f->synthd = synthd;
    f->gpud = gpud;
    f->publics_bytes = f->circuit->map ? (uint64_t)f->circuit->map->n_public * sizeof(fr_t) : 0;
    f->next = d->flights;
    f->link = &d->flights;
    if (f->next)
        f->next->link = &f->next;
    d->flights = f;
    d->n_flights++;
    d->nodes[node].row[row] = f;
    f->circuit->flights++;
    synthd->refs++;
    gpud->refs++;
    budget_key_use(d, gpud, f->circuit);
    flight_count_as(f, LEASE_GRANTED); /* its credit is taken from here on */
    p->flight = f;
    return f;
}

static void release_suspect(struct flight *f)
{
    if (!f->alone_for)
        return;
    if (f->synthd->suspect == f->alone_for)
        f->synthd->suspect = NULL;
    if (f->gpud->suspect == f->alone_for)
        f->gpud->suspect = NULL;
    f->alone_for = NULL;
}

/* Everything is back: the flight is forgotten. */
static void try_destroy(struct flight *f)
{
    struct desk *d = f->desk;
    if (f->gone || !f->settled || !f->extent_gone || f->sweeping || f->with_finisher ||
        f->committing)
        return;
    struct node *n = &d->nodes[f->node];
    n->row[f->row] = NULL;
    n->free_rows[n->n_free_rows++] = f->row;
    if (f->publics) {
        sodium_memzero(f->publics, f->publics_bytes);
        free(f->publics);
    }
    f->gone = true;
    f->grave = d->graves; /* freed at the end of the turn: loops may stand on it */
    d->graves = f;
    d->grant_due = true;
}

void flights_reap(struct desk *d)
{
    for (struct flight *f; (f = d->graves);) {
        d->graves = f->grave;
        *f->link = f->next;
        if (f->next)
            f->next->link = f->link;
        d->n_flights--;
        free(f);
    }
}

/* ---- the extent ---- */

static void capture(struct flight *f)
{
    const struct arena *a = &f->desk->nodes[f->node].arena;
    if (f->publics_bytes) {
        f->publics = malloc(f->publics_bytes);
        INVARIANT(f->publics != NULL);
        memcpy(f->publics, a->bulk + f->extent.offset + f->circuit->w_offset + sizeof(fr_t),
               f->publics_bytes);
    }
    f->captured = true;
}

static uint64_t used_bytes(const struct flight *f)
{
    const struct circuit *c = f->circuit->map;
    if (!c) /* an orphan of a circuit that is gone */
        return f->extent.bytes;
    uint64_t w = (uint64_t)c->n_wires * sizeof(fr_t);
    return f->evaluate_gpu ? w : w + 2 * (sizeof(fr_t) << c->domain_log2);
}

static void wipe(const struct flight *f)
{
    const struct arena *a = &f->desk->nodes[f->node].arena;
    const struct circuit_entry *c = f->circuit;
    if (!c->map) {
        arena_wipe(a, f->extent.offset, f->extent.bytes);
        return;
    }
    uint64_t ab = sizeof(fr_t) << c->map->domain_log2;
    arena_wipe(a, f->extent.offset + c->w_offset, (uint64_t)c->map->n_wires * sizeof(fr_t));
    if (!f->evaluate_gpu) {
        arena_wipe(a, f->extent.offset + c->a_offset, ab);
        arena_wipe(a, f->extent.offset + c->b_offset, ab);
    }
}

static void extent_back(struct flight *f)
{
    struct desk *d = f->desk;
    struct node *n = &d->nodes[f->node];
    lease_extent_returned(&n->arena, f->row); /* gives it back to the map as well */
    f->extent_gone = true;
    if (f->from_reserve) {
        n->reserve_lent = false;
        n->reserve.bytes = 0; /* cut anew below, where it fits */
    }
    budget_keep_reserve(d);
    d->grant_due = true;
}

static void sweep_run(struct work *w)
{
    struct flight *f = (struct flight *)((char *)w - offsetof(struct flight, work));
    uint64_t begin = span_now_ns();
    if (!f->captured)
        capture(f);
    wipe(f);
    f->wiped_ns = span_now_ns() - begin;
}

static void sweep_done(struct work *w)
{
    struct flight *f = (struct flight *)((char *)w - offsetof(struct flight, work));
    struct span_who who = flight_who(f);
    uint64_t now = span_now_ns();
    span_write(f->desk->spans, SPAN_WIPE, &who, now - f->wiped_ns, now, used_bytes(f));
    f->sweeping = false;
    extent_back(f);
    bool waits = f->seen == LEASE_PROVED && !f->settled && !f->with_finisher && !f->committing;
    if (waits && f->part)
        settle_begin(f); /* it waited for the publics */
    else if (waits)
        flight_settle(f);
    else
        try_destroy(f);
}

/* Nobody reads or writes the extent any more: the publics are copied out, it is wiped and goes
 * back. touched: something was written to it. */
static void release_extent(struct flight *f, bool touched)
{
    if (f->extent_gone || f->sweeping)
        return;
    if (touched && f->part && !f->captured && f->publics_bytes <= INLINE_CAPTURE_BYTES)
        capture(f);
    else if (!f->part)
        f->captured = true; /* nobody will ask */
    if (!touched) {
        extent_back(f);
    } else if (f->captured && used_bytes(f) <= INLINE_WIPE_BYTES) {
        wipe(f);
        extent_back(f);
    } else {
        f->sweeping = true;
        f->work.run = sweep_run;
        f->work.done = sweep_done;
        workers_put(f->desk->sweepers, &f->work);
    }
}

/* ---- the row ---- */

/* The row is FREE again: the key's charge and the peers are released. */
static void row_back(struct flight *f, bool touched)
{
    f->settled = true;
    flight_count_as(f, LEASE_FREE);
    release_suspect(f);
    budget_key_done(f->desk, f->gpud, f->circuit);
    f->synthd->refs--;
    f->gpud->refs--;
    f->circuit->flights--;
    if (f->part) {
        f->part->flight = NULL;
        f->part = NULL;
    }
    release_extent(f, touched);
    try_destroy(f);
}

void flight_launch(struct flight *f)
{
    struct desk *d = f->desk;
    const struct circuit_entry *c = f->circuit;
    const struct job *j = f->part->job;
    struct arena *a = &d->nodes[f->node].arena;
    struct lease_terms t = {
        .job = f->job,
        .partition = f->index,
        .n_partitions = j->n,
        .attempt = f->attempt,
        .priority = f->urgent ? 0 : 1u + j->order.priority,
        .submitted_ns = j->submit_ns,
        .deadline_ns = j->deadline_ns,
        .step_limit_ns = d->set.step_limit_ns,
        .domain_log2 = c->map->domain_log2,
        .target = f->gpud->id,
        .extent = f->extent,
        .w_offset = f->extent.offset + c->w_offset,
        .a_offset = f->evaluate_gpu ? 0 : f->extent.offset + c->a_offset,
        .b_offset = f->evaluate_gpu ? 0 : f->extent.offset + c->b_offset,
        .w_count = c->map->n_wires,
        .ab_count = f->evaluate_gpu ? 0 : UINT64_C(1) << c->map->domain_log2,
    };
    t.flags = (j->flags & LEDGER_INPUT_JSON ? LEASE_INPUT_JSON : 0u) |
              (f->evaluate_gpu ? LEASE_EVALUATE_GPU : 0u) |
              (j->flags & LEDGER_VOLATILE ? LEASE_VOLATILE : 0u) |
              (f->alone_for ? LEASE_ALONE : 0u) | (f->part->rejections ? LEASE_RETRY : 0u) |
              (f->urgent ? LEASE_URGENT : 0u);
    memcpy(t.circuit, c->digest, 32);
    spool_name(j->spool, f->index, t.spool);
    INVARIANT(lease_grant(a, f->row, &t, f->synthd->id, &f->ref));
    f->seen = LEASE_GRANTED;
    struct span_who who = flight_who(f);
    span_write(d->spans, SPAN_ATTEMPT, &who, f->attempt_ns, span_now_ns(), 0);
    f->part->state = PART_FLYING;
    if (log_enabled(LOG_LEVEL_DEBUG)) {
        char id[24];
        snprintf(id, sizeof id, "%llu", (unsigned long long)f->job);
        log_debug("granted", LOG_OF(id, f->index), "attempt=%u synthd=%s gpud=%s", f->attempt,
                  f->synthd->route, f->gpud->route);
    }
    struct message m = {.kind = MSG_GRANT};
    message_set_lease(&m, f->ref, f->job, f->index, f->attempt);
    SLOW_POINT("desk.grant");
    peer_send(d, f->synthd, &m); /* lost: synthd scans the table */
}

void flight_abort(struct flight *f)
{
    struct partition *p = f->part;
    bool touched = f->seen != LEASE_FREE && f->seen != LEASE_GRANTED;
    if (f->seen == LEASE_FREE && !f->extent_gone) { /* never granted: no row holds the extent */
        struct node *n = &f->desk->nodes[f->node];
        budget_return(n, f->extent, f->from_reserve);
        f->extent_gone = true;
    }
    if (p && p->job->state == JOB_OPEN)
        partition_wait(p);
    row_back(f, touched);
}

void flight_settle(struct flight *f)
{
    struct arena *a = &f->desk->nodes[f->node].arena;
    struct fin_begin begin;
    timing_before_settle(f, &begin);
    INVARIANT(lease_settle(a, f->ref));
    row_back(f, true);
    timing_settled(f, &begin);
    settle_trim(f->desk);
}

void flight_orphan(struct flight *f, enum lease_cancel why)
{
    struct desk *d = f->desk;
    struct arena *a = &d->nodes[f->node].arena;
    f->part->flight = NULL;
    f->part = NULL;
    if (f->seen == LEASE_FREE) /* the attempt's commit comes back and finds an orphan */
        return;
    lease_cancel(a, f->ref, why);
    f->cancelled = true;
    if (lease_withdraw(a, f->ref)) {
        row_back(f, true);
        return;
    }
    struct lease_view v = lease_look(a, f->row);
    struct peer *owner = v.state == LEASE_FILLING ? f->synthd : f->gpud;
    struct message m = {.kind = MSG_CANCEL};
    message_set_lease(&m, f->ref, f->job, f->index, f->attempt);
    m.cancel.why = why;
    peer_send(d, owner, &m); /* lost: the owner looks at the cancel word between steps */
    if (owner->dead)
        death_takes(f, owner);
    else
        flight_look(f, true);
}

/* ---- looking ---- */

static void seen_failed(struct flight *f)
{
    if (f->part)
        settle_failed(f);
    else
        flight_settle(f);
}

void flight_look(struct flight *f, bool rung)
{
    struct desk *d = f->desk;
    struct arena *a = &d->nodes[f->node].arena;
    if (f->seen == LEASE_FREE || f->settled)
        return;
    struct lease_view v = lease_look(a, f->row);
    INVARIANT(v.generation == f->ref.generation && v.state != LEASE_FREE);
    if (v.state == f->seen)
        return;
    if (!rung)
        stat_add(d->stats, STAT_RESCANS_HELPED, 1);
    f->seen = v.state;
    flight_count_as(f, v.state);
    switch (v.state) {
    case LEASE_READY:
        stat_add(d->stats, STAT_PARTITIONS_FILLED, 1);
        d->grant_due = true;
        if (!f->part && lease_withdraw(a, f->ref))
            row_back(f, true);
        break;
    case LEASE_PROVING:
        d->grant_due = true;
        break;
    case LEASE_UPLOADED:
        d->grant_due = true;
        release_extent(f, true);
        break;
    case LEASE_PROVED:
        stat_add(d->stats, STAT_PARTITIONS_PROVED, 1);
        release_suspect(f);
        d->grant_due = true;
        release_extent(f, true);
        if (f->sweeping && !f->captured)
            break; /* sweep_done goes on */
        if (f->part)
            settle_begin(f);
        else
            flight_settle(f);
        break;
    case LEASE_FAILED:
        d->grant_due = true;
        seen_failed(f);
        break;
    case LEASE_FREE:
    case LEASE_GRANTED:
    case LEASE_FILLING:
    case LEASE_STATES:
        break;
    }
}

struct flight *flight_of_message(struct desk *d, const struct message *m)
{
    struct lease_ref r;
    if (!message_lease(m, &r))
        return NULL;
    struct node *n = r.node < ARENA_NODES_MAX ? &d->nodes[r.node] : NULL;
    struct flight *f = n && n->present && r.row < n->n_rows ? n->row[r.row] : NULL;
    if (f && f->seen != LEASE_FREE && r.arena_epoch == f->ref.arena_epoch &&
        r.generation == f->ref.generation)
        return f;
    stat_add(d->stats, STAT_STALE_MESSAGES, 1);
    return NULL;
}

void flights_scan(struct desk *d)
{
    for (struct flight *f = d->flights; f; f = f->next)
        if (!f->gone)
            flight_look(f, false);
}
