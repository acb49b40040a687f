#include "conns.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include "err.h"
#include "span.h"

#define SECOND_NS UINT64_C(1000000000)
enum { HEAD_S = 10, IDLE_S = 30, GRACE_S = 20 };

struct conn {
    struct conn *next, **link;
    int fd;
    enum conn_phase phase;
    uint64_t since_ns, bytes;
    bool shut;
};

struct conns {
    pthread_mutex_t lock;
    struct conn *all;
    uint64_t rate, n[CONN_PHASES], reaped;
};

struct conns *conns_new(uint64_t rate_bytes)
{
    struct conns *c = calloc(1, sizeof *c);
    INVARIANT(c != NULL);
    pthread_mutex_init(&c->lock, NULL);
    c->rate = rate_bytes;
    return c;
}

void conns_free(struct conns **c)
{
    if (!*c)
        return;
    INVARIANT((*c)->all == NULL);
    pthread_mutex_destroy(&(*c)->lock);
    free(*c);
    *c = NULL;
}

struct conn *conns_add(struct conns *c, int fd)
{
    struct conn *conn = calloc(1, sizeof *conn);
    INVARIANT(conn != NULL);
    conn->fd = fd;
    conn->since_ns = span_now_ns();
    pthread_mutex_lock(&c->lock);
    conn->next = c->all;
    conn->link = &c->all;
    if (c->all)
        c->all->link = &conn->next;
    c->all = conn;
    c->n[conn->phase]++;
    pthread_mutex_unlock(&c->lock);
    return conn;
}

void conns_remove(struct conns *c, struct conn *conn)
{
    pthread_mutex_lock(&c->lock);
    *conn->link = conn->next;
    if (conn->next)
        conn->next->link = conn->link;
    c->n[conn->phase]--;
    pthread_mutex_unlock(&c->lock);
    free(conn);
}

void conns_phase(struct conns *c, struct conn *conn, enum conn_phase phase, uint64_t bytes)
{
    pthread_mutex_lock(&c->lock);
    c->n[conn->phase]--;
    c->n[phase]++;
    conn->phase = phase;
    conn->bytes = bytes;
    conn->since_ns = span_now_ns();
    pthread_mutex_unlock(&c->lock);
}

void conns_received(struct conns *c, struct conn *conn, uint64_t bytes)
{
    pthread_mutex_lock(&c->lock);
    conn->bytes += bytes;
    pthread_mutex_unlock(&c->lock);
}

static uint64_t limit_ns(const struct conns *c, const struct conn *conn)
{
    switch (conn->phase) {
    case CONN_OPEN:
    case CONN_HEAD:
        return HEAD_S * SECOND_NS;
    case CONN_IDLE:
        return IDLE_S * SECOND_NS;
    case CONN_BODY:
    case CONN_ANSWER:
        return (GRACE_S + conn->bytes / c->rate) * SECOND_NS;
    default:
        return UINT64_MAX;
    }
}

unsigned conns_reap(struct conns *c, uint64_t now_ns)
{
    unsigned n = 0;
    pthread_mutex_lock(&c->lock);
    for (struct conn *conn = c->all; conn; conn = conn->next) {
        if (conn->shut || now_ns < conn->since_ns || now_ns - conn->since_ns < limit_ns(c, conn))
            continue;
        /* The descriptor is open as long as the connection stands in this list. */
        shutdown(conn->fd, SHUT_RDWR);
        conn->shut = true;
        n++;
    }
    c->reaped += n;
    pthread_mutex_unlock(&c->lock);
    return n;
}

void conns_count(struct conns *c, uint64_t phase[CONN_PHASES], uint64_t *reaped)
{
    pthread_mutex_lock(&c->lock);
    for (unsigned i = 0; i < CONN_PHASES; i++)
        phase[i] = c->n[i];
    *reaped = c->reaped;
    pthread_mutex_unlock(&c->lock);
}
