/* account_parts: what account.c asks of account_claims.c: at each moment of a gap, who claims it?
 * Private to the account. */
#pragma once
#include "account.h"

/* A stretch of time that a step claims for its cause; of two that overlap the lower rank wins. */
struct claim {
    uint64_t begin, end;
    enum gap_cause cause;
    unsigned rank;
};
struct claims {
    struct claim *at;
    size_t n, cap;
};

/* Is it the same daemon, whichever run of it? */
bool is_run_of(const struct spans *s, unsigned source, const struct actor *daemon);

/* The spans of an account, ordered for questions about one gap after the other. */
struct sight {
    const struct spans *spans;
    const struct account *account;
    const struct seen_span **part; /* those of partitions, by job, partition, begin */
    size_t n_part;
    const struct seen_span **own; /* steps of the GPU itself that keep others waiting, by begin */
    uint64_t *own_reach;          /* the latest end of own[0 .. i] */
    size_t n_own;
    const struct seen_span **death; /* DOWN spans, as the desk has them */
    size_t n_deaths;
    struct claims down; /* when its gpud or the desk was not there */
};
enum err_code sight_make(struct sight *v, const struct spans *s, const struct account *a,
                         struct err *e);
void sight_free(struct sight *v);

/* Everything that claims a part of the gap. */
enum err_code claims_of_gap(const struct sight *v, const struct gap *g, struct claims *out,
                            struct err *e);
