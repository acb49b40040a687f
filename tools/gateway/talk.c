#include "talk.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "gateway.h"
#include "span.h"

enum { TURN_MS = 100, WATCHED_MAX = 8192 };

/* A question or a wait on its way to the talk thread. */
struct post {
    struct post *next;
    bool is_wait;
    struct message question;
    uint64_t limit_ms;
    asked_fn *asked;
    uint64_t job, until_ns;
    waited_fn *waited;
    void *arg;
};

struct open_question {
    struct open_question *next, **link;
    struct talk *talk;
    uint64_t name;
    asked_fn *fn;
    void *arg;
};

struct waiter {
    struct waiter *next;
    uint64_t until_ns;
    waited_fn *fn;
    void *arg;
};

/* A job that somebody waits for, or did: it is watched until it ends, since the desk goes on
 * telling anyhow. */
struct watched {
    struct watched *next;
    struct talk *talk;
    uint64_t job, name;
    struct waited last;
    struct waiter *waiters;
};

struct talk {
    struct gateway *gateway;
    pthread_t thread;
    pthread_mutex_t lock;
    struct post *first, **end;
    bool ending, over;
    int wake_fd;
    /* the talk thread's own */
    struct asker *asker;
    struct open_question *open;
    struct watched *watched;
    size_t n_watched;
};

static void post(struct talk *t, struct post *p)
{
    uint64_t one = 1;
    p->next = NULL;
    pthread_mutex_lock(&t->lock);
    *t->end = p;
    t->end = &p->next;
    pthread_mutex_unlock(&t->lock);
    ssize_t put = write(t->wake_fd, &one, sizeof one);
    (void)put; /* a full counter wakes as well */
}

void talk_ask(struct talk *t, const struct message *question, uint64_t limit_ms, asked_fn *fn,
              void *arg)
{
    struct post *p = malloc(sizeof *p);
    INVARIANT(p != NULL);
    *p = (struct post){.question = *question, .limit_ms = limit_ms, .asked = fn, .arg = arg};
    post(t, p);
}

void talk_wait(struct talk *t, uint64_t job, uint64_t until_ns, waited_fn *fn, void *arg)
{
    struct post *p = malloc(sizeof *p);
    INVARIANT(p != NULL);
    *p = (struct post){.is_wait = true, .job = job, .until_ns = until_ns, .waited = fn, .arg = arg};
    post(t, p);
}

/* --- questions -------------------------------------------------------------------------------- */

static void close_question(struct open_question *q)
{
    *q->link = q->next;
    if (q->next)
        q->next->link = q->link;
    free(q);
}

static void got_answer(void *arg, const struct answer *a)
{
    struct open_question *q = arg;
    asked_fn *fn = q->fn;
    void *their = q->arg;
    if (a->last)
        close_question(q);
    fn(their, a);
}

static void open_question(struct talk *t, const struct post *p)
{
    struct open_question *q = malloc(sizeof *q);
    INVARIANT(q != NULL);
    *q = (struct open_question){
        .next = t->open, .link = &t->open, .talk = t, .fn = p->asked, .arg = p->arg};
    if (t->open)
        t->open->link = &q->next;
    t->open = q;
    q->name = asker_ask(t->asker, &p->question, p->limit_ms, got_answer, q);
}

/* --- waits ------------------------------------------------------------------------------------ */

static void tell(struct watched *w, bool all, uint64_t now)
{
    for (struct waiter **at = &w->waiters; *at;) {
        struct waiter *one = *at;
        if (!all && now < one->until_ns) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        one->fn(one->arg, &w->last);
        free(one);
    }
}

static void forget(struct talk *t, struct watched *w)
{
    for (struct watched **at = &t->watched; *at; at = &(*at)->next)
        if (*at == w) {
            *at = w->next;
            break;
        }
    t->n_watched--;
    free(w);
}

static void heard_of_job(void *arg, const struct answer *a)
{
    struct watched *w = arg;
    if (!a->last) {
        const struct msg_progress *p = &a->m->progress;
        w->last.partitions = p->partitions;
        w->last.synthesized = p->synthesized;
        w->last.proved = p->proved;
        w->last.ahead = p->ahead;
        return;
    }
    w->last.ended = true;
    w->last.code = a->code;
    w->last.reason = a->reason ? a->reason : "";
    tell(w, true, 0);
    forget(w->talk, w);
}

/* The oldest that nobody waits for any more gives its place. */
static void make_room(struct talk *t)
{
    struct watched *oldest = NULL;
    for (struct watched *w = t->watched; w && t->n_watched >= WATCHED_MAX; w = w->next)
        if (!w->waiters)
            oldest = w;
    if (oldest) {
        asker_forget(t->asker, oldest->name);
        forget(t, oldest);
    }
}

static void open_wait(struct talk *t, const struct post *p)
{
    struct watched *w = t->watched;
    while (w && w->job != p->job)
        w = w->next;
    if (!w) {
        struct message q = {.kind = MSG_AWAIT};
        q.await.job = p->job;
        q.await.progress = 1;
        make_room(t);
        w = calloc(1, sizeof *w);
        INVARIANT(w != NULL);
        *w = (struct watched){.next = t->watched, .talk = t, .job = p->job};
        t->watched = w;
        t->n_watched++;
        w->name = asker_ask(t->asker, &q, 0, heard_of_job, w);
    }
    struct waiter *one = malloc(sizeof *one);
    INVARIANT(one != NULL);
    *one = (struct waiter){w->waiters, p->until_ns, p->waited, p->arg};
    w->waiters = one;
}

/* --- the thread ------------------------------------------------------------------------------- */

static void take_posts(struct talk *t)
{
    uint64_t n;
    ssize_t got = read(t->wake_fd, &n, sizeof n);
    (void)got;
    pthread_mutex_lock(&t->lock);
    struct post *p = t->first;
    t->first = NULL;
    t->end = &t->first;
    pthread_mutex_unlock(&t->lock);
    for (struct post *next; p; p = next) {
        next = p->next;
        if (p->is_wait)
            open_wait(t, p);
        else
            open_question(t, p);
        free(p);
    }
}

static void end_all(struct talk *t)
{
    static const char why[] = "the gateway is stopping";
    while (t->open) {
        struct answer a = {.last = true, .code = ERR_UNAVAILABLE, .reason = why};
        got_answer(t->open, &a);
    }
    while (t->watched) {
        struct watched *w = t->watched;
        w->last.code = ERR_UNAVAILABLE;
        w->last.reason = why;
        tell(w, true, 0);
        forget(t, w);
    }
}

static void *run(void *arg)
{
    struct talk *t = arg;
    struct err e = {0};
    t->asker = asker_new(&t->gateway->instance, ACTOR_GATEWAY, &e);
    INVARIANT(t->asker != NULL);
    asker_watch(t->asker, t->wake_fd);
    for (;;) {
        take_posts(t);
        pthread_mutex_lock(&t->lock);
        bool ending = t->ending, over = t->over && !t->first;
        pthread_mutex_unlock(&t->lock);
        if (ending)
            end_all(t);
        if (over)
            break;
        asker_turn(t->asker, TURN_MS);
        uint64_t now = span_now_ns();
        for (struct watched *w = t->watched; w; w = w->next)
            tell(w, false, now);
        conns_reap(t->gateway->conns, now);
    }
    asker_free(&t->asker);
    return NULL;
}

struct talk *talk_new(struct gateway *g, struct err *e)
{
    struct talk *t = calloc(1, sizeof *t);
    INVARIANT(t != NULL);
    t->gateway = g;
    t->end = &t->first;
    pthread_mutex_init(&t->lock, NULL);
    t->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (t->wake_fd < 0 || pthread_create(&t->thread, NULL, run, t) != 0) {
        err_set(e, ERR_MEMORY, "cannot start the thread that talks to the desk");
        free(t);
        return NULL;
    }
    return t;
}

void talk_end(struct talk *t)
{
    pthread_mutex_lock(&t->lock);
    t->ending = true;
    pthread_mutex_unlock(&t->lock);
}

void talk_free(struct talk **talk)
{
    struct talk *t = *talk;
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->ending = t->over = true;
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
    close(t->wake_fd);
    pthread_mutex_destroy(&t->lock);
    free(t);
    *talk = NULL;
}
