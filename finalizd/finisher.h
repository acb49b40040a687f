/* finisher: the threads that turn the five sums of a PROVED lease into a proof that is known to
 * verify.
 *
 *   desk: finisher_put(f, &item)       item is the caller's until its verdict comes back
 *   thread: up to 16 items of one circuit: read cell, draw r and s, form A B C, check all at once,
 *           bisect on failure, wipe what was secret
 *   desk: finisher_drain(f)            item->done(item) with the verdict
 *
 * The oldest waiting item chooses the circuit; whatever else waits for it rides along. The lease
 * stays PROVED meanwhile: only the desk's thread settles it, after the verdict is committed. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "arena.h"
#include "assemble.h"
#include "lease.h"
#include "span.h"

enum { FINISH_BATCH = 16 };

struct finish {
    struct finish *next; /* private */
    /* In. */
    const struct circuit *circuit;
    const struct arena *arena;
    struct lease_ref ref;
    const fr_t *publics; /* circuit->n_public plain scalars */
    struct span_who who;
    uint64_t proved_ns; /* when the result cell was written */
    void (*done)(struct finish *f);
    /* Out: ERR_OK and the proof; ERR_REJECTED: what failed first; ERR_FORMAT: the result cell is
     * torn or of another attempt. */
    struct proof proof;
    struct err verdict;
    uint64_t began_ns, formed_ns, check_ns, checked_ns; /* formed until check: for its batch */
    uint32_t batch;                                     /* how many were checked together */
    uint64_t timing[LEASE_TIMING_WORDS]; /* struct prove_timing, for GPU_TIMING lines */
};

/* What a finisher does with sums; the benchmark of the desk gives one that accepts all. */
struct finisher_ops {
    void (*assemble)(const struct circuit *ck, const struct groth16_sums *sums, struct proof *out);
    enum err_code (*verify_batch)(const struct verification_key *vk, const fr_t *const *publics,
                                  const struct proof *proofs, size_t m, bool *bad, struct err *e);
};
extern const struct finisher_ops finisher_groth16;

struct finisher;
/* in, self: where the span rings of the threads are made; in NULL: no rings. */
struct finisher *finisher_new(unsigned threads, const struct finisher_ops *ops,
                              const struct instance *in, const struct actor *self, struct err *e);
void finisher_free(struct finisher **f); /* every item put must have been drained, or is dropped */
void finisher_put(struct finisher *f, struct finish *item);
int finisher_fd(const struct finisher *f);
unsigned finisher_drain(struct finisher *f);
