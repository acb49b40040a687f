#include "jobs.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "answer.h"
#include "flight.h"
#include "inputs.h"
#include "log.h"
#include "quota.h"

static struct job **bucket(const struct desk *d, uint64_t id)
{
    return (struct job **)&d->hash[id % JOB_HASH];
}

struct job *job_by_id(const struct desk *d, uint64_t id)
{
    for (struct job *j = *bucket(d, id); j; j = j->hash_next)
        if (j->id == id)
            return j;
    return NULL;
}

struct job *job_new(struct desk *d, uint64_t id, struct circuit_entry *c, uint32_t n,
                    const char *client)
{
    struct job *j = calloc(1, sizeof *j + n * sizeof j->part[0]);
    INVARIANT(j != NULL);
    j->desk = d;
    j->id = j->order.id = id;
    j->order.circuit = c->index;
    j->circuit = c;
    j->n = n;
    for (uint32_t i = 0; i < n; i++) {
        j->part[i].job = j;
        j->part[i].index = i;
    }
    struct job **b = bucket(d, id);
    j->hash_next = *b;
    *b = j;
    j->link = d->jobs_tail;
    *d->jobs_tail = j;
    d->jobs_tail = &j->next;
    d->n_jobs++;
    d->n_open_partitions += n;
    snprintf(j->client, sizeof j->client, "%s", client);
    quota_charge(d, j->client, n);
    c->open_jobs++;
    return j;
}

static void free_awaiters(struct awaiter *a)
{
    for (struct awaiter *next; a; a = next) {
        next = a->next;
        free(a);
    }
}

static void job_forget(struct job *j)
{
    struct desk *d = j->desk;
    for (struct job **at = bucket(d, j->id); *at; at = &(*at)->hash_next)
        if (*at == j) {
            *at = j->hash_next;
            break;
        }
    *j->link = j->next;
    if (j->next)
        j->next->link = j->link;
    else
        d->jobs_tail = j->link;
    d->n_jobs--;
    d->n_open_partitions -= j->n;
    quota_release(d, j->client, j->n);
    j->circuit->open_jobs--;
    for (uint32_t i = 0; i < j->n; i++) {
        free(j->part[i].proof);
        free(j->part[i].publics);
    }
    free_awaiters(j->awaiters);
    free_awaiters(j->cancellers);
    free(j);
}

void job_discard(struct job *j)
{
    job_forget(j);
}

void jobs_free(struct desk *d)
{
    while (d->jobs) {
        order_remove(d->order, &d->jobs->order);
        job_forget(d->jobs);
    }
}

static void add_awaiter(struct awaiter **list, const char *route, uint64_t tag, bool progress)
{
    struct awaiter *a;
    for (a = *list; a; a = a->next)
        if (strcmp(a->route, route) == 0 && a->tag == tag)
            break; /* asked again after a lost answer */
    if (!a) {
        a = calloc(1, sizeof *a);
        INVARIANT(a != NULL);
        a->next = *list;
        a->tag = tag;
        snprintf(a->route, sizeof a->route, "%s", route);
        *list = a;
    }
    a->progress = progress;
}

void job_await(struct job *j, const char *route, uint64_t tag, bool progress)
{
    add_awaiter(&j->awaiters, route, tag, progress);
    if (progress)
        answer_progress(j);
}

void job_cancel(struct job *j, const char *route, uint64_t tag)
{
    add_awaiter(&j->cancellers, route, tag, false);
    job_end(j, LEDGER_JOB_CANCELLED, ERR_CANCELLED, "cancelled by its client");
}

/* ---- waiting ---- */

void job_open(struct job *j)
{
    j->state = JOB_OPEN;
    for (uint32_t i = 0; i < j->n; i++)
        if (j->part[i].state == PART_WAITING)
            partition_wait(&j->part[i]);
}

void partition_wait(struct partition *p)
{
    struct job *j = p->job;
    struct desk *d = j->desk;
    p->state = PART_WAITING;
    p->flight = NULL;
    p->wait_ns = d->now_ns;
    j->n_waiting++;
    d->n_waiting++;
    if (p->index < j->first_waiting || j->n_waiting == 1)
        j->first_waiting = p->index;
    if (!order_waits(&j->order))
        order_put(d->order, &j->order);
    d->grant_due = true;
}

struct partition *job_next_waiting(struct job *j)
{
    if (j->n_waiting == 0)
        return NULL;
    while (j->part[j->first_waiting].state != PART_WAITING)
        j->first_waiting++;
    return &j->part[j->first_waiting];
}

void partition_leaves_order(struct partition *p, enum partition_state to)
{
    struct job *j = p->job;
    INVARIANT(p->state == PART_WAITING && j->n_waiting > 0);
    p->state = to;
    j->desk->n_waiting--;
    if (--j->n_waiting == 0) {
        order_remove(j->desk->order, &j->order);
        j->order.room_passes = j->order.key_passes = 0;
    }
}

/* ---- the end ---- */

static void ended(void *arg, const struct ledger_reply *r)
{
    struct job *j = arg;
    struct desk *d = j->desk;
    char id[24];
    (void)r; /* ends are kept until they commit */
    snprintf(id, sizeof id, "%llu", (unsigned long long)j->id);
    struct span_who who = {.job = j->id, .row = UINT32_MAX, .outcome = (uint16_t)j->end.code};
    span_write(d->spans, SPAN_JOB, &who, j->accepted_ns, span_now_ns(), j->n);
    if (j->end_state == LEDGER_JOB_DONE) {
        stat_add(d->stats, STAT_JOBS_DONE, 1);
        log_debug("job-done", LOG_OF(id, -1), "partitions=%u", j->n);
    } else {
        stat_add(d->stats, STAT_JOBS_FAILED, 1);
        log_info("job-ended", LOG_OF(id, -1), "code=%s reason=%s", err_word(j->end.code),
                 j->end.text);
        spool_wipe(d, j->spool, 0, j->n);
    }
    answer_ended(j);
    job_forget(j);
}

static void commit_end(struct job *j)
{
    ledger_end(j->desk->ledger, j->id, j->end_state, j->end.code, j->end.text, wall_now_ns(), ended,
               j);
}

void job_end(struct job *j, enum ledger_job_state state, enum err_code code, const char *fmt, ...)
{
    struct desk *d = j->desk;
    if (j->state != JOB_OPEN)
        return;
    va_list args;
    va_start(args, fmt);
    j->end.code = code;
    vsnprintf(j->end.text, sizeof j->end.text, fmt, args);
    va_end(args);
    j->state = JOB_ENDING;
    j->end_state = state;
    order_remove(d->order, &j->order);
    d->n_waiting -= j->n_waiting;
    j->n_waiting = 0;
    enum lease_cancel why = state == LEDGER_JOB_CANCELLED  ? CANCEL_BY_CLIENT
                            : state == LEDGER_JOB_DEADLINE ? CANCEL_DEADLINE
                                                           : CANCEL_SIBLING_FAILED;
    for (uint32_t i = 0; i < j->n; i++)
        if (j->part[i].flight)
            flight_orphan(j->part[i].flight, why);
    if (d->kept_for == j)
        d->kept_for = NULL;
    for (struct peer *p = d->peers; p; p = p->next) /* kept for one of its suspects, in vain */
        if (p->suspect >= j->part && p->suspect < j->part + j->n)
            p->suspect = NULL;
    commit_end(j);
}

void job_end_if_complete(struct job *j)
{
    if (j->state != JOB_OPEN || j->n_done + j->n_committing < j->n)
        return;
    j->state = JOB_ENDING;
    j->end_state = LEDGER_JOB_DONE;
    commit_end(j);
}

void jobs_deadlines(struct desk *d)
{
    uint64_t now = wall_now_ns();
    for (struct job *j = d->jobs, *next; j; j = next) {
        next = j->next;
        if (j->state == JOB_OPEN && j->deadline_ns && now >= j->deadline_ns)
            job_end(j, LEDGER_JOB_DEADLINE, ERR_DEADLINE,
                    "deadline-exceeded: %u of %u partitions were done after %llu ms", j->n_done,
                    j->n, (unsigned long long)((j->deadline_ns - j->submit_ns) / 1000000));
    }
}
