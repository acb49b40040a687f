#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include "ledger_impl.h"

enum { RETRY_NS = 100000000 };
#define CLOSE_PATIENCE_NS 5000000000ull
#define PRUNED_MAX 4096u

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
    "CREATE TABLE IF NOT EXISTS circuits(digest BLOB PRIMARY KEY, alias TEXT UNIQUE, path TEXT,"
    " dev INTEGER, inode INTEGER, size INTEGER, mtime_ns INTEGER, urgent INTEGER) WITHOUT ROWID;"
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
static void enqueue(struct ledger *l, struct ledger_op *op)
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

/* An op with room for extra bytes; *room walks through them as strings and blobs are copied in. */
static struct ledger_op *new_op(enum ledger_kind kind, size_t extra, ledger_done *done, void *arg)
{
    struct ledger_op *op = calloc(1, sizeof *op + extra);
    INVARIANT(op != NULL);
    op->kind = kind;
    op->n_rows = 1;
    op->done = done;
    op->arg = arg;
    return op;
}

static size_t text_bytes(const char *s)
{
    return s ? strlen(s) + 1 : 1;
}

static const char *keep_text(unsigned char **room, const char *s)
{
    size_t n = text_bytes(s);
    char *to = (char *)*room;
    if (s)
        memcpy(to, s, n);
    else
        *to = 0;
    *room += n;
    return to;
}

static const uint8_t *keep_blob(unsigned char **room, const uint8_t *p, size_t n)
{
    if (!p)
        return NULL;
    uint8_t *to = *room;
    memcpy(to, p, n);
    *room += n;
    return to;
}

void ledger_submit(struct ledger *l, const struct ledger_job *j, ledger_done *done, void *arg)
{
    INVARIANT(j->n_partitions >= 1 && j->n_partitions <= LEDGER_PARTITIONS_MAX);
    struct ledger_op *op =
        new_op(OP_SUBMIT, text_bytes(j->client) + text_bytes(j->request) + text_bytes(j->spool),
               done, arg);
    unsigned char *room = op->bytes;
    op->job = *j;
    op->job.client = keep_text(&room, j->client);
    op->job.request = keep_text(&room, j->request);
    op->job.spool = keep_text(&room, j->spool);
    op->job.reason = "";
    enqueue(l, op);
}

void ledger_attempt(struct ledger *l, uint64_t job, uint32_t index, uint32_t attempt,
                    ledger_done *done, void *arg)
{
    struct ledger_op *op = new_op(OP_ATTEMPT, 0, done, arg);
    op->part = (struct ledger_partition){.job = job, .index = index, .attempts = attempt};
    enqueue(l, op);
}

void ledger_death(struct ledger *l, const struct ledger_partition *p, const char *how,
                  const char *actor, ledger_done *done, void *arg)
{
    struct ledger_op *op = new_op(OP_DEATH, text_bytes(how) + text_bytes(actor), done, arg);
    unsigned char *room = op->bytes;
    op->part = *p;
    op->part.proof = op->part.publics = NULL;
    op->how = keep_text(&room, how);
    op->actor = keep_text(&room, actor);
    enqueue(l, op);
}

void ledger_result(struct ledger *l, const struct ledger_partition *p, ledger_done *done, void *arg)
{
    struct ledger_op *op =
        new_op(OP_RESULT, (size_t)p->proof_bytes + p->publics_bytes, done, arg);
    unsigned char *room = op->bytes;
    op->part = *p;
    op->part.proof = keep_blob(&room, p->proof, p->proof_bytes);
    op->part.publics = keep_blob(&room, p->publics, p->publics_bytes);
    enqueue(l, op);
}

void ledger_end(struct ledger *l, uint64_t job, enum ledger_job_state state,
                enum err_code reason_code, const char *reason, uint64_t end_ns, ledger_done *done,
                void *arg)
{
    struct ledger_op *op = new_op(OP_END, text_bytes(reason), done, arg);
    unsigned char *room = op->bytes;
    op->job = (struct ledger_job){
        .id = job, .state = state, .reason_code = reason_code, .end_ns = end_ns};
    op->job.reason = keep_text(&room, reason);
    enqueue(l, op);
}

void ledger_circuit_put(struct ledger *l, const struct ledger_circuit *c, ledger_done *done,
                        void *arg)
{
    struct ledger_op *op =
        new_op(OP_CIRCUIT_PUT, text_bytes(c->alias) + text_bytes(c->path), done, arg);
    unsigned char *room = op->bytes;
    op->circuit = *c;
    op->circuit.alias = keep_text(&room, c->alias);
    op->circuit.path = keep_text(&room, c->path);
    enqueue(l, op);
}

void ledger_circuit_drop(struct ledger *l, const uint8_t digest[32], ledger_done *done, void *arg)
{
    struct ledger_op *op = new_op(OP_CIRCUIT_DROP, 0, done, arg);
    memcpy(op->circuit.digest, digest, 32);
    enqueue(l, op);
}

void ledger_prune(struct ledger *l, uint64_t before_ns, uint32_t limit, ledger_done *done, void *arg)
{
    struct ledger_op *op = new_op(OP_PRUNE, 0, done, arg);
    op->before = before_ns;
    op->limit = limit < PRUNED_MAX ? limit : PRUNED_MAX;
    enqueue(l, op);
}

void ledger_fetch(struct ledger *l, uint64_t id, const char *client, const char *request,
                  ledger_done *done, void *arg)
{
    struct ledger_op *op = new_op(OP_FETCH, text_bytes(client) + text_bytes(request), done, arg);
    unsigned char *room = op->bytes;
    op->job.id = id;
    op->job.client = keep_text(&room, client);
    op->job.request = keep_text(&room, request);
    enqueue(l, op);
}

void ledger_list(struct ledger *l, const char *client, uint64_t before, uint32_t limit,
                 ledger_done *done, void *arg)
{
    struct ledger_op *op = new_op(OP_LIST, text_bytes(client), done, arg);
    unsigned char *room = op->bytes;
    op->job.client = client ? keep_text(&room, client) : NULL;
    op->before = before;
    op->limit = limit;
    enqueue(l, op);
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
        snprintf(l->ailing, sizeof l->ailing, "the ledger cannot be written: %s",
                 sqlite3_errmsg(l->db));
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

const char *ledger_ailing(const struct ledger *l)
{
    return atomic_load(&l->is_ailing) ? l->ailing : NULL;
}

void ledger_stat(const struct ledger *l, struct ledger_stat *out)
{
    struct ledger *w = (struct ledger *)l; /* the lock is not part of the value */
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
