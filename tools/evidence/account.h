/* account: where a GPU's time went. Every nanosecond of a window is either busy (a kernel of this
 * GPU was running) or belongs to exactly one cause, so that the account sums to the wall clock.
 *
 * A gap is a stretch with no kernel running. What it was waiting for is asked of the partition
 * whose kernels end it: at each moment, which step was that partition in? Steps of the GPU itself
 * (its process down, registration, key load, the finish before) count for whoever is next. Where
 * two overlap, the one nearest to the GPU wins: the order of enum gap_cause is the precedence,
 * first before last. A moment at which the partition did not exist yet is no_work. A gap's own
 * cause is the one that has most of it. */
#pragma once
#include "collect.h"

/*      cause        name                        what the GPU was waiting for */
#define GAP_CAUSES(C)                                                                              \
    C(DOWN, "process_down", "its gpud was not running")                                            \
    C(REGISTRATION, "registration", "arenas were being mapped and registered")                     \
    C(KEY_LOAD, "key_load", "the proving key was being made resident")                             \
    C(COPY_IN, "copy_in", "copies from the arena to the device")                                   \
    C(FINISH, "previous_finish", "the partition before was still being collected")                 \
    C(DESCRIPTOR, "descriptor", "a message was on its way, or the desk was about to send it")      \
    C(MATRICES, "matrices", "synthd was evaluating the matrices")                                  \
    C(WITNESS, "witness", "synthd was reading or making the witness")                              \
    C(SYNTHD, "synthd", "no synthd was free")                                                      \
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
 * of that gpud; end_ns 0: to the last of any. */
enum err_code account_make(const struct spans *s, uint64_t begin_ns, uint64_t end_ns,
                           struct account **out, size_t *n, struct err *e);
void account_free(struct account **a, size_t n);
