#include "timing.h"
#include <stdlib.h>
#include "flight.h"
#include "log.h"

enum fin_step { PROVE_FINISH, RELEASE, DESK_WAIT, RESULT, PAIRING, COMMIT, SETTLE, TOTAL, STEPS };

struct fin_line {
    uint64_t job;
    uint32_t index, attempt, batch;
    const char *outcome;
    enum err_code code;
    uint64_t ns[STEPS];
};

void timing_before_settle(const struct flight *f, struct fin_begin *out)
{
    const struct arena *a = &f->desk->nodes[f->node].arena;
    const struct lease_row *row = lease_row(a, f->row);
    *out = (struct fin_begin){.begin_ns = span_now_ns()};
    for (unsigned i = 0; i < 3; i++)
        out->finish_ns[i] = atomic_load_explicit(&row->finish_ns[i], memory_order_relaxed);
    enum lease_state state = lease_look(a, f->row).state;
    if (state == LEASE_PROVED || state == LEASE_FAILED)
        out->ended_ns = atomic_load_explicit(&row->at_ns[state], memory_order_relaxed);
}

static uint64_t between(uint64_t begin_ns, uint64_t end_ns)
{
    return begin_ns && end_ns > begin_ns ? end_ns - begin_ns : 0;
}

static const char *outcome_of(const struct flight *f)
{
    return f->committed_ns             ? "verified"
           : f->failed == ERR_REJECTED ? "rejected"
           : f->failed != ERR_OK       ? "failed"
                                       : "discarded"; /* nobody wants it any more */
}

static void log_line(const struct fin_line *l, uint64_t trim_ns)
{
    char id[24];
    snprintf(id, sizeof id, "%llu", (unsigned long long)l->job);
    double ms[STEPS];
    for (unsigned i = 0; i < STEPS; i++)
        ms[i] = (double)l->ns[i] / 1e6;
    log_info("FIN_TIMING", LOG_OF(id, l->index),
             "attempt=%u outcome=%s code=%s prove_finish_ms=%.3f release_ms=%.3f "
             "desk_wait_ms=%.3f result_ms=%.3f pairing_ms=%.3f batch=%u commit_ms=%.3f "
             "settle_ms=%.3f malloc_trim_ms=%.3f total_ms=%.3f",
             l->attempt, l->outcome, err_word(l->code), ms[PROVE_FINISH], ms[RELEASE],
             ms[DESK_WAIT], ms[RESULT], ms[PAIRING], l->batch, ms[COMMIT], ms[SETTLE],
             (double)trim_ns / 1e6, ms[TOTAL] + (double)trim_ns / 1e6);
}

static void keep_line(struct desk *d, const struct fin_line *l)
{
    if (d->n_lines == d->line_cap) {
        d->line_cap = d->line_cap ? 2 * d->line_cap : 64;
        d->lines = realloc(d->lines, d->line_cap * sizeof *d->lines);
        INVARIANT(d->lines != NULL);
    }
    d->lines[d->n_lines++] = *l;
}

void timing_settled(const struct flight *f, const struct fin_begin *b)
{
    struct desk *d = f->desk;
    const struct finish *x = &f->finish;
    uint64_t end = span_now_ns(), begin = b->finish_ns[0] ? b->finish_ns[0] : b->ended_ns;
    struct span_who who = flight_who(f);
    who.outcome = (uint16_t)f->failed;
    /* With a finisher the wait ended when it began; without one when the desk let go of it. */
    uint64_t waited = x->began_ns ? x->began_ns : b->begin_ns;
    if (!x->began_ns && b->ended_ns)
        span_write(d->spans, SPAN_DESK_WAIT, &who, b->ended_ns, waited, 0);
    if (f->committed_ns)
        span_write(d->spans, SPAN_COMMIT, &who, x->checked_ns, f->committed_ns, 1);
    span_write(d->spans, SPAN_SETTLE, &who, b->begin_ns, end, 0);
    if (begin)
        span_write(d->spans, SPAN_FIN_TOTAL, &who, begin, end, 0);
    if (!log_enabled(LOG_LEVEL_INFO))
        return;
    struct fin_line l = {
        .job = f->job,
        .index = f->index,
        .attempt = f->attempt,
        .batch = x->batch,
        .outcome = outcome_of(f),
        .code = f->failed,
        .ns = {[PROVE_FINISH] = between(b->finish_ns[0], b->finish_ns[1]),
               [RELEASE] = between(b->finish_ns[2], b->ended_ns),
               [DESK_WAIT] = between(b->ended_ns, waited),
               [RESULT] = between(x->began_ns, x->formed_ns),
               [PAIRING] = between(x->check_ns, x->checked_ns),
               [COMMIT] = between(x->checked_ns, f->committed_ns),
               [SETTLE] = between(b->begin_ns, end),
               [TOTAL] = between(begin, end)},
    };
    if (d->set.malloc_trim)
        keep_line(d, &l);
    else
        log_line(&l, 0);
}

void timing_trimmed(struct desk *d, uint64_t trim_ns)
{
    for (size_t i = 0; i < d->n_lines; i++)
        log_line(&d->lines[i], trim_ns);
    d->n_lines = 0;
}

void timing_flush(struct desk *d)
{
    timing_trimmed(d, 0);
    free(d->lines);
    d->lines = NULL;
    d->line_cap = 0;
}
