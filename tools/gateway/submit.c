#include "submit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gateway.h"
#include "jsonio.h"
#include "upload.h"

enum { JSON_CHECKED_MAX = 64 << 20, LIMIT_S_MAX = 30 * 86400 };

/* The desk refuses with one code and says why in words that begin so (finalizd/intake.c). What is
 * not here is a conflict. */
static const struct {
    const char *begins, *code, *field;
    unsigned status;
} refusals[] = {
    {"there is no circuit", "unknown-circuit", "circuit", 404},
    {"request id", "other-content", "request", 409},
    {"the queue is full", "queue-full", NULL, 429},
    {"client '", "quota", NULL, 429},
    {"the instance is draining", "draining", NULL, 503},
};

static void reply_refused(struct request *r, const struct millrace_error *e)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        if (strncmp(e->text, refusals[i].begins, strlen(refusals[i].begins)) != 0)
            continue;
        reply_error(r, refusals[i].status, refusals[i].code, refusals[i].field, "%s", e->text);
        if (refusals[i].status != 409 && refusals[i].status != 404)
            reply_header(r, "Retry-After", "2");
        return;
    }
    reply_failed(r, (enum err_code)e->code, NULL, e->text);
}

/* Messages about an input name it by its place in the request, not by where it lies in the spool.
 */
static void name_input(char *text, size_t size, const char *path, size_t i)
{
    char *at = strstr(text, path), rest[1024];
    if (!at)
        return;
    snprintf(rest, sizeof rest, "%s", at + strlen(path));
    snprintf(at, size - (size_t)(at - text), "input %zu%s", i, rest);
}

/* An input.json is read once here, so that a broken one is refused at once and not by the job. */
static bool inputs_are_sound(struct request *r)
{
    if (!upload_is_json(r->upload))
        return true;
    for (size_t i = 0; i < upload_files(r->upload); i++) {
        struct err e = {0};
        char path[UPLOAD_NAME_MAX];
        upload_path(r->upload, i, path);
        json_t *o = json_read(path, JSON_CHECKED_MAX, JSON_KEEP_BIG_INTEGERS, &e);
        bool object = json_is_object(o);
        json_decref(o);
        if (object)
            continue;
        if (e.code)
            name_input(e.text, sizeof e.text, path, i);
        reply_error(r, 400, "input", "body", "%s",
                    e.code ? e.text : "an input.json is one JSON object");
        return false;
    }
    return true;
}

static bool read_terms(struct request *r, struct millrace_job *job)
{
    uint64_t priority, limit_s, urgent, is_volatile;
    if (!job->circuit)
        job->circuit = request_query(r, "circuit");
    job->request = request_query(r, "request");
    job->client = r->caller.name;
    if (!job->circuit) {
        reply_error(r, 400, "missing", "circuit", "expected ?circuit= with an alias or a digest");
        return false;
    }
    if (strlen(job->circuit) > 64 || (job->request && strlen(job->request) > 63)) {
        bool circuit = strlen(job->circuit) > 64;
        reply_error(r, 400, "too-long", circuit ? "circuit" : "request", "at most %d characters",
                    circuit ? 64 : 63);
        return false;
    }
    if (!request_number(r, "priority", 0, 0, 255, &priority) ||
        !request_number(r, "limit", 0, 1, LIMIT_S_MAX, &limit_s) ||
        !request_number(r, "urgent", 0, 0, 1, &urgent) ||
        !request_number(r, "volatile", 0, 0, 1, &is_volatile))
        return false;
    job->priority = (unsigned)priority;
    job->limit_ms = limit_s * 1000;
    job->urgent = (int)urgent;
    job->is_volatile = (int)is_volatile;
    return true;
}

static bool submit(struct request *r, struct work_thread *t, struct millrace_job *job, uint64_t *id,
                   bool *existed)
{
    size_t n = upload_files(r->upload);
    struct millrace_error e = {0};
    int known = 0;
    char(*path)[UPLOAD_NAME_MAX] = calloc(n, sizeof *path);
    const char **input = calloc(n, sizeof *input);
    INVARIANT(path != NULL && input != NULL);
    for (size_t i = 0; i < n; i++) {
        upload_path(r->upload, i, path[i]);
        input[i] = path[i];
    }
    job->inputs = input;
    job->n_inputs = n;
    job->inputs_are_json = upload_is_json(r->upload);
    struct millrace *m = work_millrace(t, &e);
    int failed = m ? millrace_submit(m, job, id, &known, &e) : e.code;
    for (size_t i = 0; failed && i < n; i++)
        name_input(e.text, sizeof e.text, path[i], i);
    free(input);
    free(path);
    *existed = known != 0;
    if (failed == MILLRACE_REFUSED)
        reply_refused(r, &e);
    else if (failed)
        reply_failed(r, (enum err_code)e.code, failed == MILLRACE_FORMAT ? "body" : NULL, e.text);
    else
        tally_add(r->gateway->tally, TALLY_SUBMITTED, 1);
    return !failed;
}

bool submit_upload(struct request *r, struct work_thread *t, const char *circuit, uint64_t *id,
                   bool *existed)
{
    struct millrace_job job = {.circuit = circuit};
    bool accepted = read_terms(r, &job) && inputs_are_sound(r) && submit(r, t, &job, id, existed);
    upload_free(&r->upload);
    return accepted;
}
