#include "work.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct item {
    struct item *next;
    work_fn *fn;
    void *arg;
};

struct work_thread {
    struct work *work;
    pthread_t thread;
    struct millrace *millrace;
};

struct work {
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct item *first, **end;
    bool ending;
    char *dir;
    unsigned n;
    struct work_thread thread[];
};

static void *run(void *arg)
{
    struct work_thread *t = arg;
    struct work *w = t->work;
    for (;;) {
        pthread_mutex_lock(&w->lock);
        while (!w->first && !w->ending)
            pthread_cond_wait(&w->more, &w->lock);
        struct item *i = w->first;
        if (i && !(w->first = i->next))
            w->end = &w->first;
        pthread_mutex_unlock(&w->lock);
        if (!i)
            break;
        i->fn(i->arg, t);
        free(i);
    }
    millrace_close(&t->millrace); /* its sockets belong to this thread */
    return NULL;
}

struct work *work_new(const char *dir, unsigned threads, struct err *e)
{
    struct work *w = calloc(1, sizeof *w + threads * sizeof w->thread[0]);
    INVARIANT(w != NULL && (w->dir = strdup(dir)) != NULL);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->more, NULL);
    w->end = &w->first;
    for (; w->n < threads; w->n++) {
        struct work_thread *t = &w->thread[w->n];
        t->work = w;
        if (pthread_create(&t->thread, NULL, run, t) != 0) {
            err_set(e, ERR_MEMORY, "cannot start a thread");
            work_free(&w);
            return NULL;
        }
    }
    return w;
}

void work_free(struct work **work)
{
    struct work *w = *work;
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->ending = true;
    pthread_cond_broadcast(&w->more);
    pthread_mutex_unlock(&w->lock);
    for (unsigned i = 0; i < w->n; i++)
        pthread_join(w->thread[i].thread, NULL);
    pthread_cond_destroy(&w->more);
    pthread_mutex_destroy(&w->lock);
    free(w->dir);
    free(w);
    *work = NULL;
}

void work_put(struct work *w, work_fn *fn, void *arg)
{
    struct item *i = malloc(sizeof *i);
    INVARIANT(i != NULL);
    *i = (struct item){.fn = fn, .arg = arg};
    pthread_mutex_lock(&w->lock);
    *w->end = i;
    w->end = &i->next;
    pthread_cond_signal(&w->more);
    pthread_mutex_unlock(&w->lock);
}

struct millrace *work_millrace(struct work_thread *t, struct millrace_error *e)
{
    if (!t->millrace)
        t->millrace = millrace_open(t->work->dir, e);
    return t->millrace;
}
