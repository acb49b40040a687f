#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "live_parts.h"
#include "messages.h"
#include "span.h"

enum { ANSWER_MS = 10000, PRESENT_NS = 6 * 1000000000LL };

/* The reports that are asked for, each with at most one question open. */
enum topic { STATUS, JOBS, CIRCUITS, TOPICS };

struct live_talk {
    struct asker *asker;
    uint64_t every_ns, next_ns[TOPICS];
    bool open[TOPICS];
    json_t *got[TOPICS];
    unsigned keep;
    /* Where the newest jobs are: the desk lists upwards from a number, so the last one is looked
     * for once with growing steps, then with shrinking ones; from then on it is followed. */
    uint64_t newest, step;
    bool growing, found;
};

struct live_talk *live_talk_new(const struct instance *in, const struct live_options *o,
                                struct err *e)
{
    struct live_talk *t = calloc(1, sizeof *t);
    if (!t) {
        err_set(e, ERR_MEMORY, "no memory for a live view");
        return NULL;
    }
    t->asker = asker_new(in, o->as_gateway ? ACTOR_GATEWAY : ACTOR_CLIENT, e);
    t->every_ns = (uint64_t)(o->ask_s * 1e9);
    t->keep = o->jobs < 1000 ? o->jobs : 1000;
    t->step = 1;
    t->growing = true;
    if (!t->asker)
        live_talk_free(&t);
    return t;
}

void live_talk_free(struct live_talk **t)
{
    if (!*t)
        return;
    asker_free(&(*t)->asker);
    for (unsigned i = 0; i < TOPICS; i++)
        json_decref((*t)->got[i]);
    free(*t);
    *t = NULL;
}

static json_t *parse(const struct answer *a)
{
    return a->json ? json_loadb(a->json, a->n, 0, NULL) : NULL;
}

static void keep(struct live_talk *t, enum topic topic, json_t *value)
{
    if (!value)
        return;
    json_decref(t->got[topic]);
    t->got[topic] = value;
}

static void got_status(void *arg, const struct answer *a)
{
    struct live_talk *t = arg;
    t->open[STATUS] = false;
    keep(t, STATUS, parse(a));
}

static json_t *list_in(const struct answer *a, const char *name)
{
    json_t *o = parse(a);
    json_t *list = json_incref(json_object_get(o, name));
    json_decref(o);
    return json_is_array(list) ? list : NULL;
}

static void got_circuits(void *arg, const struct answer *a)
{
    struct live_talk *t = arg;
    t->open[CIRCUITS] = false;
    keep(t, CIRCUITS, list_in(a, "circuits"));
}

static uint64_t last_job(const json_t *jobs)
{
    const json_t *last = json_array_get(jobs, json_array_size(jobs) - 1);
    return (uint64_t)json_integer_value(json_object_get(last, "job"));
}

/* An answer while the newest is looked for: is there a job after newest + step? */
static void look_further(struct live_talk *t, const json_t *jobs)
{
    if (json_array_size(jobs)) {
        t->newest = last_job(jobs);
        t->step = t->growing ? 2 * t->step : t->step;
    } else if (t->step > 0) {
        t->growing = false;
        t->step /= 2;
    } else {
        t->found = true;
    }
    t->next_ns[JOBS] = 0;
}

static void got_jobs(void *arg, const struct answer *a)
{
    struct live_talk *t = arg;
    t->open[JOBS] = false;
    json_t *jobs = list_in(a, "jobs");
    if (!jobs)
        return;
    if (!t->found) {
        look_further(t, jobs);
        json_decref(jobs);
        return;
    }
    if (json_array_size(jobs)) {
        uint64_t last = last_job(jobs);
        if (last > t->newest + t->keep / 2)
            t->next_ns[JOBS] = 0; /* there may be more */
        t->newest = last;
    } else {
        t->newest = 0; /* another ledger than before, or all of it was pruned: from the start */
    }
    keep(t, JOBS, jobs);
}

static void ask(struct live_talk *t, enum topic topic, uint64_t now)
{
    struct message q = {0};
    asked_fn *fn = got_status;
    switch (topic) {
    case STATUS:
        q.kind = MSG_STATUS;
        break;
    case CIRCUITS:
        q.kind = MSG_CIRCUITS;
        fn = got_circuits;
        break;
    default:
        q.kind = MSG_JOBS;
        q.jobs.after = t->found ? t->newest - (t->newest < t->keep ? t->newest : t->keep)
                                : t->newest + t->step;
        q.jobs.limit = t->found ? 2 * t->keep < 1000 ? 2 * t->keep : 1000 : 1;
        fn = got_jobs;
        break;
    }
    t->open[topic] = true;
    /* The list of circuits changes seldom. */
    t->next_ns[topic] = now + (topic == CIRCUITS ? 5 * t->every_ns : t->every_ns);
    asker_ask(t->asker, &q, ANSWER_MS, fn, t);
}

void live_talk_turn(struct live_talk *t, int wait_ms, struct live_desk *desk)
{
    uint64_t now = span_now_ns();
    for (unsigned i = 0; i < TOPICS; i++)
        if (!t->open[i] && now >= t->next_ns[i])
            ask(t, (enum topic)i, now);
    asker_turn(t->asker, wait_ms);
    json_t **out[TOPICS] = {&desk->status, &desk->jobs, &desk->circuits};
    for (unsigned i = 0; i < TOPICS; i++)
        if (t->got[i]) {
            json_decref(*out[i]);
            *out[i] = t->got[i];
            t->got[i] = NULL;
        }
    uint64_t heard = asker_heard_ns(t->asker);
    now = span_now_ns();
    desk->heard_ns = heard ? now - heard : UINT64_MAX;
    desk->present = heard && desk->heard_ns < PRESENT_NS;
}
