#include "settle.h"
#include <malloc.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "flight.h"
#include "inputs.h"
#include "jobs.h"
#include "log.h"
#include "suspicion.h"
#include "timing.h"

/* An attempt that failed for no fault of its input (a lost device, no memory) is made again; so
 * many in all, then the job ends with the last reason. */
enum { ATTEMPTS_MAX = 12 };

static const char *job_text(uint64_t id, char out[24])
{
    snprintf(out, 24, "%llu", (unsigned long long)id);
    return out;
}

/* ---- proved ---- */

static void finished(struct finish *item);

void settle_begin(struct flight *f)
{
    const struct arena *a = &f->desk->nodes[f->node].arena;
    f->part->state = PART_FINISHING;
    f->with_finisher = true;
    f->finish = (struct finish){
        .circuit = f->circuit->map,
        .arena = a,
        .ref = f->ref,
        .publics = f->publics,
        .who = flight_who(f),
        .proved_ns = atomic_load(&lease_row(a, f->row)->at_ns[LEASE_PROVED]),
        .done = finished,
    };
    finisher_put(f->desk->finisher, &f->finish);
}

static void run_trim(struct work *w)
{
    struct desk *d = (struct desk *)((char *)w - offsetof(struct desk, trim));
    d->trim_began_ns = span_now_ns();
    malloc_trim(0);
    d->trim_ended_ns = span_now_ns();
}

static void trimmed(struct work *w)
{
    struct desk *d = (struct desk *)((char *)w - offsetof(struct desk, trim));
    span_write(d->spans, SPAN_MALLOC_TRIM, SPAN_NOBODY, d->trim_began_ns, d->trim_ended_ns,
               d->n_lines);
    timing_trimmed(d, d->trim_ended_ns - d->trim_began_ns);
    stat_add(d->stats, STAT_MALLOC_TRIMS, 1);
    d->trim_queued = false;
}

/* After each partition when configured, on a thread that does nothing else; requests that come
 * while one runs are one. */
void settle_trim(struct desk *d)
{
    if (!d->set.malloc_trim || d->trim_queued)
        return;
    d->trim_queued = true;
    d->trim.run = run_trim;
    d->trim.done = trimmed;
    workers_put(d->trimmer, &d->trim);
}

/* The verdict is in the ledger: now the lease may go. */
static void committed(void *arg, const struct ledger_reply *r)
{
    struct flight *f = arg;
    struct desk *d = f->desk;
    struct partition *p = f->part;
    f->committing = false;
    f->committed_ns = span_now_ns();
    if (p) {
        struct job *j = p->job;
        p->state = PART_DONE;
        p->suspect = false;
        j->n_committing--;
        j->n_done++;
        stat_add(d->stats, STAT_PARTITIONS_VERIFIED, r->won);
        spool_wipe(d, j->spool, p->index, 1);
    }
    flight_settle(f);
}

static void accept_proof(struct flight *f)
{
    struct partition *p = f->part;
    struct job *j = p->job;
    const struct curve *c = f->circuit->map->curve;
    const struct proof *proof = &f->finish.proof;
    p->proof_bytes = (uint32_t)(2 * c->g1->bytes + c->g2->bytes);
    p->proof = malloc(p->proof_bytes);
    INVARIANT(p->proof != NULL);
    memcpy(p->proof, &proof->a, c->g1->bytes);
    memcpy(p->proof + c->g1->bytes, &proof->b, c->g2->bytes);
    memcpy(p->proof + c->g1->bytes + c->g2->bytes, &proof->c, c->g1->bytes);
    p->publics = (uint8_t *)f->publics; /* public from here on */
    p->publics_bytes = (uint32_t)f->publics_bytes;
    f->publics = NULL;
    p->state = PART_COMMITTING;
    f->committing = true;
    j->n_committing++;
    struct ledger_partition row = {.job = j->id,
                                   .index = p->index,
                                   .proof = p->proof,
                                   .proof_bytes = p->proof_bytes,
                                   .publics = p->publics,
                                   .publics_bytes = p->publics_bytes};
    ledger_result(f->desk->ledger, &row, committed, f);
    job_end_if_complete(j);
}

static void finished(struct finish *item)
{
    struct flight *f = (struct flight *)((char *)item - offsetof(struct flight, finish));
    struct desk *d = f->desk;
    f->with_finisher = false;
    if (!f->part) {
        flight_settle(f);
        return;
    }
    if (item->verdict.code == ERR_OK) {
        accept_proof(f);
        return;
    }
    struct partition *p = f->part;
    f->failed = item->verdict.code;
    if (item->verdict.code == ERR_REJECTED) {
        stat_add(d->stats, STAT_PARTITIONS_REJECTED, 1);
        suspicion_rejected(f, item->verdict.text);
    } else {
        settle_retry(p, f, item->verdict.code, item->verdict.text);
    }
}

/* ---- failed ---- */

void settle_retry(struct partition *p, struct flight *f, enum err_code code, const char *reason)
{
    struct job *j = p->job;
    char id[24];
    log_warn("attempt-failed", LOG_OF(job_text(j->id, id), p->index),
             "attempt=%u code=%s reason=%s", p->attempts, err_word(code), reason);
    stat_add(j->desk->stats, STAT_PARTITIONS_RETRIED, 1);
    bool again = p->attempts < ATTEMPTS_MAX;
    f->failed = code;
    p->flight = NULL;
    f->part = NULL;
    flight_settle(f);
    if (again)
        partition_wait(p);
    else
        job_end(j, LEDGER_JOB_FAILED, ERR_FAILED, "partition %u: %d attempts failed, the last: %s",
                p->index, ATTEMPTS_MAX, reason);
}

/* A reason that lies in the input or the circuit: another attempt would end alike. */
static bool is_final(uint32_t code)
{
    switch (code) {
    case ERR_FORMAT:
    case ERR_VALUE:
    case ERR_MISMATCH:
    case ERR_UNSATISFIED:
    case ERR_UNSUPPORTED:
    case ERR_FAILED:
        return true;
    default:
        return false;
    }
}

void settle_failed(struct flight *f)
{
    const struct arena *a = &f->desk->nodes[f->node].arena;
    struct partition *p = f->part;
    struct job *j = p->job;
    struct lease_result r;
    stat_add(f->desk->stats, STAT_PARTITIONS_FAILED, 1);
    if (!lease_result_read(a, f->ref, &r)) {
        settle_retry(p, f, ERR_INTERNAL, "the result cell is torn");
        return;
    }
    r.reason[LEASE_REASON_MAX] = 0;
    if (!is_final(r.code)) {
        settle_retry(p, f, (enum err_code)r.code, r.reason);
        return;
    }
    p->flight = NULL;
    f->part = NULL;
    f->failed = (enum err_code)r.code;
    flight_settle(f);
    job_end(j, LEDGER_JOB_FAILED, (enum err_code)r.code, "partition %u: %s", p->index, r.reason);
}
