/* Jobs: submit, await, cancel. */
#include <pwd.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "connection.h"
#include "result.h"
#include "spool.h"

static void default_client(char out[64])
{
    struct passwd pw, *found = NULL;
    char buffer[4096];
    if (getpwuid_r(geteuid(), &pw, buffer, sizeof buffer, &found) == 0 && found)
        snprintf(out, 64, "%s", found->pw_name);
    else
        snprintf(out, 64, "uid-%ld", (long)geteuid());
}

/* Copies a text into a message field, or says that it is too long. */
static int put_text(char *field, size_t room, const char *what, const char *text,
                    struct millrace_error *e)
{
    if (strlen(text) >= room)
        return client_error(e, ERR_USAGE, "%s '%.40s...': longer than %zu bytes", what, text,
                            room - 1);
    strcpy(field, text);
    return 0;
}

enum { RESUBMITS = 3 };

struct submit_answer {
    enum err_code code;
    char reason[512];
    uint64_t job;
    bool existed;
};

static bool take_submit(void *arg, const struct message *answer)
{
    struct submit_answer *a = arg;
    if (!answer)
        return false;
    if (answer->kind == MSG_ACCEPTED) {
        a->job = answer->accepted.job;
        a->existed = answer->accepted.existed;
        return true;
    }
    if (answer->kind != MSG_REFUSED)
        return false;
    a->code = answer->refused.code ? (enum err_code)answer->refused.code : ERR_REFUSED;
    snprintf(a->reason, sizeof a->reason, "%s", answer->refused.reason);
    return true;
}

/* Spools the inputs and asks. */
static int submit_once(struct millrace *m, const struct millrace_job *job, struct message *q,
                       struct submit_answer *a, struct millrace_error *out)
{
    struct err e = {0};
    struct spool spool;
    if (spool_inputs(&spool, &m->in, job->inputs, job->n_inputs, !job->inputs_are_json,
                     !job->is_volatile, &e) != ERR_OK)
        return client_fail(out, &e);
    snprintf(q->submit.spool, sizeof q->submit.spool, "%s", spool.name);
    memcpy(q->submit.content, spool.content, sizeof q->submit.content);
    *a = (struct submit_answer){0};
    int rc = client_ask(m, q, -1, PATIENCE_MS, take_submit, a, out);
    if (!rc && a->code)
        rc = client_error(out, a->code, "%s", a->reason);
    /* Only a refusal leaves the files ours. An accepted job's are the desk's, which drops them
     * itself when it knew the request already; after no answer at all, the desk's sweep of inputs
     * that belong to no job finds them. */
    if (a->code)
        spool_remove(&spool);
    spool_close(&spool);
    return rc;
}

int millrace_submit(struct millrace *m, const struct millrace_job *job, uint64_t *id, int *existed,
                    struct millrace_error *out)
{
    struct message q = {.kind = MSG_SUBMIT};
    struct msg_submit *s = &q.submit;
    if (job->n_inputs < 1 || job->n_inputs > 4096)
        return client_error(out, ERR_USAGE, "a job has 1 to 4096 inputs, not %zu", job->n_inputs);
    if (job->priority > 255)
        return client_error(out, ERR_USAGE, "priority %u: 0 (first) to 255 (last)", job->priority);
    if (!job->circuit || !job->circuit[0])
        return client_error(out, ERR_USAGE, "no circuit named");
    default_client(s->client);
    int rc = put_text(s->circuit, sizeof s->circuit, "circuit", job->circuit, out);
    if (!rc && job->client)
        rc = put_text(s->client, sizeof s->client, "client", job->client, out);
    if (!rc && job->request)
        rc = put_text(s->request, sizeof s->request, "request id", job->request, out);
    if (rc)
        return rc;
    if (!s->request[0]) {
        /* A question may be asked twice; a request id of our own keeps it one job. */
        uint8_t random[16];
        randombytes_buf(random, sizeof random);
        memcpy(s->request, "auto-", 5);
        sodium_bin2hex(s->request + 5, sizeof s->request - 5, random, sizeof random);
    }
    s->partitions = (uint32_t)job->n_inputs;
    s->input = job->inputs_are_json ? 1 : 0;
    s->priority = job->priority;
    s->limit_ms = job->limit_ms;
    s->urgent = job->urgent ? 1 : 0;
    s->is_volatile = job->is_volatile ? 1 : 0;

    /* The desk may have been away so long that it swept the inputs, or have ended the job already
     * when the question came again: the same request with new inputs is still one job. */
    struct submit_answer a = {0};
    for (int left = RESUBMITS; left >= 0; left--) {
        rc = submit_once(m, job, &q, &a, out);
        if (a.code != ERR_UNAVAILABLE)
            break;
    }
    if (rc)
        return rc;
    *id = a.job;
    if (existed)
        *existed = a.existed;
    return 0;
}

struct await_answer {
    struct millrace_result *result;
    millrace_progress_fn *progress;
    void *progress_arg;
    enum err_code code;
    char reason[512];
};

static bool take_await(void *arg, const struct message *answer)
{
    struct await_answer *a = arg;
    switch (answer->kind) {
    case MSG_PROGRESS:
        if (a->progress)
            a->progress(a->progress_arg, &(struct millrace_progress){
                                             .job = answer->progress.job,
                                             .partitions = answer->progress.partitions,
                                             .synthesized = answer->progress.synthesized,
                                             .proved = answer->progress.proved,
                                             .ahead = answer->progress.ahead,
                                         });
        return false;
    case MSG_PROOF:
        result_proof(a->result, &answer->proof);
        return false;
    case MSG_PUBLICS:
        result_publics(a->result, &answer->publics);
        return false;
    case MSG_REFUSED:
        a->code = answer->refused.code ? (enum err_code)answer->refused.code : ERR_REFUSED;
        snprintf(a->reason, sizeof a->reason, "%s", answer->refused.reason);
        return true;
    case MSG_DONE:
        a->code = (enum err_code)answer->done.code;
        snprintf(a->reason, sizeof a->reason, "%s", answer->done.reason);
        /* A piece was lost on the way: not an answer; the question will be asked again. */
        return a->code || result_complete(a->result, answer->done.partitions);
    default:
        return false;
    }
}

int millrace_await(struct millrace *m, uint64_t job, int64_t timeout_ms, millrace_progress_fn *fn,
                   void *arg, struct millrace_result **out, struct millrace_error *e)
{
    struct message q = {.kind = MSG_AWAIT};
    q.await.job = job;
    default_client(q.await.client);
    q.await.progress = fn ? 1 : 0;
    struct await_answer a = {.progress = fn, .progress_arg = arg, .result = result_new()};
    if (!a.result)
        return client_error(e, ERR_MEMORY, "no memory for a result");
    int rc = client_ask(m, &q, timeout_ms, PATIENCE_MS, take_await, &a, e);
    if (!rc && a.code)
        rc = client_error(e, a.code, "job %llu: %s", (unsigned long long)job, a.reason);
    struct err why = {0};
    if (!rc && result_finish(a.result, &why) != ERR_OK)
        rc = client_fail(e, &why);
    if (rc) {
        millrace_result_free(&a.result);
        return rc;
    }
    *out = a.result;
    return 0;
}

int millrace_cancel(struct millrace *m, uint64_t job, struct millrace_error *e)
{
    struct message q = {.kind = MSG_CANCEL_JOB};
    q.cancel_job.job = job;
    default_client(q.cancel_job.client);
    return client_ask_ok(m, &q, -1, e);
}
