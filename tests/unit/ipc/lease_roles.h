/* lease_roles: a desk, a synthd and a gpud reduced to what they do with leases, one step a turn,
 * for the exhaustive model and for the kill test. Everything that survives a death is in the arena
 * and in `world`; what a role knows by itself is in `struct mind` and dies with it. */
#pragma once
#include "lease_fixture.h"

enum role { DESK, SYNTHD, GPUD, ROLES };
enum { PARTITIONS = 2, JOB = 7 };

/* The ledger, and who is proven dead: an incarnation below `alive`. */
struct world {
    uint32_t attempts[PARTITIONS];
    uint32_t commits[PARTITIONS];
    uint64_t alive[ROLES]; /* incarnation that runs now */
    uint32_t spoiled;      /* a gpud found other bytes in an extent than synthd had left for it */
};

struct mind {
    struct lease_ref held;
    uint32_t phase; /* 0: holds nothing */
};

static inline actor_id role_id(enum role r, uint64_t incarnation)
{
    return daemon_id(r == SYNTHD ? ACTOR_SYNTHD : ACTOR_GPUD, 0, incarnation);
}

static inline bool is_dead(const struct world *w, actor_id owner)
{
    struct actor a = actor_from_id(owner);
    return a.incarnation != w->alive[a.kind == ACTOR_SYNTHD ? SYNTHD : GPUD];
}

/* What synthd leaves in the extent and gpud expects there. */
static inline uint64_t content_of(const struct lease_row *row)
{
    return row->job << 32 | row->partition << 16 | row->attempt;
}

static inline uint64_t *extent_of(struct arena *a, const struct lease_row *row)
{
    return (uint64_t *)(a->bulk + row->w_offset);
}

static inline bool desk_row(struct arena *a, struct world *w, uint32_t i)
{
    struct lease_row *row = lease_row(a, i);
    struct lease_view v = lease_look(a, i);
    struct lease_ref r = lease_ref_of(a, i);
    struct lease_result result;
    struct extent x;
    actor_id gpud = role_id(GPUD, w->alive[GPUD]);
    switch (v.state) {
    case LEASE_PROVED:
        if (lease_result_read(a, r, &result) && w->commits[row->partition] == 0) {
            w->commits[row->partition]++;
            return true;
        }
        return lease_settle(a, r);
    case LEASE_FAILED:
        return lease_settle(a, r);
    case LEASE_GRANTED:
    case LEASE_FILLING:
    case LEASE_UPLOADED:
        if (is_dead(w, v.owner))
            return lease_abandon(a, r, v.owner);
        break;
    case LEASE_READY:
        if (is_dead(w, v.owner))
            return lease_reassign(a, r, v.owner, gpud);
        break;
    case LEASE_PROVING:
        if (is_dead(w, v.owner))
            return lease_requeue(a, r, v.owner, gpud);
        break;
    case LEASE_FREE:
    case LEASE_STATES:
        break;
    }
    if (lease_extent_due(a, i, &x)) {
        arena_wipe(a, x.offset, 64);
        lease_extent_returned(a, i);
        return true;
    }
    return false;
}

/* Grants a partition that is neither committed nor in any row. */
static inline bool desk_grant(struct arena *a, struct world *w)
{
    for (uint32_t p = 0; p < PARTITIONS; p++) {
        bool open = w->commits[p] == 0;
        uint32_t row = UINT32_MAX;
        for (uint32_t i = 0; i < a->header->rows; i++) {
            const struct lease_row *r = lease_row(a, i);
            if (lease_look(a, i).state != LEASE_FREE)
                open = open && r->partition != p;
            else if (!r->extent_held)
                row = i;
        }
        struct extent x;
        struct lease_ref ref;
        if (!open || row == UINT32_MAX || !extent_cut(a, 1, &x))
            continue;
        struct lease_terms t = terms_of(x, JOB, p);
        t.attempt = ++w->attempts[p]; /* to the ledger first */
        t.target = role_id(GPUD, w->alive[GPUD]);
        return lease_grant(a, row, &t, role_id(SYNTHD, w->alive[SYNTHD]), &ref);
    }
    return false;
}

static inline bool desk_turn(struct arena *a, struct world *w)
{
    for (uint32_t i = 0; i < a->header->rows; i++)
        if (desk_row(a, w, i))
            return true;
    return desk_grant(a, w);
}

static inline bool synthd_turn(struct arena *a, actor_id self, struct mind *m)
{
    uint32_t i = 0;
    switch (m->phase) {
    case 0:
        if (!lease_next(a, LEASE_GRANTED, self, &i))
            return false;
        m->held = lease_ref_of(a, i);
        m->phase = lease_claim(a, m->held, self) ? 1 : 0;
        return true;
    case 1:
        *extent_of(a, lease_row(a, m->held.row)) = content_of(lease_row(a, m->held.row));
        m->phase = 2;
        return true;
    default:
        lease_publish(a, m->held, self);
        *m = (struct mind){0};
        return true;
    }
}

/* Partition 0 reports UPLOADED, partition 1 does not; the first attempt at partition 1 fails. */
static inline bool gpud_turn(struct arena *a, struct world *w, actor_id self, struct mind *m)
{
    uint32_t i = 0;
    if (m->phase == 0) {
        if (!lease_next(a, LEASE_READY, self, &i))
            return false;
        m->held = lease_ref_of(a, i);
        m->phase = lease_take(a, m->held, self) ? 1 : 0;
        return true;
    }
    const struct lease_row *row = lease_row(a, m->held.row);
    struct lease_result sums = sums_of((uint8_t)row->partition);
    switch (m->phase) {
    case 1:
        w->spoiled += *extent_of(a, row) != content_of(row);
        m->phase = row->partition == 0 ? 2 : 3;
        return true;
    case 2:
        m->phase = lease_uploaded(a, m->held, self) ? 3 : 0;
        return true;
    default:
        if (row->partition == 1 && row->attempt == 1)
            lease_fail(a, m->held, self, 14, "planted");
        else
            lease_proved(a, m->held, self, &sums);
        *m = (struct mind){0};
        return true;
    }
}

static inline bool role_turn(enum role r, struct arena *a, struct world *w, uint64_t incarnation,
                             struct mind *m)
{
    if (r == DESK)
        return desk_turn(a, w);
    actor_id self = role_id(r, incarnation);
    return r == SYNTHD ? synthd_turn(a, self, m) : gpud_turn(a, w, self, m);
}

/* All committed, every row free, every extent given back. */
static inline bool all_done(const struct arena *a, const struct world *w)
{
    for (uint32_t p = 0; p < PARTITIONS; p++)
        if (w->commits[p] == 0)
            return false;
    for (uint32_t i = 0; i < a->header->rows; i++)
        if (lease_look(a, i).state != LEASE_FREE || lease_row(a, i)->extent_held)
            return false;
    return extent_free_bytes(a) == a->bulk_bytes;
}
