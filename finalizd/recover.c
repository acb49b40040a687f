#include "recover.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "budget.h"
#include "circuits.h"
#include "flight.h"
#include "inputs.h"
#include "jobs.h"
#include "log.h"
#include "peers.h"

/* ---- the ledger ---- */

static void load_circuit(void *arg, const struct ledger_circuit *c)
{
    circuit_load(arg, c);
}

static void load_job(void *arg, const struct ledger_job *row)
{
    struct desk *d = arg;
    struct job *j =
        job_new(d, row->id, circuit_entry_of(d, row->circuit), row->n_partitions, row->client);
    j->state = JOB_COMMITTING; /* opened when its partitions and flights are known */
    snprintf(j->request, sizeof j->request, "%s", row->request);
    snprintf(j->spool, sizeof j->spool, "%s", row->spool);
    memcpy(j->content, row->content, sizeof j->content);
    j->flags = row->flags;
    j->submit_ns = j->order.submit_ns = row->submit_ns;
    j->deadline_ns = row->deadline_ns;
    j->order.priority = (uint8_t)row->priority;
    j->order.urgent = row->flags & LEDGER_URGENT;
    j->accepted_ns = d->now_ns;
}

static void load_partition(void *arg, const struct ledger_partition *row)
{
    struct job *j = job_by_id(arg, row->job);
    if (!j || row->index >= j->n)
        return;
    struct partition *p = &j->part[row->index];
    p->attempts = row->attempts;
    p->deaths_alone = row->deaths_alone;
    p->rejections = row->rejections;
    p->suspect = row->deaths_alone > 0;
    if (row->done) {
        p->state = PART_DONE;
        j->n_done++;
    }
}

/* ---- the lease tables ---- */

static struct partition *wanted_by(const struct desk *d, const struct lease_row *row)
{
    struct job *j = job_by_id(d, row->job);
    if (!j || row->partition >= j->n)
        return NULL;
    struct partition *p = &j->part[row->partition];
    return p->state == PART_WAITING && !p->flight && row->attempt == p->attempts ? p : NULL;
}

/* A row that is not FREE: the flight that it was, of its partition or, when nobody wants it any
 * more, an orphan. What was UPLOADED has lost its publics with the old desk: it is an orphan too
 * and its partition is proved again. */
static void adopt_row(struct desk *d, unsigned node, uint32_t index)
{
    struct arena *a = &d->nodes[node].arena;
    struct lease_row *row = lease_row(a, index);
    struct lease_view v = lease_look(a, index);
    bool held = atomic_load(&row->extent_held);
    struct partition *p = held ? wanted_by(d, row) : NULL;
    bool synthd_has_it = v.state == LEASE_GRANTED || v.state == LEASE_FILLING ||
                         (v.state == LEASE_FAILED && row->gpud == 0);
    actor_id synthd = synthd_has_it ? v.owner : row->synthd;
    actor_id gpud = synthd_has_it ? atomic_load(&row->target) : v.owner;
    struct partition *of = p;
    struct job *stand_in = NULL;
    if (!of) { /* flight_new reads job, circuit and number from a partition */
        stand_in = calloc(1, sizeof *stand_in + sizeof stand_in->part[0]);
        INVARIANT(stand_in != NULL);
        stand_in->desk = d;
        stand_in->id = row->job;
        stand_in->circuit = circuit_entry_of(d, row->circuit);
        of = &stand_in->part[0];
        of->job = stand_in;
        of->index = row->partition;
        of->attempts = row->attempt;
    }
    struct extent x = {row->extent_offset, row->extent_bytes};
    struct flight *f =
        flight_new(d, of, node, index, x, false, peer_adopt(d, synthd), peer_adopt(d, gpud));
    f->ref = lease_ref_of(a, index);
    f->urgent = row->flags & LEASE_URGENT;
    f->evaluate_gpu = row->flags & LEASE_EVALUATE_GPU;
    f->extent_gone = !held;
    f->seen = LEASE_GRANTED;
    if (p) {
        p->state = PART_FLYING;
    } else {
        flight_orphan(f, CANCEL_DUPLICATE);
        free(stand_in);
    }
}

static enum err_code adopt_table(struct desk *d, unsigned node, uint32_t *in_use, struct err *e)
{
    struct node *n = &d->nodes[node];
    if (lease_recover(&n->arena, in_use, e))
        return e->code;
    for (uint32_t i = n->n_rows; i-- > 0;) {
        struct extent due;
        if (lease_look(&n->arena, i).state != LEASE_FREE) {
            adopt_row(d, node, i);
            continue;
        }
        if (lease_extent_due(&n->arena, i,
                             &due)) { /* settled, but not wiped before the desk died */
            arena_wipe(&n->arena, due.offset, due.bytes);
            lease_extent_returned(&n->arena, i);
        }
        n->free_rows[n->n_free_rows++] = i;
    }
    return ERR_OK;
}

/* ---- jobs ---- */

static void open_jobs(struct desk *d)
{
    for (struct job *j = d->jobs, *next; j; j = next) {
        next = j->next;
        job_open(j);
        if (!j->circuit->map)
            job_end(j, LEDGER_JOB_FAILED, ERR_IO, "its circuit is no longer in the store");
        else if (!inputs_are_there(j))
            job_end(j, LEDGER_JOB_FAILED, ERR_FAILED,
                    "input-lost: the spool no longer has its inputs%s",
                    j->flags & LEDGER_VOLATILE ? " (it was submitted as volatile)" : "");
        else
            job_end_if_complete(j); /* its last result was committed, its end was not */
    }
}

enum err_code recover(struct desk *d, struct err *e)
{
    const struct ledger_reader reader = {
        .arg = d, .circuit = load_circuit, .job = load_job, .partition = load_partition};
    uint32_t rows = 0;
    if (ledger_load(d->ledger, &reader, e))
        return e->code;
    for (unsigned i = 0; i < ARENA_NODES_MAX; i++) {
        uint32_t in_use = 0;
        if (d->nodes[i].present && adopt_table(d, i, &in_use, e))
            return err_prefix(e, "lease table of node %u", i);
        rows += in_use;
    }
    open_jobs(d);
    budget_keep_reserve(d);
    flights_scan(d);
    peers_watch_adopted(d);
    log_info("recovered", NULL, "epoch=%llu circuits=%u jobs=%llu leases=%u",
             (unsigned long long)ledger_epoch(d->ledger), d->n_circuits,
             (unsigned long long)d->n_jobs, rows);
    return ERR_OK;
}
