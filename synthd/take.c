/* take: what is granted to this synthd, claimed; inputs opened and programs started. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "synthd.h"

static struct work *free_work(struct synthd *s)
{
    for (size_t i = 0; i < WORK_MAX; i++)
        if (s->work[i].stage == WORK_NONE)
            return &s->work[i];
    return NULL;
}

unsigned take_in_hand(struct synthd *s)
{
    unsigned n = 0;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < WORK_MAX; i++)
        n += s->work[i].stage != WORK_NONE && s->work[i].stage != WORK_ENDED;
    pthread_mutex_unlock(&s->lock);
    return n;
}

static unsigned programs_running(const struct synthd *s)
{
    unsigned n = 0;
    for (size_t i = 0; i < WORK_MAX; i++)
        n += s->work[i].stage == WORK_PROGRAM;
    return n;
}

/* A suspect runs with nothing beside it, so that a death tells who caused it. */
static bool must_wait(struct synthd *s, const struct lease_row *r)
{
    bool alone = (r->flags & LEASE_ALONE) != 0;
    for (size_t i = 0; i < WORK_MAX; i++) {
        const struct work *w = &s->work[i];
        if (w->stage == WORK_NONE || w->stage == WORK_ENDED)
            continue;
        if (alone || (w->terms.flags & LEASE_ALONE) != 0)
            return true;
    }
    return (r->flags & LEASE_INPUT_JSON) != 0 && programs_running(s) >= s->settings.programs;
}

static void set_stage(struct synthd *s, struct work *w, enum work_stage stage)
{
    pthread_mutex_lock(&s->lock);
    w->stage = stage;
    w->queued_ns = span_now_ns();
    if (stage == WORK_QUEUED)
        pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
}

/* The desk kills an owner that is past the step's limit; the program is to be killed before that,
 * so that the failure is the partition's and not this process's. */
static struct program_limits limits_for(const struct synthd *s, const struct lease_terms *t)
{
    struct program_limits l = s->settings.program;
    uint64_t step = t->step_limit_ns / 10 * 9;
    if (step != 0 && (l.wall_ns == 0 || step < l.wall_ns))
        l.wall_ns = step;
    return l;
}

static enum err_code begin_program(struct synthd *s, struct work *w)
{
    if (s->runner[0] == 0)
        return err_set(&w->why, ERR_UNAVAILABLE, "%s", s->runner_why);
    struct program_limits limits = limits_for(s, &w->terms);
    enum err_code rc = program_start(&w->program, s->runner, s->instance.dir, s->instance.dir_fd,
                                     w->terms.circuit, w->input_fd, &limits, &w->why);
    close(w->input_fd);
    w->input_fd = -1;
    if (rc == ERR_OK)
        lanes_watch(s->lanes, w->program.pidfd, 0);
    return rc;
}

static void begin(struct synthd *s, struct work *w)
{
    bool json = (w->terms.flags & LEASE_INPUT_JSON) != 0;
    enum err_code rc = witness_open(s, w, &w->why);
    if (rc == ERR_OK && json)
        rc = begin_program(s, w);
    if (rc == ERR_OK)
        set_stage(s, w, json ? WORK_PROGRAM : WORK_QUEUED);
    else
        work_fail(s, w);
}

void take_row(struct synthd *s, uint32_t row)
{
    const struct lease_row *r = lease_row(&s->arena, row);
    if (r == NULL || s->member.draining)
        return;
    struct lease_view v = lease_look(&s->arena, row);
    if (v.state != LEASE_GRANTED || v.owner != s->id)
        return; /* a stale doorbell */
    struct lease_ref ref = lease_ref_of(&s->arena, row);
    if (ref.generation != v.generation || lease_cancelled(&s->arena, ref) != CANCEL_NONE)
        return; /* the desk withdraws it */
    pthread_mutex_lock(&s->lock);
    struct work *w = must_wait(s, r) ? NULL : free_work(s);
    pthread_mutex_unlock(&s->lock);
    if (w == NULL || !lease_claim(&s->arena, ref, s->id))
        return;
    pthread_mutex_lock(&s->lock);
    *w = (struct work){.stage = WORK_NONE, .ref = ref, .input_fd = -1};
    pthread_mutex_unlock(&s->lock);
    lease_terms_read(&s->arena, row, &w->terms);
    struct span_who who = work_who(w);
    span_write(s->take_ring, SPAN_GRANT, &who,
               atomic_load_explicit(&r->at_ns[LEASE_GRANTED], memory_order_relaxed), span_now_ns(),
               0);
    begin(s, w);
}

void take_scan(struct synthd *s, bool late)
{
    for (uint32_t row = 0; lease_next(&s->arena, LEASE_GRANTED, s->id, &row); row++) {
        take_row(s, row);
        if (late && lease_look(&s->arena, row).state != LEASE_GRANTED)
            stat_add(s->stats, STAT_RESCANS_HELPED, 1);
    }
}

static void program_ended(struct synthd *s, struct work *w)
{
    uint64_t begun = w->program.started_ns;
    lanes_unwatch(s->lanes, w->program.pidfd);
    enum err_code rc = program_finish(&w->program, &w->input_fd, &w->why);
    struct span_who who = work_who(w);
    who.outcome = (uint16_t)rc;
    span_write(s->take_ring, SPAN_PROGRAM, &who, begun, span_now_ns(), 0);
    if (rc == ERR_OK)
        set_stage(s, w, WORK_QUEUED);
    else
        work_fail(s, w);
}

static enum work_stage stage_of(struct synthd *s, const struct work *w)
{
    pthread_mutex_lock(&s->lock);
    enum work_stage stage = w->stage;
    pthread_mutex_unlock(&s->lock);
    return stage;
}

/* The lease may also have been taken from us (the desk gave up waiting): the program is in vain. */
static bool in_vain(const struct synthd *s, const struct work *w)
{
    struct lease_view v = lease_look(&s->arena, w->ref.row);
    return v.generation != w->ref.generation || v.state != LEASE_FILLING ||
           lease_cancelled(&s->arena, w->ref) != CANCEL_NONE;
}

bool take_watch(struct synthd *s)
{
    uint64_t now = span_now_ns();
    bool changed = false;
    for (size_t i = 0; i < WORK_MAX; i++) {
        struct work *w = &s->work[i];
        if (stage_of(s, w) != WORK_PROGRAM)
            continue;
        if (in_vain(s, w))
            program_kill(&w->program);
        if (program_watch(&w->program, now)) {
            program_ended(s, w);
            changed = true;
        }
    }
    return changed;
}

void take_abort(struct synthd *s)
{
    for (size_t i = 0; i < WORK_MAX; i++)
        if (stage_of(s, &s->work[i]) == WORK_PROGRAM)
            program_kill(&s->work[i].program);
}
