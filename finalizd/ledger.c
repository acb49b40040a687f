#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include "ledger_impl.h"

enum { RETRY_NS = 100000000 };
#define CLOSE_PATIENCE_NS 5000000000ull

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void wait_until(struct ledger *l, uint64_t at_ns)
{
    struct timespec t = {.tv_sec = (time_t)(at_ns / 1000000000u),
                         .tv_nsec = (long)(at_ns % 1000000000u)};
    pthread_cond_timedwait(&l->work, &l->lock, &t);
}

/* ---- opening ---- */

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS meta(name TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS circuits(digest BLOB PRIMARY KEY, alias TEXT UNIQUE,"
    " urgent INTEGER) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS jobs(id INTEGER PRIMARY KEY, client TEXT NOT NULL, request TEXT,"
    " content BLOB, circuit BLOB, spool TEXT, priority INTEGER, flags INTEGER, partitions INTEGER,"
    " submit_ns INTEGER, deadline_ns INTEGER, state INTEGER, reason_code INTEGER, reason TEXT,"
    " end_ns INTEGER);"
    "CREATE UNIQUE INDEX IF NOT EXISTS jobs_request ON jobs(client, request)"
    " WHERE request IS NOT NULL;"
    "CREATE INDEX IF NOT EXISTS jobs_ended ON jobs(end_ns) WHERE state <> 0;"
    "CREATE INDEX IF NOT EXISTS jobs_open ON jobs(id) WHERE state = 0;"
    /* key: job * 65536 + index, so that a job's partitions lie together, in order. */
    "CREATE TABLE IF NOT EXISTS partitions(key INTEGER PRIMARY KEY, attempts INTEGER,"
    " deaths_alone INTEGER, rejections INTEGER, done INTEGER, proof BLOB, publics BLOB);"
    "CREATE TABLE IF NOT EXISTS attempts(key INTEGER, attempt INTEGER, at_ns INTEGER, how TEXT,"
    " actor TEXT);"
    "CREATE INDEX IF NOT EXISTS attempts_key ON attempts(key);"
    "INSERT OR IGNORE INTO meta VALUES('schema', 1), ('epoch', 0), ('next_job', 1);";

static enum err_code sql_error(struct ledger *l, const char *path, const char *what, struct err *e)
{
    return err_set(e, ERR_IO, "ledger %s: %s: %s", path, what, sqlite3_errmsg(l->db));
}

static int read_number(struct ledger *l, const char *sql, uint64_t *out)
{
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(l->db, sql, -1, &s, NULL);
    if (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
        *out = (uint64_t)sqlite3_column_int64(s, 0);
        rc = SQLITE_OK;
    }
    sqlite3_finalize(s);
    return rc;
}

static enum err_code open_file(struct ledger *l, const char *path, const char *vfs, struct err *e)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, &l->db, flags, vfs) != SQLITE_OK)
        return sql_error(l, path, "cannot be opened", e);
    sqlite3_busy_timeout(l->db, 2000); /* a reader from outside may hold a lock for a moment */
    if (sqlite3_exec(l->db,
                     "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                     "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-16384;",
                     NULL, NULL, NULL) != SQLITE_OK)
        return sql_error(l, path, "cannot be set up", e);
    if (sqlite3_exec(l->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(l->db, schema, NULL, NULL, NULL) != SQLITE_OK)
        return sql_error(l, path, "tables cannot be made", e);
    uint64_t version = 0;
    if (read_number(l, "SELECT value FROM meta WHERE name='schema'", &version) != SQLITE_OK)
        return sql_error(l, path, "has no schema number", e);
    if (version != 1)
        return err_set(e, ERR_UNSUPPORTED, "ledger %s: schema %llu, this program knows 1", path,
                       (unsigned long long)version);
    if (sqlite3_exec(l->db,
                     "UPDATE meta SET value = value + 1 WHERE name='epoch';"
                     "UPDATE meta SET value = max(value, (SELECT coalesce(max(id), 0) + 1 FROM"
                     " jobs)) WHERE name='next_job'; COMMIT",
                     NULL, NULL, NULL) != SQLITE_OK ||
        read_number(l, "SELECT value FROM meta WHERE name='epoch'", &l->epoch) != SQLITE_OK ||
        read_number(l, "SELECT value FROM meta WHERE name='next_job'", &l->next_id) != SQLITE_OK)
        return sql_error(l, path, "its epoch cannot be raised", e);
    return ERR_OK;
}

static void *writer(void *arg);

static void release(struct ledger *l)
{
    ledger_rows_finish(l);
    sqlite3_close(l->db);
    if (l->fd >= 0)
        close(l->fd);
    pthread_cond_destroy(&l->work);
    pthread_cond_destroy(&l->idle);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

enum err_code ledger_open(struct ledger **out, const char *path, const char *vfs, struct err *e)
{
    struct ledger *l = calloc(1, sizeof *l);
    if (!l)
        return err_set(e, ERR_MEMORY, "ledger: no memory");
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&l->work, &clock);
    pthread_cond_init(&l->idle, &clock);
    pthread_condattr_destroy(&clock);
    pthread_mutex_init(&l->lock, NULL);
    l->queue_tail = &l->queue;
    l->done_tail = &l->done;
    l->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    enum err_code rc = ERR_OK;
    if (l->fd < 0)
        rc = err_set(e, ERR_IO, "ledger: eventfd: %s", strerror(errno));
    if (!rc)
        rc = open_file(l, path, vfs, e);
    if (!rc)
        rc = ledger_rows_prepare(l, e);
    if (rc) {
        release(l);
        return rc;
    }
    *out = l;
    return ERR_OK;
}

uint64_t ledger_epoch(const struct ledger *l)
{
    return l->epoch;
}

uint64_t ledger_take_job_id(struct ledger *l)
{
    return l->next_id++;
}

/* ---- the queue ---- */

/* The thread starts with the first write, so that ledger_load has the connection to itself. */
void ledger_enqueue(struct ledger *l, struct ledger_op *op)
{
    if (!l->thread_runs) {
        INVARIANT(pthread_create(&l->thread, NULL, writer, l) == 0);
        l->thread_runs = true;
    }
    op->queued_ns = now_ns();
    pthread_mutex_lock(&l->lock);
    *l->queue_tail = op;
    l->queue_tail = &op->next;
    l->queued_rows += op->n_rows;
    bool wake = l->asleep || (l->full_group_awaited && l->queued_rows >= LEDGER_GROUP_ROWS);
    pthread_mutex_unlock(&l->lock);
    if (wake)
        pthread_cond_signal(&l->work);
}

/* ---- the writer thread ---- */

/* Takes the next group off the queue, or NULL when told to stop and nothing is left. Called with
 * the lock held. */
static struct ledger_op *take_group(struct ledger *l)
{
    while (!l->queue && !l->stop) {
        l->asleep = true;
        pthread_cond_wait(&l->work, &l->lock);
        l->asleep = false;
    }
    if (!l->queue)
        return NULL;
    uint64_t closes = l->queue->queued_ns + LEDGER_GROUP_NS;
    l->full_group_awaited = true;
    while (!l->stop && l->queued_rows < LEDGER_GROUP_ROWS && now_ns() < closes)
        wait_until(l, closes);
    l->full_group_awaited = false;

    struct ledger_op *first = l->queue, **end = &l->queue;
    uint32_t rows = 0;
    while (*end && (rows == 0 || rows + (*end)->n_rows <= LEDGER_GROUP_ROWS)) {
        rows += (*end)->n_rows;
        end = &(*end)->next;
    }
    l->queue = *end;
    if (!l->queue)
        l->queue_tail = &l->queue;
    *end = NULL;
    l->queued_rows -= rows;
    l->busy = true;
    return first;
}

static uint32_t count_rows(const struct ledger_op *op)
{
    uint32_t rows = 0;
    for (; op; op = op->next)
        rows += op->n_rows;
    return rows;
}

/* One transaction over the whole group. */
static int commit_group(struct ledger *l, struct ledger_op *group)
{
    int rc = ledger_rows_step(l, ST_BEGIN);
    for (struct ledger_op *op = group; op && rc == SQLITE_OK; op = op->next)
        rc = ledger_rows_apply(l, op);
    if (rc == SQLITE_OK)
        rc = ledger_rows_step(l, ST_COMMIT);
    if (rc != SQLITE_OK) {
        /* SQLite rolls some failures back by itself; asking again is then an error to ignore. */
        int first = rc;
        pthread_mutex_lock(&l->lock);
        snprintf(l->ailing, sizeof l->ailing, "the ledger cannot be written: %s",
                 sqlite3_errmsg(l->db));
        pthread_mutex_unlock(&l->lock);
        if (!sqlite3_get_autocommit(l->db))
            ledger_rows_step(l, ST_ROLLBACK);
        rc = first;
    }
    return rc;
}

static void answer(struct ledger *l, struct ledger_op *first, struct ledger_op **last)
{
    if (!first)
        return;
    *l->done_tail = first;
    l->done_tail = last;
    uint64_t one = 1;
    ssize_t n = write(l->fd, &one, sizeof one);
    INVARIANT(n == sizeof one || errno == EAGAIN);
}

/* A group failed: submissions and reads are refused, the rest goes back to the queue's head. */
static void split_failed(struct ledger *l, struct ledger_op *group)
{
    struct ledger_op *kept = NULL, **kept_tail = &kept, *refused = NULL, **refused_tail = &refused;
    for (struct ledger_op *op = group, *next; op; op = next) {
        next = op->next;
        op->next = NULL;
        bool may_fail = op->kind == OP_SUBMIT || op->kind == OP_FETCH || op->kind == OP_LIST ||
                        op->kind == OP_CIRCUIT_PUT || op->kind == OP_CIRCUIT_DROP ||
                        op->kind == OP_PRUNE || l->stop;
        if (may_fail) {
            err_set(&op->reply.err, ERR_IO, "%s", l->ailing);
            *refused_tail = op;
            refused_tail = &op->next;
        } else {
            *kept_tail = op;
            kept_tail = &op->next;
        }
    }
    if (kept) {
        l->queued_rows += count_rows(kept);
        *kept_tail = l->queue;
        if (!l->queue)
            l->queue_tail = kept_tail;
        l->queue = kept;
    }
    answer(l, refused, refused_tail);
}

static void *writer(void *arg)
{
    struct ledger *l = arg;
    pthread_mutex_lock(&l->lock);
    for (struct ledger_op *group; (group = take_group(l));) {
        uint32_t rows = count_rows(group);
        pthread_mutex_unlock(&l->lock);
        uint64_t begin = now_ns();
        int rc = commit_group(l, group);
        uint64_t took = now_ns() - begin;
        INVARIANT(rc != SQLITE_CONSTRAINT && rc != SQLITE_MISUSE && rc != SQLITE_RANGE);
        pthread_mutex_lock(&l->lock);
        l->busy = false;
        l->stat.groups++;
        if (rc == SQLITE_OK) {
            l->stat.rows += rows;
            l->stat.commit_ns_total += took;
            if (took > l->stat.commit_ns_max)
                l->stat.commit_ns_max = took;
            atomic_store(&l->is_ailing, false);
            struct ledger_op **last = &group->next;
            while (*last)
                last = &(*last)->next;
            answer(l, group, last);
        } else {
            l->stat.failures++;
            atomic_store(&l->is_ailing, true);
            split_failed(l, group);
            if (l->queue && !l->stop)
                wait_until(l, now_ns() + RETRY_NS);
        }
        if (!l->queue)
            pthread_cond_broadcast(&l->idle);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

/* ---- replies ---- */

int ledger_fd(const struct ledger *l)
{
    return l->fd;
}

unsigned ledger_drain(struct ledger *l, unsigned limit)
{
    uint64_t count;
    ssize_t n = read(l->fd, &count, sizeof count);
    (void)n; /* EAGAIN: nothing was rung; the list says what there is */
    unsigned ran = 0;
    while (ran < limit) {
        pthread_mutex_lock(&l->lock);
        struct ledger_op *op = l->done;
        if (op) {
            l->done = op->next;
            if (!l->done)
                l->done_tail = &l->done;
        }
        pthread_mutex_unlock(&l->lock);
        if (!op)
            return ran;
        if (op->done)
            op->done(op->arg, &op->reply);
        ledger_rows_free(&op->rows);
        free(op);
        ran++;
    }
    count = 1; /* some may be left: stay readable */
    n = write(l->fd, &count, sizeof count);
    return ran;
}

bool ledger_ailing(const struct ledger *l, char *why, size_t n)
{
    if (!atomic_load_explicit(&l->is_ailing, memory_order_relaxed))
        return false;
    struct ledger *w = (struct ledger *)l; /* the lock is not part of the value */
    pthread_mutex_lock(&w->lock);
    snprintf(why, n, "%s", l->ailing);
    pthread_mutex_unlock(&w->lock);
    return true;
}

void ledger_stat(const struct ledger *l, struct ledger_stat *out)
{
    struct ledger *w = (struct ledger *)l;
    pthread_mutex_lock(&w->lock);
    *out = l->stat;
    out->queued = l->queued_rows;
    pthread_mutex_unlock(&w->lock);
}

void ledger_close(struct ledger **lp)
{
    struct ledger *l = *lp;
    if (!l)
        return;
    *lp = NULL;
    if (l->thread_runs) {
        pthread_mutex_lock(&l->lock);
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += (time_t)(CLOSE_PATIENCE_NS / 1000000000u);
        while (l->queue || l->busy)
            if (pthread_cond_timedwait(&l->idle, &l->lock, &until) == ETIMEDOUT)
                break;
        l->stop = true;
        pthread_cond_signal(&l->work);
        pthread_mutex_unlock(&l->lock);
        pthread_join(l->thread, NULL);
    }
    ledger_drain(l, ~0u);
    release(l);
}
