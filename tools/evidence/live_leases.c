#include <string.h>
#include <unistd.h>
#include "live_parts.h"

static void read_row(const struct arena *a, uint32_t i, struct lease_view word,
                     struct live_lease *out, uint64_t now_ns)
{
    const struct lease_row *r = lease_row(a, i);
    uint64_t since = atomic_load_explicit(&r->at_ns[word.state], memory_order_relaxed);
    *out = (struct live_lease){
        .node = a->node,
        .row = i,
        .generation = word.generation,
        .state = word.state,
        .owner = actor_from_id(word.owner),
        .synthd = actor_from_id(atomic_load_explicit(&r->synthd, memory_order_relaxed)),
        .gpud = actor_from_id(atomic_load_explicit(&r->gpud, memory_order_relaxed)),
        .job = r->job,
        .age_ns = since && now_ns > since ? now_ns - since : 0,
        .partition = r->partition,
        .n_partitions = r->n_partitions,
        .attempt = r->attempt,
        .priority = r->priority,
    };
    if (out->gpud.kind == ACTOR_NONE)
        out->gpud = actor_from_id(atomic_load_explicit(&r->target, memory_order_relaxed));
    if (atomic_load_explicit(&r->extent_held, memory_order_relaxed))
        out->extent_bytes = r->extent_bytes;
    uint64_t cancel = atomic_load_explicit(&r->cancel, memory_order_relaxed);
    out->cancelled = (cancel & 0xff) != 0 && cancel >> 8 == word.generation;
}

static enum err_code read_node(struct live_leases *l, const struct arena *a, struct live_view *view,
                               struct err *e)
{
    const struct arena_header *h = a->header;
    struct live_node *n = &view->node[view->n_nodes++];
    *n = (struct live_node){
        .node = a->node,
        .total_bytes = h->bulk_bytes,
        .used_bytes = h->bulk_bytes - extent_free_bytes(a),
        .largest_free_bytes = extent_largest_bytes(a),
        .rows = (uint32_t)h->rows,
        .placement = (enum arena_placement)h->placement,
    };
    for (unsigned i = 0; i < LEASE_EDGES; i++) {
        n->edges[i] = atomic_load_explicit(&h->edges[i], memory_order_relaxed);
        n->stale += atomic_load_explicit(&h->stale[i], memory_order_relaxed);
    }
    for (uint32_t i = 0; i < n->rows; i++) {
        struct lease_view word = lease_look(a, i);
        n->count[word.state]++;
        if (word.state == LEASE_FREE)
            continue;
        if (!live_room((void **)&view->lease, &l->lease_cap, view->n_leases + 1,
                       sizeof *view->lease))
            return err_set(e, ERR_MEMORY, "no memory for a view of the leases");
        struct live_lease *out = &view->lease[view->n_leases];
        read_row(a, i, word, out, view->now_ns);
        /* Another grant may have begun to write the row meanwhile: then it is left for next time,
         * and still counted as what it was. */
        if (lease_look(a, i).generation != word.generation)
            continue;
        view->n_leases++;
        if (out->age_ns > n->oldest_ns[word.state])
            n->oldest_ns[word.state] = out->age_ns;
    }
    return ERR_OK;
}

enum err_code live_leases_read(struct live_leases *l, const struct instance *in,
                               struct live_view *view, struct err *e)
{
    view->n_nodes = view->n_leases = 0;
    int fd = instance_arena_fd(in, NULL);
    if (fd < 0)
        return ERR_OK; /* the instance is down */
    uint64_t nodes = arena_nodes(fd);
    enum err_code rc = ERR_OK;
    if (!live_room((void **)&view->node, &l->node_cap, ARENA_NODES_MAX, sizeof *view->node))
        rc = err_set(e, ERR_MEMORY, "no memory for a view of the nodes");
    for (unsigned node = 0; node < ARENA_NODES_MAX && !rc; node++) {
        struct arena a;
        /* Mapped anew each time: another `up` makes other arenas. */
        if (!(nodes >> node & 1) || arena_attach(&a, fd, node, ARENA_OBSERVE, NULL) != ERR_OK)
            continue;
        rc = read_node(l, &a, view, e);
        arena_detach(&a);
    }
    close(fd);
    return rc;
}
