#include <stdlib.h>
#include <string.h>
#include "ledger_impl.h"

static const char *column_text(sqlite3_stmt *s, int at)
{
    const char *t = (const char *)sqlite3_column_text(s, at);
    return t ? t : "";
}

static void column_digest(sqlite3_stmt *s, int at, uint8_t out[32])
{
    memset(out, 0, 32);
    if (sqlite3_column_bytes(s, at) == 32)
        memcpy(out, sqlite3_column_blob(s, at), 32);
}

/* The row that the statement stands on; pointers live until its next step. */
static struct ledger_job read_job(sqlite3_stmt *s)
{
    struct ledger_job j = {
        .id = (uint64_t)sqlite3_column_int64(s, 0),
        .client = column_text(s, 1),
        .request = column_text(s, 2),
        .spool = column_text(s, 5),
        .priority = (uint32_t)sqlite3_column_int64(s, 6),
        .flags = (uint32_t)sqlite3_column_int64(s, 7),
        .n_partitions = (uint32_t)sqlite3_column_int64(s, 8),
        .submit_ns = (uint64_t)sqlite3_column_int64(s, 9),
        .deadline_ns = (uint64_t)sqlite3_column_int64(s, 10),
        .state = (enum ledger_job_state)sqlite3_column_int(s, 11),
        .reason_code = (enum err_code)sqlite3_column_int(s, 12),
        .reason = column_text(s, 13),
        .end_ns = (uint64_t)sqlite3_column_int64(s, 14),
    };
    column_digest(s, 3, j.content);
    column_digest(s, 4, j.circuit);
    return j;
}

static struct ledger_partition read_partition(sqlite3_stmt *s)
{
    uint64_t key = (uint64_t)sqlite3_column_int64(s, 0);
    struct ledger_partition p = {
        .job = key >> 16,
        .index = (uint32_t)(key & 0xffff),
        .attempts = (uint32_t)sqlite3_column_int64(s, 1),
        .deaths_alone = (uint32_t)sqlite3_column_int64(s, 2),
        .rejections = (uint32_t)sqlite3_column_int64(s, 3),
        .done = sqlite3_column_int(s, 4) != 0,
    };
    if (p.done) {
        p.proof = sqlite3_column_blob(s, 5);
        p.proof_bytes = (uint32_t)sqlite3_column_bytes(s, 5);
        p.publics = sqlite3_column_blob(s, 6);
        p.publics_bytes = (uint32_t)sqlite3_column_bytes(s, 6);
    }
    return p;
}

/* ---- recovery ---- */

static int load_partitions(struct ledger *l, const struct ledger_reader *r, uint64_t job)
{
    sqlite3_stmt *s = l->stmt[ST_PARTS_OF];
    sqlite3_bind_int64(s, 1, (int64_t)job);
    int rc;
    while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
        struct ledger_partition p = read_partition(s);
        r->partition(r->arg, &p);
    }
    sqlite3_reset(s);
    return rc;
}

static int load_jobs(struct ledger *l, const struct ledger_reader *r)
{
    sqlite3_stmt *s = NULL;
    int rc =
        sqlite3_prepare_v2(l->db,
                           "SELECT id,client,request,content,circuit,spool,priority,"
                           "flags,partitions,submit_ns,deadline_ns,state,reason_code,reason,end_ns"
                           " FROM jobs WHERE state=0 ORDER BY id",
                           -1, &s, NULL);
    if (rc != SQLITE_OK)
        return rc;
    while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
        struct ledger_job j = read_job(s);
        uint64_t id = j.id;
        r->job(r->arg, &j);
        if ((rc = load_partitions(l, r, id)) != SQLITE_DONE)
            break;
    }
    sqlite3_finalize(s);
    return rc;
}

static int load_circuits(struct ledger *l, const struct ledger_reader *r)
{
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(l->db, "SELECT digest, alias, urgent FROM circuits", -1, &s, NULL);
    if (rc != SQLITE_OK)
        return rc;
    while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
        struct ledger_circuit c = {
            .alias = column_text(s, 1),
            .urgent = sqlite3_column_int(s, 2) != 0,
        };
        column_digest(s, 0, c.digest);
        r->circuit(r->arg, &c);
    }
    sqlite3_finalize(s);
    return rc;
}

enum err_code ledger_load(struct ledger *l, const struct ledger_reader *r, struct err *e)
{
    INVARIANT(!l->thread_runs);
    if (load_circuits(l, r) != SQLITE_DONE || load_jobs(l, r) != SQLITE_DONE)
        return err_set(e, ERR_IO, "ledger: cannot be read back: %s", sqlite3_errmsg(l->db));
    return ERR_OK;
}

/* ---- fetch and list, on the writer thread ---- */

static void *own(struct ledger_rows *r, const void *p, size_t n)
{
    if (r->n_owned == r->cap_owned) {
        r->cap_owned = r->cap_owned ? 2 * r->cap_owned : 16;
        r->owned = realloc(r->owned, r->cap_owned * sizeof *r->owned);
        INVARIANT(r->owned != NULL);
    }
    void *copy = malloc(n ? n : 1);
    INVARIANT(copy != NULL);
    if (n)
        memcpy(copy, p, n);
    r->owned[r->n_owned++] = copy;
    return copy;
}

static const char *own_text(struct ledger_rows *r, const char *s)
{
    return own(r, s, strlen(s) + 1);
}

static void keep_job(struct ledger_rows *r, const struct ledger_job *j)
{
    r->jobs = realloc(r->jobs, (r->n_jobs + 1) * sizeof *r->jobs);
    INVARIANT(r->jobs != NULL);
    struct ledger_job *k = &r->jobs[r->n_jobs++];
    *k = *j;
    k->client = own_text(r, j->client);
    k->request = own_text(r, j->request);
    k->reason = own_text(r, j->reason);
    k->spool = own_text(r, j->spool);
}

static void keep_partition(struct ledger_rows *r, const struct ledger_partition *p)
{
    r->partitions = realloc(r->partitions, (r->n_partitions + 1) * sizeof *r->partitions);
    INVARIANT(r->partitions != NULL);
    struct ledger_partition *k = &r->partitions[r->n_partitions++];
    *k = *p;
    if (p->proof)
        k->proof = own(r, p->proof, p->proof_bytes);
    if (p->publics)
        k->publics = own(r, p->publics, p->publics_bytes);
}

void ledger_rows_free(struct ledger_rows **rp)
{
    struct ledger_rows *r = *rp;
    if (!r)
        return;
    for (uint32_t i = 0; i < r->n_owned; i++)
        free(r->owned[i]);
    free(r->owned);
    free(r->jobs);
    free(r->partitions);
    free(r);
    *rp = NULL;
}

static int fetch(struct ledger *l, struct ledger_op *op, struct ledger_rows *rows)
{
    int64_t id = (int64_t)op->job.id;
    sqlite3_stmt *s;
    int rc;
    if (id == 0) {
        s = l->stmt[ST_JOB_BY_REQUEST];
        sqlite3_bind_text(s, 1, op->job.client, -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 2, op->job.request, -1, SQLITE_STATIC);
        rc = sqlite3_step(s);
        if (rc == SQLITE_ROW)
            id = sqlite3_column_int64(s, 0);
        sqlite3_reset(s);
        if (rc != SQLITE_ROW)
            return rc;
    }
    s = l->stmt[ST_JOB_BY_ID];
    sqlite3_bind_int64(s, 1, id);
    rc = sqlite3_step(s);
    if (rc == SQLITE_ROW) {
        struct ledger_job j = read_job(s);
        keep_job(rows, &j);
    }
    sqlite3_reset(s);
    if (rc != SQLITE_ROW)
        return rc;
    s = l->stmt[ST_PARTS_OF];
    sqlite3_bind_int64(s, 1, id);
    while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
        struct ledger_partition p = read_partition(s);
        keep_partition(rows, &p);
    }
    sqlite3_reset(s);
    return rc;
}

static int list(struct ledger *l, struct ledger_op *op, struct ledger_rows *rows)
{
    sqlite3_stmt *s = l->stmt[ST_JOB_LIST];
    sqlite3_bind_int64(s, 1, (int64_t)op->job.id);
    if (op->job.client[0])
        sqlite3_bind_text(s, 2, op->job.client, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null(s, 2);
    sqlite3_bind_int(s, 3, op->listed_state);
    sqlite3_bind_int64(s, 4, op->limit);
    int rc;
    while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
        struct ledger_job j = read_job(s);
        keep_job(rows, &j);
    }
    sqlite3_reset(s);
    return rc;
}

int ledger_read_apply(struct ledger *l, struct ledger_op *op)
{
    ledger_rows_free(&op->rows); /* of a group that was tried before */
    op->rows = calloc(1, sizeof *op->rows);
    INVARIANT(op->rows != NULL);
    int rc = op->kind == OP_FETCH ? fetch(l, op, op->rows) : list(l, op, op->rows);
    op->reply.jobs = op->rows->jobs;
    op->reply.n_jobs = op->rows->n_jobs;
    op->reply.partitions = op->rows->partitions;
    op->reply.n_partitions = op->rows->n_partitions;
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}
