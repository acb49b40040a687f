#include "suspicion.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sodium.h>
#include <unistd.h>
#include "budget.h"
#include "flight.h"
#include "inputs.h"
#include "jobs.h"
#include "log.h"
#include "prepared.h"
#include "settle.h"
#include "store.h"
#include "wtns.h"

/* A witness that satisfies the constraints, and still no valid proof: after so many the devices or
 * the key are at fault, and the job ends. */
enum { REJECTIONS_MAX = 3 };

struct checking {
    struct work work;
    struct desk *desk;
    uint64_t job;
    uint32_t index;
    char path[LEASE_SPOOL_MAX + 16];
    struct circuit_entry *circuit; /* the desk's; its digest alone is read by the worker */
    enum { SATISFIED, UNSATISFIED, UNREADABLE } found;
    size_t row;
};

static void check_witness(struct work *w)
{
    struct checking *c = (struct checking *)w;
    char store[STORE_NAME_MAX], path[sizeof c->desk->instance.dir + STORE_NAME_MAX];
    struct err e = {0};
    c->found = UNREADABLE;
    snprintf(path, sizeof path, "%s/%s", c->desk->instance.dir,
             store_circuit_name(c->circuit->digest, store));
    struct circuit *ck = circuit_map(path, &e);
    if (!ck)
        return;
    size_t bytes = (size_t)ck->n_wires * sizeof(fr_t);
    fr_t *values = malloc(bytes);
    int fd = openat(c->desk->instance.dir_fd, c->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct wtns *file = fd >= 0 ? wtns_open_fd(fd, c->path, NULL) : NULL;
    if (values && file && wtns_expect(file, ck->curve, ck->n_wires, NULL) == ERR_OK &&
        wtns_read(file, values, NULL, NULL) == ERR_OK) {
        c->row = matrix_first_unsatisfied(ck->curve, &ck->a, &ck->b, &ck->c, values, NULL);
        c->found = c->row < ck->a.n_rows ? UNSATISFIED : SATISFIED;
    }
    if (values)
        sodium_memzero(values, bytes);
    free(values);
    wtns_close(&file);
    circuit_free(&ck);
}

static void checked(struct work *w)
{
    struct checking *c = (struct checking *)w;
    struct job *j = job_by_id(c->desk, c->job);
    budget_map_done(c->desk, c->circuit);
    struct partition *p = j && j->state == JOB_OPEN ? &j->part[c->index] : NULL;
    if (p && p->checking) {
        p->checking = false;
        if (c->found == UNSATISFIED)
            job_end(j, LEDGER_JOB_FAILED, ERR_UNSATISFIED,
                    "partition %u: the witness does not satisfy the circuit: constraint %zu",
                    c->index, c->row);
        else if (p->rejections >= REJECTIONS_MAX)
            job_end(j, LEDGER_JOB_FAILED, ERR_FAILED,
                    "partition %u: %u proofs of a %s witness did not verify", c->index,
                    p->rejections, c->found == SATISFIED ? "satisfying" : "lost");
        else
            partition_wait(p);
    }
    free(c);
}

static void ask_witness(struct partition *p)
{
    struct job *j = p->job;
    char name[LEASE_SPOOL_MAX + 1];
    struct checking *c = calloc(1, sizeof *c);
    INVARIANT(c != NULL);
    c->work.run = check_witness;
    c->work.done = checked;
    c->desk = j->desk;
    c->job = j->id;
    c->index = p->index;
    c->circuit = j->circuit;
    budget_map_use(j->desk, j->circuit);
    snprintf(c->path, sizeof c->path, "spool/%s", spool_name(j->spool, p->index, name));
    p->checking = true;
    workers_put(j->desk->sweepers, &c->work);
}

void suspicion_rejected(struct flight *f, const char *reason)
{
    struct partition *p = f->part;
    struct job *j = p->job;
    struct desk *d = f->desk;
    char id[24];
    snprintf(id, sizeof id, "%llu", (unsigned long long)j->id);
    log_warn("proof-rejected", LOG_OF(id, p->index), "attempt=%u gpud=%s reason=%s", p->attempts,
             f->gpud->route, reason);
    p->rejections++;
    p->avoid = f->gpud->id;
    struct ledger_partition row = {.job = j->id,
                                   .index = p->index,
                                   .attempts = p->attempts,
                                   .deaths_alone = p->deaths_alone,
                                   .rejections = p->rejections};
    ledger_death(d->ledger, &row, "rejected", f->gpud->route, NULL, NULL);
    p->flight = NULL;
    f->part = NULL;
    flight_settle(f);
    if (j->circuit->map->has_c && !(j->flags & LEDGER_INPUT_JSON))
        ask_witness(p);
    else if (p->rejections >= 2)
        job_end(j, LEDGER_JOB_FAILED, ERR_UNSATISFIED,
                "partition %u: the witness does not satisfy the circuit (%s, twice)", p->index,
                reason);
    else
        partition_wait(p);
}
