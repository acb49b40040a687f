/* start: a taken partition on its way to the device; keys loaded by need or by request. */
#include <stdio.h>
#include <string.h>

#include "gpud.h"
#include "log.h"
#include "slow_point.h"

/* The desk cut these; a mistake of its must not make the device read a neighbour's extent. */
static bool inside(const struct arena *a, const struct extent *x, uint64_t offset, uint64_t count)
{
    return x->offset <= a->bulk_bytes && x->bytes <= a->bulk_bytes - x->offset &&
           offset >= x->offset && offset - x->offset <= x->bytes && offset % 32 == 0 &&
           count <= (x->bytes - (offset - x->offset)) / sizeof(fr_t);
}

static bool has_ab(const struct lease_terms *t)
{
    return t->ab_count != 0 && (t->flags & LEASE_EVALUATE_GPU) == 0;
}

static enum err_code check_terms(const struct gpud *g, const struct flight *f, struct err *e)
{
    const struct lease_terms *t = &f->terms;
    const struct circuit *c = f->circuit;
    uint64_t n = UINT64_C(1) << c->domain_log2;
    if (t->w_count != c->n_wires || (t->ab_count != 0 && t->ab_count != n))
        return err_set(e, ERR_INTERNAL,
                       "the lease holds %llu wires and %llu rows, the circuit has %u and %llu",
                       (unsigned long long)t->w_count, (unsigned long long)t->ab_count, c->n_wires,
                       (unsigned long long)n);
    if (!inside(f->arena, &t->extent, t->w_offset, t->w_count) ||
        (t->ab_count != 0 && (!inside(f->arena, &t->extent, t->a_offset, n) ||
                              !inside(f->arena, &t->extent, t->b_offset, n))))
        return err_set(e, ERR_INTERNAL, "the lease's vectors lie outside of its extent");
    if (!has_ab(t) && !g->caps.evaluates)
        return err_set(e, ERR_INTERNAL,
                       "the lease has no a and b, and the %s backend does not evaluate matrices",
                       g->caps.name);
    return ERR_OK;
}

static void long_step(struct gpud *g, const char *step)
{
    pthread_mutex_lock(&g->lock);
    g->long_step = step;
    pthread_mutex_unlock(&g->lock);
    stat_step(g->stats, step != NULL ? step : "");
}

/* Makes a borrowed circuit resident. begin: when it began to be mapped. */
static enum err_code load_key(struct gpud *g, const struct circuit *c, const struct span_who *who,
                              uint64_t begin, uint64_t *end, struct err *e)
{
    long_step(g, "loading a key");
    SLOW_POINT("gpud.key_load");
    enum err_code rc = g->ops->circuit_load(g->backend, c, e);
    long_step(g, NULL);
    *end = span_now_ns();
    struct span_who w = *who;
    w.outcome = (uint16_t)rc;
    uint64_t bytes = circuit_mapped_bytes(c);
    span_write(g->take_ring, SPAN_KEY_LOAD, &w, begin, *end, bytes);
    if (rc != ERR_OK)
        note_circuit(g, c->digest, false, 0, (uint32_t)rc, e->text);
    return rc;
}

static void fail(struct gpud *g, struct flight *f, struct err *e)
{
    struct prove_timing nothing = {0};
    struct finish_times times = {0};
    struct span_who who = flight_who(f);
    text_clean(e->text);
    times.release_begin_ns = span_now_ns();
    bool held = lease_fail(f->arena, f->ref, g->id, (uint32_t)e->code, e->text);
    times.release_end_ns = span_now_ns();
    who.outcome = (uint16_t)e->code;
    span_write(g->take_ring, SPAN_RELEASE, &who, times.release_begin_ns, times.release_end_ns, 0);
    if (held)
        note_lease(g, MSG_FAILED, f, (uint32_t)e->code, e->text);
    stat_add(g->stats, held ? STAT_PARTITIONS_FAILED : STAT_STALE_MESSAGES, 1);
    timing_report(g, g->take_ring, f, &nothing, &times, held ? "failed" : "discarded",
                  (uint32_t)e->code);
    char job[24];
    snprintf(job, sizeof job, "%llu", (unsigned long long)f->terms.job);
    log_warn("partition-failed", LOG_OF(job, f->terms.partition), "attempt=%u reason=%s",
             f->terms.attempt, e->text);
    circuit_cache_return(g->circuits, f->circuit);
    f->circuit = NULL;
}

static enum err_code start(struct gpud *g, struct flight *f, struct err *e)
{
    struct span_who who = flight_who(f);
    uint64_t begin = span_now_ns();
    f->circuit = circuit_cache_borrow(g->circuits, f->terms.circuit, e);
    if (f->circuit == NULL)
        return e->code;
    enum err_code rc = check_terms(g, f, e);
    if (rc == ERR_OK && !g->ops->circuit_resident(g->backend, f->terms.circuit)) {
        f->load_begin_ns = begin;
        rc = load_key(g, f->circuit, &who, begin, &f->load_end_ns, e);
    }
    if (rc == ERR_OK && lease_cancelled(f->arena, f->ref) != CANCEL_NONE)
        rc = err_set(e, ERR_CANCELLED, "stopped before it was proved: %s",
                     lease_cancel_name(lease_cancelled(f->arena, f->ref)));
    if (rc != ERR_OK)
        return rc;
    uint8_t *bulk = f->arena->bulk;
    bool ab = has_ab(&f->terms);
    struct prove_input in = {
        .circuit = f->circuit,
        .w = (const fr_t *)(void *)(bulk + f->terms.w_offset),
        .a = ab ? (const fr_t *)(void *)(bulk + f->terms.a_offset) : NULL,
        .b = ab ? (const fr_t *)(void *)(bulk + f->terms.b_offset) : NULL,
    };
    KILL_POINT("gpud.start.before");
    f->start_begin_ns = span_now_ns();
    f->ticket = g->ops->prove_start(g->backend, &in, e);
    f->start_end_ns = span_now_ns();
    KILL_POINT("gpud.start.after");
    who.outcome = f->ticket < 0 ? (uint16_t)e->code : 0;
    span_write(g->take_ring, SPAN_PROVE_START, &who, f->start_begin_ns, f->start_end_ns, 0);
    return f->ticket >= 0 ? ERR_OK : e->code;
}

bool start_flight(struct gpud *g, struct flight *f)
{
    struct err e = {0};
    enum err_code rc = start(g, f, &e);
    if (rc == ERR_OK)
        return true;
    if (rc == ERR_UNAVAILABLE && f->circuit != NULL) {
        /* The device, not the partition: the lease stays, our death brings it back. */
        note_lost(g, e.text);
        return false;
    }
    fail(g, f, &e);
    return false;
}

bool start_asked(struct gpud *g, const struct asked *a)
{
    struct err e = {0};
    uint64_t begin = span_now_ns(), end = 0;
    if (!a->evict) {
        const struct circuit *c = circuit_cache_borrow(g->circuits, a->circuit, &e);
        if (c == NULL)
            note_circuit(g, a->circuit, false, 0, (uint32_t)e.code, e.text);
        else if (!g->ops->circuit_resident(g->backend, a->circuit))
            load_key(g, c, SPAN_NOBODY, begin, &end, &e);
        circuit_cache_return(g->circuits, c);
    } else if (holdings_in_use(g, a->circuit)) {
        return false;
    } else if (g->ops->circuit_resident(g->backend, a->circuit)) {
        g->ops->circuit_evict(g->backend, a->circuit);
        span_write(g->take_ring, SPAN_KEY_EVICT, SPAN_NOBODY, begin, span_now_ns(), 0);
    }
    return true;
}
