#include "phases.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BOUNDS = 19, GPUS_MAX = 256 };
#define SETTLED_NS UINT64_C(5000000000) /* spans of steps that ended before are written */
static const double bound_s[BOUNDS] = {1e-5, 1e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1,
                                       0.25, 0.5,  1,    2.5,  5,      10,   60,   600,   3600};

struct phase {
    uint64_t within[BOUNDS + 1];
    double sum_s;
    uint64_t failed, units;
};

struct gpu {
    uint64_t until_ns; /* accounted for; 0: not yet */
    uint64_t busy_ns, by_cause_ns[GAP_CAUSE_COUNT];
};

struct phases {
    struct phase phase[SPAN_KINDS];
    struct gpu gpu[GPUS_MAX];
};

struct phases *phases_new(void)
{
    return calloc(1, sizeof(struct phases));
}

void phases_free(struct phases **p)
{
    free(*p);
    *p = NULL;
}

void phases_span(void *phases, const struct span *s, const struct span_source *from)
{
    struct phase *p = &((struct phases *)phases)->phase[s->kind];
    uint64_t ns = s->end_ns > s->begin_ns ? s->end_ns - s->begin_ns : 0;
    unsigned i = 0;
    (void)from;
    while (i < BOUNDS && (double)ns > bound_s[i] * 1e9)
        i++;
    p->within[i]++;
    p->sum_s += (double)ns / 1e9;
    p->failed += s->outcome != 0;
    p->units += s->value;
}

/* A stretch must not be cut within a gap, whose cause is known only once a kernel has ended it; a
 * gap that is older than the window's half is cut all the same, for nothing is coming. */
static uint64_t end_of_stretch(const struct account *a, uint64_t until, const struct live_view *v)
{
    uint64_t half = v->begin_ns + (v->now_ns - v->begin_ns) / 2;
    for (size_t i = 0; i < a->n_gaps; i++) {
        const struct gap *g = &a->gap[i];
        if (g->begin_ns < until && g->end_ns > until)
            return g->begin_ns > half ? g->begin_ns : half < until ? half : until;
    }
    return until;
}

enum err_code phases_account(struct phases *p, const struct live_view *view, struct err *e)
{
    uint64_t settled = view->now_ns > SETTLED_NS ? view->now_ns - SETTLED_NS : 0;
    for (size_t i = 0; i < view->n_accounts; i++) {
        const struct account *whole = &view->account[i];
        struct gpu *g = &p->gpu[whole->gpud.index % GPUS_MAX];
        uint64_t until = end_of_stretch(whole, settled, view);
        if (!g->until_ns)
            g->until_ns = view->now_ns; /* time before the gateway is not its to count */
        if (g->until_ns < view->begin_ns)
            g->until_ns = view->begin_ns; /* this thread was away longer than the window */
        if (until <= g->until_ns)
            continue;
        struct account *list;
        size_t n;
        if (account_make(&view->spans, g->until_ns, until, &list, &n, e) != ERR_OK)
            return e->code;
        for (size_t k = 0; k < n; k++)
            if (list[k].gpud.index == whole->gpud.index) {
                g->busy_ns += list[k].busy_ns;
                for (unsigned c = 0; c < GAP_CAUSE_COUNT; c++)
                    g->by_cause_ns[c] += list[k].by_cause_ns[c];
                g->until_ns = until;
            }
        account_free(&list, n);
    }
    return ERR_OK;
}

static void duration_metrics(const struct phases *p, struct text *out)
{
    text_add(out, "# HELP millrace_phase_duration_seconds How long each step took, of all "
                  "partitions and daemons, since the gateway began.\n"
                  "# TYPE millrace_phase_duration_seconds histogram\n");
    for (unsigned k = SPAN_NONE + 1; k < SPAN_KINDS; k++) {
        const struct phase *at = &p->phase[k];
        const char *name = span_info((enum span_kind)k)->name;
        uint64_t sum = 0;
        for (unsigned i = 0; i < BOUNDS; i++) {
            sum += at->within[i];
            text_add(out,
                     "millrace_phase_duration_seconds_bucket{phase=\"%s\",le=\"%g\"} %" PRIu64 "\n",
                     name, bound_s[i], sum);
        }
        sum += at->within[BOUNDS];
        text_add(out,
                 "millrace_phase_duration_seconds_bucket{phase=\"%s\",le=\"+Inf\"} %" PRIu64 "\n"
                 "millrace_phase_duration_seconds_sum{phase=\"%s\"} %.9g\n"
                 "millrace_phase_duration_seconds_count{phase=\"%s\"} %" PRIu64 "\n",
                 name, sum, name, at->sum_s, name, sum);
    }
}

static void count_metrics(const struct phases *p, struct text *out)
{
    text_add(out, "# HELP millrace_phase_failures_total Steps that ended in a failure.\n"
                  "# TYPE millrace_phase_failures_total counter\n");
    for (unsigned k = SPAN_NONE + 1; k < SPAN_KINDS; k++)
        text_add(out, "millrace_phase_failures_total{phase=\"%s\"} %" PRIu64 "\n",
                 span_info((enum span_kind)k)->name, p->phase[k].failed);
    text_add(out, "# HELP millrace_phase_processed_total What a step went through, in the unit of "
                  "its label.\n# TYPE millrace_phase_processed_total counter\n");
    for (unsigned k = SPAN_NONE + 1; k < SPAN_KINDS; k++) {
        const struct span_info *info = span_info((enum span_kind)k);
        if (info->value[0])
            text_add(out, "millrace_phase_processed_total{phase=\"%s\",unit=\"%s\"} %" PRIu64 "\n",
                     info->name, info->value, p->phase[k].units);
    }
}

static void gpu_metrics(const struct phases *p, struct text *out)
{
    text_add(out,
             "# HELP millrace_gpu_time_seconds_total Where each GPU's time went: busy, or idle "
             "with what it waited for. The states of a GPU add up to the wall clock.\n"
             "# TYPE millrace_gpu_time_seconds_total counter\n");
    for (unsigned i = 0; i < GPUS_MAX; i++) {
        const struct gpu *g = &p->gpu[i];
        if (!g->until_ns)
            continue;
        text_add(out, "millrace_gpu_time_seconds_total{gpu=\"gpud.%u\",state=\"busy\"} %.9g\n", i,
                 (double)g->busy_ns / 1e9);
        for (unsigned c = 0; c < GAP_CAUSE_COUNT; c++)
            text_add(out, "millrace_gpu_time_seconds_total{gpu=\"gpud.%u\",state=\"%s\"} %.9g\n", i,
                     gap_cause_name((enum gap_cause)c), (double)g->by_cause_ns[c] / 1e9);
    }
}

void phases_metrics(const struct phases *p, struct text *out)
{
    duration_metrics(p, out);
    count_metrics(p, out);
    gpu_metrics(p, out);
}
