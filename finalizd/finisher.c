#include "finisher.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <sodium.h>
#include "slow_point.h"
#include "verify.h"

const struct finisher_ops finisher_groth16 = {groth16_assemble, groth16_verify_batch};

_Static_assert(sizeof(struct groth16_sums) <= LEASE_SUMS_MAX, "the sums fit into a result cell");

struct finisher {
    const struct finisher_ops *ops;
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct finish *queue, **queue_tail;
    struct finish *done, **done_tail;
    bool stop;
    int fd;
    unsigned n;
    struct finisher_thread {
        struct finisher *f;
        struct span_ring *ring;
        pthread_t thread;
    } threads[];
};

/* Takes the oldest item and up to 15 more of its circuit. Called with the lock held. */
static size_t take_batch(struct finisher *f, struct finish *batch[FINISH_BATCH])
{
    size_t n = 0;
    const struct circuit *circuit = f->queue->circuit;
    struct finish **at = &f->queue;
    while (*at && n < FINISH_BATCH) {
        struct finish *item = *at;
        if (item->circuit != circuit) {
            at = &item->next;
            continue;
        }
        *at = item->next;
        batch[n++] = item;
    }
    if (!*at) /* the end was reached, so `at` is the last link */
        f->queue_tail = at;
    return n;
}

/* Reads the cell and forms the proof; false leaves the reason in the item's verdict. */
static bool form(const struct finisher_thread *t, struct finish *item)
{
    struct lease_result result;
    struct groth16_sums sums;
    bool ok = false;
    item->verdict = (struct err){.code = ERR_OK};
    if (!lease_result_read(item->arena, item->ref, &result))
        err_set(&item->verdict, ERR_FORMAT, "result cell is torn or of another attempt");
    else if (result.code != 0 || result.sums_bytes != sizeof sums)
        err_set(&item->verdict, ERR_FORMAT, "result cell holds %u bytes of sums, expected %zu",
                result.sums_bytes, sizeof sums);
    else
        ok = true;
    if (ok) {
        memcpy(&sums, result.sums, sizeof sums);
        memcpy(item->timing, result.timing, sizeof item->timing);
        t->f->ops->assemble(item->circuit, &sums, &item->proof);
        sodium_memzero(&sums, sizeof sums);
    }
    sodium_memzero(&result, sizeof result);
    return ok;
}

static void check(const struct finisher_thread *t, struct finish *const *items, size_t n)
{
    const fr_t *publics[FINISH_BATCH] = {0};
    struct proof proofs[FINISH_BATCH] = {0};
    bool bad[FINISH_BATCH] = {false};
    struct err e = {.code = ERR_OK};
    for (size_t i = 0; i < n; i++) {
        publics[i] = items[i]->publics;
        proofs[i] = items[i]->proof;
    }
    enum err_code rc = t->f->ops->verify_batch(&items[0]->circuit->vk, publics, proofs, n, bad, &e);
    for (size_t i = 0; i < n; i++) {
        if (bad[i])
            err_set(&items[i]->verdict, ERR_REJECTED, "%s",
                    e.text[0] ? e.text : "the proof does not verify");
        else if (rc != ERR_OK && rc != ERR_REJECTED) /* nothing was decided */
            items[i]->verdict = e;
    }
}

static void finish_batch(const struct finisher_thread *t, struct finish *const *batch, size_t n)
{
    struct finish *formed[FINISH_BATCH];
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        struct finish *item = batch[i];
        item->began_ns = span_now_ns();
        if (form(t, item))
            formed[m++] = item;
        item->formed_ns = span_now_ns();
    }
    SLOW_POINT("finisher.check");
    uint64_t begin = span_now_ns();
    if (m)
        check(t, formed, m);
    uint64_t end = span_now_ns();
    for (size_t i = 0; i < n; i++) {
        struct finish *item = batch[i];
        item->batch = (uint32_t)m;
        item->check_ns = begin;
        item->checked_ns = end;
        item->who.outcome = (uint16_t)item->verdict.code;
        span_write(t->ring, SPAN_DESK_WAIT, &item->who, item->proved_ns, item->began_ns, 0);
        span_write(t->ring, SPAN_RESULT, &item->who, item->began_ns, item->formed_ns, 0);
        span_write(t->ring, SPAN_PAIRING, &item->who, begin, end, m);
    }
}

static void *loop(void *arg)
{
    struct finisher_thread *t = arg;
    struct finisher *f = t->f;
    pthread_mutex_lock(&f->lock);
    for (;;) {
        while (!f->queue && !f->stop)
            pthread_cond_wait(&f->work, &f->lock);
        if (f->stop)
            break;
        struct finish *batch[FINISH_BATCH];
        size_t n = take_batch(f, batch);
        pthread_mutex_unlock(&f->lock);
        finish_batch(t, batch, n);
        pthread_mutex_lock(&f->lock);
        for (size_t i = 0; i < n; i++) {
            batch[i]->next = NULL;
            *f->done_tail = batch[i];
            f->done_tail = &batch[i]->next;
        }
        uint64_t one = 1;
        ssize_t k = write(f->fd, &one, sizeof one);
        INVARIANT(k == sizeof one || errno == EAGAIN);
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

struct finisher *finisher_new(unsigned threads, const struct finisher_ops *ops,
                              const struct instance *in, const struct actor *self, struct err *e)
{
    struct finisher *f = calloc(1, sizeof *f + threads * sizeof f->threads[0]);
    if (!f || sodium_init() < 0) {
        err_set(e, ERR_UNAVAILABLE, "finisher: no memory or no random source");
        free(f);
        return NULL;
    }
    f->ops = ops;
    f->queue_tail = &f->queue;
    f->done_tail = &f->done;
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->work, NULL);
    f->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    while (f->fd >= 0 && f->n < threads) {
        struct finisher_thread *t = &f->threads[f->n];
        char name[16];
        snprintf(name, sizeof name, "finish%u", f->n % 1000);
        t->f = f;
        if (in)
            t->ring = span_ring_open(in, self, name, NULL);
        if (pthread_create(&t->thread, NULL, loop, t))
            break;
        pthread_setname_np(t->thread, name);
        f->n++;
    }
    if (f->fd < 0 || f->n < threads) {
        err_set(e, ERR_UNAVAILABLE, "finisher: cannot start %u threads: %s", threads,
                strerror(errno));
        finisher_free(&f);
    }
    return f;
}

void finisher_free(struct finisher **fp)
{
    struct finisher *f = *fp;
    if (!f)
        return;
    pthread_mutex_lock(&f->lock);
    f->stop = true;
    pthread_cond_broadcast(&f->work);
    pthread_mutex_unlock(&f->lock);
    for (unsigned i = 0; i < f->n; i++) {
        pthread_join(f->threads[i].thread, NULL);
        span_ring_close(&f->threads[i].ring);
    }
    if (f->fd >= 0)
        close(f->fd);
    pthread_cond_destroy(&f->work);
    pthread_mutex_destroy(&f->lock);
    free(f);
    *fp = NULL;
}

void finisher_put(struct finisher *f, struct finish *item)
{
    item->next = NULL;
    pthread_mutex_lock(&f->lock);
    *f->queue_tail = item;
    f->queue_tail = &item->next;
    pthread_mutex_unlock(&f->lock);
    pthread_cond_signal(&f->work);
}

int finisher_fd(const struct finisher *f)
{
    return f->fd;
}

unsigned finisher_drain(struct finisher *f)
{
    uint64_t count;
    ssize_t n = read(f->fd, &count, sizeof count);
    (void)n; /* EAGAIN: nothing was rung */
    pthread_mutex_lock(&f->lock);
    struct finish *list = f->done;
    f->done = NULL;
    f->done_tail = &f->done;
    pthread_mutex_unlock(&f->lock);
    unsigned ran = 0;
    for (struct finish *item = list, *next; item; item = next, ran++) {
        next = item->next;
        item->done(item);
    }
    return ran;
}
