/* ledger_impl: what ledger.c (queue and thread), ledger_ops.c (calls), ledger_rows.c (statements)
 * and ledger_read.c (reads) share; nobody else includes it. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <sqlite3.h>
#include "ledger.h"

enum ledger_kind {
    OP_SUBMIT,
    OP_ATTEMPT,
    OP_DEATH,
    OP_RESULT,
    OP_END,
    OP_CIRCUIT_PUT,
    OP_CIRCUIT_DROP,
    OP_PRUNE,
    OP_FETCH,
    OP_LIST,
};

enum { ACTOR_MAX = 64 };

/* One queued call with a copy of all it was given; strings and blobs live in `bytes`. */
struct ledger_op {
    struct ledger_op *next;
    enum ledger_kind kind;
    uint32_t n_rows; /* what it counts for in a group */
    uint64_t queued_ns;
    ledger_done *done;
    void *arg;
    struct ledger_job job;
    struct ledger_partition part;
    struct ledger_circuit circuit;
    const char *how, *actor;
    uint64_t before;
    uint32_t limit;
    int listed_state;
    struct ledger_reply reply;
    struct ledger_rows *rows; /* what a read found; freed with the op */
    unsigned char bytes[];
};

/* The rows of a read, in one allocation list. */
struct ledger_rows {
    struct ledger_job *jobs;
    struct ledger_partition *partitions;
    uint32_t n_jobs, n_partitions;
    void **owned;
    uint32_t n_owned, cap_owned;
};

enum ledger_stmt {
    ST_BEGIN,
    ST_COMMIT,
    ST_ROLLBACK,
    ST_JOB_INSERT,
    ST_JOB_BY_REQUEST,
    ST_ATTEMPT,
    ST_DEATH,
    ST_DEATH_ROW,
    ST_RESULT,
    ST_END,
    ST_CIRCUIT_PUT,
    ST_CIRCUIT_UNALIAS,
    ST_CIRCUIT_DROP,
    ST_META_NEXT,
    ST_PRUNE_PARTS,
    ST_PRUNE_ATTEMPTS,
    ST_PRUNE_JOBS,
    ST_JOB_BY_ID,
    ST_JOB_LIST,
    ST_PARTS_OF,
    ST_COUNT,
};

struct ledger {
    sqlite3 *db;
    sqlite3_stmt *stmt[ST_COUNT];
    uint64_t epoch, next_id;

    pthread_t thread;
    bool thread_runs;
    pthread_mutex_t lock;
    pthread_cond_t work, idle;
    struct ledger_op *queue, **queue_tail; /* under lock */
    uint32_t queued_rows;
    bool stop, asleep, full_group_awaited, busy;
    struct ledger_op *done, **done_tail; /* under lock */
    int fd;

    _Atomic bool is_ailing;
    char ailing[256];
    struct ledger_stat stat; /* under lock */
};

/* ledger.c: puts an op behind the others. */
void ledger_enqueue(struct ledger *l, struct ledger_op *op);

/* ledger_rows.c; the writer thread, inside a transaction. rc is SQLite's: SQLITE_OK, or what made
 * the group fail. */
enum err_code ledger_rows_prepare(struct ledger *l, struct err *e);
void ledger_rows_finish(struct ledger *l);
int ledger_rows_apply(struct ledger *l, struct ledger_op *op);
int ledger_rows_step(struct ledger *l, enum ledger_stmt s); /* one step and reset; bindings stay */

/* ledger_read.c */
int ledger_read_apply(struct ledger *l, struct ledger_op *op);
void ledger_rows_free(struct ledger_rows **r);
