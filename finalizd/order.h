/* order: which job's partition is to be granted next.
 *
 * The documented order is one total order over jobs, fixed when a job is accepted, so that nothing
 * has to be sorted again as time passes:
 *
 *   1. class urgent before every other;
 *   2. then by virtual submit time: submit time + priority * age_step, where priority 0 is served
 *      first. A job of priority p overtakes one of p + 1 unless that one is older by a whole
 *      age_step: this is how low priority ages. age_step 0: never, priorities are strict;
 *   3. then by job id (the job's age); within a job by partition index.
 *
 * Jobs wait in one heap per circuit, since partitions of one circuit have equal extents and fit or
 * do not fit alike: a walk visits the first job of each circuit, in order, and no further.
 * One thread. Entries are embedded in jobs and owned by the caller. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ORDER_PRIORITIES = 256 };

struct order_entry {
    bool urgent;
    uint8_t priority; /* 0 .. ORDER_PRIORITIES - 1, 0 is served first */
    uint64_t submit_ns, id;
    unsigned circuit; /* small index of the caller's */
    /* Kept for the caller while the entry waits: how often others were granted before it although
     * it was first, because it found no room, or because their key was resident. */
    uint32_t room_passes, key_passes;
    size_t heap_at; /* private: 1-based place in its heap, 0 when it does not wait */
};

struct order;

struct order *order_new(uint64_t age_step_ns);
void order_free(struct order **o);

/* True when x is to be served before y. */
bool order_before(const struct order *o, const struct order_entry *x, const struct order_entry *y);

void order_put(struct order *o, struct order_entry *e);    /* must not wait already */
void order_remove(struct order *o, struct order_entry *e); /* no effect when it does not wait */
bool order_waits(const struct order_entry *e);
size_t order_count(const struct order *o);

/* The walk: the first entry of all, then the first of each further circuit, in order. NULL at the
 * end. The structure must not change between a call and the next. */
struct order_entry *order_first(const struct order *o);
struct order_entry *order_next(const struct order *o, const struct order_entry *after);
