/* ledger: what the desk may never forget, in one SQLite file.
 *
 * WAL, synchronous = FULL, one writer thread. Writes are queued by the desk, committed in groups
 * (a group closes 2 ms after its first row or at 512 rows, whichever is first) and answered after
 * their commit: a `done` callback runs on the desk's thread, from ledger_drain.
 *
 *        desk thread                    writer thread
 *   ledger_submit ... ──queue──▶  BEGIN, rows ..., COMMIT (fsync)
 *   ledger_drain  ◀──eventfd+list──  replies
 *
 * Replies come in the order of the calls, but for refused submissions, which do not wait for writes
 * that are being tried again. Two kinds of write:
 *   - a *submission* may be refused: when its group cannot be committed it is answered with
 *     ERR_IO and has left nothing behind;
 *   - everything else *must* be kept: its group is rolled back, kept in order and tried again every
 *     100 ms until it commits (the disk is full: the desk keeps PROVED leases meanwhile). While
 *     that is so ledger_ailing says why, and new submissions are refused at once.
 *
 * Job ids start at 1, grow, and are never used twice in a ledger, also after pruning.
 * Times are nanoseconds of CLOCK_REALTIME. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "err.h"

struct ledger;

enum {
    LEDGER_NAME_MAX = 128, /* client, request id, alias, spool file: bytes with the 0 */
    LEDGER_PARTITIONS_MAX = 65535,
    LEDGER_GROUP_ROWS = 512,
    LEDGER_GROUP_NS = 2000000,
};

enum ledger_job_state {
    LEDGER_JOB_OPEN = 0,
    LEDGER_JOB_DONE = 1,   /* every partition has a verified proof */
    LEDGER_JOB_FAILED = 2, /* for the reason given */
    LEDGER_JOB_CANCELLED = 3,
    LEDGER_JOB_DEADLINE = 4,
};

enum ledger_job_flag {
    LEDGER_VOLATILE = 1 << 0,   /* its inputs are not kept: it does not survive a crash */
    LEDGER_INPUT_JSON = 1 << 1, /* inputs are input.json files for the circuit's program */
    LEDGER_URGENT = 1 << 2,
};

struct ledger_job {
    uint64_t id;
    const char *client, *request; /* request: "" when the client gave none */
    const char *spool;            /* inputs are SPOOL.0 .. SPOOL.(n-1) in the instance's spool */
    uint8_t content[32];          /* hash of what was submitted */
    uint8_t circuit[32];
    uint32_t priority, flags; /* flags: enum ledger_job_flag */
    uint32_t n_partitions;
    uint64_t submit_ns, deadline_ns; /* deadline 0: none */
    enum ledger_job_state state;
    enum err_code reason_code;
    const char *reason; /* "" unless failed */
    uint64_t end_ns;
};

struct ledger_partition {
    uint64_t job;
    uint32_t index;
    uint32_t attempts, deaths_alone, rejections;
    bool done;
    const uint8_t *proof, *publics; /* NULL when not asked for or not done */
    uint32_t proof_bytes, publics_bytes;
};

struct ledger_circuit {
    uint8_t digest[32];
    const char *alias; /* "" none; the newest circuit of a name has it */
    bool urgent;       /* its extent and key have room reserved */
};

/* What a done callback gets. Pointers live until it returns. */
struct ledger_reply {
    struct err err; /* err.code: ERR_OK, or why not */
    bool existing;  /* submit: the client's request id is known; id and content are that job's */
    uint64_t id;
    uint8_t content[32];
    bool won; /* result: this proof is the partition's first; row counts for prune */
    uint32_t rows;
    const struct ledger_job *jobs; /* fetch, list */
    uint32_t n_jobs;
    const struct ledger_partition *partitions; /* fetch: with proofs, in index order */
    uint32_t n_partitions;
};
typedef void ledger_done(void *arg, const struct ledger_reply *r);

/* Opens or creates the file, upgrades nothing: a schema of another version is ERR_UNSUPPORTED.
 * Raises the epoch by one, durably. vfs: NULL for the system's (tests give theirs). */
enum err_code ledger_open(struct ledger **out, const char *path, const char *vfs, struct err *e);

/* Waits until everything queued is committed (bounded: 5 s when the disk is full; what is then
 * left is answered with ERR_IO), ends the thread, closes. Runs the last done callbacks. */
void ledger_close(struct ledger **l);

uint64_t ledger_epoch(const struct ledger *l);
uint64_t ledger_take_job_id(struct ledger *l); /* the next id, never given out before */

/* Recovery: every row that a starting desk needs, called before the first write. Circuits first,
 * then open jobs by id, each with its partitions by index right after it. Pointers live until the
 * callback returns. */
struct ledger_reader {
    void *arg;
    void (*circuit)(void *arg, const struct ledger_circuit *c);
    void (*job)(void *arg, const struct ledger_job *j);
    void (*partition)(void *arg, const struct ledger_partition *p);
};
enum err_code ledger_load(struct ledger *l, const struct ledger_reader *r, struct err *e);

/* Writes. Everything is copied; done may be NULL. */
void ledger_submit(struct ledger *l, const struct ledger_job *j, ledger_done *done, void *arg);
void ledger_attempt(struct ledger *l, uint64_t job, uint32_t index, uint32_t attempt,
                    ledger_done *done, void *arg);
/* A death while this partition was in flight, or a proof that did not verify. `how` is a word for
 * the attempts table; the counts are the partition's new ones. */
void ledger_death(struct ledger *l, const struct ledger_partition *p, const char *how,
                  const char *actor, ledger_done *done, void *arg);
/* First proof of a partition wins: reply.won is false when it had one, and nothing is changed. */
void ledger_result(struct ledger *l, const struct ledger_partition *p, ledger_done *done,
                   void *arg);
void ledger_end(struct ledger *l, uint64_t job, enum ledger_job_state state,
                enum err_code reason_code, const char *reason, uint64_t end_ns, ledger_done *done,
                void *arg);
void ledger_circuit_put(struct ledger *l, const struct ledger_circuit *c, ledger_done *done,
                        void *arg);
void ledger_circuit_drop(struct ledger *l, const uint8_t digest[32], ledger_done *done, void *arg);
/* Forgets jobs that ended before before_ns, at most `limit`; reply.rows says how many went. */
void ledger_prune(struct ledger *l, uint64_t before_ns, uint32_t limit, ledger_done *done,
                  void *arg);

/* Reads, answered like writes. fetch: one job with its proofs (n_jobs 0: unknown); by id, or by
 * client and request when id is 0. list: at most `limit` jobs with an id above `after`, ascending,
 * of a client ("": of all) in a state (-1: in any). */
void ledger_fetch(struct ledger *l, uint64_t id, const char *client, const char *request,
                  ledger_done *done, void *arg);
void ledger_list(struct ledger *l, const char *client, int state, uint64_t after, uint32_t limit,
                 ledger_done *done, void *arg);

/* Readable when replies wait; ledger_drain runs them and returns how many. Desk thread. At most
 * `limit` are run in one call, the rest stay and the descriptor stays readable. */
int ledger_fd(const struct ledger *l);
unsigned ledger_drain(struct ledger *l, unsigned limit);

/* False when commits succeed, else true and one line that says why they do not. */
bool ledger_ailing(const struct ledger *l, char *why, size_t n);

/* For `status` and the spans: groups, rows, time of the last commit. */
struct ledger_stat {
    uint64_t groups, rows, failures, commit_ns_total, commit_ns_max, queued;
};
void ledger_stat(const struct ledger *l, struct ledger_stat *out);
