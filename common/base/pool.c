/* The workers sleep on a condition variable between loops; a loop is published by a new generation
 * number under the lock. Short gaps between loops (an NTT has one per pass) are bridged by a
 * bounded spin, so that a caller who runs many short loops does not pay a wake-up for each. */
#include "pool.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { POOL_MAX_THREADS = 4096, SPIN_ROUNDS = 4000 };

struct worker {
    struct pool *pool;
    pthread_t thread;
    unsigned number;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t work, idle;
    unsigned n_threads;
    bool spin; /* only where the workers and the caller all have a CPU to themselves */

    /* The loop. Written by the caller before `generation` moves, read by workers after. */
    pool_body *body;
    void *arg;
    size_t count;
    atomic_uint generation; /* moves under the lock; read without it while spinning */
    atomic_bool running;
    bool stop;

    _Alignas(64) atomic_size_t next; /* the next index to hand out */
    _Alignas(64) atomic_uint busy;   /* workers that have not left the current loop */
    struct worker worker[];
};

static inline void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void work_through(struct pool *p, unsigned number)
{
    for (;;) {
        size_t i = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed);
        if (i >= p->count)
            return;
        p->body(p->arg, i, number);
    }
}

/* Waits for a generation other than `seen`; false when the pool ends. */
static bool await_loop(struct pool *p, unsigned seen)
{
    if (p->spin) {
        for (int i = 0; i < SPIN_ROUNDS; i++) {
            if (atomic_load_explicit(&p->generation, memory_order_acquire) != seen)
                break;
            relax();
        }
    }
    pthread_mutex_lock(&p->lock);
    while (atomic_load_explicit(&p->generation, memory_order_relaxed) == seen)
        pthread_cond_wait(&p->work, &p->lock);
    bool go_on = !p->stop;
    pthread_mutex_unlock(&p->lock);
    return go_on;
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    struct pool *p = w->pool;
    for (unsigned seen = 0; await_loop(p, seen);) {
        seen++; /* the caller cannot publish the next one before this worker leaves */
        work_through(p, w->number);
        if (atomic_fetch_sub_explicit(&p->busy, 1, memory_order_acq_rel) == 1) {
            pthread_mutex_lock(&p->lock);
            pthread_cond_signal(&p->idle);
            pthread_mutex_unlock(&p->lock);
        }
    }
    return NULL;
}

static void await_workers(struct pool *p)
{
    if (p->spin) {
        for (int i = 0; i < SPIN_ROUNDS; i++) {
            if (atomic_load_explicit(&p->busy, memory_order_acquire) == 0)
                return;
            relax();
        }
    }
    pthread_mutex_lock(&p->lock);
    while (atomic_load_explicit(&p->busy, memory_order_acquire) != 0)
        pthread_cond_wait(&p->idle, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

void pool_run(struct pool *p, pool_body *body, void *arg, size_t count)
{
    if (p)
        INVARIANT(!atomic_exchange_explicit(&p->running, true, memory_order_acquire));
    if (!p || p->n_threads == 1 || count <= 1) {
        for (size_t i = 0; i < count; i++)
            body(arg, i, 0);
    } else {
        pthread_mutex_lock(&p->lock);
        p->body = body;
        p->arg = arg;
        p->count = count;
        atomic_store_explicit(&p->next, 0, memory_order_relaxed);
        atomic_store_explicit(&p->busy, p->n_threads - 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&p->generation, 1, memory_order_release);
        pthread_cond_broadcast(&p->work);
        pthread_mutex_unlock(&p->lock);
        work_through(p, 0);
        await_workers(p);
    }
    if (p)
        atomic_store_explicit(&p->running, false, memory_order_release);
}

struct range {
    pool_range_body *body;
    void *arg;
    size_t n, grain;
};

static void range_piece(void *arg, size_t index, unsigned worker)
{
    const struct range *r = arg;
    size_t begin = index * r->grain;
    size_t end = r->n - begin < r->grain ? r->n : begin + r->grain;
    r->body(r->arg, begin, end, worker);
}

void pool_range(struct pool *p, pool_range_body *body, void *arg, size_t n, size_t grain)
{
    struct range r = {body, arg, n, grain ? grain : 1};
    if (n)
        pool_run(p, range_piece, &r, (n - 1) / r.grain + 1);
}

unsigned pool_threads(const struct pool *p)
{
    return p ? p->n_threads : 1;
}

static unsigned usable_cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
    return 1;
}

static void end_workers(struct pool *p, unsigned n_started)
{
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    atomic_fetch_add_explicit(&p->generation, 1, memory_order_release);
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 1; i < n_started; i++)
        pthread_join(p->worker[i].thread, NULL);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->idle);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static int start_worker(struct worker *w, const int *cpu)
{
    pthread_attr_t attr;
    int rc = pthread_attr_init(&attr);
    if (rc)
        return rc;
    if (cpu) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((size_t)*cpu, &set);
        rc = pthread_attr_setaffinity_np(&attr, sizeof set, &set);
    }
    if (!rc)
        rc = pthread_create(&w->thread, &attr, worker_main, w);
    pthread_attr_destroy(&attr);
    return rc;
}

struct pool *pool_new(unsigned n_threads, const int *cpus, struct err *e)
{
    unsigned n_cpus = usable_cpus();
    if (n_threads == 0)
        n_threads = n_cpus;
    if (n_threads > POOL_MAX_THREADS) {
        err_set(e, ERR_VALUE, "%u threads: at most %d", n_threads, POOL_MAX_THREADS);
        return NULL;
    }
    size_t bytes = sizeof(struct pool) + n_threads * sizeof(struct worker);
    struct pool *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!p) {
        err_set(e, ERR_MEMORY, "no memory for a pool of %u threads", n_threads);
        return NULL;
    }
    memset(p, 0, bytes);
    p->n_threads = n_threads;
    p->spin = n_threads <= n_cpus;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->idle, NULL);
    for (unsigned i = 1; i < n_threads; i++) {
        p->worker[i].pool = p;
        p->worker[i].number = i;
        if (cpus && (cpus[i] < 0 || cpus[i] >= CPU_SETSIZE)) {
            err_set(e, ERR_VALUE, "CPU %d: expected 0 to %d", cpus[i], CPU_SETSIZE - 1);
            end_workers(p, i);
            return NULL;
        }
        int rc = start_worker(&p->worker[i], cpus ? &cpus[i] : NULL);
        if (rc) {
            if (cpus)
                err_set(e, ERR_VALUE, "thread %u of %u on CPU %d: %s", i, n_threads, cpus[i],
                        strerror(rc));
            else
                err_set(e, ERR_MEMORY, "thread %u of %u: %s", i, n_threads, strerror(rc));
            end_workers(p, i);
            return NULL;
        }
    }
    return p;
}

void pool_free(struct pool **p)
{
    if (!p || !*p)
        return;
    end_workers(*p, (*p)->n_threads);
    *p = NULL;
}
