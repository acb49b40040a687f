#include "metrics.h"
#include <inttypes.h>
#include <stdio.h>

static void head(struct text *out, const char *name, const char *kind, const char *help)
{
    text_add(out, "# HELP millrace_%s %s\n# TYPE millrace_%s %s\n", name, help, name, kind);
}

/* --- daemons -------------------------------------------------------------------------------- */

#define FINALIZD ACTOR_BIT(FINALIZD)
#define GPUD     ACTOR_BIT(GPUD)
#define SYNTHD   ACTOR_BIT(SYNTHD)

/* Who keeps which counter; of the others a page holds zeros that say nothing. */
static unsigned kept_by(enum stat_id id)
{
    switch (id) {
    case STAT_JOBS_ACCEPTED:
    case STAT_JOBS_REFUSED:
    case STAT_JOBS_DONE:
    case STAT_JOBS_FAILED:
    case STAT_PARTITIONS_VERIFIED:
    case STAT_PARTITIONS_REJECTED:
    case STAT_PARTITIONS_RETRIED:
    case STAT_DEATHS:
    case STAT_LATE_HEARTBEATS:
    case STAT_MALLOC_TRIMS:
    case STAT_QUEUED:
        return FINALIZD;
    case STAT_PARTITIONS_FILLED:
        return FINALIZD | SYNTHD;
    case STAT_PARTITIONS_PROVED:
        return FINALIZD | GPUD;
    case STAT_BYTES_COPIED:
    case STAT_GPU_BUSY_NS:
    case STAT_PINNED_BYTES:
        return GPUD;
    case STAT_CHARGED_BYTES:
        return GPUD | SYNTHD;
    case STAT_COMMITS: /* of the ledger's own report */
    case STAT_REFUSED_FRAMES:
        return 0;
    default:
        return FINALIZD | GPUD | SYNTHD;
    }
}

static void stat_metric(const struct live_view *v, enum stat_id id, struct text *out)
{
    const struct stat_info *info = stat_info(id);
    bool counter = info->kind == STAT_COUNTER, seconds = id == STAT_GPU_BUSY_NS;
    char name[64], help[160];
    snprintf(name, sizeof name, "%s%s", seconds ? "kernel_seconds" : info->name,
             counter ? "_total" : "");
    snprintf(help, sizeof help, "%s.", info->doc);
    if (help[0] >= 'a' && help[0] <= 'z')
        help[0] = (char)(help[0] - 'a' + 'A');
    bool titled = false;
    for (size_t i = 0; i < v->n_actors; i++) {
        const struct live_actor *a = &v->actor[i];
        if (!(kept_by(id) & 1u << a->who.kind) && !a->total[id])
            continue;
        if (!titled)
            head(out, name, counter ? "counter" : "gauge", help);
        titled = true;
        if (seconds)
            text_add(out, "millrace_%s{daemon=\"%s\"} %.9g\n", name, a->name,
                     (double)a->total[id] / 1e9);
        else
            text_add(out, "millrace_%s{daemon=\"%s\"} %" PRIu64 "\n", name, a->name, a->total[id]);
    }
}

static void daemon_metrics(const struct live_view *v, struct text *out)
{
    if (v->n_actors) {
        head(out, "daemon_up", "gauge", "Whether the process of this daemon is there.");
        for (size_t i = 0; i < v->n_actors; i++)
            text_add(out, "millrace_daemon_up{daemon=\"%s\"} %d\n", v->actor[i].name,
                     v->actor[i].running);
        head(out, "daemon_start_time_seconds", "gauge", "When this run of the daemon began.");
        for (size_t i = 0; i < v->n_actors; i++)
            text_add(out, "millrace_daemon_start_time_seconds{daemon=\"%s\"} %.3f\n",
                     v->actor[i].name, (double)v->actor[i].started_ns / 1e9);
        head(out, "daemon_heartbeat_age_seconds", "gauge",
             "Time since the daemon's work loop came round last.");
        for (size_t i = 0; i < v->n_actors; i++)
            text_add(out, "millrace_daemon_heartbeat_age_seconds{daemon=\"%s\"} %.3f\n",
                     v->actor[i].name, (double)v->actor[i].heartbeat_age_ns / 1e9);
    }
    for (unsigned id = 0; id < STAT_IDS; id++)
        stat_metric(v, (enum stat_id)id, out);
}

/* --- arenas and leases ---------------------------------------------------------------------- */

static const char *lower(const char *word, char out[16])
{
    size_t i = 0;
    for (; word[i] && i < 15; i++)
        out[i] = word[i] >= 'A' && word[i] <= 'Z' ? (char)(word[i] + 32) : word[i];
    out[i] = '\0';
    return out;
}

static void lease_metrics(const struct live_view *v, struct text *out)
{
    char word[16];
    head(out, "leases", "gauge", "Rows of the lease table by state.");
    for (size_t i = 0; i < v->n_nodes; i++)
        for (unsigned s = 0; s < LEASE_STATES; s++)
            text_add(out, "millrace_leases{node=\"%u\",state=\"%s\"} %u\n", v->node[i].node,
                     lower(lease_state_name((enum lease_state)s), word), v->node[i].count[s]);
    head(out, "lease_oldest_seconds", "gauge",
         "How long the lease that is longest in a state is in it; 0 where there is none.");
    for (size_t i = 0; i < v->n_nodes; i++)
        for (unsigned s = LEASE_FREE + 1; s < LEASE_STATES; s++)
            text_add(out, "millrace_lease_oldest_seconds{node=\"%u\",state=\"%s\"} %.6f\n",
                     v->node[i].node, lower(lease_state_name((enum lease_state)s), word),
                     (double)v->node[i].oldest_ns[s] / 1e9);
    head(out, "lease_transitions_total", "counter", "Transitions made, by edge of the table.");
    for (size_t i = 0; i < v->n_nodes; i++)
        for (unsigned k = 0; k < LEASE_EDGES; k++)
            text_add(out, "millrace_lease_transitions_total{node=\"%u\",edge=\"%s\"} %" PRIu64 "\n",
                     v->node[i].node, lease_edge_name((enum lease_edge)k), v->node[i].edges[k]);
    head(out, "lease_stale_total", "counter",
         "Transitions refused because the lease had moved on: harmless, and counted.");
    for (size_t i = 0; i < v->n_nodes; i++)
        text_add(out, "millrace_lease_stale_total{node=\"%u\"} %" PRIu64 "\n", v->node[i].node,
                 v->node[i].stale);
}

static void arena_metrics(const struct live_view *v, struct text *out)
{
    head(out, "arena_bytes", "gauge", "Size of each node's arena.");
    for (size_t i = 0; i < v->n_nodes; i++)
        text_add(out, "millrace_arena_bytes{node=\"%u\"} %" PRIu64 "\n", v->node[i].node,
                 v->node[i].total_bytes);
    head(out, "arena_used_bytes", "gauge", "Of it, in extents of leases.");
    for (size_t i = 0; i < v->n_nodes; i++)
        text_add(out, "millrace_arena_used_bytes{node=\"%u\"} %" PRIu64 "\n", v->node[i].node,
                 v->node[i].used_bytes);
    head(out, "arena_largest_free_bytes", "gauge", "The longest free run of each node's arena.");
    for (size_t i = 0; i < v->n_nodes; i++)
        text_add(out, "millrace_arena_largest_free_bytes{node=\"%u\"} %" PRIu64 "\n",
                 v->node[i].node, v->node[i].largest_free_bytes);
}

/* --- what the desk says --------------------------------------------------------------------- */

static void desk_number(const json_t *o, const char *key, const char *name, const char *kind,
                        const char *help, struct text *out)
{
    const json_t *n = json_object_get(o, key);
    if (!json_is_integer(n))
        return;
    head(out, name, kind, help);
    text_add(out, "millrace_%s %" JSON_INTEGER_FORMAT "\n", name, json_integer_value(n));
}

static void desk_metrics(const struct live_view *v, struct text *out)
{
    head(out, "desk_up", "gauge", "Whether the desk answers.");
    text_add(out, "millrace_desk_up %d\n", v->desk.present);
    const json_t *s = v->desk.status, *ledger = json_object_get(s, "ledger"),
                 *memory = json_object_get(s, "memory");
    if (!s || !v->desk.present)
        return; /* old figures would look like new ones */
    desk_number(s, "jobs_open", "jobs_open", "gauge", "Jobs accepted and not ended.", out);
    desk_number(s, "partitions_open", "partitions_open", "gauge", "Partitions of open jobs.", out);
    desk_number(s, "partitions_waiting", "partitions_waiting", "gauge",
                "Partitions that wait for a grant.", out);
    desk_number(s, "partitions_in_flight", "partitions_in_flight", "gauge",
                "Partitions granted and not settled.", out);
    desk_number(s, "circuits", "circuits", "gauge", "Circuits of the store.", out);
    desk_number(ledger, "groups", "ledger_commits_total", "counter",
                "Commits of the ledger, each of a group of rows.", out);
    desk_number(ledger, "rows", "ledger_rows_total", "counter", "Rows committed.", out);
    desk_number(ledger, "failures", "ledger_failures_total", "counter",
                "Commits that failed and were tried again.", out);
    desk_number(memory, "limit_bytes", "memory_limit_bytes", "gauge",
                "The budget of arenas, keys and matrices in the host's memory.", out);
    desk_number(memory, "charged_bytes", "memory_charged_bytes", "gauge",
                "Of the budget, charged now.", out);
    desk_number(memory, "key_bytes", "memory_key_bytes", "gauge",
                "Of the budget, keys and matrices.", out);
}

void metrics_instance(const struct live_view *v, struct text *out)
{
    daemon_metrics(v, out);
    if (v->n_nodes) {
        lease_metrics(v, out);
        arena_metrics(v, out);
    }
    desk_metrics(v, out);
    head(out, "spans_lost_total", "counter",
         "Spans overwritten before the gateway read them: histograms miss these.");
    text_add(out, "millrace_spans_lost_total %" PRIu64 "\n", v->spans.lost);
}
