#include "death.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "budget.h"
#include "flight.h"
#include "grant.h"
#include "jobs.h"
#include "log.h"
#include "outage.h"
#include "peers.h"

#define REASON_PATIENCE_NS UINT64_C(2000000000) /* for the supervisor's EXITED */

/* A death while this partition was in flight, not yet counted. */
struct blame {
    struct blame *next;
    uint64_t job, due_ns;
    uint32_t index, attempt;
    actor_id actor;
    char route[ROUTING_ID_MAX];
    bool alone;
};

static bool supervised(const struct desk *d)
{
    for (const struct peer *p = d->peers; p; p = p->next)
        if (p->actor.kind == ACTOR_SUPERVISOR && !p->dead && p->introduced)
            return true;
    return false;
}

static struct partition *open_partition(const struct desk *d, uint64_t job, uint32_t index)
{
    struct job *j = job_by_id(d, job);
    return j && j->state == JOB_OPEN && j->part[index].state != PART_DONE ? &j->part[index] : NULL;
}

static void add_blame(struct desk *d, const struct peer *p, struct partition *part, bool alone)
{
    struct blame *b = calloc(1, sizeof *b);
    INVARIANT(b != NULL);
    *b = (struct blame){.next = d->blames,
                        .job = part->job->id,
                        .due_ns = d->now_ns + (supervised(d) ? REASON_PATIENCE_NS : 0),
                        .index = part->index,
                        .attempt = part->attempts,
                        .actor = p->id,
                        .alone = alone};
    snprintf(b->route, sizeof b->route, "%s", p->route);
    d->blames = b;
}

static void apply_blame(struct desk *d, const struct blame *b)
{
    struct partition *p = open_partition(d, b->job, b->index);
    if (!p)
        return;
    p->deaths_alone += b->alone;
    struct ledger_partition row = {.job = b->job,
                                   .index = b->index,
                                   .attempts = b->attempt,
                                   .deaths_alone = p->deaths_alone,
                                   .rejections = p->rejections};
    ledger_death(d->ledger, &row, b->alone ? "died-alone" : "died", b->route, NULL, NULL);
    if (p->deaths_alone >= d->set.deaths_alone_max)
        job_end(p->job, LEDGER_JOB_FAILED, ERR_FAILED,
                "partition %u: %u daemons died while working on it alone, the last was %s",
                b->index, p->deaths_alone, b->route);
}

/* Counts what is due, or what `actor` is to be judged for now. */
static void settle_blames(struct desk *d, actor_id actor, bool innocent)
{
    for (struct blame **at = &d->blames, *b; (b = *at);) {
        bool known = actor && b->actor == actor;
        if (!known && b->due_ns > d->now_ns) {
            at = &b->next;
            continue;
        }
        *at = b->next;
        if (known && innocent) {
            struct partition *p = open_partition(d, b->job, b->index);
            if (p && p->deaths_alone == 0)
                p->suspect = false;
        } else {
            apply_blame(d, b);
        }
        free(b);
        at = &d->blames; /* a job that ended may have changed the list's surroundings */
    }
}

void death_reason_known(struct desk *d, struct peer *p)
{
    settle_blames(d, p->id, p->innocent);
}

/* ---- what each flight does ---- */

static bool worked_on(const struct flight *f, const struct peer *dead)
{
    if (f->gone || f->settled)
        return false;
    if (f->synthd == dead)
        return f->seen == LEASE_FILLING;
    return f->gpud == dead && (f->seen == LEASE_PROVING || f->seen == LEASE_UPLOADED);
}

/* Abandons a lease of a dead owner: its partition is granted anew. */
static void abandon(struct flight *f, struct peer *dead)
{
    struct arena *a = &f->desk->nodes[f->node].arena;
    if (lease_abandon(a, f->ref, dead->id))
        flight_abort(f);
    else
        flight_look(f, true); /* it had moved on before it died */
}

void death_takes(struct flight *f, struct peer *dead)
{
    struct arena *a = &f->desk->nodes[f->node].arena;
    switch (lease_look(a, f->row).state) {
    case LEASE_GRANTED:
    case LEASE_FILLING:
        if (f->synthd == dead)
            abandon(f, dead);
        break;
    case LEASE_PROVING:
    case LEASE_UPLOADED:
        if (f->gpud == dead)
            abandon(f, dead);
        break;
    default:
        flight_look(f, true);
        break;
    }
}

static void take_over(struct flight *f, struct peer *dead)
{
    bool filling = f->seen == LEASE_GRANTED || f->seen == LEASE_FILLING;
    if (f->seen == LEASE_FREE)
        return; /* being committed: flight_launch finds out */
    if (f->synthd == dead && filling)
        abandon(f, dead);
    else if (f->gpud == dead && !f->part && !filling)
        death_takes(f, dead);
    else if (f->gpud == dead && f->seen == LEASE_UPLOADED)
        abandon(f, dead);
    /* The others of a dead gpud are parked: they stay as they are until death_parked. */
}

void death_of(struct desk *d, struct peer *p)
{
    p->dead = true;
    p->ready = false;
    p->died_ns = d->now_ns;
    d->has_dead = true;
    stat_add(d->stats, STAT_DEATHS, 1);
    outage_begin(d, p);
    if (p->pidfd >= 0) {
        lanes_unwatch(d->lanes, p->pidfd);
        close(p->pidfd);
        p->pidfd = -1;
    }
    unsigned working = 0;
    for (struct flight *f = d->flights; f; f = f->next)
        if (!f->gone && (f->synthd == p || f->gpud == p)) {
            flight_look(f, true);
            working += worked_on(f, p);
        }
    log_warn("peer-died", NULL, "actor=%s pid=%u working_on=%u", p->route, p->who.pid, working);
    for (struct flight *f = d->flights; f; f = f->next) {
        if (f->gone || f->settled || (f->synthd != p && f->gpud != p))
            continue;
        if (f->part && worked_on(f, p) && !p->innocent) {
            f->part->suspect = true;
            add_blame(d, p, f->part, working == 1);
        }
        take_over(f, p);
    }
    if (p->suspect)
        p->suspect = NULL;
    budget_peer_gone(d, p);
    settle_blames(d, p->innocent ? p->id : 0, p->innocent);
    d->grant_due = true;
}

/* ---- parked flights ---- */

void death_parked(struct desk *d)
{
    if (!d->has_dead)
        return;
    for (struct flight *f = d->flights; f; f = f->next) {
        if (f->gone || f->settled || !f->gpud->dead || f->seen == LEASE_FREE ||
            f->seen > LEASE_PROVING)
            continue;
        if (!f->part) { /* cancelled meanwhile */
            death_takes(f, f->gpud);
            continue;
        }
        bool alone = f->part->suspect && f->seen >= LEASE_READY;
        struct peer *to =
            grant_pick_gpud(d, f->part, f->circuit, UINT64_C(1) << f->node, alone, f->evaluate_gpu);
        if (!to)
            continue;
        struct arena *a = &d->nodes[f->node].arena;
        struct peer *from = f->gpud;
        if (alone) {
            to->suspect = f->part;
            f->alone_for = f->part;
        }
        flight_set_gpud(f, to);
        if (f->seen == LEASE_PROVING) {
            if (lease_requeue(a, f->ref, from->id, to->id))
                f->seen = LEASE_READY;
        } else if (f->seen == LEASE_READY) {
            lease_reassign(a, f->ref, from->id, to->id);
        } else {
            lease_retarget(a, f->ref, to->id);
            if (lease_look(a, f->row).state == LEASE_READY) /* published just before */
                lease_reassign(a, f->ref, from->id, to->id);
        }
        flight_count_as(f, f->seen);
        flight_look(f, true);
    }
}

/* ---- time limits ---- */

static void kill_if_over(struct desk *d, struct flight *f)
{
    if (f->gone || f->settled || f->killed || f->seen == LEASE_FREE || f->seen == LEASE_READY ||
        f->seen >= LEASE_PROVED)
        return;
    const struct arena *a = &d->nodes[f->node].arena;
    uint64_t since = atomic_load(&lease_row(a, f->row)->at_ns[f->seen]);
    struct peer *owner = f->seen >= LEASE_PROVING ? f->gpud : f->synthd;
    if (since > d->now_ns || d->now_ns - since < d->set.step_limit_ns || owner->pidfd < 0)
        return;
    char id[24];
    snprintf(id, sizeof id, "%llu", (unsigned long long)f->job);
    log_error("time-limit", LOG_OF(id, f->index), "actor=%s state=%s limit_ms=%llu", owner->route,
              lease_state_name(f->seen), (unsigned long long)(d->set.step_limit_ns / 1000000));
    f->killed = true;
    alive_signal(owner->pidfd, SIGKILL);
}

void death_tick(struct desk *d)
{
    if (d->blames)
        settle_blames(d, 0, false);
    if (d->set.step_limit_ns)
        for (struct flight *f = d->flights; f; f = f->next)
            kill_if_over(d, f);
}
