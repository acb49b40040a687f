/* workers: a few threads that do what the desk's loop must not: wiping, mapping, unlinking.
 *
 *   desk: workers_put(w, &task)     task->run(task) on some thread, in the order put
 *   desk: workers_drain(w)          task->done(task) on the desk's thread, after run
 *
 * Tasks are owned by the caller and embedded in what they work for; a task that was put belongs to
 * the workers until its done was called. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "err.h"

struct work {
    struct work *next;            /* private */
    void (*run)(struct work *w);  /* a worker thread; may block */
    void (*done)(struct work *w); /* the desk's thread; may free w. NULL: run frees it */
};

struct workers;
struct workers *workers_new(unsigned threads, const char *name, struct err *e);
void workers_free(struct workers **w); /* runs what is queued, then every done that is left */
void workers_put(struct workers *w, struct work *task);
int workers_fd(const struct workers *w); /* readable when a done waits */
unsigned workers_drain(struct workers *w);
