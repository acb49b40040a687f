/* pool: a fixed set of threads that run one loop at a time.
 *
 *   struct pool *p = pool_new(0, &err);           0: one per CPU that this process may use
 *   pool_run(p, body, arg, 1000);                 body(arg, 0..999, worker) on all threads
 *   pool_free(&p);
 *
 * Indices are handed out in ascending order, one at a time, so uneven work balances itself.
 * The calling thread works too (it is worker 0), and pool_run returns when every index is done.
 * A pool has one caller at a time; a body may not call pool_run on its own pool (it is an
 * invariant). NULL is a valid pool everywhere: it runs the loop on the calling thread. */
#pragma once
#include <stddef.h>
#include "err.h"

struct pool;
typedef void pool_body(void *arg, size_t index, unsigned worker);

/* n_threads includes the caller. cpus: an optional list of n_threads CPU numbers to pin workers
 * 1.. to (the caller is not moved); NULL leaves them where the process may run. */
struct pool *pool_new(unsigned n_threads, const int *cpus, struct err *e);
void pool_free(struct pool **p);
unsigned pool_threads(const struct pool *p); /* 1 for NULL */
void pool_run(struct pool *p, pool_body *body, void *arg, size_t count);

/* Calls body(arg, begin, end, worker) over [0,n) in pieces of about `grain` elements. */
typedef void pool_range_body(void *arg, size_t begin, size_t end, unsigned worker);
void pool_range(struct pool *p, pool_range_body *body, void *arg, size_t n, size_t grain);
