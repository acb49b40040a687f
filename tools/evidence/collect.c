#include "collect.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int source_of(struct spans *to, const struct span_source *from, struct err *e)
{
    for (unsigned i = 0; i < to->n_sources; i++)
        if (actor_equal(&to->source[i].actor, &from->actor) &&
            strcmp(to->source[i].thread, from->thread) == 0) {
            to->source[i].lost = from->lost;
            return (int)i;
        }
    struct span_source *more = realloc(to->source, (to->n_sources + 1) * sizeof *more);
    if (!more) {
        err_set(e, ERR_MEMORY, "no memory for another ring");
        return -1;
    }
    to->source = more;
    to->source[to->n_sources] = *from;
    return (int)to->n_sources++;
}

enum err_code spans_add(struct spans *to, const struct span *s, const struct span_source *from,
                        struct err *e)
{
    int source = source_of(to, from, e);
    if (source < 0)
        return e->code;
    if (to->n == to->cap) {
        size_t cap = to->cap ? 2 * to->cap : 4096;
        struct seen_span *more = realloc(to->at, cap * sizeof *more);
        if (!more)
            return err_set(e, ERR_MEMORY, "no memory for %zu spans", cap);
        to->at = more;
        to->cap = cap;
    }
    to->at[to->n++] = (struct seen_span){.s = *s, .source = (unsigned)source};
    return ERR_OK;
}

enum err_code spans_take(struct spans *to, struct span_reader *r, struct err *e)
{
    struct span s;
    const struct span_source *from;
    while (span_reader_next(r, &s, &from))
        if (spans_add(to, &s, from, e))
            return e->code;
    to->lost = 0;
    for (unsigned i = 0; i < to->n_sources; i++)
        to->lost += to->source[i].lost;
    return ERR_OK;
}

static int by_begin(const void *a, const void *b)
{
    const struct span *x = &((const struct seen_span *)a)->s,
                      *y = &((const struct seen_span *)b)->s;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

void spans_sort(struct spans *s)
{
    if (s->n)
        qsort(s->at, s->n, sizeof *s->at, by_begin);
}

void spans_free(struct spans *s)
{
    free(s->at);
    free(s->source);
    *s = (struct spans){0};
}

enum err_code spans_collect(struct spans *to, const struct instance *in, double seconds,
                            struct err *e)
{
    struct span_reader *r = span_reader_new(in, e);
    if (!r)
        return e->code;
    uint64_t until = span_now_ns() + (uint64_t)(seconds * 1e9);
    enum err_code rc;
    for (;;) {
        rc = spans_take(to, r, e);
        if (rc || span_now_ns() >= until)
            break;
        nanosleep(&(struct timespec){0, 100000000}, NULL);
    }
    span_reader_free(&r);
    spans_sort(to);
    return rc;
}
