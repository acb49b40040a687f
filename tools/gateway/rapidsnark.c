#include "rapidsnark.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gateway.h"
#include "routes.h"
#include "submit.h"

enum { SLOTS = 256, FETCH_MS = 20000, ASK_MS = 10000 };
enum state { READY, BUSY, SUCCESS, FAILED, ABORTED };

/* One caller's proof. */
struct slot {
    char caller[CALLER_MAX];
    enum state state;
    uint64_t job; /* what is proved, or was last */
    uint64_t used;
    char *proof, *public, *error;
};

struct rapidsnark {
    pthread_mutex_t lock;
    struct slot slot[SLOTS];
    uint64_t clock;
};

/* A job on its way to its end. */
struct following {
    struct gateway *gateway;
    char caller[CALLER_MAX];
    uint64_t job;
};

struct rapidsnark *rapidsnark_new(void)
{
    struct rapidsnark *rs = calloc(1, sizeof *rs);
    INVARIANT(rs != NULL);
    pthread_mutex_init(&rs->lock, NULL);
    return rs;
}

static void clear(struct slot *s)
{
    free(s->proof);
    free(s->public);
    free(s->error);
    s->proof = s->public = s->error = NULL;
}

void rapidsnark_free(struct rapidsnark **rs)
{
    if (!*rs)
        return;
    for (unsigned i = 0; i < SLOTS; i++)
        clear(&(*rs)->slot[i]);
    pthread_mutex_destroy(&(*rs)->lock);
    free(*rs);
    *rs = NULL;
}

/* The caller's slot, under the lock; a new caller takes the place of the one that was here the
 * longest time ago. */
static struct slot *slot_of(struct rapidsnark *rs, const char *caller, bool make)
{
    struct slot *oldest = &rs->slot[0];
    for (unsigned i = 0; i < SLOTS; i++) {
        struct slot *s = &rs->slot[i];
        if (strcmp(s->caller, caller) == 0) {
            s->used = ++rs->clock;
            return s;
        }
        if (s->used < oldest->used)
            oldest = s;
    }
    if (!make)
        return NULL;
    clear(oldest);
    *oldest = (struct slot){.used = ++rs->clock};
    snprintf(oldest->caller, sizeof oldest->caller, "%s", caller);
    return oldest;
}

static void heed_nothing(void *arg, const struct answer *a)
{
    (void)arg;
    (void)a;
}

static void cancel_job(const struct request *r, uint64_t job)
{
    struct message q = {.kind = MSG_CANCEL_JOB};
    q.cancel_job.job = job;
    snprintf(q.cancel_job.client, sizeof q.cancel_job.client, "%s", r->caller.name);
    talk_ask(r->gateway->talk, &q, ASK_MS, heed_nothing, NULL);
}

/* Puts the caller's slot at its end, unless another job has taken it over meanwhile. */
static void settle(struct following *f, enum state state, const char *error, char *proof,
                   char *public)
{
    struct rapidsnark *rs = f->gateway->rapidsnark;
    pthread_mutex_lock(&rs->lock);
    struct slot *s = slot_of(rs, f->caller, false);
    if (s && s->job == f->job && s->state == BUSY) {
        clear(s);
        s->state = state;
        s->proof = proof;
        s->public = public;
        s->error = error ? strdup(error) : NULL;
        proof = public = NULL;
    }
    pthread_mutex_unlock(&rs->lock);
    free(proof);
    free(public);
    free(f);
}

static char *on_one_line(const char *json)
{
    json_t *o = json_loads(json, 0, NULL);
    char *text = json_dumps(o, JSON_COMPACT);
    json_decref(o);
    return text;
}

static void fetch(void *arg, struct work_thread *t)
{
    struct following *f = arg;
    struct millrace_error e = {0};
    struct millrace_result *result = NULL;
    struct millrace *m = work_millrace(t, &e);
    if (!m || millrace_await(m, f->job, FETCH_MS, NULL, NULL, &result, &e)) {
        settle(f, FAILED, e.text, NULL, NULL);
        return;
    }
    settle(f, SUCCESS, NULL, on_one_line(millrace_result_proof(result)),
           on_one_line(millrace_result_public(result)));
    millrace_result_free(&result);
}

static void ended(void *arg, const struct waited *w)
{
    struct following *f = arg;
    if (w->ended && w->code == ERR_OK)
        work_put(f->gateway->work, fetch, f);
    else
        settle(f, w->code == ERR_CANCELLED ? ABORTED : FAILED, w->reason, NULL, NULL);
}

static void submit(void *arg, struct work_thread *t)
{
    struct request *r = arg;
    struct rapidsnark *rs = r->gateway->rapidsnark;
    uint64_t job;
    bool existed;
    if (!submit_upload(r, t, r->param, &job, &existed)) {
        request_done(r);
        return;
    }
    struct following *f = malloc(sizeof *f);
    INVARIANT(f != NULL);
    *f = (struct following){.gateway = r->gateway, .job = job};
    snprintf(f->caller, sizeof f->caller, "%s", r->caller.name);
    pthread_mutex_lock(&rs->lock);
    struct slot *s = slot_of(rs, r->caller.name, true);
    uint64_t before = s->state == BUSY ? s->job : 0;
    clear(s);
    s->state = BUSY;
    s->job = job;
    pthread_mutex_unlock(&rs->lock);
    if (before && before != job)
        cancel_job(r, before);
    talk_wait(r->gateway->talk, job, UINT64_MAX, ended, f);
    reply_json(r, 200, json_pack("{s:s,s:I}", "status", "busy", "job", (json_int_t)job));
    request_done(r);
}

void rapidsnark_input(struct request *r)
{
    request_suspend(r);
    work_put(r->gateway->work, submit, r);
}

static void nothing(struct request *r)
{
    struct text empty = {0};
    reply_text(r, 200, NULL, &empty);
}

void rapidsnark_cancel(struct request *r)
{
    struct rapidsnark *rs = r->gateway->rapidsnark;
    pthread_mutex_lock(&rs->lock);
    struct slot *s = slot_of(rs, r->caller.name, false);
    uint64_t job = s && s->state == BUSY ? s->job : 0;
    pthread_mutex_unlock(&rs->lock);
    if (job)
        cancel_job(r, job);
    nothing(r);
}

void rapidsnark_start(struct request *r)
{
    nothing(r);
}

void rapidsnark_stop(struct request *r)
{
    nothing(r);
}

void rapidsnark_config(struct request *r)
{
    nothing(r);
}

void rapidsnark_configure(struct request *r)
{
    nothing(r);
}

void rapidsnark_status(struct rapidsnark *rs, const char *caller, struct text *out)
{
    static const char *const words[] = {"ready", "busy", "success", "failed", "aborted"};
    pthread_mutex_lock(&rs->lock);
    const struct slot *s = slot_of(rs, caller, false);
    text_add(out, "\"status\":\"%s\"", words[s ? s->state : READY]);
    if (s && s->state == SUCCESS) {
        text_add(out, ",\"proof\":");
        text_json(out, s->proof ? s->proof : "");
        text_add(out, ",\"pubData\":");
        text_json(out, s->public ? s->public : "");
    } else if (s && s->state == FAILED) {
        text_add(out, ",\"error\":");
        text_json(out, s->error ? s->error : "");
    }
    if (s && s->state != READY)
        text_add(out, ",\"job\":%llu", (unsigned long long)s->job);
    pthread_mutex_unlock(&rs->lock);
}
