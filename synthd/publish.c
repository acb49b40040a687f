/* publish: the lease handed over to its gpud, and the doorbells. */
#include <unistd.h>

#include "log.h"
#include "notify.h"
#include "slow_point.h"
#include "synthd.h"

bool publish(struct synthd *s, struct work *w)
{
    uint64_t begin = span_now_ns();
    bool done = lease_publish(&s->arena, w->ref, s->id);
    struct span_who who = work_who(w);
    who.outcome = done ? 0 : (uint16_t)ERR_CANCELLED;
    span_write(s->fill_ring, SPAN_PUBLISH, &who, begin, span_now_ns(), 0);
    return done;
}

/* The word says whose it is now: the desk may have named another gpud while it was filled. */
static void ring_gpud(struct synthd *s, const struct work *w)
{
    struct lease_view v = lease_look(&s->arena, w->ref.row);
    struct actor to = actor_from_id(v.owner);
    if (v.generation != w->ref.generation || v.state != LEASE_READY || to.kind != ACTOR_GPUD ||
        to.index >= GPUDS_MAX)
        return; /* taken already */
    if (s->gpud[to.index] == NULL) {
        struct err e;
        s->gpud[to.index] = lane_connect(s->lanes, LANE_GPUD, to.index, &e);
        if (s->gpud[to.index] == NULL) {
            log_warn("gpud-not-rung", NULL, "gpud=%u reason=%s", to.index, e.text);
            return; /* its re-scan finds the lease */
        }
    }
    struct message m = {.kind = MSG_SYNTHESIZED};
    message_set_lease(&m, w->ref, w->terms.job, w->terms.partition, w->terms.attempt);
    SLOW_POINT("synthd.ring");
    m.synthesized.priority = w->terms.priority;
    lane_send(s->gpud[to.index], NULL, &m);
}

static void tell(struct synthd *s, const struct work *w)
{
    const struct lease_terms *t = &w->terms;
    char job[24];
    snprintf(job, sizeof job, "%llu", (unsigned long long)t->job);
    if (w->lost) {
        log_info("lease-lost", LOG_OF(job, t->partition), "attempt=%u row=%u", t->attempt,
                 w->ref.row);
        stat_add(s->stats, STAT_STALE_MESSAGES, 1);
    } else if (w->published) {
        ring_gpud(s, w);
        member_tell(&s->member, MSG_PUBLISHED, w->ref, t->job, t->partition, t->attempt);
        stat_add(s->stats, STAT_PARTITIONS_FILLED, 1);
        s->done++;
        notify_worked();
        log_debug("published", LOG_OF(job, t->partition), "attempt=%u row=%u", t->attempt,
                  w->ref.row);
    } else {
        member_tell_failed(&s->member, w->ref, t->job, t->partition, t->attempt, (uint32_t)w->code,
                           w->why.text);
        stat_add(s->stats, STAT_PARTITIONS_FAILED, 1);
        log_warn("partition-failed", LOG_OF(job, t->partition), "attempt=%u reason=%s", t->attempt,
                 w->why.text);
    }
}

bool publish_ended(struct synthd *s)
{
    uint64_t rung;
    ssize_t n = read(s->ended_fd, &rung, sizeof rung);
    (void)n;
    bool any = false;
    for (size_t i = 0; i < WORK_MAX; i++) {
        pthread_mutex_lock(&s->lock);
        bool ended = s->work[i].stage == WORK_ENDED;
        pthread_mutex_unlock(&s->lock);
        if (!ended)
            continue;
        any = true;
        tell(s, &s->work[i]);
        pthread_mutex_lock(&s->lock);
        s->work[i] = (struct work){.stage = WORK_NONE, .input_fd = -1};
        pthread_mutex_unlock(&s->lock);
    }
    return any;
}
