#include <stdlib.h>
#include "live_parts.h"

/* Steps of a partition: what names a job, but not the job's own span. */
static bool of_partition(const struct span *s)
{
    return s->job != 0 && s->kind != SPAN_JOB;
}

/* qsort has no argument for the array that the indices are into. */
static int by_partition(const void *p, const void *q, void *arg)
{
    const struct seen_span *at = arg;
    const uint32_t *i = p, *k = q;
    const struct span *x = &at[*i].s, *y = &at[*k].s;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    if (x->partition != y->partition)
        return x->partition < y->partition ? -1 : 1;
    return *i < *k ? -1 : *i > *k; /* the spans are sorted by begin */
}

static int by_begin(const void *p, const void *q)
{
    const struct live_partition *x = p, *y = q;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    return x->partition < y->partition ? -1 : x->partition > y->partition;
}

static int by_id(const void *p, const void *q)
{
    const struct live_partition *x = p, *y = q;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    return x->partition < y->partition ? -1 : x->partition > y->partition;
}

static void take_span(struct live_partition *p, const struct span *s)
{
    if (s->end_ns > p->end_ns)
        p->end_ns = s->end_ns;
    if (s->attempt > p->attempt)
        p->attempt = s->attempt;
    if (s->outcome)
        p->outcome = s->outcome;
    p->n++;
}

/* A lease whose partition has no span yet has a row of its own. */
static void take_lease(struct live_view *view, size_t n_with_spans, const struct live_lease *l)
{
    struct live_partition key = {.job = l->job, .partition = l->partition};
    struct live_partition *p =
        bsearch(&key, view->partition, n_with_spans, sizeof *view->partition, by_id);
    if (!p) {
        p = &view->partition[view->n_partitions++];
        *p = key;
        p->begin_ns = view->now_ns - l->age_ns;
    }
    p->open = true;
    p->lease = *l;
    p->attempt = l->attempt;
    p->end_ns = view->now_ns;
}

enum err_code live_partitions_make(struct live_partitions *p, struct live_view *view, struct err *e)
{
    const struct seen_span *at = view->spans.at;
    size_t n = 0;
    view->n_partitions = 0;
    if (!live_room((void **)&view->span_of, &p->span_cap, view->spans.n, sizeof *view->span_of))
        return err_set(e, ERR_MEMORY, "no memory for a view of %zu spans", view->spans.n);
    for (size_t i = 0; i < view->spans.n; i++)
        if (of_partition(&at[i].s))
            view->span_of[n++] = (uint32_t)i;
    if (n)
        qsort_r(view->span_of, n, sizeof *view->span_of, by_partition, view->spans.at);
    size_t groups = 0;
    for (size_t i = 0; i < n; i++) {
        const struct span *s = &at[view->span_of[i]].s,
                          *before = i ? &at[view->span_of[i - 1]].s : s;
        groups += !i || s->job != before->job || s->partition != before->partition;
    }
    if (!live_room((void **)&view->partition, &p->partition_cap, groups + view->n_leases,
                   sizeof *view->partition))
        return err_set(e, ERR_MEMORY, "no memory for a view of %zu partitions", groups);
    for (size_t i = 0; i < n; i++) {
        const struct span *s = &at[view->span_of[i]].s;
        struct live_partition *last =
            groups && view->n_partitions ? &view->partition[view->n_partitions - 1] : NULL;
        if (!last || last->job != s->job || last->partition != s->partition) {
            last = &view->partition[view->n_partitions++];
            *last = (struct live_partition){.job = s->job,
                                            .partition = s->partition,
                                            .begin_ns = s->begin_ns,
                                            .first = (uint32_t)i};
        }
        take_span(last, s);
    }
    size_t with_spans = view->n_partitions;
    for (size_t i = 0; i < view->n_leases; i++)
        take_lease(view, with_spans, &view->lease[i]);
    if (view->n_partitions)
        qsort(view->partition, view->n_partitions, sizeof *view->partition, by_begin);
    return ERR_OK;
}
