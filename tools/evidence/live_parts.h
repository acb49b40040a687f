/* live_parts: the pieces that live.c puts together. Private to the live view. */
#pragma once
#include "asker.h"
#include "live.h"

/* Grows an array of `*cap` elements to hold n; false when there is no memory. */
bool live_room(void **at, size_t *cap, size_t n, size_t each);

/* --- live_actors.c: stat pages ---- */

struct live_actors;
struct live_actors *live_actors_new(void);
void live_actors_free(struct live_actors **a);
enum err_code live_actors_read(struct live_actors *a, const struct instance *in,
                               struct live_view *view, struct err *e);

/* --- live_leases.c: arenas ---- */

struct live_leases {
    size_t node_cap, lease_cap;
};
enum err_code live_leases_read(struct live_leases *l, const struct instance *in,
                               struct live_view *view, struct err *e);

/* --- live_partitions.c: spans and leases by partition ---- */

struct live_partitions {
    size_t partition_cap, span_cap;
};
enum err_code live_partitions_make(struct live_partitions *p, struct live_view *view,
                                   struct err *e);

/* --- live_account.c: steps under way, and where each GPU's time went ---- */

void live_steps_drop(struct spans *s);
enum err_code live_steps_add(struct live_view *view, struct err *e);
enum err_code live_account_make(struct live_view *view, struct err *e);

/* --- live_desk.c: what the desk says ---- */

struct live_talk;
struct live_talk *live_talk_new(const struct instance *in, const struct live_options *o,
                                struct err *e);
void live_talk_free(struct live_talk **t);
void live_talk_turn(struct live_talk *t, int wait_ms, struct live_desk *desk);
