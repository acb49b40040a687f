/* take: the thread that owns the backend: takes what is ready, in order, and keeps the device fed.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "gpud.h"
#include "log.h"

enum { SCAN_MS = 100, UPLOAD_POLL_US = 500, IDLE_PIECE_MS = 1000 };

void take_ring_bell(struct gpud *g)
{
    uint64_t one = 1;
    ssize_t n = write(g->take_fd, &one, sizeof one); /* fails only when it is awake already */
    (void)n;
}

unsigned take_in_flight(struct gpud *g)
{
    pthread_mutex_lock(&g->lock);
    unsigned n = g->n_flights - g->n_finished;
    pthread_mutex_unlock(&g->lock);
    return n;
}

/* ---- the table ---------------------------------------------------------------------------- */

struct choice {
    struct arena *arena; /* NULL: nothing is ready */
    uint32_t row;
    uint64_t seen_ns;
};

/* The first in order of all that is ready and ours, on every node. Notes when each was first seen,
 * for the span that tells waiting for a doorbell from waiting for the device. */
static struct choice choose(struct gpud *g)
{
    struct choice best = {NULL, 0, 0};
    uint64_t now = span_now_ns();
    for (unsigned node = 0; node < ARENA_NODES_MAX; node++) {
        if ((g->nodes >> node & 1) == 0)
            continue;
        struct arena *a = &g->arena[node];
        for (uint32_t row = 0; lease_next(a, LEASE_READY, g->id, &row); row++) {
            struct lease_row *r = lease_row(a, row);
            uint64_t word = atomic_load_explicit(&r->word, memory_order_acquire);
            if (g->seen_word[node][row] != word) {
                g->seen_word[node][row] = word;
                g->seen_ns[node][row] = now;
            }
            if (best.arena == NULL || lease_order(r, lease_row(best.arena, best.row)) < 0)
                best = (struct choice){a, row, g->seen_ns[node][row]};
        }
    }
    return best;
}

/* A suspect is proved with nothing beside it, so that a death tells who caused it. */
static bool must_wait(struct gpud *g, const struct lease_row *r)
{
    pthread_mutex_lock(&g->lock);
    bool alone = (r->flags & LEASE_ALONE) != 0 && g->n_flights > 0;
    for (unsigned i = 0; i < g->n_flights; i++)
        alone = alone || (g->flight[(g->first + i) % FLIGHTS_MAX].terms.flags & LEASE_ALONE) != 0;
    bool wait = alone || g->n_flights >= g->caps.max_in_flight || g->draining || g->lost;
    g->taking = !wait; /* a drain waits for what is half taken */
    pthread_mutex_unlock(&g->lock);
    return wait;
}

static void taking_done(struct gpud *g, const struct flight *started)
{
    pthread_mutex_lock(&g->lock);
    g->taking = false;
    if (started != NULL) {
        INVARIANT(g->n_flights < FLIGHTS_MAX);
        g->flight[(g->first + g->n_flights++) % FLIGHTS_MAX] = *started;
        pthread_cond_signal(&g->started);
    }
    pthread_mutex_unlock(&g->lock);
}

static void idle_ended(struct gpud *g, uint64_t now)
{
    if (g->idle_since_ns != 0)
        span_write(g->take_ring, SPAN_IDLE, SPAN_NOBODY, g->idle_since_ns, now, 0);
    g->idle_since_ns = 0;
}

/* The lease is ours. */
static bool take_and_start(struct gpud *g, struct flight *f)
{
    f->taken_ns = span_now_ns();
    idle_ended(g, f->taken_ns);
    lease_terms_read(f->arena, f->ref.row, &f->terms);
    struct span_who who = flight_who(f);
    span_write(g->take_ring, SPAN_RING, &who, f->ready_ns, f->seen_ns, 0);
    span_write(g->take_ring, SPAN_READY_WAIT, &who, f->seen_ns, f->taken_ns, 0);
    note_lease(g, MSG_TAKEN, f, 0, "");
    f->uploaded = !g->caps.early_upload; /* such a backend reads the extent to the end */
    return start_flight(g, f);
}

/* Takes one lease and starts it. False when there is none to take now. */
static bool take_one(struct gpud *g)
{
    struct choice c = choose(g);
    if (c.arena == NULL)
        return false;
    struct lease_row *r = lease_row(c.arena, c.row);
    struct lease_view v = lease_look(c.arena, c.row);
    struct flight f = {.arena = c.arena, .ticket = -1, .seen_ns = c.seen_ns};
    f.ref = lease_ref_of(c.arena, c.row);
    if (v.state != LEASE_READY || v.owner != g->id || v.generation != f.ref.generation)
        return true; /* it moved on while we looked: look again */
    if (must_wait(g, r))
        return false;
    f.ready_ns = atomic_load_explicit(&r->at_ns[LEASE_READY], memory_order_relaxed);
    bool started = lease_take(c.arena, f.ref, g->id) && take_and_start(g, &f);
    taking_done(g, started ? &f : NULL);
    holdings_look(g);
    return true;
}

/* ---- what is in flight --------------------------------------------------------------------- */

/* Moves a lease to UPLOADED when no copy out of its extent is outstanding. The finish thread may be
 * in prove_finish of the same ticket meanwhile; a ticket is not used again before we forget it. */
static void look_uploaded(struct gpud *g, struct flight *f)
{
    enum prove_stage stage = g->ops->prove_poll(g->backend, f->ticket);
    if (stage == PROVE_QUEUED)
        return;
    f->uploaded = true;
    if (stage != PROVE_UPLOADED)
        return; /* done or failed: the finish thread ends it */
    pthread_mutex_lock(&g->lock);
    bool moved = !f->settling && lease_uploaded(f->arena, f->ref, g->id);
    pthread_mutex_unlock(&g->lock);
    if (moved) {
        f->uploaded_ns = span_now_ns();
        note_lease(g, MSG_UPLOADED, f, 0, "");
    }
}

/* Forgets what has finished; true while something must be polled for. */
static bool look_at_flights(struct gpud *g)
{
    pthread_mutex_lock(&g->lock);
    while (g->n_finished > 0) {
        g->first = (g->first + 1) % FLIGHTS_MAX;
        g->n_flights--;
        g->n_finished--;
    }
    unsigned n = g->n_flights;
    pthread_mutex_unlock(&g->lock);
    bool poll_on = false;
    for (unsigned i = 0; i < n; i++) {
        struct flight *f = &g->flight[(g->first + i) % FLIGHTS_MAX];
        if (!f->uploaded)
            look_uploaded(g, f);
        poll_on = poll_on || !f->uploaded;
    }
    return poll_on;
}

static void look_at_asked(struct gpud *g)
{
    struct asked list[ASKED_MAX];
    pthread_mutex_lock(&g->lock);
    unsigned n = g->n_asked;
    memcpy(list, g->asked, n * sizeof *list);
    g->n_asked = 0;
    pthread_mutex_unlock(&g->lock);
    for (unsigned i = 0; i < n; i++)
        if (!start_asked(g, &list[i])) { /* kept: the desk counts on its going */
            pthread_mutex_lock(&g->lock);
            if (g->n_asked < ASKED_MAX)
                g->asked[g->n_asked++] = list[i];
            pthread_mutex_unlock(&g->lock);
        }
    if (n > 0)
        holdings_look(g);
}

static void note_idle(struct gpud *g, uint64_t now)
{
    if (take_in_flight(g) > 0) {
        idle_ended(g, now);
    } else if (g->idle_since_ns == 0) {
        g->idle_since_ns = now;
    } else if (now - g->idle_since_ns > IDLE_PIECE_MS * UINT64_C(1000000)) {
        idle_ended(g, now); /* in pieces, so that a reader sees idleness while it lasts */
        g->idle_since_ns = now;
    }
}

static bool wait_for_work(struct gpud *g, bool poll_on)
{
    struct timespec limit = {0, poll_on ? UPLOAD_POLL_US * 1000 : SCAN_MS * 1000000};
    struct pollfd f = {.fd = g->take_fd, .events = POLLIN};
    bool rung = ppoll(&f, 1, &limit, NULL) > 0;
    uint64_t n;
    if (rung && read(g->take_fd, &n, sizeof n) < 0)
        rung = false;
    return rung;
}

static void *take_main(void *arg)
{
    struct gpud *g = arg;
    bool rung = true;
    for (;;) {
        uint64_t now = span_now_ns();
        pthread_mutex_lock(&g->lock);
        bool closing = g->closing;
        g->take_turn_ns = now;
        pthread_mutex_unlock(&g->lock);
        bool poll_on = look_at_flights(g);
        if (closing)
            return NULL;
        look_at_asked(g);
        bool found = false;
        while (take_one(g)) {
            found = true;
            poll_on = look_at_flights(g);
        }
        if (found && !rung && !poll_on)
            stat_add(g->stats, STAT_RESCANS_HELPED, 1);
        note_idle(g, now);
        rung = wait_for_work(g, poll_on);
    }
}

enum err_code take_begin(struct gpud *g, struct err *e)
{
    g->take_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (g->take_fd < 0)
        return err_set(e, ERR_IO, "eventfd: %s", strerror(errno));
    int failed = pthread_create(&g->take_thread, NULL, take_main, g);
    if (failed != 0)
        return err_set(e, ERR_MEMORY, "the take thread cannot be started: %s", strerror(failed));
    return ERR_OK;
}

void take_end(struct gpud *g)
{
    pthread_mutex_lock(&g->lock);
    g->closing = true;
    pthread_mutex_unlock(&g->lock);
    take_ring_bell(g);
    pthread_join(g->take_thread, NULL);
}
