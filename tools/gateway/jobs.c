/* Jobs over HTTP: submit, list, show, await, cancel, fetch. A request goes from thread to thread,
 * each step handing it to the next; request_done is the last thing that any of them does with it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "gateway.h"
#include "routes.h"
#include "span.h"
#include "submit.h"

enum { ASK_MS = 10000, FETCH_MS = 20000, WAIT_S_MAX = 60, WAIT_S = 30 };
enum what { SHOW, AWAIT, CANCEL, PROOF, PUBLIC, BOTH };

static void finish_failed(struct request *r, enum err_code code, const char *message)
{
    reply_failed(r, code, NULL, message);
    request_done(r);
}

/* --- the result ------------------------------------------------------------------------------- */

static json_t *parsed(const char *text)
{
    json_t *o = json_loads(text, 0, NULL);
    return o ? o : json_null();
}

static void fetch(void *arg, struct work_thread *t)
{
    struct request *r = arg;
    struct millrace_error e = {0};
    struct millrace_result *result = NULL;
    struct millrace *m = work_millrace(t, &e);
    if (!m || millrace_await(m, r->step.job, FETCH_MS, NULL, NULL, &result, &e)) {
        finish_failed(r, (enum err_code)e.code, e.text);
        return;
    }
    const char *proof = millrace_result_proof(result), *public = millrace_result_public(result);
    if (r->step.what == BOTH) {
        json_t *o = json_pack("{s:I,s:s,s:I,s:o,s:o}", "job", (json_int_t)r->step.job, "state",
                              "done", "partitions", (json_int_t)millrace_result_partitions(result),
                              "proof", parsed(proof), "public", parsed(public));
        reply_json(r, 200, o);
    } else {
        struct text body = {0};
        const char *one = r->step.what == PROOF ? proof : public;
        text_put(&body, one, strlen(one));
        text_put(&body, "\n", 1);
        reply_text(r, 200, "application/json", &body);
    }
    millrace_result_free(&result);
    request_done(r);
}

/* --- waiting ---------------------------------------------------------------------------------- */

static const char *state_word(enum err_code code)
{
    return code == ERR_OK          ? "done"
           : code == ERR_CANCELLED ? "cancelled"
           : code == ERR_DEADLINE  ? "deadline"
                                   : "failed";
}

static void waited(void *arg, const struct waited *w)
{
    struct request *r = arg;
    if (!w->ended && w->code) {
        finish_failed(r, w->code, w->reason);
        return;
    }
    if (w->ended && w->code == ERR_OK && r->step.wants_result) {
        r->step.what = BOTH;
        work_put(r->gateway->work, fetch, r);
        return;
    }
    json_t *o = json_pack("{s:I,s:s}", "job", (json_int_t)r->step.job, "state",
                          w->ended ? state_word(w->code) : "running");
    unsigned status = 200;
    if (!w->ended) {
        status = 202;
        json_object_set_new(o, "partitions", json_integer(w->partitions));
        json_object_set_new(o, "synthesized", json_integer(w->synthesized));
        json_object_set_new(o, "proved", json_integer(w->proved));
        json_object_set_new(o, "ahead", json_integer(w->ahead));
    } else if (w->code) {
        /* Of an await the answer is the state; of a proof that was asked for, there is none. */
        unsigned of_code = status_of(w->code);
        status = r->step.wants_result ? of_code : 200;
        json_object_set_new(o, "error", error_json(of_code, err_word(w->code), NULL, w->reason));
    }
    reply_json(r, status, o);
    request_done(r);
}

static bool read_wait(struct request *r, const char *name, uint64_t otherwise_s)
{
    uint64_t seconds, result;
    if (!request_number(r, name, otherwise_s, 0, WAIT_S_MAX, &seconds) ||
        !request_number(r, "result", 0, 0, 1, &result))
        return false;
    r->step.until_ns = seconds ? span_now_ns() + seconds * 1000000000 : 0;
    r->step.wants_result = result != 0;
    return true;
}

/* --- submit ----------------------------------------------------------------------------------- */

static void submit(void *arg, struct work_thread *t)
{
    struct request *r = arg;
    char number[24], where[48];
    if (!submit_upload(r, t, NULL, &r->step.job, &r->step.existed)) {
        request_done(r);
        return;
    }
    if (r->step.until_ns) {
        r->step.wants_result = true;
        talk_wait(r->gateway->talk, r->step.job, r->step.until_ns, waited, r);
        return;
    }
    reply_json(
        r, r->step.existed ? 200 : 201,
        json_pack("{s:I,s:b}", "job", (json_int_t)r->step.job, "existed", (int)r->step.existed));
    snprintf(number, sizeof number, "%" PRIu64, r->step.job);
    snprintf(where, sizeof where, "/v1/jobs/%s", number);
    reply_header(r, "Location", where);
    request_done(r);
}

void jobs_submit(struct request *r)
{
    if (!read_wait(r, "wait", 0))
        return;
    request_suspend(r);
    work_put(r->gateway->work, submit, r);
}

/* --- list ------------------------------------------------------------------------------------- */

static void pass_report(void *arg, const struct answer *a)
{
    struct request *r = arg;
    if (a->code) {
        reply_failed(r, a->code, a->code == ERR_USAGE ? "state" : NULL, a->reason);
    } else {
        struct text body = {0};
        text_put(&body, a->json, a->n);
        text_put(&body, "\n", 1);
        reply_text(r, 200, "application/json", &body);
    }
    request_done(r);
}

void jobs_list(struct request *r)
{
    struct message q = {.kind = MSG_JOBS};
    uint64_t after, limit;
    const char *state = request_query(r, "state"), *client = request_query(r, "client");
    if (!request_number(r, "after", 0, 0, INT64_MAX, &after) ||
        !request_number(r, "limit", 100, 1, 1000, &limit))
        return;
    if (state && strlen(state) > 15) {
        reply_error(r, 400, "usage", "state",
                    "expected queued, running, done, failed, cancelled or deadline");
        return;
    }
    if (r->caller.role < ROLE_OPERATOR)
        client = r->caller.name;
    q.jobs.after = after;
    q.jobs.limit = (uint32_t)limit;
    snprintf(q.jobs.state, sizeof q.jobs.state, "%s", state ? state : "");
    snprintf(q.jobs.client, sizeof q.jobs.client, "%s", client ? client : "");
    request_suspend(r);
    talk_ask(r->gateway->talk, &q, ASK_MS, pass_report, r);
}

void read_circuits(struct request *r)
{
    struct message q = {.kind = MSG_CIRCUITS};
    request_suspend(r);
    talk_ask(r->gateway->talk, &q, ASK_MS, pass_report, r);
}

/* --- one job ---------------------------------------------------------------------------------- */

static void cancelled(void *arg, const struct answer *a)
{
    struct request *r = arg;
    if (a->code == ERR_REFUSED)
        reply_error(r, 409, "ended", NULL, "%s", a->reason);
    else if (a->code)
        reply_failed(r, a->code, NULL, a->reason);
    else
        reply_json(r, 200,
                   json_pack("{s:I,s:s}", "job", (json_int_t)r->step.job, "state", "cancelled"));
    request_done(r);
}

static void cancel(struct request *r)
{
    struct message q = {.kind = MSG_CANCEL_JOB};
    q.cancel_job.job = r->step.job;
    /* One that gives no name acts for the operator. */
    if (r->caller.role < ROLE_OPERATOR)
        snprintf(q.cancel_job.client, sizeof q.cancel_job.client, "%s", r->caller.name);
    talk_ask(r->gateway->talk, &q, ASK_MS, cancelled, r);
}

/* A job that has ended without proofs, or not yet. */
static void no_result(struct request *r, const json_t *job, const char *state)
{
    const char *reason = json_string_value(json_object_get(job, "reason"));
    bool open = strcmp(state, "queued") == 0 || strcmp(state, "running") == 0;
    reply_error(r, 409, open ? "not-ended" : state, "job", "job %" PRIu64 " is %s%s%s", r->step.job,
                state, reason ? ": " : "", reason ? reason : "");
    if (open)
        reply_header(r, "Retry-After", "1");
    request_done(r);
}

static void go_on(struct request *r, const json_t *job, const struct answer *a)
{
    const char *state = json_string_value(json_object_get(job, "state"));
    bool done = state && strcmp(state, "done") == 0;
    switch (r->step.what) {
    case AWAIT:
        /* One that has ended is answered by the desk out of its ledger, at once. */
        talk_wait(r->gateway->talk, r->step.job, r->step.until_ns, waited, r);
        break;
    case CANCEL:
        cancel(r);
        break;
    case PROOF:
    case PUBLIC:
        if (done)
            work_put(r->gateway->work, fetch, r);
        else
            no_result(r, job, state ? state : "unknown");
        break;
    default:
        pass_report(r, a);
        break;
    }
}

/* Whose job is it? A client learns nothing of others', not even that there are any. */
static void got_job(void *arg, const struct answer *a)
{
    struct request *r = arg;
    if (a->code && a->code != ERR_REFUSED) {
        finish_failed(r, a->code, a->reason);
        return;
    }
    json_t *job = a->json ? json_loadb(a->json, a->n, 0, NULL) : NULL;
    const char *owner = json_string_value(json_object_get(job, "client"));
    bool theirs = owner && (r->caller.role >= ROLE_OPERATOR || strcmp(owner, r->caller.name) == 0);
    if (theirs) {
        go_on(r, job, a);
    } else {
        reply_error(r, 404, "no-such-job", "job", "there is no job %" PRIu64, r->step.job);
        request_done(r);
    }
    json_decref(job);
}

static void look_at(struct request *r, enum what what)
{
    struct message q = {.kind = MSG_SHOW};
    char *end;
    r->step.job = strtoull(r->param, &end, 10);
    if (r->param[0] < '1' || r->param[0] > '9' || *end || strlen(r->param) > 18) {
        reply_error(r, 400, "bad-number", "job", "'%.30s': a job has a number", r->param);
        return;
    }
    r->step.what = what;
    q.show.job = r->step.job;
    request_suspend(r);
    talk_ask(r->gateway->talk, &q, ASK_MS, got_job, r);
}

void jobs_show(struct request *r)
{
    look_at(r, SHOW);
}

void jobs_await(struct request *r)
{
    if (read_wait(r, "timeout", WAIT_S)) {
        if (!r->step.until_ns)
            r->step.until_ns = 1; /* only looks: answered in the next turn */
        look_at(r, AWAIT);
    }
}

void jobs_cancel(struct request *r)
{
    look_at(r, CANCEL);
}

void jobs_proof(struct request *r)
{
    look_at(r, PROOF);
}

void jobs_public(struct request *r)
{
    look_at(r, PUBLIC);
}
