/* lease_fixture: actors and terms for the lease tests. */
#pragma once
#include "lease.h"
#include "scratch.h"

static inline actor_id daemon_id(enum actor_kind kind, unsigned index, uint64_t incarnation)
{
    return actor_to_id(&(struct actor){kind, 0, index, incarnation});
}
#define SYNTHD_A daemon_id(ACTOR_SYNTHD, 0, 1)
#define SYNTHD_B daemon_id(ACTOR_SYNTHD, 1, 1)
#define GPUD_A   daemon_id(ACTOR_GPUD, 0, 1)
#define GPUD_B   daemon_id(ACTOR_GPUD, 0, 2) /* the next incarnation of the same name */

static inline struct lease_terms terms_of(struct extent x, uint64_t job, uint32_t partition)
{
    struct lease_terms t = {.job = job,
                            .partition = partition,
                            .n_partitions = 4,
                            .attempt = 1,
                            .priority = 3,
                            .submitted_ns = 1000,
                            .deadline_ns = 2000,
                            .step_limit_ns = 3000,
                            .flags = LEASE_ALONE,
                            .domain_log2 = 12,
                            .target = GPUD_A,
                            .extent = x,
                            .w_offset = x.offset,
                            .a_offset = x.offset + 4096,
                            .b_offset = x.offset + 8192,
                            .w_count = 100,
                            .ab_count = 128,
                            .spool = "f00d.0"};
    memset(t.circuit, 0x5a, sizeof t.circuit);
    return t;
}

/* Grants row 0 to synthd A. */
static inline struct lease_ref granted(struct arena *a)
{
    struct extent x;
    struct lease_ref r;
    assert_true(extent_cut(a, 1, &x));
    struct lease_terms t = terms_of(x, 7, 2);
    assert_true(lease_grant(a, 0, &t, SYNTHD_A, &r));
    return r;
}

static inline struct lease_result sums_of(uint8_t fill)
{
    struct lease_result r = {.sums_bytes = LEASE_SUMS_MAX, .timing = {1, 2, 3}};
    memset(r.sums, fill, sizeof r.sums);
    return r;
}

/* Takes row 0 by legal edges from FREE to `to`. */
static inline struct lease_ref brought_to(struct arena *a, enum lease_state to)
{
    struct lease_ref r = granted(a);
    struct lease_result sums = sums_of(9);
    if (to == LEASE_FREE)
        assert_true(lease_withdraw(a, r));
    if (to >= LEASE_FILLING)
        assert_true(lease_claim(a, r, SYNTHD_A));
    if (to >= LEASE_READY)
        assert_true(lease_publish(a, r, SYNTHD_A));
    if (to >= LEASE_PROVING)
        assert_true(lease_take(a, r, GPUD_A));
    if (to == LEASE_UPLOADED)
        assert_true(lease_uploaded(a, r, GPUD_A));
    if (to == LEASE_PROVED)
        assert_true(lease_proved(a, r, GPUD_A, &sums));
    if (to == LEASE_FAILED)
        assert_true(lease_fail(a, r, GPUD_A, 14, "no such device"));
    assert_int_equal(lease_look(a, 0).state, to);
    return r;
}

/* Back to a FREE row without an extent, whatever it was. */
static inline void cleared(struct arena *a)
{
    struct lease_ref r = lease_ref_of(a, 0);
    struct lease_view v = lease_look(a, 0);
    struct extent x;
    bool ok = v.state == LEASE_FREE || lease_settle(a, r) || lease_withdraw(a, r) ||
              lease_abandon(a, r, v.owner);
    assert_true(ok);
    if (lease_extent_due(a, 0, &x))
        lease_extent_returned(a, 0);
}
