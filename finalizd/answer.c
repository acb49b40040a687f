#include "answer.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "circuits.h"
#include "jobs.h"

enum {
    PUBLICS_PIECE = 32768, /* bytes of values in one PUBLICS */
    REPORT_PIECE = 49152,
    SENDS_A_TURN = 256, /* so that a long result does not hold the loop */
};

/* The proofs of one ended job, shared by all who get them. */
struct results {
    unsigned refs;
    uint64_t job;
    uint8_t curve;
    uint32_t n, n_public;
    struct err end;
    struct part_result {
        uint8_t *proof, *publics;
        uint32_t proof_bytes, publics_bytes;
    } part[];
};

/* One answer on its way: results, or a report. */
struct sending {
    struct sending *next;
    char route[ROUTING_ID_MAX];
    uint64_t tag;
    struct results *results;
    uint32_t part;    /* results: the next one, */
    uint32_t publics; /* and how many bytes of its publics went; ~0: its proof did not */
    char *text;       /* report */
    size_t at, n;
};

static void send(struct desk *d, const char *route, const struct message *m)
{
    lane_send(d->client_lane, route, m); /* gone or stuck: it will ask again */
}

void answer_refused(struct desk *d, const char *route, uint64_t tag, const struct err *why)
{
    struct message m = {.kind = MSG_REFUSED};
    m.refused.tag = tag;
    m.refused.code = why->code;
    snprintf(m.refused.reason, sizeof m.refused.reason, "%.511s", why->text);
    send(d, route, &m);
}

void answer_ok(struct desk *d, const char *route, uint64_t tag, const char *fmt, ...)
{
    struct message m = {.kind = MSG_OK};
    m.ok.tag = tag;
    va_list args;
    va_start(args, fmt);
    vsnprintf(m.ok.text, sizeof m.ok.text, fmt, args);
    va_end(args);
    send(d, route, &m);
}

void answer_accepted(struct desk *d, const char *route, uint64_t tag, uint64_t job, bool existed)
{
    struct message m = {.kind = MSG_ACCEPTED};
    m.accepted.tag = tag;
    m.accepted.job = job;
    m.accepted.epoch = ledger_epoch(d->ledger);
    m.accepted.existed = existed;
    send(d, route, &m);
}

/* ---- results ---- */

static struct results *new_results(uint64_t job, uint32_t n, const struct circuit *c)
{
    struct results *r = calloc(1, sizeof *r + n * sizeof r->part[0]);
    INVARIANT(r != NULL);
    r->refs = 1;
    r->job = job;
    r->n = n;
    r->curve = c ? (uint8_t)c->curve->id : 0;
    return r;
}

static void drop_results(struct results **rp)
{
    struct results *r = *rp;
    *rp = NULL;
    if (!r || --r->refs > 0)
        return;
    for (uint32_t i = 0; i < r->n; i++) {
        free(r->part[i].proof);
        free(r->part[i].publics);
    }
    free(r);
}

static void start_sending(struct desk *d, struct sending *s)
{
    s->publics = ~0u;
    s->next = NULL;
    struct sending **end = &d->sendings;
    while (*end)
        end = &(*end)->next;
    *end = s;
}

static void send_results(struct desk *d, const char *route, uint64_t tag, struct results *r)
{
    struct sending *s = calloc(1, sizeof *s);
    INVARIANT(s != NULL);
    snprintf(s->route, sizeof s->route, "%s", route);
    s->tag = tag;
    s->results = r;
    r->refs++;
    start_sending(d, s);
}

static void next_message(const struct sending *s, struct message *m)
{
    const struct results *r = s->results;
    if (r->end.code != ERR_OK || s->part == r->n) {
        *m = (struct message){.kind = MSG_DONE};
        m->done.tag = s->tag;
        m->done.job = r->job;
        m->done.code = r->end.code;
        m->done.partitions = r->n;
        snprintf(m->done.reason, sizeof m->done.reason, "%.511s", r->end.text);
        return;
    }
    const struct part_result *p = &r->part[s->part];
    if (s->publics == ~0u) {
        *m = (struct message){.kind = MSG_PROOF};
        m->proof.tag = s->tag;
        m->proof.job = r->job;
        m->proof.partition = s->part;
        m->proof.curve = r->curve;
        m->proof.n_public = p->publics_bytes / (uint32_t)sizeof(fr_t);
        m->proof.proof_len = p->proof_bytes;
        memcpy(m->proof.proof, p->proof, p->proof_bytes);
        return;
    }
    uint32_t left = p->publics_bytes - s->publics;
    *m = (struct message){.kind = MSG_PUBLICS};
    m->publics.tag = s->tag;
    m->publics.job = r->job;
    m->publics.partition = s->part;
    m->publics.first = s->publics / (uint32_t)sizeof(fr_t);
    m->publics.values.data = p->publics + s->publics;
    m->publics.values.len = left < PUBLICS_PIECE ? left : PUBLICS_PIECE;
}

/* False when the last message of this answer went. */
static bool advance(struct sending *s, const struct message *m)
{
    const struct results *r = s->results;
    if (m->kind == MSG_DONE)
        return false;
    if (m->kind == MSG_PROOF)
        s->publics = 0;
    else
        s->publics += m->publics.values.len;
    if (s->publics >= r->part[s->part].publics_bytes) {
        s->part++;
        s->publics = ~0u;
    }
    return true;
}

static enum lane_sent send_piece(struct desk *d, struct sending *s, bool *more)
{
    struct message m;
    if (s->results) {
        next_message(s, &m);
        enum lane_sent sent = lane_send(d->client_lane, s->route, &m);
        *more = sent == LANE_SENT && advance(s, &m);
        return sent;
    }
    size_t n = s->n - s->at < REPORT_PIECE ? s->n - s->at : REPORT_PIECE;
    m = (struct message){.kind = MSG_REPORT};
    m.report.tag = s->tag;
    m.report.last = s->at + n == s->n;
    m.report.json.data = (const uint8_t *)s->text + s->at;
    m.report.json.len = (uint32_t)n;
    enum lane_sent sent = lane_send(d->client_lane, s->route, &m);
    if (sent == LANE_SENT)
        s->at += n;
    *more = sent == LANE_SENT && s->at < s->n;
    return sent;
}

static void end_sending(struct sending **at)
{
    struct sending *s = *at;
    *at = s->next;
    drop_results(&s->results);
    free(s->text);
    free(s);
}

void answers_pump(struct desk *d)
{
    unsigned sent = 0;
    for (struct sending **at = &d->sendings; *at && sent < SENDS_A_TURN;) {
        bool more;
        enum lane_sent how = send_piece(d, *at, &more);
        sent++;
        if (how == LANE_FULL)
            at = &(*at)->next; /* goes on in a later turn */
        else if (!more)        /* all of it went, or nobody is there any more */
            end_sending(at);
    }
}

void answers_free(struct desk *d)
{
    while (d->sendings)
        end_sending(&d->sendings);
}

void answer_ended(struct job *j)
{
    struct desk *d = j->desk;
    for (struct awaiter *a = j->cancellers; a; a = a->next) {
        if (j->end_state == LEDGER_JOB_CANCELLED)
            answer_ok(d, a->route, a->tag, "job %llu is cancelled", (unsigned long long)j->id);
        else
            answer_ok(d, a->route, a->tag, "job %llu had ended", (unsigned long long)j->id);
    }
    if (!j->awaiters)
        return;
    struct results *r = new_results(j->id, j->n, j->circuit->map);
    r->end = j->end;
    for (uint32_t i = 0; i < j->n; i++) {
        struct partition *p = &j->part[i];
        r->part[i] = (struct part_result){p->proof, p->publics, p->proof_bytes, p->publics_bytes};
        p->proof = p->publics = NULL;
        if (!r->part[i].proof && r->end.code == ERR_OK) {
            /* Done before this desk started: its proof is in the ledger alone. */
            drop_results(&r);
            for (struct awaiter *a = j->awaiters; a; a = a->next)
                answer_fetch(d, a->route, a->tag, j->id, "", "");
            return;
        }
    }
    for (struct awaiter *a = j->awaiters; a; a = a->next)
        send_results(d, a->route, a->tag, r);
    drop_results(&r);
}

static uint8_t *copy_bytes(const uint8_t *p, size_t n)
{
    uint8_t *to = malloc(n ? n : 1);
    INVARIANT(to != NULL);
    if (n)
        memcpy(to, p, n);
    return to;
}

void answer_stored(struct desk *d, const char *route, uint64_t tag, const struct ledger_job *j,
                   const struct ledger_partition *parts, uint32_t n)
{
    const struct circuit_entry *c = circuit_by_digest(d, j->circuit);
    struct results *r = new_results(j->id, j->n_partitions, c ? c->map : NULL);
    r->end.code = j->reason_code;
    snprintf(r->end.text, sizeof r->end.text, "%s", j->reason);
    uint32_t found = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct ledger_partition *p = &parts[i];
        if (!p->proof || p->index >= r->n)
            continue;
        r->part[p->index] = (struct part_result){copy_bytes(p->proof, p->proof_bytes),
                                                 copy_bytes(p->publics, p->publics_bytes),
                                                 p->proof_bytes, p->publics_bytes};
        if (r->curve == 0) /* its circuit is gone: the curve shows in the proof's length */
            r->curve = p->proof_bytes == 256 ? CURVE_BN254 : CURVE_BLS12_381;
        found++;
    }
    if (r->end.code == ERR_OK && found < r->n)
        err_set(&r->end, ERR_INTERNAL, "the ledger holds %u of %u proofs", found, r->n);
    send_results(d, route, tag, r);
    drop_results(&r);
}

struct fetching {
    struct desk *desk;
    char route[ROUTING_ID_MAX];
    uint64_t tag;
};

static void fetched(void *arg, const struct ledger_reply *r)
{
    struct fetching *f = arg;
    struct desk *d = f->desk;
    struct err e;
    if (r->err.code) {
        answer_refused(d, f->route, f->tag, &r->err);
    } else if (r->n_jobs == 0) {
        err_set(&e, ERR_REFUSED, "there is no such job");
        answer_refused(d, f->route, f->tag, &e);
    } else if (r->jobs[0].state == LEDGER_JOB_OPEN) {
        struct job *j = job_by_id(d, r->jobs[0].id);
        if (j)
            job_await(j, f->route, f->tag, false);
        else
            answer_fetch(d, f->route, f->tag, r->jobs[0].id, "", ""); /* it ended just now */
    } else {
        answer_stored(d, f->route, f->tag, &r->jobs[0], r->partitions, r->n_partitions);
    }
    free(f);
}

void answer_fetch(struct desk *d, const char *route, uint64_t tag, uint64_t job, const char *client,
                  const char *request)
{
    struct fetching *f = calloc(1, sizeof *f);
    INVARIANT(f != NULL);
    f->desk = d;
    f->tag = tag;
    snprintf(f->route, sizeof f->route, "%s", route);
    ledger_fetch(d->ledger, job, client, request, fetched, f);
}

/* ---- progress and reports ---- */

void answer_progress(struct job *j)
{
    struct message m = {.kind = MSG_PROGRESS};
    bool wanted = false;
    for (const struct awaiter *a = j->awaiters; a; a = a->next)
        wanted = wanted || a->progress;
    if (!wanted)
        return;
    m.progress.job = j->id;
    m.progress.partitions = j->n;
    m.progress.proved = j->n_done;
    for (uint32_t i = 0; i < j->n; i++) {
        const struct partition *p = &j->part[i];
        m.progress.synthesized +=
            p->state > PART_FLYING || (p->flight && p->flight->seen >= LEASE_READY);
    }
    uint64_t others = j->desk->n_waiting - j->n_waiting;
    m.progress.ahead = others > UINT32_MAX ? UINT32_MAX : (uint32_t)others;
    for (const struct awaiter *a = j->awaiters; a; a = a->next)
        if (a->progress) {
            m.progress.tag = a->tag;
            send(j->desk, a->route, &m);
        }
}

void answer_report(struct desk *d, const char *route, uint64_t tag, const char *text, size_t n)
{
    struct sending *s = calloc(1, sizeof *s);
    INVARIANT(s != NULL);
    snprintf(s->route, sizeof s->route, "%s", route);
    s->tag = tag;
    s->text = (char *)copy_bytes((const uint8_t *)text, n);
    s->n = n;
    start_sending(d, s);
}
