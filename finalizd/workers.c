#include "workers.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct workers {
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct work *queue, **queue_tail;
    struct work *done, **done_tail;
    bool stop;
    int fd;
    unsigned n;
    pthread_t threads[];
};

static void *loop(void *arg)
{
    struct workers *w = arg;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (!w->queue && !w->stop)
            pthread_cond_wait(&w->work, &w->lock);
        struct work *task = w->queue;
        if (!task)
            break;
        w->queue = task->next;
        if (!w->queue)
            w->queue_tail = &w->queue;
        pthread_mutex_unlock(&w->lock);
        bool told = task->done != NULL; /* else run may have freed it */
        task->run(task);
        pthread_mutex_lock(&w->lock);
        if (!told)
            continue;
        task->next = NULL;
        *w->done_tail = task;
        w->done_tail = &task->next;
        uint64_t one = 1;
        ssize_t n = write(w->fd, &one, sizeof one);
        INVARIANT(n == sizeof one || errno == EAGAIN);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

struct workers *workers_new(unsigned threads, const char *name, struct err *e)
{
    struct workers *w = calloc(1, sizeof *w + threads * sizeof(pthread_t));
    if (!w) {
        err_set(e, ERR_MEMORY, "%s: no memory", name);
        return NULL;
    }
    w->queue_tail = &w->queue;
    w->done_tail = &w->done;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->work, NULL);
    w->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    while (w->fd >= 0 && w->n < threads) {
        if (pthread_create(&w->threads[w->n], NULL, loop, w))
            break;
        pthread_setname_np(w->threads[w->n++], name);
    }
    if (w->fd < 0 || w->n < threads) {
        err_set(e, ERR_UNAVAILABLE, "%s: cannot start %u threads: %s", name, threads,
                strerror(errno));
        workers_free(&w);
    }
    return w;
}

void workers_free(struct workers **wp)
{
    struct workers *w = *wp;
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_broadcast(&w->work);
    pthread_mutex_unlock(&w->lock);
    for (unsigned i = 0; i < w->n; i++)
        pthread_join(w->threads[i], NULL);
    workers_drain(w);
    if (w->fd >= 0)
        close(w->fd);
    pthread_cond_destroy(&w->work);
    pthread_mutex_destroy(&w->lock);
    free(w);
    *wp = NULL;
}

void workers_put(struct workers *w, struct work *task)
{
    task->next = NULL;
    pthread_mutex_lock(&w->lock);
    *w->queue_tail = task;
    w->queue_tail = &task->next;
    pthread_mutex_unlock(&w->lock);
    pthread_cond_signal(&w->work);
}

int workers_fd(const struct workers *w)
{
    return w->fd;
}

unsigned workers_drain(struct workers *w)
{
    uint64_t count;
    ssize_t n = read(w->fd, &count, sizeof count);
    (void)n; /* EAGAIN: nothing was rung */
    unsigned ran = 0;
    for (;; ran++) {
        pthread_mutex_lock(&w->lock);
        struct work *task = w->done;
        if (task) {
            w->done = task->next;
            if (!w->done)
                w->done_tail = &w->done;
        }
        pthread_mutex_unlock(&w->lock);
        if (!task)
            return ran;
        task->done(task);
    }
}
