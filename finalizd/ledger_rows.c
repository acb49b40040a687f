#include <string.h>
#include <time.h>
#include "ledger_impl.h"

static const char *const sql[ST_COUNT] = {
    [ST_BEGIN] = "BEGIN IMMEDIATE",
    [ST_COMMIT] = "COMMIT",
    [ST_ROLLBACK] = "ROLLBACK",
    [ST_JOB_INSERT] = "INSERT INTO jobs VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,0,0,'',0)"
                      " ON CONFLICT(client, request) WHERE request IS NOT NULL DO NOTHING",
    [ST_JOB_BY_REQUEST] = "SELECT id, content FROM jobs WHERE client=?1 AND request=?2",
    [ST_ATTEMPT] = "INSERT INTO partitions VALUES(?1,?2,0,0,0,NULL,NULL)"
                   " ON CONFLICT(key) DO UPDATE SET attempts=?2",
    [ST_DEATH] = "UPDATE partitions SET deaths_alone=?2, rejections=?3 WHERE key=?1",
    [ST_DEATH_ROW] = "INSERT INTO attempts VALUES(?1,?2,?3,?4,?5)",
    [ST_RESULT] = "UPDATE partitions SET done=1, proof=?2, publics=?3 WHERE key=?1 AND done=0",
    [ST_END] = "UPDATE jobs SET state=?2, reason_code=?3, reason=?4, end_ns=?5"
               " WHERE id=?1 AND state=0",
    [ST_CIRCUIT_UNALIAS] = "UPDATE circuits SET alias=NULL WHERE alias=?1 AND digest<>?2",
    [ST_CIRCUIT_PUT] = "INSERT OR REPLACE INTO circuits VALUES(?1,?2,?3)",
    [ST_CIRCUIT_DROP] = "DELETE FROM circuits WHERE digest=?1",
    [ST_META_NEXT] = "UPDATE meta SET value=max(value,(SELECT coalesce(max(id),0)+1 FROM jobs))"
                     " WHERE name='next_job'",
    [ST_PRUNE_PARTS] = "DELETE FROM partitions WHERE key>=?1*65536 AND key<(?1+1)*65536",
    [ST_PRUNE_ATTEMPTS] = "DELETE FROM attempts WHERE key>=?1*65536 AND key<(?1+1)*65536",
    [ST_PRUNE_JOBS] = "DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE state<>0 AND"
                      " end_ns<?1 ORDER BY end_ns LIMIT ?2) RETURNING id",
    [ST_JOB_BY_ID] = "SELECT id,client,request,content,circuit,spool,priority,flags,partitions,"
                     "submit_ns,deadline_ns,state,reason_code,reason,end_ns FROM jobs WHERE id=?1",
    [ST_JOB_LIST] = "SELECT id,client,request,content,circuit,spool,priority,flags,partitions,"
                    "submit_ns,deadline_ns,state,reason_code,reason,end_ns FROM jobs"
                    " WHERE id>?1 AND (?2 IS NULL OR client=?2) AND (?3<0 OR state=?3)"
                    " ORDER BY id LIMIT ?4",
    [ST_PARTS_OF] = "SELECT key,attempts,deaths_alone,rejections,done,proof,publics"
                    " FROM partitions WHERE key>=?1*65536 AND key<(?1+1)*65536 ORDER BY key",
};

enum err_code ledger_rows_prepare(struct ledger *l, struct err *e)
{
    for (int i = 0; i < ST_COUNT; i++)
        if (sqlite3_prepare_v3(l->db, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &l->stmt[i], NULL) !=
            SQLITE_OK)
            return err_set(e, ERR_IO, "ledger: statement %d: %s", i, sqlite3_errmsg(l->db));
    return ERR_OK;
}

void ledger_rows_finish(struct ledger *l)
{
    for (int i = 0; i < ST_COUNT; i++)
        sqlite3_finalize(l->stmt[i]);
}

int ledger_rows_step(struct ledger *l, enum ledger_stmt s)
{
    int rc = sqlite3_step(l->stmt[s]);
    sqlite3_reset(l->stmt[s]);
    return rc == SQLITE_DONE || rc == SQLITE_ROW ? SQLITE_OK : rc;
}

static int64_t partition_key(uint64_t job, uint32_t index)
{
    return (int64_t)(job << 16 | index);
}

static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
    if (text && text[0])
        sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null(s, at);
}

static void bind_blob(sqlite3_stmt *s, int at, const uint8_t *p, size_t n)
{
    if (p)
        sqlite3_bind_blob(s, at, p, (int)n, SQLITE_STATIC);
    else
        sqlite3_bind_null(s, at);
}

static void bind_u64(sqlite3_stmt *s, int at, uint64_t v)
{
    sqlite3_bind_int64(s, at, (int64_t)v);
}

static uint64_t wall_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int find_existing(struct ledger *l, struct ledger_op *op)
{
    sqlite3_stmt *s = l->stmt[ST_JOB_BY_REQUEST];
    bind_text(s, 1, op->job.client);
    bind_text(s, 2, op->job.request);
    int rc = sqlite3_step(s);
    if (rc == SQLITE_ROW) {
        op->reply.existing = true;
        op->reply.id = (uint64_t)sqlite3_column_int64(s, 0);
        if (sqlite3_column_bytes(s, 1) == 32)
            memcpy(op->reply.content, sqlite3_column_blob(s, 1), 32);
        rc = SQLITE_OK;
    }
    sqlite3_reset(s);
    return rc;
}

static int submit(struct ledger *l, struct ledger_op *op)
{
    const struct ledger_job *j = &op->job;
    sqlite3_stmt *s = l->stmt[ST_JOB_INSERT];
    bind_u64(s, 1, j->id);
    sqlite3_bind_text(s, 2, j->client, -1, SQLITE_STATIC);
    bind_text(s, 3, j->request);
    bind_blob(s, 4, j->content, 32);
    bind_blob(s, 5, j->circuit, 32);
    bind_text(s, 6, j->spool);
    sqlite3_bind_int64(s, 7, j->priority);
    sqlite3_bind_int64(s, 8, j->flags);
    sqlite3_bind_int64(s, 9, j->n_partitions);
    bind_u64(s, 10, j->submit_ns);
    bind_u64(s, 11, j->deadline_ns);
    int rc = ledger_rows_step(l, ST_JOB_INSERT);
    if (rc != SQLITE_OK)
        return rc;
    op->reply.existing = false;
    op->reply.id = j->id;
    memcpy(op->reply.content, j->content, 32);
    return sqlite3_changes(l->db) == 0 ? find_existing(l, op) : SQLITE_OK;
}

static int attempt(struct ledger *l, struct ledger_op *op)
{
    sqlite3_stmt *s = l->stmt[ST_ATTEMPT];
    sqlite3_bind_int64(s, 1, partition_key(op->part.job, op->part.index));
    sqlite3_bind_int64(s, 2, op->part.attempts);
    return ledger_rows_step(l, ST_ATTEMPT);
}

static int death(struct ledger *l, struct ledger_op *op)
{
    int64_t key = partition_key(op->part.job, op->part.index);
    sqlite3_stmt *s = l->stmt[ST_DEATH];
    sqlite3_bind_int64(s, 1, key);
    sqlite3_bind_int64(s, 2, op->part.deaths_alone);
    sqlite3_bind_int64(s, 3, op->part.rejections);
    int rc = ledger_rows_step(l, ST_DEATH);
    if (rc != SQLITE_OK)
        return rc;
    s = l->stmt[ST_DEATH_ROW];
    sqlite3_bind_int64(s, 1, key);
    sqlite3_bind_int64(s, 2, op->part.attempts);
    bind_u64(s, 3, wall_ns());
    bind_text(s, 4, op->how);
    bind_text(s, 5, op->actor);
    return ledger_rows_step(l, ST_DEATH_ROW);
}

static int result(struct ledger *l, struct ledger_op *op)
{
    sqlite3_stmt *s = l->stmt[ST_RESULT];
    sqlite3_bind_int64(s, 1, partition_key(op->part.job, op->part.index));
    bind_blob(s, 2, op->part.proof, op->part.proof_bytes);
    bind_blob(s, 3, op->part.publics, op->part.publics_bytes);
    int rc = ledger_rows_step(l, ST_RESULT);
    if (rc == SQLITE_OK)
        op->reply.won = sqlite3_changes(l->db) == 1;
    return rc;
}

static int end(struct ledger *l, struct ledger_op *op)
{
    sqlite3_stmt *s = l->stmt[ST_END];
    bind_u64(s, 1, op->job.id);
    sqlite3_bind_int(s, 2, (int)op->job.state);
    sqlite3_bind_int(s, 3, (int)op->job.reason_code);
    sqlite3_bind_text(s, 4, op->job.reason, -1, SQLITE_STATIC);
    bind_u64(s, 5, op->job.end_ns);
    return ledger_rows_step(l, ST_END);
}

static int circuit_put(struct ledger *l, struct ledger_op *op)
{
    const struct ledger_circuit *c = &op->circuit;
    sqlite3_stmt *s = l->stmt[ST_CIRCUIT_UNALIAS]; /* the newest owner of a name has it */
    bind_text(s, 1, c->alias);
    bind_blob(s, 2, c->digest, 32);
    int rc = ledger_rows_step(l, ST_CIRCUIT_UNALIAS);
    if (rc != SQLITE_OK)
        return rc;
    s = l->stmt[ST_CIRCUIT_PUT];
    bind_blob(s, 1, c->digest, 32);
    bind_text(s, 2, c->alias);
    sqlite3_bind_int(s, 3, c->urgent);
    return ledger_rows_step(l, ST_CIRCUIT_PUT);
}

static int circuit_drop(struct ledger *l, struct ledger_op *op)
{
    bind_blob(l->stmt[ST_CIRCUIT_DROP], 1, op->circuit.digest, 32);
    return ledger_rows_step(l, ST_CIRCUIT_DROP);
}

/* The next id is kept before rows go, so that pruning the newest job never frees its number. */
static int prune(struct ledger *l, struct ledger_op *op)
{
    int rc = ledger_rows_step(l, ST_META_NEXT);
    op->reply.rows = 0;
    if (rc != SQLITE_OK)
        return rc;
    sqlite3_stmt *s = l->stmt[ST_PRUNE_JOBS];
    bind_u64(s, 1, op->before);
    sqlite3_bind_int64(s, 2, op->limit);
    while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(s, 0);
        sqlite3_bind_int64(l->stmt[ST_PRUNE_PARTS], 1, id);
        sqlite3_bind_int64(l->stmt[ST_PRUNE_ATTEMPTS], 1, id);
        int inner = ledger_rows_step(l, ST_PRUNE_PARTS);
        if (inner == SQLITE_OK)
            inner = ledger_rows_step(l, ST_PRUNE_ATTEMPTS);
        if (inner != SQLITE_OK) {
            rc = inner;
            break;
        }
        op->reply.rows++;
    }
    sqlite3_reset(s);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int ledger_rows_apply(struct ledger *l, struct ledger_op *op)
{
    op->reply.err.code = ERR_OK;
    switch (op->kind) {
    case OP_SUBMIT:
        return submit(l, op);
    case OP_ATTEMPT:
        return attempt(l, op);
    case OP_DEATH:
        return death(l, op);
    case OP_RESULT:
        return result(l, op);
    case OP_END:
        return end(l, op);
    case OP_CIRCUIT_PUT:
        return circuit_put(l, op);
    case OP_CIRCUIT_DROP:
        return circuit_drop(l, op);
    case OP_PRUNE:
        return prune(l, op);
    case OP_FETCH:
    case OP_LIST:
        return ledger_read_apply(l, op);
    }
    DIE("ledger: unknown kind %d", (int)op->kind);
}
