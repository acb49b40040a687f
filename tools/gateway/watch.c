#include "watch.h"
#include <pthread.h>
#include <stdlib.h>
#include "gateway.h"
#include "history.h"
#include "live.h"
#include "log.h"
#include "metrics.h"
#include "phases.h"
#include "snapshot.h"

enum { WINDOW_S = 60, TURN_MS = 1000, WAIT_MS = 250 };

struct watch {
    struct gateway *gateway;
    pthread_t thread;
    pthread_mutex_t lock;
    struct sample *newest;
    struct history history; /* under the lock */
    atomic_bool ending;
    struct phases *phases;
    uint64_t number;
};

void sample_drop(struct sample **sample)
{
    struct sample *s = *sample;
    *sample = NULL;
    if (!s || atomic_fetch_sub(&s->holders, 1) != 1)
        return;
    free(s->metrics);
    free(s->status);
    free(s->page);
    free(s->point);
    free(s);
}

struct sample *watch_sample(struct watch *w)
{
    pthread_mutex_lock(&w->lock);
    struct sample *s = w->newest;
    if (s)
        atomic_fetch_add(&s->holders, 1);
    pthread_mutex_unlock(&w->lock);
    return s;
}

char *watch_history(struct watch *w, size_t *n)
{
    struct text t = {0};
    pthread_mutex_lock(&w->lock);
    history_json(&w->history, &t);
    pthread_mutex_unlock(&w->lock);
    if (t.failed)
        text_free(&t);
    *n = t.n;
    return t.at;
}

static char *taken(struct text *t, size_t *n, bool *failed)
{
    *failed |= t->failed;
    *n = t->n;
    return t->at;
}

static void publish(struct watch *w, const struct live_view *view)
{
    struct sample *s = calloc(1, sizeof *s);
    if (!s)
        return;
    struct text metrics = {0}, status = {0}, page = {0}, point = {0};
    bool failed = false;
    metrics_instance(view, &metrics);
    phases_metrics(w->phases, &metrics);
    snapshot_status(view, &status);
    snapshot_page(view, &page);
    pthread_mutex_lock(&w->lock);
    if (history_turn(&w->history, view)) {
        size_t last = (w->history.next + HISTORY_POINTS - 1) % HISTORY_POINTS;
        history_point_json(&w->history.at[last], &point);
    }
    pthread_mutex_unlock(&w->lock);
    atomic_init(&s->holders, 1);
    s->number = ++w->number;
    s->metrics = taken(&metrics, &s->n_metrics, &failed);
    s->status = taken(&status, &s->n_status, &failed);
    s->page = taken(&page, &s->n_page, &failed);
    s->point = taken(&point, &s->n_point, &failed);
    if (failed) {
        sample_drop(&s);
        return;
    }
    pthread_mutex_lock(&w->lock);
    struct sample *old = w->newest;
    w->newest = s;
    pthread_mutex_unlock(&w->lock);
    sample_drop(&old);
    events_published(w->gateway->events);
}

static void *run(void *arg)
{
    struct watch *w = arg;
    struct err e = {0};
    struct live_options o = {.window_s = WINDOW_S, .as_gateway = true, .account_of_window = true};
    /* Opened here, since its sockets belong to this thread. */
    struct live *live = live_open(&w->gateway->instance, &o, &e);
    uint64_t next = 0;
    if (live)
        live_on_span(live, phases_span, w->phases);
    else
        log_error("no-live-view", NULL, "reason=%s", e.text);
    while (live && !atomic_load(&w->ending)) {
        enum err_code rc = live_turn(live, WAIT_MS, &e);
        const struct live_view *view = live_view(live);
        if (!rc && view->now_ns >= next) {
            next = view->now_ns + TURN_MS * UINT64_C(1000000);
            rc = phases_account(w->phases, view, &e);
            publish(w, view);
        }
        if (rc)
            log_warn("view-incomplete", NULL, "reason=%s", e.text);
    }
    live_close(&live);
    return NULL;
}

struct watch *watch_new(struct gateway *g, struct err *e)
{
    struct watch *w = calloc(1, sizeof *w);
    INVARIANT(w != NULL && (w->phases = phases_new()) != NULL);
    w->gateway = g;
    pthread_mutex_init(&w->lock, NULL);
    if (pthread_create(&w->thread, NULL, run, w) != 0) {
        err_set(e, ERR_MEMORY, "cannot start the thread that watches the instance");
        phases_free(&w->phases);
        free(w);
        return NULL;
    }
    return w;
}

void watch_free(struct watch **watch)
{
    struct watch *w = *watch;
    if (!w)
        return;
    atomic_store(&w->ending, true);
    pthread_join(w->thread, NULL);
    sample_drop(&w->newest);
    phases_free(&w->phases);
    pthread_mutex_destroy(&w->lock);
    free(w);
    *watch = NULL;
}
