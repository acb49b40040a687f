/* account: where a GPU's time went. Every nanosecond of a window is either busy (a kernel of this
 * GPU was running) or belongs to exactly one cause, so that the account sums to the wall clock.
 *
 * A gap is a stretch with no kernel running. What it was waiting for is asked of the partition
 * whose kernels end it: at each moment, which step was that partition in? Steps of the GPU itself
 * (registration, its process down, key load, the finish before) count for whoever is next. Where
 * two overlap, the one nearest to the GPU wins: the order of enum gap_cause is the precedence,
 * first before last. The fine print:
 *   - a descriptor is at most 100 ms on its way, for whoever it is for looks through the table at
 *     least so often; what lasts longer is a receiver that does not take: a synthd that is stopped
 *     is `synthd`, a gpud that is stopped is `process_down` (behind steps that it does report);
 *   - while the partition is between two steps it is `descriptor`; before it was submitted it is
 *     `no_work`;
 *   - finalizd down is `process_down` where the partition was waiting for the desk, and nothing
 *     where it was in a step that goes on without;
 *   - what a gpud had under way when it died is lost: that time is `process_down` too;
 *   - a gap that nothing has ended yet is asked of every partition that is on its way.
 * A gap's own cause is the one that has most of it. */
#pragma once
#include "collect.h"

/*      cause        name                        what the GPU was waiting for */
#define GAP_CAUSES(C)                                                                              \
    C(REGISTRATION, "registration", "arenas were being mapped and registered")                     \
    C(DOWN, "process_down", "its gpud was not running, or finalizd was not")                       \
    C(KEY_LOAD, "key_load", "the proving key was being made resident")                             \
    C(COPY_IN, "copy_in", "copies from the arena to the device")                                   \
    C(FINISH, "previous_finish", "the partition before was still being collected")                 \
    C(DESCRIPTOR, "descriptor", "a message was on its way, or the desk was about to send it")      \
    C(MATRICES, "matrices", "synthd was evaluating the matrices")                                  \
    C(WITNESS, "witness", "synthd was reading or making the witness")                              \
    C(SYNTHD, "synthd", "no synthd was free, or it did not take")                                  \
    C(ROOM, "room", "no extent or key budget was free")                                            \
    C(NO_WORK, "no_work", "nothing had been submitted")

enum gap_cause {
#define C(cause, name, doc) GAP_##cause,
    GAP_CAUSES(C)
#undef C
        GAP_CAUSE_COUNT
};
const char *gap_cause_name(enum gap_cause c);
const char *gap_cause_doc(enum gap_cause c);

struct gap {
    uint64_t begin_ns, end_ns;
    enum gap_cause cause;
    uint64_t by_cause_ns[GAP_CAUSE_COUNT];
    uint64_t job; /* the partition that ended it; 0: none did within the window */
    uint32_t partition, attempt;
};

struct account {
    struct actor gpud; /* kind and index; incarnation 0: all of its runs */
    uint64_t begin_ns, end_ns, busy_ns;
    uint64_t by_cause_ns[GAP_CAUSE_COUNT];
    uint32_t partitions; /* whose kernels ran */
    struct gap *gap;     /* ascending, all of them */
    size_t n_gaps;
};

/* One account for each gpud that wrote into these (sorted) spans. begin_ns 0: from the first span
 * of that gpud, or from where every ring that has run over is whole; end_ns 0: to the last of any.
 */
enum err_code account_make(const struct spans *s, uint64_t begin_ns, uint64_t end_ns,
                           struct account **out, size_t *n, struct err *e);
void account_free(struct account **a, size_t n);
