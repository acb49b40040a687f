/* timing: what finishing an attempt took, step by step: one FIN_TIMING line for each lease that was
 * PROVED or FAILED, on success, failure and discard alike, and the spans of those steps that
 * nobody else has written. Where malloc_trim runs after each partition, the line waits for it. */
#pragma once
#include "state.h"

/* The lease is about to be settled: notes what its row knows. */
struct fin_begin {
    uint64_t begin_ns, finish_ns[3], ended_ns; /* ended: when it became PROVED or FAILED */
};
void timing_before_settle(const struct flight *f, struct fin_begin *out);
void timing_settled(const struct flight *f, const struct fin_begin *b);

/* Logs what waited for malloc_trim, with the time it took. */
void timing_trimmed(struct desk *d, uint64_t trim_ns);
void timing_flush(struct desk *d); /* at the end: no trim will come any more */
