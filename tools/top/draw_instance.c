/* The instance as a whole: head, jobs, memory, daemons. */
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include "views.h"

static const char *word(const json_t *o, const char *key, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : otherwise;
}

static json_int_t number(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

static double rate(const struct live_view *v, enum actor_kind kind, enum stat_id id)
{
    double sum = 0;
    for (size_t i = 0; i < v->n_actors; i++)
        if (v->actor[i].who.kind == kind)
            sum += v->actor[i].rate[id];
    return sum;
}

static int draw_rates(struct canvas *c, const struct live_view *v, int y)
{
    const json_t *o = v->desk.status;
    int x = 0;
    if (o)
        x = canvas_printf(c, x, y, STYLE_PLAIN,
                          "jobs open %" JSON_INTEGER_FORMAT "  waiting %" JSON_INTEGER_FORMAT
                          "  in flight %" JSON_INTEGER_FORMAT "  ",
                          number(o, "jobs_open"), number(o, "partitions_waiting"),
                          number(o, "partitions_in_flight"));
    x = canvas_printf(c, x, y, STYLE_PLAIN, "a second: filled %.1f  proved %.1f  ",
                      rate(v, ACTOR_SYNTHD, STAT_PARTITIONS_FILLED),
                      rate(v, ACTOR_GPUD, STAT_PARTITIONS_PROVED));
    x = canvas_printf(c, x, y, STYLE_GOOD, "verified %.1f",
                      rate(v, ACTOR_FINALIZD, STAT_PARTITIONS_VERIFIED));
    double bad = rate(v, ACTOR_FINALIZD, STAT_PARTITIONS_FAILED) +
                 rate(v, ACTOR_FINALIZD, STAT_PARTITIONS_REJECTED);
    canvas_printf(c, x, y, bad > 0 ? STYLE_BAD : STYLE_PLAIN, "  failed %.1f", bad);
    return 1;
}

int draw_head(struct canvas *c, const struct live_view *v, const struct view_state *s, int y,
              int rows)
{
    char clock[16] = "", age[16];
    struct tm tm;
    time_t now = (time_t)(v->wall_ns / 1000000000u);
    if (rows < 1)
        return 0;
    if (localtime_r(&now, &tm))
        strftime(clock, sizeof clock, "%H:%M:%S", &tm);
    bool up = view_is_up(v);
    int x = canvas_put(c, 0, y, STYLE_TITLE, "millrace ");
    if (!up)
        x = canvas_put(c, x, y, STYLE_BAD, "down: nothing runs here");
    else if (!v->desk.present)
        x = canvas_printf(c, x, y, STYLE_WARN, "the desk does not answer (%s)",
                          v->desk.heard_ns == UINT64_MAX ? "not yet"
                                                         : text_age((double)v->desk.heard_ns, age));
    else
        x = canvas_put(c, x, y, STYLE_GOOD, word(v->desk.status, "state", "running"));
    x = canvas_printf(c, x, y, STYLE_PLAIN, "  %s  last %.0f s%s  %s", clock, s->window_s,
                      s->paused ? "  PAUSED" : "", s->dir);
    const char *trouble = up ? word(v->desk.status, "ledger_trouble", NULL) : NULL;
    int used = 1;
    if (used < rows && up)
        used += draw_rates(c, v, y + used);
    if (used < rows && trouble)
        canvas_printf(c, 0, y + used++, STYLE_BAD, "ledger: %s", trouble);
    if (used < rows && s->notice)
        canvas_put(c, 0, y + used++, STYLE_WARN, s->notice);
    return used;
}

/* ---- jobs ---- */

static enum style state_style(const char *state)
{
    return strcmp(state, "running") == 0  ? STYLE_GOOD
           : strcmp(state, "queued") == 0 ? STYLE_WARN
           : strcmp(state, "done") == 0   ? STYLE_DIM
                                          : STYLE_BAD;
}

static void draw_job(struct canvas *c, const json_t *j, int y)
{
    char age[16];
    const char *state = word(j, "state", "?");
    json_int_t proved = number(j, "proved"), n = number(j, "partitions");
    const json_t *took = json_object_get(j, "took_ms");
    int x = canvas_printf(c, 0, y, STYLE_PLAIN, "%8" JSON_INTEGER_FORMAT " ", number(j, "job"));
    x = canvas_printf(c, x, y, state_style(state), "%-9s ", state);
    x = canvas_printf(c, x, y, STYLE_PLAIN, "%4" JSON_INTEGER_FORMAT " ", number(j, "priority"));
    x = canvas_bar(c, x, y, 12, n ? (double)proved / (double)n : 0, STYLE_GOOD);
    x = canvas_printf(
        c, x, y, STYLE_PLAIN,
        " %4" JSON_INTEGER_FORMAT "/%-4" JSON_INTEGER_FORMAT " %10s  %-18.18s ", proved, n,
        text_age(1e6 * (double)(took ? json_integer_value(took) : number(j, "age_ms")), age),
        word(j, "circuit", "?"));
    canvas_put(c, x, y, STYLE_DIM, word(j, "reason", word(j, "client", "")));
}

int draw_jobs(struct canvas *c, const struct live_view *v, int y, int rows, int *skip)
{
    const json_t *jobs = v->desk.jobs;
    int n = (int)json_array_size(jobs), used = 0;
    if (rows < 2 || n == 0)
        return 0;
    canvas_put(
        c, 0, y + used++, STYLE_TITLE,
        "     JOB STATE     PRIO PROVED                        TIME  CIRCUIT            CLIENT");
    if (*skip > n - 1)
        *skip = n - 1;
    for (int i = n - 1 - *skip; i >= 0 && used < rows; i--) /* newest first */
        draw_job(c, json_array_get(jobs, (size_t)i), y + used++);
    return used;
}

/* ---- memory ---- */

int draw_budget(struct canvas *c, const struct live_view *v, int y, int rows)
{
    const json_t *m = json_object_get(v->desk.status, "memory");
    char a[16], b[16], k[16], l[16];
    if (rows < 1 || !m)
        return 0;
    double limit = (double)number(m, "limit_bytes"), charged = (double)number(m, "charged_bytes");
    int x = canvas_put(c, 0, y, STYLE_TITLE, "budget   ");
    x = canvas_bar(c, x, y, 20, limit > 0 ? charged / limit : 0,
                   charged > 0.95 * limit ? STYLE_WARN : STYLE_GOOD);
    canvas_printf(c, x, y, STYLE_PLAIN, " %s of %s: arenas %s, keys and matrices %s",
                  text_bytes(charged, a), text_bytes(limit, l),
                  text_bytes((double)number(m, "arena_bytes"), b),
                  text_bytes((double)number(m, "key_bytes"), k));
    return 1;
}

int draw_nodes(struct canvas *c, const struct live_view *v, int y, int rows)
{
    int used = 0;
    for (size_t i = 0; i < v->n_nodes && used < rows; i++) {
        const struct live_node *n = &v->node[i];
        char a[16], b[16], f[16];
        unsigned synthds = 0;
        for (size_t k = 0; k < v->n_actors; k++)
            synthds += v->actor[k].who.kind == ACTOR_SYNTHD && v->actor[k].running &&
                       v->actor[k].who.node == n->node;
        double share = n->total_bytes ? (double)n->used_bytes / (double)n->total_bytes : 0;
        int x = canvas_printf(c, 0, y + used, STYLE_TITLE, "node %-4u", n->node);
        x = canvas_bar(c, x, y + used, 20, share, share > 0.95 ? STYLE_WARN : STYLE_GOOD);
        canvas_printf(c, x, y + used++, STYLE_PLAIN,
                      " %s of %s, largest free %s; %u synthd, rows %u of %u, stale %" PRIu64,
                      text_bytes((double)n->used_bytes, a), text_bytes((double)n->total_bytes, b),
                      text_bytes((double)n->largest_free_bytes, f), synthds,
                      n->rows - n->count[LEASE_FREE], n->rows, n->stale);
    }
    return used;
}

int draw_leases(struct canvas *c, const struct live_view *v, int y, int rows)
{
    if (rows < 1 || v->n_nodes == 0)
        return 0;
    int x = canvas_put(c, 0, y, STYLE_TITLE, "leases   ");
    for (unsigned s = LEASE_FREE + 1; s < LEASE_STATES; s++) {
        uint64_t n = 0, oldest = 0;
        char age[16];
        for (size_t i = 0; i < v->n_nodes; i++) {
            n += v->node[i].count[s];
            if (v->node[i].oldest_ns[s] > oldest)
                oldest = v->node[i].oldest_ns[s];
        }
        enum style style = n == 0 ? STYLE_DIM : s == LEASE_FAILED ? STYLE_BAD : STYLE_PLAIN;
        x = canvas_printf(c, x, y, style, "%s %" PRIu64, lease_state_name((enum lease_state)s), n);
        if (n)
            x = canvas_printf(c, x, y, STYLE_DIM, " (%s)", text_age((double)oldest, age));
        x += 2;
    }
    return 1;
}

/* ---- daemons ---- */

static void draw_daemon(struct canvas *c, const struct live_actor *a, int y)
{
    char age[16], keys[16];
    bool late = a->heartbeat_age_ns > 3 * UINT64_C(1000000000);
    int x = canvas_printf(c, 0, y, STYLE_PLAIN, "%-14s ", a->name);
    x = canvas_printf(c, x, y,
                      !a->running ? STYLE_BAD
                      : late      ? STYLE_WARN
                                  : STYLE_GOOD,
                      "%-6s ",
                      !a->running ? "dead"
                      : late      ? "late"
                                  : "alive");
    x = canvas_printf(c, x, y, STYLE_PLAIN, "%8u %9s %6" PRIu64 " %9s ", a->pid,
                      text_age((double)a->heartbeat_age_ns, age), a->value[STAT_IN_FLIGHT],
                      text_bytes((double)a->value[STAT_CHARGED_BYTES], keys));
    uint64_t done = a->who.kind == ACTOR_SYNTHD ? a->value[STAT_PARTITIONS_FILLED]
                    : a->who.kind == ACTOR_GPUD ? a->value[STAT_PARTITIONS_PROVED]
                                                : a->value[STAT_PARTITIONS_VERIFIED];
    x = canvas_printf(c, x, y, STYLE_PLAIN, "%9" PRIu64 "  ", done);
    canvas_put(c, x, y, STYLE_DIM, a->step);
}

int draw_daemons(struct canvas *c, const struct live_view *v, int y, int rows, int *skip)
{
    int used = 0;
    if (rows < 2)
        return 0;
    canvas_put(c, 0, y + used++, STYLE_TITLE,
               "DAEMON         STATE       PID     HEARD  HOLDS      KEYS      DONE  DOES");
    if (*skip >= (int)v->n_actors)
        *skip = v->n_actors ? (int)v->n_actors - 1 : 0;
    for (size_t i = (size_t)*skip; i < v->n_actors && used < rows; i++)
        draw_daemon(c, &v->actor[i], y + used++);
    return used;
}
