#include "trace.h"
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Tracks of a process: its threads by source, then the two of its device. */
enum { TRACK_COPY = 1000000, TRACK_STREAM = 1000001 };

static bool is_copy(enum span_kind k)
{
    return k == SPAN_COPY_IN || k == SPAN_COPY_OUT;
}

static bool is_kernel(enum span_kind k)
{
    return k >= SPAN_KERNEL_MATRICES && k <= SPAN_KERNELS;
}

/* Processes are numbered by the first source of the same actor and incarnation. */
static unsigned process_of(const struct spans *s, unsigned source)
{
    for (unsigned i = 0; i < source; i++)
        if (actor_equal(&s->source[i].actor, &s->source[source].actor))
            return i + 1;
    return source + 1;
}

static unsigned track_of(const struct seen_span *x)
{
    enum span_kind k = (enum span_kind)x->s.kind;
    return is_copy(k) ? TRACK_COPY : is_kernel(k) ? TRACK_STREAM : x->source + 1;
}

static const char *comma(bool *first)
{
    const char *text = *first ? "\n" : ",\n";
    *first = false;
    return text;
}

static void name_track(FILE *out, bool *first, const char *what, unsigned pid, unsigned tid,
                       const char *name)
{
    fprintf(out,
            "%s{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":\"%s\"}}",
            comma(first), what, pid, tid, name);
}

static void name_tracks(FILE *out, const struct spans *s, bool *first)
{
    for (unsigned i = 0; i < s->n_sources; i++) {
        char name[ROUTING_ID_MAX];
        unsigned pid = process_of(s, i);
        name_track(out, first, "thread_name", pid, i + 1, s->source[i].thread);
        if (pid != i + 1)
            continue;
        name_track(out, first, "process_name", pid, i + 1,
                   actor_routing_id(&s->source[i].actor, name));
        if (s->source[i].actor.kind == ACTOR_GPUD) {
            name_track(out, first, "thread_name", pid, TRACK_COPY, "copy engine");
            name_track(out, first, "thread_name", pid, TRACK_STREAM, "stream");
        }
    }
}

static void write_time(FILE *out, const char *key, uint64_t ns)
{
    fprintf(out, ",\"%s\":%" PRIu64 ".%03" PRIu64, key, ns / 1000, ns % 1000);
}

static void write_span(FILE *out, const struct spans *s, const struct seen_span *x, bool *first)
{
    const struct span_info *info = span_info((enum span_kind)x->s.kind);
    uint64_t end = x->s.end_ns > x->s.begin_ns ? x->s.end_ns : x->s.begin_ns;
    if (!info)
        return;
    fprintf(out, "%s{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"%s\",\"pid\":%u,\"tid\":%u",
            comma(first), info->name, actor_kind_name(s->source[x->source].actor.kind),
            process_of(s, x->source), track_of(x));
    write_time(out, "ts", x->s.begin_ns);
    write_time(out, "dur", end - x->s.begin_ns);
    fprintf(out, ",\"args\":{\"job\":%" PRIu64 ",\"partition\":%u,\"attempt\":%u,\"outcome\":%u",
            x->s.job, x->s.partition, x->s.attempt, x->s.outcome);
    if (info->value[0])
        fprintf(out, ",\"%s\":%" PRIu64, info->value, x->s.value);
    fputs("}}", out);
}

static int by_partition(const void *a, const void *b)
{
    const struct span *x = &(*(const struct seen_span *const *)a)->s;
    const struct span *y = &(*(const struct seen_span *const *)b)->s;
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

static void write_arrow(FILE *out, const struct spans *s, const struct seen_span *x, uint64_t id,
                        const char *phase, bool *first)
{
    fprintf(out,
            "%s{\"ph\":\"%s\",\"name\":\"partition\",\"cat\":\"partition\",\"id\":%" PRIu64
            ",\"pid\":%u,\"tid\":%u",
            comma(first), phase, id, process_of(s, x->source), track_of(x));
    write_time(out, "ts", x->s.begin_ns);
    fputs(phase[0] == 'f' ? ",\"bp\":\"e\"}" : "}", out);
}

static void write_arrows(FILE *out, const struct spans *s, const struct seen_span **of, size_t n,
                         bool *first)
{
    qsort(of, n, sizeof(const struct seen_span *), by_partition);
    uint64_t id = 0;
    for (size_t i = 0; i < n; i++) {
        bool begins = i == 0 || !same_attempt(&of[i - 1]->s, &of[i]->s);
        bool ends = i + 1 == n || !same_attempt(&of[i]->s, &of[i + 1]->s);
        if (begins && ends)
            continue;
        id += begins;
        write_arrow(out, s, of[i], id, begins ? "s" : ends ? "f" : "t", first);
    }
}

void trace_write(FILE *out, const struct spans *s, uint64_t begin_ns, uint64_t end_ns)
{
    bool first = true;
    const struct seen_span **of = calloc(s->n + 1, sizeof(const struct seen_span *));
    size_t n = 0;
    fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", out);
    name_tracks(out, s, &first);
    for (size_t i = 0; i < s->n; i++) {
        const struct span *x = &s->at[i].s;
        if (end_ns && (x->end_ns < begin_ns || x->begin_ns >= end_ns))
            continue;
        write_span(out, s, &s->at[i], &first);
        /* JOB spans whole lives of jobs: an arrow to it says nothing. */
        if (of && x->job && x->attempt && x->kind != SPAN_JOB)
            of[n++] = &s->at[i];
    }
    if (of)
        write_arrows(out, s, of, n, &first);
    free(of);
    fputs("\n]}\n", out);
}
