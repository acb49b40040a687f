/* watch: the thread that reads the instance (tools/evidence/live.h) once a second and makes of it,
 * each time whole and once for all readers: the metrics, the status, and the page's sample. */
#pragma once
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include "err.h"

struct gateway;

/* Immutable; shared by whoever holds it. */
struct sample {
    atomic_uint holders;
    uint64_t number; /* 1, 2, 3 ... */
    char *metrics, *status, *page, *point;
    size_t n_metrics, n_status, n_page,
        n_point; /* point: of the history, when there is a new one */
};
void sample_drop(struct sample **s);

struct watch;
struct watch *watch_new(struct gateway *g, struct err *e);
void watch_free(struct watch **w);
/* The newest, held for the caller; NULL before the first. Any thread. */
struct sample *watch_sample(struct watch *w);
/* The whole history as JSON (history.h), malloc'ed. Any thread. */
char *watch_history(struct watch *w, size_t *n);
