/* gaps, trace: why a GPU was idle, and what everybody did meanwhile. */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include "account.h"
#include "command.h"
#include "instance.h"
#include "live.h"
#include "trace.h"

struct args {
    const char *dir, *from;
    double seconds, last, threshold;
};
static const struct option gaps_options[] = {
    {"dir", 'd', OPTION_TEXT, "DIR", offsetof(struct args, dir), "the instance's directory"},
    {"seconds", 's', OPTION_SECONDS, "TIME", offsetof(struct args, seconds),
     "watch for so long; without it, account for what the rings hold"},
    {"last", 'l', OPTION_SECONDS, "TIME", offsetof(struct args, last),
     "of what the rings hold, the time since so long ago"},
    {"from", 'f', OPTION_TEXT, "TRACE.json", offsetof(struct args, from),
     "of a recorded run: what `millrace trace` wrote"},
    {"threshold", 't', OPTION_SECONDS, "TIME", offsetof(struct args, threshold),
     "list gaps of at least so long (0.001); the table has all of them"},
    {0}};
static const struct args gaps_defaults = {.threshold = 0.001};

/* What is under way now has no span yet: the lease tables say what it is. */
static enum err_code add_open_steps(struct spans *to, const struct instance *in, struct err *e)
{
    struct live *v = live_open(in, &(struct live_options){.window_s = 1, .ask_s = -1}, e);
    enum err_code rc = v ? live_turn(v, 0, e) : e->code;
    if (rc == ERR_OK) {
        const struct spans *s = &live_view(v)->spans;
        for (size_t i = 0; i < s->n && rc == ERR_OK; i++)
            if (s->at[i].s.reserved == LIVE_STEP_OPEN)
                rc = spans_add(to, &s->at[i].s, &s->source[s->at[i].source], e);
    }
    live_close(&v);
    spans_sort(to);
    return rc;
}

/* open: with the steps under way. */
static enum err_code collect(const char *dir, double seconds, bool open, struct spans *s,
                             struct err *e)
{
    char at[4096];
    struct instance in;
    instance_default_dir(dir, at, sizeof at);
    if (instance_open(&in, at, e))
        return e->code;
    enum err_code rc = spans_collect(s, &in, seconds, e);
    if (rc == ERR_OK && open)
        rc = add_open_steps(s, &in, e);
    instance_close(&in);
    return rc;
}

static json_t *causes_json(const uint64_t ns[GAP_CAUSE_COUNT])
{
    json_t *o = json_object();
    for (unsigned c = 0; c < GAP_CAUSE_COUNT; c++)
        json_object_set_new(o, gap_cause_name((enum gap_cause)c), json_integer((json_int_t)ns[c]));
    return o;
}

static json_t *account_json(const struct account *a, uint64_t threshold_ns)
{
    char name[ACTOR_NAME_MAX];
    json_t *gaps = json_array();
    for (size_t i = 0; i < a->n_gaps; i++) {
        const struct gap *g = &a->gap[i];
        if (g->end_ns - g->begin_ns < threshold_ns)
            continue;
        json_t *o = json_pack("{s:I,s:I,s:s}", "begin_ns", (json_int_t)(g->begin_ns - a->begin_ns),
                              "length_ns", (json_int_t)(g->end_ns - g->begin_ns), "cause",
                              gap_cause_name(g->cause));
        if (g->job)
            json_object_update_new(o, json_pack("{s:I,s:I,s:I}", "job", (json_int_t)g->job,
                                                "partition", (json_int_t)g->partition, "attempt",
                                                (json_int_t)g->attempt));
        json_array_append_new(gaps, o);
    }
    return json_pack("{s:s,s:I,s:I,s:I,s:o,s:o}", "gpud", actor_name(&a->gpud, name), "wall_ns",
                     (json_int_t)(a->end_ns - a->begin_ns), "busy_ns", (json_int_t)a->busy_ns,
                     "partitions", (json_int_t)a->partitions, "causes_ns",
                     causes_json(a->by_cause_ns), "gaps", gaps);
}

static void print_account(const struct account *a, uint64_t threshold_ns)
{
    char name[ACTOR_NAME_MAX];
    double wall = (double)(a->end_ns - a->begin_ns);
    printf("%s: %.3f s, busy %.1f %%, %u partitions\n", actor_name(&a->gpud, name), wall / 1e9,
           wall > 0 ? 100.0 * (double)a->busy_ns / wall : 0, a->partitions);
    bool titled = false;
    for (size_t i = 0; i < a->n_gaps; i++) {
        const struct gap *g = &a->gap[i];
        uint64_t ns = g->end_ns - g->begin_ns;
        if (ns < threshold_ns)
            continue;
        if (!titled)
            printf("  %12s  %12s  %-16s  %s\n", "AT", "LENGTH", "WAITED FOR", "PARTITION");
        titled = true;
        printf("  %10.3f s  %9.3f ms  %-16s", (double)(g->begin_ns - a->begin_ns) / 1e9,
               (double)ns / 1e6, gap_cause_name(g->cause));
        if (g->job)
            printf("  %" PRIu64 ".%u", g->job, g->partition);
        putchar('\n');
    }
    printf("  %-16s  %12s  %7s\n", "CAUSE", "TOTAL", "SHARE");
    printf("  %-16s  %9.3f ms  %5.1f %%\n", "busy", (double)a->busy_ns / 1e6,
           wall > 0 ? 100.0 * (double)a->busy_ns / wall : 0);
    for (unsigned c = 0; c < GAP_CAUSE_COUNT; c++)
        if (a->by_cause_ns[c])
            printf("  %-16s  %9.3f ms  %5.1f %%  %s\n", gap_cause_name((enum gap_cause)c),
                   (double)a->by_cause_ns[c] / 1e6,
                   wall > 0 ? 100.0 * (double)a->by_cause_ns[c] / wall : 0,
                   gap_cause_doc((enum gap_cause)c));
}

static enum err_code run_gaps(const struct invocation *in, struct err *e)
{
    const struct args *a = in->args;
    struct spans s = {0};
    struct account *account = NULL;
    size_t n = 0;
    bool window = a->seconds > 0 || a->last > 0;
    uint64_t begin = span_now_ns() - (uint64_t)(a->last * 1e9);
    if (a->seconds > 0 && a->last > 0)
        return err_set(e, ERR_USAGE,
                       "gaps: --seconds watches from now on, --last looks back: "
                       "give one of them");
    if (a->from && (a->seconds > 0 || a->last > 0))
        return err_set(e, ERR_USAGE, "gaps: --from is a recorded run: it has no --seconds, --last");
    enum err_code rc =
        a->from ? trace_read(&s, a->from, e) : collect(a->dir, a->seconds, window, &s, e);
    uint64_t end = window ? span_now_ns() : 0;
    if (!window)
        begin = 0;
    if (!rc)
        rc = account_make(&s, begin, end, &account, &n, e);
    if (!rc && n == 0)
        rc = err_set(e, ERR_UNAVAILABLE, "no gpud of this instance has written a span yet");
    uint64_t threshold = (uint64_t)(a->threshold * 1e9);
    json_t *list = in->json ? json_array() : NULL;
    for (size_t i = 0; i < n && !rc; i++) {
        if (list)
            json_array_append_new(list, account_json(&account[i], threshold));
        else
            print_account(&account[i], threshold);
    }
    if (!rc && list) {
        json_t *o = json_pack("{s:O,s:I}", "gpus", list, "spans_lost", (json_int_t)s.lost);
        json_dumpf(o, stdout, JSON_INDENT(1));
        putchar('\n');
        json_decref(o);
    } else if (!rc && s.lost) {
        printf("%" PRIu64 " spans were overwritten before they could be read\n", s.lost);
    }
    json_decref(list);
    account_free(&account, n);
    spans_free(&s);
    return rc;
}

const struct command command_gaps = {
    .name = "gaps",
    .summary = "why was the GPU idle? each gap with the one thing it waited for",
    .operands = "",
    .text =
        "A gap is time with no kernel running. For each GPU: the share of time it was busy, the\n"
        "gaps over the threshold with the partition that ended them, and all idle time by\n"
        "cause; the account sums to the wall clock. Where two causes overlap, the one nearest\n"
        "to the GPU is named, in this order: registration, process_down, key_load, copy_in,\n"
        "previous_finish, descriptor, matrices, witness, synthd, room, no_work.",
    .options = gaps_options,
    .args_bytes = sizeof(struct args),
    .defaults = &gaps_defaults,
    .run = run_gaps,
};

static const struct option trace_options[] = {
    {"dir", 'd', OPTION_TEXT, "DIR", offsetof(struct args, dir), "the instance's directory"},
    {"seconds", 's', OPTION_SECONDS, "TIME", offsetof(struct args, seconds),
     "record for so long; without it, write what the rings hold"},
    {0}};

static enum err_code run_trace(const struct invocation *in, struct err *e)
{
    const struct args *a = in->args;
    struct spans s = {0};
    uint64_t begin = a->seconds > 0 ? span_now_ns() : 0;
    enum err_code rc = collect(a->dir, a->seconds, false, &s, e);
    if (rc)
        return rc;
    FILE *out = in->n_operands ? fopen(in->operand[0], "w") : stdout;
    if (!out) {
        spans_free(&s);
        return err_set(e, ERR_IO, "%s: cannot be written", in->operand[0]);
    }
    rc = trace_write(out, &s, begin, a->seconds > 0 ? span_now_ns() : 0, e);
    bool failed = ferror(out) != 0;
    if (in->n_operands)
        failed = fclose(out) != 0 || failed;
    if (rc == ERR_OK && failed)
        rc = err_set(e, ERR_IO, "%s: could not be written in full",
                     in->n_operands ? in->operand[0] : "standard output");
    if (rc == ERR_OK && command_shows_progress(in))
        fprintf(stderr, "%zu spans of %u threads%s\n", s.n, s.n_sources,
                s.lost ? ", some were overwritten before they could be read" : "");
    spans_free(&s);
    return rc;
}

const struct command command_trace = {
    .name = "trace",
    .summary = "what every process did, as a trace for Perfetto or chrome://tracing",
    .operands = "[OUT.json]",
    .text = "One track for each process, thread, copy engine and stream, with arrows along each\n"
            "partition. Open it at ui.perfetto.dev.",
    .options = trace_options,
    .args_bytes = sizeof(struct args),
    .max_operands = 1,
    .run = run_trace,
};
