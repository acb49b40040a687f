#include "snapshot.h"
#include <inttypes.h>
#include <stdlib.h>

static void comma(struct text *out, bool *first)
{
    if (!*first)
        text_put(out, ",", 1);
    *first = false;
}

static void put_report(struct text *out, const char *key, const json_t *value)
{
    char *dumped = value ? json_dumps(value, JSON_COMPACT) : NULL;
    text_add(out, "\"%s\":", key);
    if (dumped)
        text_add(out, "%s", dumped);
    else
        text_add(out, "null");
    free(dumped);
}

/* --- what both forms have ------------------------------------------------------------------- */

static void actor_json(const struct live_actor *a, struct text *out)
{
    text_add(out, "{\"name\":\"%s\",\"running\":%s,\"pid\":%u,\"run\":%" PRIu64, a->name,
             a->running ? "true" : "false", a->pid, a->who.incarnation);
    text_add(out, ",\"started_ms\":%" PRIu64 ",\"heartbeat_ms\":%" PRIu64 ",\"step\":",
             a->started_ns / 1000000, a->heartbeat_age_ns / 1000000);
    text_json(out, a->step);
    text_add(out, ",\"stats\":{");
    for (unsigned i = 0; i < STAT_IDS; i++)
        text_add(out, "%s\"%s\":%" PRIu64, i ? "," : "", stat_info((enum stat_id)i)->name,
                 a->total[i]);
    enum stat_id done = a->who.kind == ACTOR_SYNTHD ? STAT_PARTITIONS_FILLED
                        : a->who.kind == ACTOR_GPUD ? STAT_PARTITIONS_PROVED
                                                    : STAT_PARTITIONS_VERIFIED;
    text_add(out, "},\"done\":%" PRIu64 ",\"rate\":%.4g}", a->total[done], a->rate[done]);
}

static void node_json(const struct live_node *n, struct text *out)
{
    text_add(out,
             "{\"node\":%u,\"total_bytes\":%" PRIu64 ",\"used_bytes\":%" PRIu64
             ",\"largest_free_bytes\":%" PRIu64 ",\"rows\":%u,\"leases\":{",
             n->node, n->total_bytes, n->used_bytes, n->largest_free_bytes, n->rows);
    for (unsigned s = 0; s < LEASE_STATES; s++)
        text_add(out, "%s\"%s\":{\"n\":%u,\"oldest_ms\":%" PRIu64 "}", s ? "," : "",
                 lease_state_name((enum lease_state)s), n->count[s], n->oldest_ns[s] / 1000000);
    text_add(out, "},\"stale\":%" PRIu64 "}", n->stale);
}

static void gpu_head(const struct account *a, struct text *out)
{
    uint64_t wall = a->end_ns - a->begin_ns;
    text_add(out,
             "{\"name\":\"gpud.%u\",\"wall_ns\":%" PRIu64 ",\"busy_ns\":%" PRIu64
             ",\"partitions\":%u,\"causes_ns\":{",
             a->gpud.index, wall, a->busy_ns, a->partitions);
    bool first = true;
    for (unsigned c = 0; c < GAP_CAUSE_COUNT; c++)
        if (a->by_cause_ns[c]) {
            comma(out, &first);
            text_add(out, "\"%s\":%" PRIu64, gap_cause_name((enum gap_cause)c), a->by_cause_ns[c]);
        }
    text_add(out, "}");
}

static void common(const struct live_view *v, struct text *out)
{
    bool first = true;
    text_add(out, "\"time_ms\":%" PRIu64 ",\"window_s\":%.3f,\"desk\":{\"present\":%s",
             v->wall_ns / 1000000, (double)(v->now_ns - v->begin_ns) / 1e9,
             v->desk.present ? "true" : "false");
    if (v->desk.heard_ns != UINT64_MAX)
        text_add(out, ",\"heard_ms\":%" PRIu64, v->desk.heard_ns / 1000000);
    text_add(out, ",");
    put_report(out, "status", v->desk.status);
    text_add(out, "},\"daemons\":[");
    for (size_t i = 0; i < v->n_actors; i++) {
        comma(out, &first);
        actor_json(&v->actor[i], out);
    }
    first = true;
    text_add(out, "],\"nodes\":[");
    for (size_t i = 0; i < v->n_nodes; i++) {
        comma(out, &first);
        node_json(&v->node[i], out);
    }
    text_add(out, "],\"spans_lost\":%" PRIu64, v->spans.lost);
}

void snapshot_status(const struct live_view *v, struct text *out)
{
    bool first = true;
    text_add(out, "{");
    common(v, out);
    text_add(out, ",\"gpus\":[");
    for (size_t i = 0; i < v->n_accounts; i++) {
        comma(out, &first);
        gpu_head(&v->account[i], out);
        text_add(out, "}");
    }
    text_add(out, "]}");
}

/* --- for the page ---------------------------------------------------------------------------- */

static uint64_t micros(const struct live_view *v, uint64_t ns)
{
    return ns > v->begin_ns ? (ns - v->begin_ns) / 1000 : 0;
}

/* A lane: [begin, end, cause, job, partition] for each gap that can be seen; all between is busy. A
 * page is some hundred pixels wide: what is shorter than a thousandth of the window is not drawn,
 * and of the rest the longest. */
static void lane_json(const struct live_view *v, const struct account *a, struct text *out)
{
    uint64_t least = (a->end_ns - a->begin_ns) / 1000;
    size_t shown = 0;
    for (size_t i = 0; i < a->n_gaps; i++)
        shown += a->gap[i].end_ns - a->gap[i].begin_ns >= least;
    while (shown > SNAPSHOT_SEGMENTS) {
        least *= 2;
        shown = 0;
        for (size_t i = 0; i < a->n_gaps; i++)
            shown += a->gap[i].end_ns - a->gap[i].begin_ns >= least;
    }
    bool first = true;
    gpu_head(a, out);
    text_add(out, ",\"gaps\":[");
    for (size_t i = 0; i < a->n_gaps; i++) {
        const struct gap *g = &a->gap[i];
        if (g->end_ns - g->begin_ns < least)
            continue;
        comma(out, &first);
        text_add(out, "[%" PRIu64 ",%" PRIu64 ",%d,%" PRIu64 ",%u]", micros(v, g->begin_ns),
                 micros(v, g->end_ns), (int)g->cause, g->job, g->partition);
    }
    text_add(out, "]}");
}

static void partition_json(const struct live_view *v, const struct live_partition *p,
                           struct text *out)
{
    char name[ACTOR_NAME_MAX];
    bool first = true;
    text_add(out, "{\"job\":%" PRIu64 ",\"partition\":%u,\"attempt\":%u,\"outcome\":%u", p->job,
             p->partition, p->attempt, p->outcome);
    if (p->open)
        text_add(out, ",\"state\":%d,\"age_ms\":%" PRIu64, (int)p->lease.state,
                 p->lease.age_ns / 1000000);
    if (p->open && p->lease.gpud.kind == ACTOR_GPUD)
        text_add(out, ",\"gpud\":\"%s\"", actor_name(&p->lease.gpud, name));
    text_add(out, ",\"steps\":[");
    for (uint32_t i = 0; i < p->n; i++) {
        const struct span *s = &v->spans.at[v->span_of[p->first + i]].s;
        comma(out, &first);
        text_add(out, "[%u,%" PRIu64 ",%" PRIu64 "%s]", s->kind, micros(v, s->begin_ns),
                 micros(v, s->end_ns), s->reserved == LIVE_STEP_OPEN ? ",1" : "");
    }
    text_add(out, "]}");
}

static void jobs_json(const struct live_view *v, struct text *out)
{
    size_t n = json_array_size(v->desk.jobs);
    bool first = true;
    text_add(out, ",\"jobs\":[");
    for (size_t i = n > SNAPSHOT_JOBS ? n - SNAPSHOT_JOBS : 0; i < n; i++) {
        char *dumped = json_dumps(json_array_get(v->desk.jobs, i), JSON_COMPACT);
        if (!dumped)
            continue;
        comma(out, &first);
        text_add(out, "%s", dumped);
        free(dumped);
    }
    text_add(out, "]");
}

void snapshot_page(const struct live_view *v, struct text *out)
{
    bool first = true;
    text_add(out, "{");
    common(v, out);
    text_add(out, ",\"gpus\":[");
    for (size_t i = 0; i < v->n_accounts; i++) {
        comma(out, &first);
        lane_json(v, &v->account[i], out);
    }
    text_add(out, "],\"partitions\":[");
    first = true;
    size_t from = v->n_partitions > SNAPSHOT_PARTITIONS ? v->n_partitions - SNAPSHOT_PARTITIONS : 0;
    for (size_t i = from; i < v->n_partitions; i++) {
        comma(out, &first);
        partition_json(v, &v->partition[i], out);
    }
    text_add(out, "],\"partitions_seen\":%zu", v->n_partitions);
    jobs_json(v, out);
    text_add(out, ",");
    put_report(out, "circuits", v->desk.circuits);
    text_add(out, "}");
}

void snapshot_words(struct text *out)
{
    text_add(out, "{\"steps\":[[\"none\",\"\"]");
    for (unsigned k = SPAN_NONE + 1; k < SPAN_KINDS; k++) {
        text_add(out, ",[\"%s\",", span_info((enum span_kind)k)->name);
        text_json(out, span_info((enum span_kind)k)->doc);
        text_add(out, "]");
    }
    text_add(out, "],\"causes\":[");
    for (unsigned c = 0; c < GAP_CAUSE_COUNT; c++) {
        text_add(out, "%s[\"%s\",", c ? "," : "", gap_cause_name((enum gap_cause)c));
        text_json(out, gap_cause_doc((enum gap_cause)c));
        text_add(out, "]");
    }
    text_add(out, "],\"states\":[");
    for (unsigned s = 0; s < LEASE_STATES; s++)
        text_add(out, "%s\"%s\"", s ? "," : "", lease_state_name((enum lease_state)s));
    text_add(out, "]}");
}
