#include "trace.h"
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { NO_LANE = -1 };

static bool is_copy(enum span_kind k)
{
    return k == SPAN_COPY_IN || k == SPAN_COPY_OUT;
}

static bool is_kernel(enum span_kind k)
{
    return k >= SPAN_KERNEL_MATRICES && k <= SPAN_KERNELS;
}

/* What a partition waits for, and sums of several steps: no thread is in it meanwhile, and many may
 * overlap. They are asynchronous events, which a viewer lays beside each other. */
static bool is_wait(enum span_kind k)
{
    switch (k) {
    case SPAN_QUEUE_WAIT:
    case SPAN_ROOM_WAIT:
    case SPAN_SYNTHD_WAIT:
    case SPAN_ATTEMPT:
    case SPAN_GRANT:
    case SPAN_FILL_WAIT:
    case SPAN_PROGRAM:
    case SPAN_RING:
    case SPAN_READY_WAIT:
    case SPAN_DESK_WAIT:
    case SPAN_COMMIT:
    case SPAN_JOB:
    case SPAN_GPU_TOTAL:
    case SPAN_FIN_TOTAL:
    case SPAN_DOWN:
        return true;
    default:
        return false;
    }
}

/* A track of the trace. Slices of a track must nest: what does not gets a lane more of the same
 * name ("desk (2)"). */
enum what { OF_THREAD, OF_COPIES, OF_STREAM };
struct track {
    unsigned process, source, lane;
    enum what what;
    uint64_t *open_end; /* ends of the slices that are open now, outermost first */
    size_t depth, cap;
};

struct tracer {
    FILE *out;
    bool first;
    const struct spans *s;
    unsigned *process; /* of each source: the first source of the same run, plus 1 */
    struct track *track;
    size_t n_tracks, track_cap;
    const struct seen_span **at; /* to write, by begin, longest first */
    int *track_of;               /* of each of them; NO_LANE: asynchronous */
    size_t n;
};

static void between(struct tracer *t)
{
    fputs(t->first ? "\n" : ",\n", t->out);
    t->first = false;
}

/* --- tracks ---------------------------------------------------------------------------------- */

static bool fits(struct track *k, const struct span *s)
{
    while (k->depth && k->open_end[k->depth - 1] <= s->begin_ns)
        k->depth--;
    return !k->depth || s->end_ns <= k->open_end[k->depth - 1];
}

static bool open_slice(struct track *k, uint64_t end_ns)
{
    if (k->depth == k->cap) {
        size_t cap = k->cap ? 2 * k->cap : 8;
        uint64_t *more = realloc(k->open_end, cap * sizeof *more);
        if (!more)
            return false;
        k->open_end = more;
        k->cap = cap;
    }
    k->open_end[k->depth++] = end_ns;
    return true;
}

static int new_track(struct tracer *t, struct track k)
{
    if (t->n_tracks == t->track_cap) {
        size_t cap = t->track_cap ? 2 * t->track_cap : 32;
        struct track *more = realloc(t->track, cap * sizeof *more);
        if (!more)
            return NO_LANE;
        t->track = more;
        t->track_cap = cap;
    }
    t->track[t->n_tracks] = k;
    return (int)t->n_tracks++;
}

/* The lane that the span goes to; those of a track are tried in their order. */
static int lane_of(struct tracer *t, const struct seen_span *x)
{
    enum span_kind kind = (enum span_kind)x->s.kind;
    struct track want = {.process = t->process[x->source],
                         .what = is_copy(kind)     ? OF_COPIES
                                 : is_kernel(kind) ? OF_STREAM
                                                   : OF_THREAD,
                         .source = x->source};
    for (size_t i = 0; i < t->n_tracks; i++) {
        struct track *k = &t->track[i];
        if (k->process != want.process || k->what != want.what ||
            (k->what == OF_THREAD && k->source != want.source))
            continue;
        if (fits(k, &x->s))
            return open_slice(k, x->s.end_ns) ? (int)i : NO_LANE;
        want.lane = k->lane + 1;
    }
    int i = new_track(t, want);
    return i >= 0 && open_slice(&t->track[i], x->s.end_ns) ? i : NO_LANE;
}

static void name_track(struct tracer *t, const char *what, unsigned pid, unsigned tid,
                       const char *name)
{
    between(t);
    fprintf(t->out,
            "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":\"%s\"}}", what,
            pid, tid, name);
}

static void name_tracks(struct tracer *t)
{
    for (unsigned i = 0; i < t->s->n_sources; i++) {
        char name[ROUTING_ID_MAX];
        if (t->process[i] == i + 1)
            name_track(t, "process_name", i + 1, 0, actor_routing_id(&t->s->source[i].actor, name));
    }
    for (size_t i = 0; i < t->n_tracks; i++) {
        const struct track *k = &t->track[i];
        char name[SPAN_THREAD_MAX + 24];
        int n = snprintf(name, sizeof name, "%s",
                         k->what == OF_COPIES   ? "copy engine"
                         : k->what == OF_STREAM ? "stream"
                                                : t->s->source[k->source].thread);
        if (k->lane)
            snprintf(name + n, sizeof name - (size_t)n, " (%u)", k->lane + 1);
        name_track(t, "thread_name", k->process, (unsigned)i + 1, name);
    }
}

/* --- slices ---------------------------------------------------------------------------------- */

static void write_time(FILE *out, const char *key, uint64_t ns)
{
    fprintf(out, ",\"%s\":%" PRIu64 ".%03" PRIu64, key, ns / 1000, ns % 1000);
}

static void write_args(FILE *out, const struct span *s, const struct span_info *info,
                       const char *thread)
{
    fprintf(out, ",\"args\":{\"job\":%" PRIu64 ",\"partition\":%u,\"attempt\":%u,\"outcome\":%u",
            s->job, s->partition, s->attempt, s->outcome);
    if (info->value[0])
        fprintf(out, ",\"%s\":%" PRIu64, info->value, s->value);
    if (thread)
        fprintf(out, ",\"thread\":\"%s\"", thread);
    fputs("}}", out);
}

static void write_slice(struct tracer *t, size_t i)
{
    const struct seen_span *x = t->at[i];
    const struct span_info *info = span_info((enum span_kind)x->s.kind);
    const struct span_source *from = &t->s->source[x->source];
    between(t);
    fprintf(t->out, "{\"name\":\"%s\",\"cat\":\"%s\",\"pid\":%u,\"tid\":%d", info->name,
            actor_kind_name(from->actor.kind), t->process[x->source], t->track_of[i] + 1);
    write_time(t->out, "ts", x->s.begin_ns);
    if (t->track_of[i] != NO_LANE) {
        fputs(",\"ph\":\"X\"", t->out);
        write_time(t->out, "dur", x->s.end_ns - x->s.begin_ns);
        write_args(t->out, &x->s, info, NULL);
        return;
    }
    /* Begin and end of an asynchronous one belong together by category and id. */
    fprintf(t->out, ",\"ph\":\"b\",\"id\":\"w%zu\"", i);
    write_args(t->out, &x->s, info, from->thread);
    between(t);
    fprintf(t->out,
            "{\"ph\":\"e\",\"name\":\"%s\",\"cat\":\"%s\",\"id\":\"w%zu\",\"pid\":%u,\"tid\":0",
            info->name, actor_kind_name(from->actor.kind), i, t->process[x->source]);
    write_time(t->out, "ts", x->s.end_ns);
    putc('}', t->out);
}

/* --- arrows ---------------------------------------------------------------------------------- */

struct stop {
    const struct seen_span *span;
    int track;
};

static int by_partition(const void *a, const void *b)
{
    const struct span *x = &((const struct stop *)a)->span->s;
    const struct span *y = &((const struct stop *)b)->span->s;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    if (x->partition != y->partition)
        return x->partition < y->partition ? -1 : 1;
    if (x->attempt != y->attempt)
        return x->attempt < y->attempt ? -1 : 1;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return 0;
}

static bool same_attempt(const struct span *x, const struct span *y)
{
    return x->job == y->job && x->partition == y->partition && x->attempt == y->attempt;
}

static void write_arrow(struct tracer *t, const struct stop *x, uint64_t id, const char *phase)
{
    between(t);
    fprintf(t->out,
            "{\"ph\":\"%s\",\"name\":\"partition\",\"cat\":\"partition\",\"id\":%" PRIu64
            ",\"pid\":%u,\"tid\":%d",
            phase, id, t->process[x->span->source], x->track + 1);
    write_time(t->out, "ts", x->span->s.begin_ns);
    fputs(phase[0] == 'f' ? ",\"bp\":\"e\"}" : "}", t->out);
}

static enum err_code write_arrows(struct tracer *t, struct err *e)
{
    struct stop *of = calloc(t->n + 1, sizeof *of);
    size_t n = 0;
    if (!of)
        return err_set(e, ERR_MEMORY, "no memory for a trace");
    for (size_t i = 0; i < t->n; i++)
        if (t->at[i]->s.job && t->at[i]->s.attempt && t->track_of[i] != NO_LANE)
            of[n++] = (struct stop){t->at[i], t->track_of[i]};
    qsort(of, n, sizeof *of, by_partition);
    uint64_t id = 0;
    for (size_t i = 0; i < n; i++) {
        bool begins = i == 0 || !same_attempt(&of[i - 1].span->s, &of[i].span->s);
        bool ends = i + 1 == n || !same_attempt(&of[i].span->s, &of[i + 1].span->s);
        if (begins && ends)
            continue;
        id += begins;
        write_arrow(t, &of[i], id, begins ? "s" : ends ? "f" : "t");
    }
    free(of);
    return ERR_OK;
}

/* --- the whole ------------------------------------------------------------------------------- */

/* Begin ascending, the longer first: an outer slice comes before what lies in it. */
static int outer_first(const void *a, const void *b)
{
    const struct span *x = &(*(const struct seen_span *const *)a)->s;
    const struct span *y = &(*(const struct seen_span *const *)b)->s;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return x->end_ns > y->end_ns ? -1 : x->end_ns < y->end_ns;
}

static enum err_code lay_out(struct tracer *t, uint64_t begin_ns, uint64_t end_ns, struct err *e)
{
    const struct spans *s = t->s;
    t->process = calloc(s->n_sources + 1, sizeof *t->process);
    t->at = calloc(s->n + 1, sizeof(const struct seen_span *));
    t->track_of = calloc(s->n + 1, sizeof *t->track_of);
    if (!t->process || !t->at || !t->track_of)
        return err_set(e, ERR_MEMORY, "no memory for a trace of %zu spans", s->n);
    for (unsigned i = 0; i < s->n_sources; i++) {
        unsigned k = 0;
        while (!actor_equal(&s->source[k].actor, &s->source[i].actor))
            k++;
        t->process[i] = k + 1;
    }
    for (size_t i = 0; i < s->n; i++) {
        const struct span *x = &s->at[i].s;
        if (span_info((enum span_kind)x->kind) && x->end_ns >= x->begin_ns &&
            !(end_ns && (x->end_ns < begin_ns || x->begin_ns >= end_ns)))
            t->at[t->n++] = &s->at[i];
    }
    qsort(t->at, t->n, sizeof(const struct seen_span *), outer_first);
    for (size_t i = 0; i < t->n; i++)
        t->track_of[i] = is_wait((enum span_kind)t->at[i]->s.kind) ? NO_LANE : lane_of(t, t->at[i]);
    return ERR_OK;
}

enum err_code trace_write(FILE *out, const struct spans *s, uint64_t begin_ns, uint64_t end_ns,
                          struct err *e)
{
    struct tracer t = {.out = out, .first = true, .s = s};
    enum err_code rc = lay_out(&t, begin_ns, end_ns, e);
    if (rc == ERR_OK) {
        fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", out);
        name_tracks(&t);
        for (size_t i = 0; i < t.n; i++)
            write_slice(&t, i);
        rc = write_arrows(&t, e);
        fputs("\n]}\n", out);
    }
    for (size_t i = 0; i < t.n_tracks; i++)
        free(t.track[i].open_end);
    free(t.track);
    free(t.process);
    free(t.at);
    free(t.track_of);
    return rc;
}
