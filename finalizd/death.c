#include "death.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "budget.h"
#include "flight.h"
#include "grant.h"
#include "jobs.h"
#include "log.h"
#include "outage.h"
#include "peers.h"

#define REASON_PATIENCE_NS UINT64_C(2000000000) /* for what the supervisor says of the death */

/* A death while this partition was in flight, not yet counted. */
struct blame {
    struct blame *next;
    uint64_t job, due_ns;
    uint32_t index, attempt;
    struct actor actor;
    uint32_t pid;
    bool alone;
    bool by_desk; /* killed for its time limit: that is not the operator's doing */
};

static bool supervised(const struct desk *d)
{
    return faccessat(d->instance.run_fd, "supervisor.json", F_OK, 0) == 0;
}

enum verdict { NOT_KNOWN, INNOCENT, GUILTY };

/* Whoever starts daemons leaves run/NAME.ended when one of them has ended: "PID innocent WHY" or
 * "PID guilty WHY". A file and not a message, so that it waits for a desk that is away itself. */
static enum verdict verdict_on(const struct desk *d, const struct blame *b)
{
    char name[ACTOR_NAME_MAX], file[ACTOR_NAME_MAX + 8], text[64] = {0}, word[16];
    unsigned pid;
    snprintf(file, sizeof file, "%s.ended", actor_name(&b->actor, name));
    int fd = openat(d->instance.run_fd, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return NOT_KNOWN;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0 || sscanf(text, "%u %15s", &pid, word) != 2 || pid != b->pid)
        return NOT_KNOWN;
    return strcmp(word, "innocent") == 0 ? INNOCENT : GUILTY;
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
                        .actor = p->actor,
                        .pid = p->who.pid,
                        .alone = alone,
                        .by_desk = p->killed};
    d->blames = b;
}

static void apply_blame(struct desk *d, const struct blame *b)
{
    struct partition *p = open_partition(d, b->job, b->index);
    if (!p)
        return;
    char route[ROUTING_ID_MAX];
    actor_routing_id(&b->actor, route);
    p->deaths_alone += b->alone;
    struct ledger_partition row = {.job = b->job,
                                   .index = b->index,
                                   .attempts = b->attempt,
                                   .deaths_alone = p->deaths_alone,
                                   .rejections = p->rejections};
    ledger_death(d->ledger, &row, b->alone ? "died-alone" : "died", route, NULL, NULL);
    if (p->deaths_alone >= d->set.deaths_alone_max)
        job_end(p->job, LEDGER_JOB_FAILED, ERR_FAILED,
                "partition %u: %u daemons died while working on it alone, the last was %s",
                b->index, p->deaths_alone, route);
}

/* Blames that are settled: the supervisor has told how the daemon ended, or has not in time. */
static void settle_blames(struct desk *d)
{
    for (struct blame **at = &d->blames, *b; (b = *at);) {
        enum verdict v = b->by_desk ? GUILTY : verdict_on(d, b);
        if (v == NOT_KNOWN && b->due_ns > d->now_ns) {
            at = &b->next;
            continue;
        }
        *at = b->next;
        if (v == INNOCENT) {
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
    settle_blames(d);
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
    f->killed = owner->killed = true;
    alive_signal(owner->pidfd, SIGKILL);
}

void death_tick(struct desk *d)
{
    if (d->blames)
        settle_blames(d);
    if (d->set.step_limit_ns)
        for (struct flight *f = d->flights; f; f = f->next)
            kill_if_over(d, f);
}
