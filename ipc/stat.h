/* stat: an actor's counters and heartbeats, a page in shared memory that readers never lock.
 *
 * Each counter carries its own sentence, so that what reads them (status, top, metrics) has no
 * table of its own. Counters only grow; gauges are set. Any thread of the owner may write. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "actors.h"
#include "err.h"

/*      id                 name                   kind     doc */
#define STATS(S)                                                                                   \
    S(JOBS_ACCEPTED, "jobs_accepted", COUNTER, "jobs committed to the ledger")                     \
    S(JOBS_REFUSED, "jobs_refused", COUNTER, "SUBMITs refused, with the reason")                   \
    S(JOBS_DONE, "jobs_done", COUNTER, "jobs that ended with every proof verified")                \
    S(JOBS_FAILED, "jobs_failed", COUNTER, "jobs that ended without, for a stated reason")         \
    S(PARTITIONS_FILLED, "partitions_filled", COUNTER, "leases published")                         \
    S(PARTITIONS_PROVED, "partitions_proved", COUNTER, "result cells written")                     \
    S(PARTITIONS_VERIFIED, "partitions_verified", COUNTER,                                         \
      "proofs that verified and were committed")                                                   \
    S(PARTITIONS_REJECTED, "partitions_rejected", COUNTER, "proofs that did not verify")           \
    S(PARTITIONS_FAILED, "partitions_failed", COUNTER, "attempts that ended in a stated failure")  \
    S(PARTITIONS_RETRIED, "partitions_retried", COUNTER, "attempts after the first")               \
    S(STALE_MESSAGES, "stale_messages", COUNTER, "messages about a lease that had moved on")       \
    S(REFUSED_FRAMES, "refused_frames", COUNTER, "frames dropped: malformed or not allowed")       \
    S(RESCANS_HELPED, "rescans_helped", COUNTER,                                                   \
      "leases found by re-scan, whose doorbell was lost")                                          \
    S(DEATHS, "deaths", COUNTER, "daemons proven dead")                                            \
    S(LATE_HEARTBEATS, "late_heartbeats", COUNTER,                                                 \
      "times a living actor was late with its heartbeat")                                          \
    S(MALLOC_TRIMS, "malloc_trims", COUNTER, "calls of malloc_trim")                               \
    S(COMMITS, "commits", COUNTER, "ledger commits")                                               \
    S(BYTES_COPIED, "bytes_copied", COUNTER, "bytes copied to a device")                           \
    S(GPU_BUSY_NS, "gpu_busy_ns", COUNTER, "time with a kernel running")                           \
    S(IN_FLIGHT, "in_flight", GAUGE, "leases held now")                                            \
    S(QUEUED, "queued", GAUGE, "partitions that wait for a grant now")                             \
    S(CHARGED_BYTES, "charged_bytes", GAUGE, "keys and matrices mapped or resident now")           \
    S(PINNED_BYTES, "pinned_bytes", GAUGE, "memory registered with a device now")

enum stat_kind { STAT_COUNTER, STAT_GAUGE };
enum stat_id {
#define S(id, name, kind, doc) STAT_##id,
    STATS(S)
#undef S
        STAT_IDS
};
struct stat_info {
    const char *name;
    enum stat_kind kind;
    const char *doc;
};
const struct stat_info *stat_info(enum stat_id id);

/* The page, 4 KiB: file NAME#INCARNATION.stat. */
struct stat_page {
    _Atomic uint64_t magic; /* stored last */
    uint32_t version, n;    /* n = STAT_IDS of the writer */
    uint32_t pid, reserved;
    uint64_t start_ticks, started_ns; /* started_ns: CLOCK_REALTIME */
    char boot_id[40];
    _Atomic uint64_t heartbeat_ns; /* CLOCK_MONOTONIC: the work loop turned last */
    char step[64];                 /* what it is doing, for a person; may be torn */
    _Atomic uint64_t value[128];
    /* The log's setting, as log.h has it: what it is, and what it is to be. A wish is written, then
     * counted; the daemon follows at its next heartbeat, then counts too. */
    char log_now[16], log_wish[16];
    _Atomic uint32_t log_wishes, log_followed;
};
_Static_assert(sizeof(struct stat_page) <= 4096, "one page");

struct stats; /* NULL is valid everywhere: nothing is written. The instance must outlive it. */
struct stats *stats_open(const struct instance *in, const struct actor *self, struct err *e);
void stats_close(struct stats **s); /* removes the page: a clean end; a crash leaves it */
void stat_add(struct stats *s, enum stat_id id, uint64_t n);
void stat_set(struct stats *s, enum stat_id id, uint64_t value);
void stat_heartbeat(struct stats *s);
void stat_step(struct stats *s, const char *step); /* cut to 63 bytes */

/* Asks the daemon for another log setting ("debug", "warn,json") and waits up to wait_ms until it
 * has it. ERR_VALUE: no such setting; ERR_UNAVAILABLE: it has no page, or does not follow: it is
 * dead, stopped or in a long step (then it follows later). */
enum err_code stat_set_log(const struct instance *in, const struct actor *who, const char *setting,
                           int wait_ms, struct err *e);

/* Reads every page there is, also of the dead; calls each(arg, actor, page) on a copy. */
typedef void stat_each(void *arg, const struct actor *who, const struct stat_page *page);
void stats_read(const struct instance *in, stat_each *each, void *arg);
