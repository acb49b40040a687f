#include "order.h"
#include <stdlib.h>
#include "err.h"

struct heap {
    unsigned circuit;
    struct order_entry **at; /* 1-based */
    size_t n, cap;
};

struct order {
    uint64_t age_step_ns;
    struct heap *heaps; /* only circuits with waiting work, in no order */
    size_t n_heaps, cap_heaps;
    size_t count;
};

struct order *order_new(uint64_t age_step_ns)
{
    struct order *o = calloc(1, sizeof *o);
    INVARIANT(o != NULL);
    o->age_step_ns = age_step_ns;
    return o;
}

void order_free(struct order **op)
{
    struct order *o = *op;
    if (!o)
        return;
    for (size_t i = 0; i < o->n_heaps; i++)
        free(o->heaps[i].at);
    free(o->heaps);
    free(o);
    *op = NULL;
}

bool order_before(const struct order *o, const struct order_entry *x, const struct order_entry *y)
{
    if (x->urgent != y->urgent)
        return x->urgent;
    if (o->age_step_ns == 0 && x->priority != y->priority)
        return x->priority < y->priority;
    uint64_t vx = x->submit_ns + x->priority * o->age_step_ns;
    uint64_t vy = y->submit_ns + y->priority * o->age_step_ns;
    if (vx != vy)
        return vx < vy;
    return x->id < y->id;
}

static struct heap *heap_of(const struct order *o, unsigned circuit)
{
    for (size_t i = 0; i < o->n_heaps; i++)
        if (o->heaps[i].circuit == circuit)
            return &o->heaps[i];
    return NULL;
}

static void place(struct heap *h, size_t at, struct order_entry *e)
{
    h->at[at] = e;
    e->heap_at = at;
}

static void sift_up(const struct order *o, struct heap *h, size_t at)
{
    struct order_entry *e = h->at[at];
    while (at > 1 && order_before(o, e, h->at[at / 2])) {
        place(h, at, h->at[at / 2]);
        at /= 2;
    }
    place(h, at, e);
}

static void sift_down(const struct order *o, struct heap *h, size_t at)
{
    struct order_entry *e = h->at[at];
    for (;;) {
        size_t child = 2 * at;
        if (child > h->n)
            break;
        if (child < h->n && order_before(o, h->at[child + 1], h->at[child]))
            child++;
        if (!order_before(o, h->at[child], e))
            break;
        place(h, at, h->at[child]);
        at = child;
    }
    place(h, at, e);
}

static struct heap *new_heap(struct order *o, unsigned circuit)
{
    if (o->n_heaps == o->cap_heaps) {
        o->cap_heaps = o->cap_heaps ? 2 * o->cap_heaps : 8;
        o->heaps = realloc(o->heaps, o->cap_heaps * sizeof *o->heaps);
        INVARIANT(o->heaps != NULL);
    }
    struct heap *h = &o->heaps[o->n_heaps++];
    *h = (struct heap){.circuit = circuit};
    return h;
}

void order_put(struct order *o, struct order_entry *e)
{
    INVARIANT(e->heap_at == 0 && e->priority < ORDER_PRIORITIES);
    struct heap *h = heap_of(o, e->circuit);
    if (!h)
        h = new_heap(o, e->circuit);
    if (h->n + 2 > h->cap) {
        h->cap = h->cap ? 2 * h->cap : 16;
        h->at = realloc(h->at, h->cap * sizeof(struct order_entry *));
        INVARIANT(h->at != NULL);
    }
    h->n++;
    place(h, h->n, e);
    sift_up(o, h, h->n);
    o->count++;
}

void order_remove(struct order *o, struct order_entry *e)
{
    if (e->heap_at == 0)
        return;
    struct heap *h = heap_of(o, e->circuit);
    INVARIANT(h && e->heap_at <= h->n && h->at[e->heap_at] == e);
    size_t at = e->heap_at;
    struct order_entry *last = h->at[h->n--];
    e->heap_at = 0;
    o->count--;
    if (last != e) {
        place(h, at, last);
        sift_up(o, h, at);
        sift_down(o, h, last->heap_at);
    }
    if (h->n == 0) {
        free(h->at);
        *h = o->heaps[--o->n_heaps];
    }
}

bool order_waits(const struct order_entry *e)
{
    return e->heap_at != 0;
}

size_t order_count(const struct order *o)
{
    return o->count;
}

struct order_entry *order_first(const struct order *o)
{
    return order_next(o, NULL);
}

struct order_entry *order_next(const struct order *o, const struct order_entry *after)
{
    struct order_entry *best = NULL;
    for (size_t i = 0; i < o->n_heaps; i++) {
        struct order_entry *e = o->heaps[i].at[1];
        if (after && !order_before(o, after, e))
            continue;
        if (!best || order_before(o, e, best))
            best = e;
    }
    return best;
}
