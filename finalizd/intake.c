#include "intake.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "answer.h"
#include "budget.h"
#include "circuits.h"
#include "inputs.h"
#include "jobs.h"
#include "log.h"
#include "quota.h"

/* A name that stays below DIR/spool. */
static bool spool_is_sound(const char *s)
{
    if (!s[0] || s[0] == '.')
        return false;
    for (; *s; s++)
        if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') ||
              *s == '-' || *s == '_' || *s == '.'))
            return false;
    return true;
}

static uint64_t open_partitions_of(const struct desk *d, const char *client)
{
    const struct quota *q = quota_find(d, client);
    return q ? q->partitions : 0;
}

static enum err_code check(const struct desk *d, const struct msg_submit *m,
                           struct circuit_entry **circuit, struct err *e)
{
    char why[256];
    if (d->draining)
        return err_set(e, ERR_REFUSED, "the instance is draining");
    if (ledger_ailing(d->ledger, why, sizeof why))
        return err_set(e, ERR_REFUSED, "%s", why);
    if (m->partitions == 0)
        return err_set(e, ERR_REFUSED, "a job has at least one partition");
    if (m->priority >= ORDER_PRIORITIES)
        return err_set(e, ERR_REFUSED, "priority %u: expected 0 (first) to %d", m->priority,
                       ORDER_PRIORITIES - 1);
    if (!spool_is_sound(m->spool))
        return err_set(e, ERR_REFUSED, "spool name '%s': expected letters, digits, - _ .",
                       m->spool);
    if (m->input > 1)
        return err_set(e, ERR_REFUSED, "input kind %u: expected 0 (.wtns) or 1 (input.json)",
                       m->input);
    struct circuit_entry *c = circuit_by_name(d, m->circuit);
    if (!c)
        return err_set(e, ERR_REFUSED, "there is no circuit '%s' in this instance", m->circuit);
    if (!c->map)
        return err_set(e, ERR_REFUSED, "circuit '%s' cannot be read from the store", m->circuit);
    if (d->n_open_partitions + m->partitions > d->set.max_partitions)
        return err_set(e, ERR_REFUSED,
                       "the queue is full: %" PRIu64 " partitions are open, %u more would pass "
                       "the bound of %" PRIu64 " ([desk] max_partitions)",
                       d->n_open_partitions, m->partitions, d->set.max_partitions);
    uint64_t own = open_partitions_of(d, m->client);
    if (own + m->partitions > d->set.client_max_partitions)
        return err_set(e, ERR_REFUSED,
                       "client '%s' has %" PRIu64 " partitions open, %u more would pass its quota "
                       "of %" PRIu64 " ([desk] client_max_partitions)",
                       m->client, own, m->partitions, d->set.client_max_partitions);
    *circuit = c;
    return budget_can_ever(d, c, m->urgent, e);
}

static void submitted(void *arg, const struct ledger_reply *r)
{
    struct job *j = arg;
    struct desk *d = j->desk;
    char id[24];
    if (r->err.code || r->existing) {
        bool same = r->existing && memcmp(r->content, j->content, 32) == 0;
        if (same) {
            /* The inputs that came with the repetition go, unless they are the job's own. */
            const struct job *known = job_by_id(d, r->id);
            if (known == NULL || strcmp(known->spool, j->spool) != 0)
                spool_wipe(d, j->spool, 0, j->n);
            answer_accepted(d, j->submit_route, j->submit_tag, r->id, true);
        } else {
            struct err e = r->err;
            if (r->existing)
                err_set(&e, ERR_REFUSED,
                        "request id '%s' of client '%s' names job %" PRIu64 " with other content",
                        j->request, j->client, r->id);
            stat_add(d->stats, STAT_JOBS_REFUSED, 1);
            answer_refused(d, j->submit_route, j->submit_tag, &e);
        }
        job_discard(j);
        return;
    }
    j->accepted_ns = d->now_ns;
    stat_add(d->stats, STAT_JOBS_ACCEPTED, 1);
    snprintf(id, sizeof id, "%" PRIu64, j->id);
    log_debug("job-accepted", LOG_OF(id, -1), "client=%s partitions=%u priority=%u", j->client,
              j->n, j->order.priority);
    answer_accepted(d, j->submit_route, j->submit_tag, j->id, false);
    job_open(j);
}

/* The inputs are there and stay: the job can be promised. */
static void claimed(void *arg, const struct err *e)
{
    struct job *j = arg;
    struct desk *d = j->desk;
    if (e->code || !d->ledger) {
        stat_add(d->stats, STAT_JOBS_REFUSED, 1);
        if (e->code)
            answer_refused(d, j->submit_route, j->submit_tag, e);
        job_discard(j);
        return;
    }
    struct ledger_job row = {.id = j->id,
                             .client = j->client,
                             .request = j->request,
                             .spool = j->spool,
                             .priority = j->order.priority,
                             .flags = j->flags,
                             .n_partitions = j->n,
                             .submit_ns = j->submit_ns,
                             .deadline_ns = j->deadline_ns};
    memcpy(row.content, j->content, 32);
    memcpy(row.circuit, j->circuit->digest, 32);
    ledger_submit(d->ledger, &row, submitted, j);
}

void intake_submit(struct desk *d, const char *route, const struct msg_submit *m)
{
    struct err e = {.code = ERR_OK};
    struct circuit_entry *c = NULL;
    if (check(d, m, &c, &e)) {
        stat_add(d->stats, STAT_JOBS_REFUSED, 1);
        answer_refused(d, route, m->tag, &e);
        return;
    }
    struct job *j = job_new(d, ledger_take_job_id(d->ledger), c, m->partitions, m->client);
    j->state = JOB_COMMITTING;
    snprintf(j->request, sizeof j->request, "%s", m->request);
    snprintf(j->spool, sizeof j->spool, "%s", m->spool);
    snprintf(j->submit_route, sizeof j->submit_route, "%s", route);
    j->submit_tag = m->tag;
    memcpy(j->content, m->content, 32);
    j->flags = (m->is_volatile ? LEDGER_VOLATILE : 0u) | (m->input ? LEDGER_INPUT_JSON : 0u) |
               (m->urgent ? LEDGER_URGENT : 0u);
    j->submit_ns = wall_now_ns();
    if (m->limit_ms && m->limit_ms < (UINT64_MAX - j->submit_ns) / 1000000)
        j->deadline_ns = j->submit_ns + m->limit_ms * 1000000;
    j->order.submit_ns = j->submit_ns;
    j->order.priority = (uint8_t)m->priority;
    j->order.urgent = m->urgent != 0;
    inputs_claim(d, j->spool, j->n, claimed, j);
}

void intake_await(struct desk *d, const char *route, const struct msg_await *m)
{
    struct job *j = m->job ? job_by_id(d, m->job) : NULL;
    if (j && j->state != JOB_COMMITTING)
        job_await(j, route, m->tag, m->progress);
    else
        answer_fetch(d, route, m->tag, m->job, m->client, m->request);
}

/* ---- CANCEL ---- */

struct cancelling {
    struct desk *desk;
    char route[ROUTING_ID_MAX], client[NAME_BYTES];
    uint64_t tag;
};

/* A client may stop its own jobs; one that gives no name acts for the operator. */
static void cancel_found(struct desk *d, const char *route, uint64_t tag, const char *client,
                         struct job *j)
{
    struct err e;
    if (client[0] && strcmp(client, j->client) != 0) {
        err_set(&e, ERR_REFUSED, "job %" PRIu64 " belongs to another client", j->id);
        answer_refused(d, route, tag, &e);
        return;
    }
    job_cancel(j, route, tag);
}

static void looked_up(void *arg, const struct ledger_reply *r)
{
    struct cancelling *c = arg;
    struct err e;
    struct job *j = r->n_jobs ? job_by_id(c->desk, r->jobs[0].id) : NULL;
    if (r->err.code)
        answer_refused(c->desk, c->route, c->tag, &r->err);
    else if (j && j->state != JOB_COMMITTING)
        cancel_found(c->desk, c->route, c->tag, c->client, j);
    else {
        err_set(&e, ERR_REFUSED, r->n_jobs ? "the job has ended" : "there is no such job");
        answer_refused(c->desk, c->route, c->tag, &e);
    }
    free(c);
}

void intake_cancel(struct desk *d, const char *route, const struct msg_cancel_job *m)
{
    struct job *j = m->job ? job_by_id(d, m->job) : NULL;
    if (j && j->state != JOB_COMMITTING) {
        cancel_found(d, route, m->tag, m->client, j);
        return;
    }
    struct cancelling *c = calloc(1, sizeof *c);
    INVARIANT(c != NULL);
    c->desk = d;
    c->tag = m->tag;
    snprintf(c->route, sizeof c->route, "%s", route);
    snprintf(c->client, sizeof c->client, "%s", m->client);
    ledger_fetch(d->ledger, m->job, m->client, m->request, looked_up, c);
}
