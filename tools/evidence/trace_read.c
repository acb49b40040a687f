#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "trace.h"

enum { PROCESSES_MAX = 4096, TRACKS_MAX = 65536 };

struct reading {
    const char *path;
    const json_t *events;
    struct actor actor[PROCESSES_MAX]; /* by pid; kind ACTOR_NONE: not named */
    char (*thread)[SPAN_THREAD_MAX];   /* by tid */
    const json_t **begin;              /* the b events */
    struct spans *to;
};

static const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "";
}

static enum span_kind kind_of(const char *name)
{
    for (int k = SPAN_NONE + 1; k < SPAN_KINDS; k++)
        if (strcmp(span_info((enum span_kind)k)->name, name) == 0)
            return (enum span_kind)k;
    return SPAN_NONE;
}

/* Microseconds with three decimals; false when it is none or out of range. */
static bool time_of(const json_t *o, const char *key, uint64_t *ns)
{
    const json_t *v = json_object_get(o, key);
    double us = json_number_value(v);
    if (!json_is_number(v) || !(us >= 0 && us < 9e15))
        return false;
    *ns = (uint64_t)(us * 1000 + 0.5);
    return true;
}

static uint64_t number_of(const json_t *args, const char *key)
{
    json_int_t n = json_integer_value(json_object_get(args, key));
    return n > 0 ? (uint64_t)n : 0;
}

static bool index_of(const json_t *event, const char *key, json_int_t limit, json_int_t *out)
{
    const json_t *v = json_object_get(event, key);
    *out = json_integer_value(v);
    return json_is_integer(v) && *out >= 0 && *out < limit;
}

static enum err_code wrong(const struct reading *r, size_t i, const char *what, struct err *e)
{
    return err_set(e, ERR_FORMAT, "%s: traceEvents[%zu]: %s", r->path, i, what);
}

/* Names come before what they name in our traces; other traces may do otherwise: two passes. */
static void take_name(struct reading *r, const json_t *event)
{
    const char *name = text_of(json_object_get(event, "args"), "name");
    json_int_t pid, tid;
    if (!index_of(event, "pid", PROCESSES_MAX, &pid) || !index_of(event, "tid", TRACKS_MAX, &tid))
        return;
    struct actor who;
    if (strcmp(text_of(event, "name"), "process_name") == 0) {
        if (actor_parse(&who, name, strlen(name)))
            r->actor[pid] = who;
    } else if (strcmp(text_of(event, "name"), "thread_name") == 0) {
        snprintf(r->thread[tid], SPAN_THREAD_MAX, "%s", name);
    }
}

static enum err_code take_span(struct reading *r, size_t i, const json_t *event, bool has_end,
                               uint64_t end_ns, struct err *e)
{
    const json_t *args = json_object_get(event, "args");
    enum span_kind kind = kind_of(text_of(event, "name"));
    json_int_t pid, tid;
    uint64_t begin, length = 0;
    if (kind == SPAN_NONE)
        return ERR_OK;
    if (!index_of(event, "pid", PROCESSES_MAX, &pid) || r->actor[pid].kind == ACTOR_NONE)
        return wrong(r, i, "pid: no process of Millrace is named so", e);
    bool has_track = index_of(event, "tid", TRACKS_MAX, &tid);
    if (!time_of(event, "ts", &begin) || (!has_end && !time_of(event, "dur", &length)))
        return wrong(r, i, "ts, dur: expected microseconds", e);
    if (!has_end)
        end_ns = begin + length;
    if (end_ns < begin)
        return wrong(r, i, "it ends before it begins", e);
    struct span s = {.kind = (uint16_t)kind,
                     .begin_ns = begin,
                     .end_ns = end_ns,
                     .job = number_of(args, "job"),
                     .partition = (uint32_t)number_of(args, "partition"),
                     .attempt = (uint32_t)number_of(args, "attempt"),
                     .outcome = (uint16_t)number_of(args, "outcome"),
                     .row = UINT32_MAX,
                     .value = number_of(args, span_info(kind)->value)};
    struct span_source from = {.actor = r->actor[pid]};
    const char *thread = json_object_get(args, "thread") ? text_of(args, "thread")
                         : has_track                     ? r->thread[tid]
                                                         : "";
    snprintf(from.thread, sizeof from.thread, "%s", thread);
    return spans_add(r->to, &s, &from, e);
}

/* The place of an asynchronous event in `begin`: ids are "w" and a number. */
static bool place_of(const json_t *event, size_t n, size_t *out)
{
    const char *id = text_of(event, "id");
    char *end;
    if (id[0] != 'w')
        return false;
    unsigned long long v = strtoull(id + 1, &end, 10);
    *out = (size_t)v;
    return *end == 0 && end != id + 1 && v < n;
}

static enum err_code take_event(struct reading *r, size_t i, size_t n, struct err *e)
{
    const json_t *event = json_array_get(r->events, i);
    const char *phase = text_of(event, "ph");
    size_t place;
    uint64_t end_ns;
    if (strcmp(phase, "X") == 0)
        return take_span(r, i, event, false, 0, e);
    if (strcmp(phase, "b") == 0 && place_of(event, n, &place))
        r->begin[place] = event;
    if (strcmp(phase, "e") != 0 || !place_of(event, n, &place) || !r->begin[place])
        return ERR_OK;
    if (!time_of(event, "ts", &end_ns))
        return wrong(r, i, "ts: expected microseconds", e);
    return take_span(r, i, r->begin[place], true, end_ns, e);
}

enum err_code trace_read(struct spans *to, const char *path, struct err *e)
{
    json_error_t at;
    json_t *o = json_load_file(path, 0, &at);
    if (!o && json_error_code(&at) == json_error_cannot_open_file)
        return err_set(e, ERR_IO, "%s: cannot be read", path);
    if (!o)
        return err_set(e, ERR_FORMAT, "%s: line %d: %s", path, at.line, at.text);
    struct reading *r = calloc(1, sizeof *r);
    const json_t *events = json_object_get(o, "traceEvents");
    size_t n = json_array_size(events);
    enum err_code rc = ERR_OK;
    if (!json_is_array(events))
        rc = err_set(e, ERR_FORMAT, "%s: no array traceEvents: not a trace of millrace", path);
    else if (!r || !(r->thread = calloc(TRACKS_MAX, SPAN_THREAD_MAX)) ||
             !(r->begin = calloc(n + 1, sizeof(const json_t *))))
        rc = err_set(e, ERR_MEMORY, "%s: no memory for %zu events", path, n);
    if (rc == ERR_OK) {
        r->path = path;
        r->events = events;
        r->to = to;
        for (size_t i = 0; i < n; i++)
            if (strcmp(text_of(json_array_get(events, i), "ph"), "M") == 0)
                take_name(r, json_array_get(events, i));
        for (size_t i = 0; i < n && rc == ERR_OK; i++)
            rc = take_event(r, i, n, e);
        spans_sort(to);
    }
    if (r) {
        free(r->begin);
        free(r->thread);
    }
    free(r);
    json_decref(o);
    return rc;
}
