#include "history.h"
#include <inttypes.h>

static uint64_t verified(const struct live_view *view)
{
    for (size_t i = 0; i < view->n_actors; i++)
        if (view->actor[i].who.kind == ACTOR_FINALIZD)
            return view->actor[i].total[STAT_PARTITIONS_VERIFIED];
    return 0;
}

/* Of the last turn's account: what the GPUs did in the newest second of the window. */
static void add_busy(struct history *h, const struct live_view *view)
{
    for (size_t i = 0; i < view->n_accounts; i++) {
        const struct account *a = &view->account[i];
        if (a->end_ns > a->begin_ns) {
            h->busy_sum += (double)a->busy_ns / (double)(a->end_ns - a->begin_ns);
            h->busy_n += 1;
        }
    }
}

bool history_turn(struct history *h, const struct live_view *view)
{
    uint64_t done = verified(view);
    add_busy(h, view);
    if (h->last_ns && view->now_ns - h->last_ns < HISTORY_STEP_S * UINT64_C(1000000000))
        return false;
    bool first = h->last_ns == 0;
    double seconds = (double)(view->now_ns - h->last_ns) / 1e9;
    struct history_point p = {.wall_ms = view->wall_ns / 1000000, .busy = -1};
    if (!first && done >= h->last_verified)
        p.rate = (double)(done - h->last_verified) / seconds;
    if (h->busy_n > 0)
        p.busy = h->busy_sum / h->busy_n;
    uint64_t total = 0, used = 0;
    for (size_t i = 0; i < view->n_nodes; i++) {
        total += view->node[i].total_bytes;
        used += view->node[i].used_bytes;
        p.in_flight += view->node[i].rows - view->node[i].count[LEASE_FREE];
    }
    p.memory = total ? (double)used / (double)total : 0;
    p.waiting =
        (uint32_t)json_integer_value(json_object_get(view->desk.status, "partitions_waiting"));
    h->last_ns = view->now_ns;
    h->last_verified = done;
    h->busy_sum = h->busy_n = 0;
    if (first)
        return false; /* there is no rate yet */
    h->at[h->next] = p;
    h->next = (h->next + 1) % HISTORY_POINTS;
    h->n += h->n < HISTORY_POINTS;
    return true;
}

void history_point_json(const struct history_point *p, struct text *out)
{
    text_add(out, "[%" PRIu64 ",%.4g,%.4g,%.4g,%u,%u]", p->wall_ms, p->rate, p->busy, p->memory,
             p->waiting, p->in_flight);
}

void history_json(const struct history *h, struct text *out)
{
    text_add(out, "[");
    for (size_t i = 0; i < h->n; i++) {
        size_t at = (h->next + HISTORY_POINTS - h->n + i) % HISTORY_POINTS;
        text_add(out, i ? "," : "");
        history_point_json(&h->at[at], out);
    }
    text_add(out, "]");
}
