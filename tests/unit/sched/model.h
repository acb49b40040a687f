/* model: the desk's own code for budget, order, grants, flights, jobs and deaths, over a real lease
 * table, with everything around it (ledger, workers, finishers, daemons, messages) made into steps
 * that a test takes in any order it likes.
 *
 * There is no clock and no re-scan in it: grants are made only when the desk's code says that they
 * are due, and a change of a lease is seen only when the step for its message is taken. So a
 * wake-up that is lost is a state in which nothing can move and not everything has ended. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "budget.h"
#include "death.h"
#include "flight.h"
#include "grant.h"
#include "jobs.h"
#include "order.h"
#include "settle.h"
#include "state.h"

enum { CIRCUITS_MAX = 4, JOBS_MAX = 4, GPUDS_MAX = 3, SYNTHDS_MAX = 2, PENDING_MAX = 24 };

struct model_circuit {
    unsigned granules, witness_granules; /* of an extent with a and b, and of w alone */
    uint64_t key_bytes;
    bool urgent;
};
struct model_job {
    unsigned circuit, partitions;
    bool urgent;
};
struct model_config {
    const char *name;
    unsigned granules, rows, gpuds, synthds, ready_bound, synthd_credit, in_flight;
    uint64_t host_limit, device_limit; /* of keys; 0: none */
    enum evaluate evaluate;
    unsigned room_passes, key_passes;
    unsigned cancels, deaths, failures; /* how many of each the adversary has */
    struct model_circuit circuit[CIRCUITS_MAX];
    struct model_job job[JOBS_MAX];
    unsigned late; /* so many of the jobs, the last, arrive at any time */
    bool early_upload;
};

/* Makes the instance's arena for a configuration and the world in its first state. */
void model_open(const struct model_config *c);
void model_close(void);

/* Takes the i-th step that is possible now; false: there are not so many. what: its name. A step of
 * the adversary (cancel, death, failure) is taken only when `adversary` is set. */
bool model_step(unsigned i, bool adversary, char what[64]);

void model_check(void);    /* what must hold in every state */
bool model_ended(void);    /* every job has ended, everything is free; fails the test on a leak */
uint64_t model_hash(void); /* of what makes two states different */

/* A copy of the whole state, and back to it. */
struct snapshot;
struct snapshot *model_save(struct snapshot *into); /* NULL: a new one */
void model_restore(const struct snapshot *s);

/* For tests that lead it by hand: daemons and clients that do nothing while they are held, and all
 * steps until nothing moves. */
extern bool model_hold_gpuds, model_hold_synthds, model_hold_clients;
void model_settle(void);
struct desk *model_desk(void);

/* What happened, for tests of order: jobs in the order in which their partitions were granted. */
extern unsigned model_n_granted;
extern struct model_grant {
    uint64_t job;
    uint32_t partition;
    bool evaluate_gpu;
} model_granted[64];
