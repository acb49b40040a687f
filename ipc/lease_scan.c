#include <string.h>
#include "lease_cells.h"

void lease_terms_read(const struct arena *a, uint32_t index, struct lease_terms *out)
{
    const struct lease_row *row = lease_row(a, index);
    INVARIANT(row != NULL);
    *out = (struct lease_terms){
        .job = row->job,
        .partition = row->partition,
        .n_partitions = row->n_partitions,
        .attempt = row->attempt,
        .priority = row->priority,
        .submitted_ns = row->submitted_ns,
        .deadline_ns = row->deadline_ns,
        .step_limit_ns = row->step_limit_ns,
        .flags = row->flags,
        .domain_log2 = row->domain_log2,
        .target = atomic_load_explicit(&row->target, memory_order_relaxed),
        .extent = {row->extent_offset, row->extent_bytes},
        .w_offset = row->w_offset,
        .a_offset = row->a_offset,
        .b_offset = row->b_offset,
        .w_count = row->w_count,
        .ab_count = row->ab_count,
    };
    memcpy(out->circuit, row->circuit, sizeof out->circuit);
    memcpy(out->spool, row->spool, sizeof out->spool);
    out->spool[LEASE_SPOOL_MAX] = 0;
}

void lease_cancel(struct arena *a, struct lease_ref r, enum lease_cancel why)
{
    struct lease_row *row = lease_row(a, r.row);
    if (!row || r.arena_epoch != a->header->epoch)
        return;
    /* The generation stands in the word, so a request that comes late cancels nobody else. */
    uint64_t word = atomic_load_explicit(&row->cancel, memory_order_relaxed);
    if (word >> 8 == r.generation)
        atomic_compare_exchange_strong_explicit(&row->cancel, &word,
                                                (uint64_t)r.generation << 8 | (uint64_t)why,
                                                memory_order_release, memory_order_relaxed);
}

enum lease_cancel lease_cancelled(const struct arena *a, struct lease_ref r)
{
    const struct lease_row *row = lease_row(a, r.row);
    if (!row || r.arena_epoch != a->header->epoch)
        return CANCEL_NONE;
    uint64_t word = atomic_load_explicit(&row->cancel, memory_order_acquire);
    return word >> 8 == r.generation ? (enum lease_cancel)(word & 255) : CANCEL_NONE;
}

void lease_retarget(struct arena *a, struct lease_ref r, actor_id to)
{
    struct lease_row *row = lease_row(a, r.row);
    INVARIANT(row && to != 0);
    if (lease_look(a, r.row).generation == r.generation)
        atomic_store_explicit(&row->target, to, memory_order_release);
}

bool lease_extent_due(const struct arena *a, uint32_t index, struct extent *out)
{
    const struct lease_row *row = lease_row(a, index);
    INVARIANT(row != NULL);
    if (!atomic_load_explicit(&row->extent_held, memory_order_relaxed))
        return false;
    enum lease_state s = lease_look(a, index).state;
    if (s != LEASE_FREE && s != LEASE_UPLOADED && s != LEASE_PROVED && s != LEASE_FAILED)
        return false;
    *out = (struct extent){row->extent_offset, row->extent_bytes};
    return true;
}

void lease_extent_returned(struct arena *a, uint32_t index)
{
    struct lease_row *row = lease_row(a, index);
    struct extent x;
    INVARIANT(row && lease_extent_due(a, index, &x));
    extent_return(a, x);
    KILL_POINT("lease.extent.between");
    atomic_store_explicit(&row->extent_held, 0, memory_order_release);
}

bool lease_next(const struct arena *a, enum lease_state state, actor_id owner, uint32_t *row)
{
    for (; *row < a->header->rows; ++*row) {
        struct lease_view v = lease_look(a, *row);
        if (v.state == state && (owner == 0 || v.owner == owner))
            return true;
    }
    return false;
}

unsigned lease_count(const struct arena *a, unsigned states, actor_id owner)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < a->header->rows; i++) {
        struct lease_view v = lease_look(a, i);
        n += (states >> v.state & 1) && (owner == 0 || v.owner == owner);
    }
    return n;
}

int lease_order(const struct lease_row *x, const struct lease_row *y)
{
    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    if (x->submitted_ns != y->submitted_ns)
        return x->submitted_ns < y->submitted_ns ? -1 : 1;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    return (x->partition > y->partition) - (x->partition < y->partition);
}

/* A grant that was cut short by the desk's death left its terms in a FREE row and the extent marked
 * as held: as nobody was told, the extent is merely given back, like that of any other FREE row. */
enum err_code lease_recover(struct arena *a, uint32_t *in_use, struct err *e)
{
    *in_use = 0;
    extent_map_clear(a);
    for (uint32_t i = 0; i < a->header->rows; i++) {
        struct lease_row *row = lease_row(a, i);
        enum lease_state state = lease_look(a, i).state;
        *in_use += state != LEASE_FREE;
        if (state == LEASE_FREE)
            lease_cell_wipe(a, i);
        struct extent x = {row->extent_offset, row->extent_bytes};
        if (atomic_load_explicit(&row->extent_held, memory_order_acquire) && !extent_claim(a, x))
            return err_set(e, ERR_FORMAT,
                           "arena of node %u: row %u holds bytes %llu..%llu, which are outside the "
                           "arena or another row's",
                           a->node, i, (unsigned long long)x.offset,
                           (unsigned long long)(x.offset + x.bytes));
    }
    return ERR_OK;
}
