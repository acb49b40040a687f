/* jobs: the open jobs and their partitions, and the one way in which a job ends. */
#pragma once
#include "state.h"

struct job *job_new(struct desk *d, uint64_t id, struct circuit_entry *c, uint32_t n_partitions,
                    const char *client);
void job_discard(struct job *j); /* it was not accepted: forgotten, nobody is told */
struct job *job_by_id(const struct desk *d, uint64_t id); /* open or ending; NULL */

/* The job is in the ledger: its partitions wait for grants from now on. */
void job_open(struct job *j);

/* A partition waits (again) / the next one that waits, in index order; NULL. */
void partition_wait(struct partition *p);
struct partition *job_next_waiting(struct job *j);
void partition_leaves_order(struct partition *p, enum partition_state to);

/* Ends an open job: cancels what is in flight, commits the end to the ledger, then answers whoever
 * awaits it and forgets it. No effect when it is ending already. */
void job_end(struct job *j, enum ledger_job_state state, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Who is to be told when it ends. */
void job_await(struct job *j, const char *route, uint64_t tag, bool progress);

/* CANCEL: answered by OK when the end is in the ledger. */
void job_cancel(struct job *j, const char *route, uint64_t tag);

/* Ends it as done once every partition has a verified proof that is in the ledger or on its way
 * there (the end is committed behind them). */
void job_end_if_complete(struct job *j);

/* Looks at the deadlines of all open jobs. */
void jobs_deadlines(struct desk *d);

void jobs_free(struct desk *d);
