#include "events.h"
#include <microhttpd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "gateway.h"
#include "routes.h"
#include "snapshot.h"

enum { BLOCK = 64 << 10 };

struct stream {
    struct stream *next, **link;
    struct events *owner;
    struct MHD_Connection *connection;
    bool waiting;  /* suspended until there is something */
    uint64_t seen; /* number of the last sample sent */
    struct text out;
    size_t sent; /* of out */
};

struct events {
    struct gateway *gateway;
    pthread_mutex_t lock;
    struct stream *all;
    unsigned n;
    bool ending;
};

struct events *events_new(struct gateway *g)
{
    struct events *e = calloc(1, sizeof *e);
    INVARIANT(e != NULL);
    e->gateway = g;
    pthread_mutex_init(&e->lock, NULL);
    return e;
}

void events_free(struct events **e)
{
    if (!*e)
        return;
    INVARIANT((*e)->all == NULL);
    pthread_mutex_destroy(&(*e)->lock);
    free(*e);
    *e = NULL;
}

static void wake_all(struct events *e)
{
    for (struct stream *s = e->all; s; s = s->next)
        if (s->waiting) {
            s->waiting = false;
            MHD_resume_connection(s->connection);
        }
}

void events_published(struct events *e)
{
    pthread_mutex_lock(&e->lock);
    wake_all(e);
    pthread_mutex_unlock(&e->lock);
}

void events_end(struct events *e)
{
    pthread_mutex_lock(&e->lock);
    e->ending = true;
    wake_all(e);
    pthread_mutex_unlock(&e->lock);
}

unsigned events_open(struct events *e)
{
    pthread_mutex_lock(&e->lock);
    unsigned n = e->n;
    pthread_mutex_unlock(&e->lock);
    return n;
}

static void add_event(struct stream *s, const char *name, const char *data, size_t n)
{
    text_add(&s->out, "event: %s\ndata: ", name);
    text_put(&s->out, data, n); /* one line: JSON without white space */
    text_add(&s->out, "\n\n");
}

/* What the page has not got yet, into s->out. */
static void fill(struct stream *s)
{
    struct gateway *g = s->owner->gateway;
    struct sample *newest = watch_sample(g->watch);
    s->out.n = s->sent = 0;
    if (newest && newest->number > s->seen) {
        if (newest->n_point && s->seen)
            add_event(s, "point", newest->point, newest->n_point);
        add_event(s, "sample", newest->page, newest->n_page);
        s->seen = newest->number;
        tally_add(g->tally, TALLY_EVENTS_SENT, 1);
    }
    sample_drop(&newest);
}

/* microhttpd wants the next bytes. */
static ssize_t more(void *arg, uint64_t pos, char *buffer, size_t max)
{
    struct stream *s = arg;
    struct events *e = s->owner;
    (void)pos;
    if (s->sent == s->out.n) {
        /* Under the lock, so that no sample comes between the look and the suspension. */
        pthread_mutex_lock(&e->lock);
        bool ending = e->ending;
        if (!ending) {
            fill(s);
            if (s->out.n == 0 && !s->out.failed) {
                s->waiting = true;
                MHD_suspend_connection(s->connection);
            }
        }
        pthread_mutex_unlock(&e->lock);
        if (ending || s->out.failed)
            return MHD_CONTENT_READER_END_OF_STREAM;
    }
    size_t n = s->out.n - s->sent < max ? s->out.n - s->sent : max;
    if (n)
        memcpy(buffer, s->out.at + s->sent, n);
    s->sent += n;
    return (ssize_t)n;
}

static void gone(void *arg)
{
    struct stream *s = arg;
    struct events *e = s->owner;
    pthread_mutex_lock(&e->lock);
    *s->link = s->next;
    if (s->next)
        s->next->link = s->link;
    e->n--;
    pthread_mutex_unlock(&e->lock);
    text_free(&s->out);
    free(s);
}

void events_stream(struct request *r)
{
    struct events *e = r->gateway->events;
    struct stream *s = calloc(1, sizeof *s);
    INVARIANT(s != NULL);
    s->owner = e;
    s->connection = r->connection;
    pthread_mutex_lock(&e->lock);
    bool may = e->n < EVENTS_OPEN_MAX && !e->ending;
    if (may) {
        s->next = e->all;
        s->link = &e->all;
        if (e->all)
            e->all->link = &s->next;
        e->all = s;
        e->n++;
    }
    pthread_mutex_unlock(&e->lock);
    if (!may) {
        free(s);
        reply_error(r, 503, "too-many-pages", NULL, "%d pages are open already", EVENTS_OPEN_MAX);
        return;
    }
    struct text words = {0};
    size_t n;
    char *history = watch_history(r->gateway->watch, &n);
    snapshot_words(&words);
    if (words.at)
        add_event(s, "words", words.at, words.n);
    if (history)
        add_event(s, "history", history, n);
    text_free(&words);
    free(history);
    reply_stream(r, "text/event-stream",
                 MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, more, s, gone));
}
