/* finish: the thread that waits for the sums and gives them to the desk. */
#include <stdio.h>
#include <string.h>

#include "gpud.h"
#include "log.h"
#include "slow_point.h"
#include "spoil_point.h"

_Static_assert(sizeof(struct groth16_sums) <= LEASE_SUMS_MAX, "the sums fit into a result cell");
_Static_assert(sizeof(struct prove_timing) <= LEASE_TIMING_WORDS * sizeof(uint64_t),
               "the timing fits into a result cell");

struct ending {
    struct groth16_sums sums;   /* SECRET */
    struct lease_result result; /* SECRET */
    struct prove_timing timing;
    struct finish_times times;
    struct err why;
    enum err_code rc;
};

static void collect(struct gpud *g, struct flight *f, struct ending *end)
{
    end->times.finish_begin_ns = span_now_ns();
    end->rc = g->ops->prove_finish(g->backend, f->ticket, &end->sums, &end->timing, &end->why);
    SLOW_POINT("gpud.finish");
    end->times.finish_end_ns = span_now_ns();
    if (SPOIL_POINT("gpud.sums", f->terms.partition, f->terms.attempt))
        end->sums.l = end->sums.a;
    struct span_who who = flight_who(f);
    who.outcome = (uint16_t)end->rc;
    span_write(g->finish_ring, SPAN_PROVE_FINISH, &who, end->times.finish_begin_ns,
               end->times.finish_end_ns, 0);
    enum lease_cancel cancel = lease_cancelled(f->arena, f->ref);
    if (end->rc == ERR_OK && cancel != CANCEL_NONE)
        end->rc = err_set(&end->why, ERR_CANCELLED, "proved, but no longer wanted: %s",
                          lease_cancel_name(cancel));
}

/* Result cell and lease word. True when the lease was still ours. */
static bool release(struct gpud *g, struct flight *f, struct ending *end)
{
    pthread_mutex_lock(&g->lock);
    f->settling = true; /* the take thread does not move this lease any more */
    pthread_mutex_unlock(&g->lock);
    end->times.release_begin_ns = span_now_ns();
    lease_note_finish(f->arena, f->ref, g->id, end->times.finish_begin_ns, end->times.finish_end_ns,
                      end->times.release_begin_ns);
    bool held;
    if (end->rc == ERR_OK) {
        end->result = (struct lease_result){.code = 0, .sums_bytes = sizeof end->sums};
        memcpy(end->result.sums, &end->sums, sizeof end->sums);
        memcpy(end->result.timing, &end->timing, sizeof end->timing);
        held = lease_proved(f->arena, f->ref, g->id, &end->result);
    } else {
        text_clean(end->why.text);
        held = lease_fail(f->arena, f->ref, g->id, (uint32_t)end->rc, end->why.text);
    }
    end->times.release_end_ns = span_now_ns();
    struct span_who who = flight_who(f);
    who.outcome = (uint16_t)end->rc;
    span_write(g->finish_ring, SPAN_RELEASE, &who, end->times.release_begin_ns,
               end->times.release_end_ns, 0);
    return held;
}

static void tell(struct gpud *g, const struct flight *f, const struct ending *end, bool held)
{
    char job[24];
    snprintf(job, sizeof job, "%llu", (unsigned long long)f->terms.job);
    if (!held) {
        stat_add(g->stats, STAT_STALE_MESSAGES, 1);
        log_info("lease-lost", LOG_OF(job, f->terms.partition), "attempt=%u row=%u",
                 f->terms.attempt, f->ref.row);
    } else if (end->rc == ERR_OK) {
        note_lease(g, MSG_PROVED, f, 0, "");
        stat_add(g->stats, STAT_PARTITIONS_PROVED, 1);
    } else {
        note_lease(g, MSG_FAILED, f, (uint32_t)end->rc, end->why.text);
        stat_add(g->stats, STAT_PARTITIONS_FAILED, 1);
        log_warn("partition-failed", LOG_OF(job, f->terms.partition), "attempt=%u reason=%s",
                 f->terms.attempt, end->why.text);
    }
    if (end->timing.kernel_end_ns > end->timing.kernel_begin_ns)
        stat_add(g->stats, STAT_GPU_BUSY_NS,
                 end->timing.kernel_end_ns - end->timing.kernel_begin_ns);
}

static void finish(struct gpud *g, struct flight *f)
{
    static struct ending end; /* of this one thread */
    end = (struct ending){0};
    KILL_POINT("gpud.finish.before");
    collect(g, f, &end);
    KILL_POINT("gpud.finish.after");
    if (end.rc == ERR_UNAVAILABLE) {
        /* The device, not the partition: the lease stays, our death brings it back. */
        timing_report(g, g->finish_ring, f, &end.timing, &end.times, "lost", (uint32_t)end.rc);
        note_lost(g, end.why.text);
        return;
    }
    bool held = release(g, f, &end);
    tell(g, f, &end, held);
    timing_report(g, g->finish_ring, f, &end.timing, &end.times,
                  !held || end.rc == ERR_CANCELLED ? "discarded"
                  : end.rc == ERR_OK               ? "proved"
                                                   : "failed",
                  (uint32_t)end.rc);
    circuit_cache_return(g->circuits, f->circuit);
    explicit_bzero(&end, sizeof end);
}

static void *finish_main(void *arg)
{
    struct gpud *g = arg;
    for (;;) {
        pthread_mutex_lock(&g->lock);
        while (g->n_finished == g->n_flights && !g->closing)
            pthread_cond_wait(&g->started, &g->lock);
        bool any = g->n_finished < g->n_flights && !g->lost;
        struct flight *f = &g->flight[(g->first + g->n_finished) % FLIGHTS_MAX];
        pthread_mutex_unlock(&g->lock);
        if (!any)
            return NULL; /* closing, or the process is about to end */
        finish(g, f);
        pthread_mutex_lock(&g->lock);
        g->n_finished++;
        g->done++;
        pthread_mutex_unlock(&g->lock);
        take_ring_bell(g); /* a place is free */
    }
}

enum err_code finish_begin(struct gpud *g, struct err *e)
{
    int failed = pthread_create(&g->finish_thread, NULL, finish_main, g);
    if (failed != 0)
        return err_set(e, ERR_MEMORY, "the finish thread cannot be started: %s", strerror(failed));
    return ERR_OK;
}

void finish_end(struct gpud *g)
{
    pthread_mutex_lock(&g->lock);
    g->closing = true;
    pthread_cond_broadcast(&g->started);
    pthread_mutex_unlock(&g->lock);
    pthread_join(g->finish_thread, NULL);
}
