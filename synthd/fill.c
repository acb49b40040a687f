/* fill: the thread that turns a claimed lease into a READY one. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "log.h"
#include "synthd.h"

struct span_who work_who(const struct work *w)
{
    return (struct span_who){.job = w->terms.job,
                             .partition = w->terms.partition,
                             .attempt = w->terms.attempt,
                             .row = w->ref.row | w->ref.node << 16};
}

static void work_end(struct synthd *s, struct work *w)
{
    if (w->input_fd >= 0)
        close(w->input_fd);
    w->input_fd = -1;
    pthread_mutex_lock(&s->lock);
    w->stage = WORK_ENDED;
    pthread_mutex_unlock(&s->lock);
    uint64_t one = 1;
    ssize_t wrote = write(s->ended_fd, &one, sizeof one); /* full only if nobody has looked yet */
    (void)wrote;
}

void work_fail(struct synthd *s, struct work *w)
{
    text_clean(w->why.text);
    w->code = w->why.code;
    w->lost = !lease_fail(&s->arena, w->ref, s->id, (uint32_t)w->code, w->why.text);
    work_end(s, w);
}

/* True, with w->why filled in, when the desk has asked for this attempt to stop. */
static bool cancelled(const struct synthd *s, struct work *w)
{
    enum lease_cancel why = lease_cancelled(&s->arena, w->ref);
    if (why == CANCEL_NONE)
        return false;
    err_set(&w->why, ERR_CANCELLED, "stopped while it was filled: %s", lease_cancel_name(why));
    return true;
}

/* Mapping a circuit that is not there yet is a step of its own. */
static const struct circuit *borrow(struct synthd *s, struct work *w)
{
    uint64_t begin = span_now_ns(), bytes = circuit_cache_bytes(s->circuits);
    const struct circuit *c = circuit_cache_borrow(s->circuits, w->terms.circuit, &w->why);
    uint64_t mapped = circuit_cache_bytes(s->circuits);
    if (mapped > bytes || c == NULL) {
        struct span_who who = work_who(w);
        who.outcome = c != NULL ? 0 : (uint16_t)w->why.code;
        span_write(s->fill_ring, SPAN_KEY_LOAD, &who, begin, span_now_ns(),
                   mapped > bytes ? mapped - bytes : 0);
        stat_set(s->stats, STAT_CHARGED_BYTES, mapped);
    }
    return c;
}

static enum err_code steps(struct synthd *s, struct work *w)
{
    const struct circuit *c = borrow(s, w);
    if (c == NULL)
        return w->why.code;
    KILL_POINT("synthd.witness.before");
    enum err_code rc = witness_read(s, w, c, &w->why);
    KILL_POINT("synthd.witness.after");
    if (rc == ERR_OK && cancelled(s, w))
        rc = ERR_CANCELLED;
    if (rc == ERR_OK)
        rc = evaluate(s, w, c, &w->why);
    KILL_POINT("synthd.evaluate.after");
    if (rc == ERR_OK && cancelled(s, w))
        rc = ERR_CANCELLED;
    circuit_cache_return(s->circuits, c);
    return rc;
}

static void fill(struct synthd *s, struct work *w)
{
    struct span_who who = work_who(w);
    span_write(s->fill_ring, SPAN_FILL_WAIT, &who, w->queued_ns, span_now_ns(), 0);
    if (cancelled(s, w) || steps(s, w) != ERR_OK) {
        work_fail(s, w);
        return;
    }
    w->published = publish(s, w);
    w->lost = !w->published;
    work_end(s, w);
}

/* The queued work that a gpud would take first. */
static struct work *next_queued(struct synthd *s)
{
    struct work *best = NULL;
    for (size_t i = 0; i < WORK_MAX; i++) {
        struct work *w = &s->work[i];
        if (w->stage == WORK_QUEUED &&
            (best == NULL || lease_order(lease_row(&s->arena, w->ref.row),
                                         lease_row(&s->arena, best->ref.row)) < 0))
            best = w;
    }
    return best;
}

static void *fill_main(void *arg)
{
    struct synthd *s = arg;
    struct work *w;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while ((w = next_queued(s)) == NULL && !s->closing)
            pthread_cond_wait(&s->wake, &s->lock);
        if (w == NULL)
            break;
        w->stage = WORK_FILLING;
        pthread_mutex_unlock(&s->lock);
        fill(s, w);
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

enum err_code fill_begin(struct synthd *s, struct err *e)
{
    s->ended_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->ended_fd < 0)
        return err_set(e, ERR_IO, "eventfd: %s", strerror(errno));
    int failed = pthread_create(&s->fill_thread, NULL, fill_main, s);
    if (failed != 0)
        return err_set(e, ERR_MEMORY, "the fill thread cannot be started: %s", strerror(failed));
    return ERR_OK;
}

void fill_end(struct synthd *s)
{
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    pthread_cond_broadcast(&s->wake);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->fill_thread, NULL);
}
