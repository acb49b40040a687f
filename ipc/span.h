/* span: one timed step of one partition in one thread, written to a ring in shared memory.
 *
 *     struct span_ring *ring = span_ring_open(&instance, &self, "fill", &err);    once a thread
 *     uint64_t t0 = span_now_ns();
 *     ...
 *     span_write(ring, SPAN_WITNESS, &who, t0, span_now_ns(), bytes);
 *
 * One writer a ring, fixed-size records, no lock, no system call, under 100 ns. Readers (top,
 * trace, gaps, metrics) map the file read-only, never lock, and are told when they were overrun.
 * The file outlives its process, so what a crashed one did last can be read. A ring that cannot be
 * made (no room on the tmpfs) is NULL, and every function here takes NULL and does nothing: no
 * work is ever lost for want of evidence. MILLRACE_SPANS=off in a daemon's environment turns its
 * spans off: then there is nothing to see, and nothing to pay. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include "actors.h"
#include "err.h"

/*      kind             name              value      doc */
#define SPANS(S)                                                                                   \
    S(QUEUE_WAIT, "queue_wait", "",                                                                \
      "finalizd: from ACCEPTED (or the failure before) until the partition was first in order")    \
    S(ROOM_WAIT, "room_wait", "bytes", "finalizd: first in order, no extent or budget for it")     \
    S(SYNTHD_WAIT, "synthd_wait", "", "finalizd: room was there, no synthd free to fill it")       \
    S(ATTEMPT, "attempt", "", "finalizd: the attempt written to the ledger, before its grant")     \
    S(GRANT, "grant", "", "desk to synthd: GRANT sent until the lease was claimed")                \
    S(FILL_WAIT, "fill_wait", "",                                                                  \
      "synthd: its input is there, waiting behind others to be filled")                            \
    S(WITNESS, "witness", "bytes",                                                                 \
      "synthd: the witness read from the spool into the extent and checked")                       \
    S(PROGRAM, "program", "", "synthd: the circuit's witness program ran on input.json")           \
    S(MATRICES, "matrices", "rows", "synthd: A w and B w evaluated into the extent")               \
    S(PUBLISH, "publish", "", "synthd: lease published, gpud rung")                                \
    S(RING, "ring", "", "synthd to gpud: published until taken off the table")                     \
    S(READY_WAIT, "ready_wait", "", "gpud: ready here, waiting behind others for a slot")          \
    S(KEY_LOAD, "key_load", "bytes", "gpud: a key made resident; synthd: its matrices mapped")     \
    S(KEY_EVICT, "key_evict", "bytes", "gpud: a proving key given back")                           \
    S(REGISTER, "register", "bytes", "gpud: an arena mapped and registered with the device")       \
    S(COPY_IN, "copy_in", "bytes", "gpud: host to device copy of w, a, b; timed on the GPU")       \
    S(COPY_OUT, "copy_out", "bytes", "gpud: results to the host; timed on the GPU")                \
    S(KERNEL_MATRICES, "kernel_matrices", "", "gpud: A w and B w on the GPU")                      \
    S(KERNEL_NTT, "kernel_ntt", "", "gpud: transforms of the quotient; timed on the GPU")          \
    S(KERNEL_CLASSIFY, "kernel_classify", "",                                                      \
      "gpud: scalars sorted into buckets; timed on the GPU")                                       \
    S(KERNEL_MSM_A, "kernel_msm_a", "", "gpud: sum over the A query; timed on the GPU")            \
    S(KERNEL_MSM_B1, "kernel_msm_b1", "", "gpud: sum over the B query in G1; timed on the GPU")    \
    S(KERNEL_MSM_B2, "kernel_msm_b2", "", "gpud: sum over the B query in G2; timed on the GPU")    \
    S(KERNEL_MSM_L, "kernel_msm_l", "", "gpud: sum over the L query; timed on the GPU")            \
    S(KERNEL_MSM_H, "kernel_msm_h", "", "gpud: sum over the H query; timed on the GPU")            \
    S(KERNELS, "kernels", "", "gpud: first to last kernel of this partition; timed on the GPU")    \
    S(PROVE_START, "prove_start", "", "gpud: copies and kernels queued")                           \
    S(PROVE_FINISH, "prove_finish", "", "gpud: waiting for the sums and collecting them")          \
    S(RELEASE, "release", "", "gpud: result cell written, lease moved to PROVED or FAILED")        \
    S(GPU_TOTAL, "gpu_total", "", "gpud: ready until released: the total of a GPU_TIMING line")    \
    S(DESK_WAIT, "desk_wait", "", "finalizd: PROVED written until a finisher began with it")       \
    S(RESULT, "result", "", "finalizd: result cell read, blinding drawn, proof formed")            \
    S(PAIRING, "pairing", "proofs", "finalizd: subgroup and pairing check, alone or batched")      \
    S(COMMIT, "commit", "rows", "finalizd: ledger commit")                                         \
    S(WIPE, "wipe", "bytes", "finalizd: an extent overwritten before its next use")                \
    S(SETTLE, "settle", "", "finalizd: verdict committed until the lease was free")                \
    S(MALLOC_TRIM, "malloc_trim", "partitions", "finalizd: malloc_trim, where configured")         \
    S(FIN_TOTAL, "fin_total", "",                                                                  \
      "gpud, finalizd: prove_finish begun until the lease was free: the total of a FIN_TIMING "    \
      "line")                                                                                      \
    S(JOB, "job", "partitions", "finalizd: ACCEPTED until DONE")                                   \
    S(DESK_TURN, "desk_turn", "events",                                                            \
      "finalizd: one turn of the desk's loop that took over 1 ms")                                 \
    S(IDLE, "idle", "", "gpud: nothing in flight and nothing ready")                               \
    S(DOWN, "down", "actor", "finalizd: from a daemon's proven end until its successor was READY")

enum span_kind {
    SPAN_NONE = 0,
#define S(kind, name, value, doc) SPAN_##kind,
    SPANS(S)
#undef S
        SPAN_KINDS
};
struct span_info {
    const char *name, *value, *doc; /* value: the unit of span.value; "" when it has none */
};
const struct span_info *span_info(enum span_kind kind); /* NULL when unknown */

/* One record, 64 bytes. Times are CLOCK_MONOTONIC; GPU steps are mapped to it. */
struct span {
    uint64_t sequence; /* 1, 2, 3 ... in its ring */
    uint64_t begin_ns, end_ns;
    uint64_t job;   /* 0: belongs to no job */
    uint64_t value; /* in the unit of its kind */
    uint32_t partition, attempt;
    uint16_t kind;    /* enum span_kind */
    uint16_t outcome; /* enum err_code: 0 when the step went well */
    uint32_t row;     /* lease row | node << 16; UINT32_MAX: none */
    uint64_t reserved;
};
_Static_assert(sizeof(struct span) == 64, "shared layout");

enum { SPAN_RING_RECORDS = 8192, SPAN_THREAD_MAX = 24 };

/* Whom a span belongs to. */
struct span_who {
    uint64_t job;
    uint32_t partition, attempt, row;
    uint16_t outcome;
};
#define SPAN_NOBODY (&(const struct span_who){.row = UINT32_MAX})

static inline uint64_t span_now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* --- the writer: one thread a ring --------------------------------------------------------- */

struct span_ring;
/* thread: a word ("desk", "take", "stream0"); the file is NAME#INCARNATION.THREAD.spans. NULL with
 * the reason in e when it cannot be made. */
struct span_ring *span_ring_open(const struct instance *in, const struct actor *self,
                                 const char *thread, struct err *e);
void span_ring_close(struct span_ring **r); /* the file stays for the readers */
void span_write(struct span_ring *r, enum span_kind kind, const struct span_who *who,
                uint64_t begin_ns, uint64_t end_ns, uint64_t value);

/* --- readers ------------------------------------------------------------------------------- */

struct span_reader; /* all rings of an instance, also of processes that are gone */
struct span_reader *span_reader_new(const struct instance *in, struct err *e);
void span_reader_free(struct span_reader **r);
struct span_source {
    struct actor actor;
    char thread[SPAN_THREAD_MAX];
    uint64_t lost; /* overwritten before this reader came to them, since it began */
};
/* The next span that was not read yet from any ring (rings one after the other, each in order);
 * false when there is none now. Looks for new rings each time it comes round. */
bool span_reader_next(struct span_reader *r, struct span *out, const struct span_source **from);
