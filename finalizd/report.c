#include "report.h"
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "answer.h"
#include "budget.h"
#include "circuits.h"
#include "jobs.h"
#include "peers.h"
#include "store.h"

static void send_json(struct desk *d, const char *route, uint64_t tag, json_t *json)
{
    char *text = json_dumps(json, JSON_COMPACT);
    json_decref(json);
    INVARIANT(text != NULL);
    answer_report(d, route, tag, text, strlen(text));
    free(text);
}

static json_t *number(uint64_t n)
{
    return json_integer((json_int_t)n);
}

static void put_hex(json_t *to, const char *key, const uint8_t digest[32])
{
    char hex[DIGEST_HEX + 1];
    digest_to_hex(digest, hex);
    json_object_set_new(to, key, json_string(hex));
}

/* ---- STATUS ---- */

static json_t *peer_json(const struct desk *d, const struct peer *p)
{
    char name[ACTOR_NAME_MAX];
    unsigned held = 0;
    bool synthd = p->actor.kind == ACTOR_SYNTHD;
    for (unsigned s = LEASE_GRANTED; s <= (synthd ? LEASE_FILLING : LEASE_UPLOADED); s++)
        held += p->count[s];
    const char *state = p->dead       ? "dead"
                        : p->draining ? "draining"
                        : p->late     ? "late"
                        : p->ready    ? "ready"
                                      : "starting";
    json_t *o = json_pack("{s:s,s:s,s:i,s:i,s:I}", "name", actor_name(&p->actor, name), "state",
                          state, "pid", (int)p->who.pid, "in_flight", (int)held, "heard_ms",
                          (json_int_t)((d->now_ns - p->heard_ns) / 1000000));
    json_object_set_new(o, "done", number(p->done));
    json_object_set_new(o, "charged_bytes", number(p->charged_bytes));
    if (p->actor.kind == ACTOR_GPUD && p->memory_bytes) {
        json_object_set_new(o, "device_bytes", number(p->memory_bytes));
        json_object_set_new(o, "device_key_bytes", number(p->keys.used));
    }
    if (p->numa_node < ARENA_NODES_MAX)
        json_object_set_new(o, "node", number(p->numa_node));
    if (p->device[0])
        json_object_set_new(o, "device", json_string(p->device));
    if (p->backend[0])
        json_object_set_new(o, "backend", json_string(p->backend));
    return o;
}

static json_t *memory_json(struct desk *d)
{
    budget_look_evidence(d);
    json_t *nodes = json_array();
    for (unsigned i = 0; i < ARENA_NODES_MAX; i++) {
        const struct node *n = &d->nodes[i];
        if (!n->present)
            continue;
        json_t *o = json_object();
        json_object_set_new(o, "node", number(i));
        json_object_set_new(o, "total_bytes", number(n->arena.bulk_bytes));
        json_object_set_new(o, "free_bytes", number(extent_free_bytes(&n->arena)));
        json_object_set_new(o, "largest_free_bytes", number(extent_largest_bytes(&n->arena)));
        json_object_set_new(o, "rows", number(n->n_rows));
        json_object_set_new(o, "rows_held", number(n->n_rows - n->n_free_rows));
        json_array_append_new(nodes, o);
    }
    json_t *memory = json_object();
    json_object_set_new(memory, "limit_bytes", number(d->set.memory_limit));
    json_object_set_new(memory, "arena_bytes", number(budget_arena_bytes(d)));
    json_object_set_new(memory, "key_bytes", number(budget_mapped_bytes(d)));
    json_object_set_new(memory, "table_bytes", number(budget_table_bytes(d)));
    json_object_set_new(memory, "charged_bytes", number(budget_charged_bytes(d)));
    json_object_set_new(memory, "evidence_bytes", number(d->evidence_bytes));
    json_object_set_new(memory, "evidence_room_bytes", number(d->evidence_room));
    json_object_set_new(memory, "nodes", nodes);
    return memory;
}

void report_status(struct desk *d, const char *route, const struct msg_status *m)
{
    char why[256] = "";
    struct ledger_stat l;
    ledger_stat(d->ledger, &l);
    json_t *o = json_object();
    json_object_set_new(o, "dir", json_string(d->instance.dir));
    json_object_set_new(o, "state", json_string(d->draining ? "draining" : "running"));
    json_object_set_new(o, "epoch", number(ledger_epoch(d->ledger)));
    json_object_set_new(o, "pid", number((uint64_t)getpid()));
    json_object_set_new(o, "jobs_open", number(d->n_jobs));
    json_object_set_new(o, "partitions_open", number(d->n_open_partitions));
    json_object_set_new(o, "partitions_waiting", number(d->n_waiting));
    json_object_set_new(o, "partitions_in_flight", number(d->n_flights));
    json_object_set_new(o, "synthds", number(peers_ready(d, ACTOR_SYNTHD)));
    json_object_set_new(o, "gpuds", number(peers_ready(d, ACTOR_GPUD)));
    json_object_set_new(o, "circuits", number(d->n_circuits));
    if (ledger_ailing(d->ledger, why, sizeof why))
        json_object_set_new(o, "ledger_trouble", json_string(why));
    json_object_set_new(o, "ledger",
                        json_pack("{s:I,s:I,s:I}", "groups", (json_int_t)l.groups, "rows",
                                  (json_int_t)l.rows, "failures", (json_int_t)l.failures));
    json_object_set_new(o, "memory", memory_json(d));
    json_t *actors = json_array();
    json_t *self = json_pack("{s:s,s:s,s:i}", "name", "finalizd", "state",
                             d->draining ? "draining" : "ready", "pid", (int)getpid());
    json_array_append_new(actors, self);
    for (const struct peer *p = d->peers; p; p = p->next)
        if (!p->dead || p->refs)
            json_array_append_new(actors, peer_json(d, p));
    json_object_set_new(o, "actors", actors);
    send_json(d, route, m->tag, o);
}

/* ---- JOBS, SHOW ---- */

static const char *state_word(const struct ledger_job *row, const struct job *open)
{
    switch (row->state) {
    case LEDGER_JOB_DONE:
        return "done";
    case LEDGER_JOB_FAILED:
        return "failed";
    case LEDGER_JOB_CANCELLED:
        return "cancelled";
    case LEDGER_JOB_DEADLINE:
        return "deadline";
    case LEDGER_JOB_OPEN:
        break;
    }
    bool begun = open && (open->n_waiting < open->n || open->n_done);
    return begun ? "running" : "queued";
}

static json_t *job_json(const struct desk *d, const struct ledger_job *row)
{
    const struct job *open = row->state == LEDGER_JOB_OPEN ? job_by_id(d, row->id) : NULL;
    const struct circuit_entry *c = circuit_by_digest(d, row->circuit);
    char label[80];
    json_t *o = json_object();
    json_object_set_new(o, "job", number(row->id));
    json_object_set_new(o, "state", json_string(state_word(row, open)));
    if (c)
        json_object_set_new(o, "circuit", json_string(circuit_label(c, label)));
    else
        put_hex(o, "circuit", row->circuit);
    json_object_set_new(o, "client", json_string(row->client));
    /* A request id that the client library made up is nobody's business. */
    if (row->request[0] && strncmp(row->request, "auto-", 5) != 0)
        json_object_set_new(o, "request", json_string(row->request));
    json_object_set_new(o, "priority", number(row->priority));
    json_object_set_new(o, "partitions", number(row->n_partitions));
    uint64_t proved = open ? open->n_done : row->state == LEDGER_JOB_DONE ? row->n_partitions : 0;
    json_object_set_new(o, "proved", number(proved));
    uint64_t now = wall_now_ns();
    uint64_t end = row->end_ns ? row->end_ns : now;
    json_object_set_new(o, "age_ms", number((now - row->submit_ns) / 1000000));
    if (row->end_ns)
        json_object_set_new(o, "took_ms", number((end - row->submit_ns) / 1000000));
    if (row->reason && row->reason[0])
        json_object_set_new(o, "reason", json_string(row->reason));
    return o;
}

struct asking {
    struct desk *desk;
    char route[ROUTING_ID_MAX];
    uint64_t tag, job;
    char state[16];
};

static struct asking *ask(struct desk *d, const char *route, uint64_t tag)
{
    struct asking *a = calloc(1, sizeof *a);
    INVARIANT(a != NULL);
    a->desk = d;
    a->tag = tag;
    snprintf(a->route, sizeof a->route, "%s", route);
    return a;
}

static void listed(void *arg, const struct ledger_reply *r)
{
    struct asking *a = arg;
    if (r->err.code) {
        answer_refused(a->desk, a->route, a->tag, &r->err);
    } else {
        json_t *jobs = json_array();
        for (uint32_t i = 0; i < r->n_jobs; i++) {
            json_t *o = job_json(a->desk, &r->jobs[i]);
            const char *state = json_string_value(json_object_get(o, "state"));
            if (a->state[0] && strcmp(a->state, state) != 0)
                json_decref(o);
            else
                json_array_append_new(jobs, o);
        }
        send_json(a->desk, a->route, a->tag, json_pack("{s:o}", "jobs", jobs));
    }
    free(a);
}

void report_jobs(struct desk *d, const char *route, const struct msg_jobs *m)
{
    static const struct {
        const char *word;
        int state;
    } states[] = {{"", -1},
                  {"queued", LEDGER_JOB_OPEN},
                  {"running", LEDGER_JOB_OPEN},
                  {"done", LEDGER_JOB_DONE},
                  {"failed", LEDGER_JOB_FAILED},
                  {"cancelled", LEDGER_JOB_CANCELLED},
                  {"deadline", LEDGER_JOB_DEADLINE}};
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        if (strcmp(states[i].word, m->state) != 0)
            continue;
        struct asking *a = ask(d, route, m->tag);
        snprintf(a->state, sizeof a->state, "%s", m->state);
        ledger_list(d->ledger, m->client, states[i].state, m->after, m->limit ? m->limit : 1000,
                    listed, a);
        return;
    }
    struct err e;
    err_set(&e, ERR_USAGE,
            "state '%s': expected queued, running, done, failed, cancelled or deadline", m->state);
    answer_refused(d, route, m->tag, &e);
}

static json_t *partition_json(const struct ledger_partition *row, const struct partition *p)
{
    static const char *const words[] = {"waiting",   "starting",   "in flight",
                                        "finishing", "committing", "done"};
    char name[ACTOR_NAME_MAX];
    json_t *o = json_object();
    json_object_set_new(o, "partition", number(row->index));
    json_object_set_new(o, "attempts", number(row->attempts));
    if (row->deaths_alone)
        json_object_set_new(o, "deaths_alone", number(row->deaths_alone));
    if (row->rejections)
        json_object_set_new(o, "rejections", number(row->rejections));
    const struct flight *f = p ? p->flight : NULL;
    const char *state = row->done ? "done" : p ? words[p->state] : "not proved";
    json_object_set_new(o, "state", json_string(f && f->seen ? lease_state_name(f->seen) : state));
    if (f) {
        json_object_set_new(o, "synthd", json_string(actor_name(&f->synthd->actor, name)));
        json_object_set_new(o, "gpud", json_string(actor_name(&f->gpud->actor, name)));
    }
    return o;
}

static void shown(void *arg, const struct ledger_reply *r)
{
    struct asking *a = arg;
    struct desk *d = a->desk;
    struct err e;
    if (r->err.code) {
        answer_refused(d, a->route, a->tag, &r->err);
    } else if (r->n_jobs == 0) {
        err_set(&e, ERR_REFUSED, "there is no job %" PRIu64, a->job);
        answer_refused(d, a->route, a->tag, &e);
    } else {
        const struct ledger_job *row = &r->jobs[0];
        struct job *open = job_by_id(d, row->id);
        json_t *o = job_json(d, row), *parts = json_array();
        put_hex(o, "digest", row->circuit);
        json_object_set_new(o, "submitted_ns", number(row->submit_ns));
        if (row->end_ns)
            json_object_set_new(o, "ended_ns", number(row->end_ns));
        if (row->deadline_ns)
            json_object_set_new(o, "deadline_ns", number(row->deadline_ns));
        json_object_set_new(o, "volatile", json_boolean(row->flags & LEDGER_VOLATILE));
        json_object_set_new(o, "urgent", json_boolean(row->flags & LEDGER_URGENT));
        for (uint32_t i = 0; i < r->n_partitions; i++) {
            const struct ledger_partition *p = &r->partitions[i];
            bool known = open && p->index < open->n;
            json_array_append_new(parts, partition_json(p, known ? &open->part[p->index] : NULL));
        }
        json_object_set_new(o, "partition", parts);
        send_json(d, a->route, a->tag, o);
    }
    free(a);
}

void report_show(struct desk *d, const char *route, const struct msg_show *m)
{
    struct asking *a = ask(d, route, m->tag);
    a->job = m->job;
    ledger_fetch(d->ledger, m->job, "", "", shown, a);
}

/* ---- CIRCUITS ---- */

void report_circuits(struct desk *d, const char *route, const struct msg_circuits *m)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < d->n_circuits; i++) {
        const struct circuit_entry *c = d->circuits[i];
        char program[STORE_NAME_MAX];
        if (c->removed)
            continue;
        json_t *o = json_object();
        put_hex(o, "circuit", c->digest);
        json_object_set_new(o, "alias", json_string(c->alias));
        json_object_set_new(o, "urgent", json_boolean(c->urgent));
        unsigned resident = 0;
        for (const struct peer *p = d->peers; p; p = p->next)
            resident += p->actor.kind == ACTOR_GPUD && !p->dead && budget_key_resident(p, c);
        json_object_set_new(o, "resident", number(resident));
        const char *name = store_program_name(c->digest, program);
        json_object_set_new(o, "program",
                            json_boolean(faccessat(d->instance.dir_fd, name, R_OK, 0) == 0));
        if (c->map) {
            json_object_set_new(o, "curve", json_string(c->map->curve->name));
            json_object_set_new(o, "constraints", number(c->map->n_constraints));
            json_object_set_new(o, "wires", number(c->map->n_wires));
            json_object_set_new(o, "publics", number(c->map->n_public));
            json_object_set_new(o, "domain_log2", number(c->map->domain_log2));
            json_object_set_new(o, "bytes", number(c->key_bytes));
            json_object_set_new(o, "extent_bytes", number(c->extent_bytes));
        } else {
            json_object_set_new(o, "trouble", json_string("its file cannot be mapped"));
        }
        json_object_set_new(o, "open_jobs", number(c->open_jobs));
        json_array_append_new(list, o);
    }
    send_json(d, route, m->tag, json_pack("{s:o}", "circuits", list));
}
