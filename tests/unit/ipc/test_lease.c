#include "lease_fixture.h"
#include <pthread.h>

static struct scratch scratch;
static struct arena arena;

static int setup(void **state)
{
    (void)state;
    scratch_open(&scratch);
    scratch_arena(&scratch, &arena, 0, 8, 8, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_detach(&arena);
    scratch_close(&scratch);
    return 0;
}

static void words_hold_every_view(void **state)
{
    (void)state;
    static const uint32_t generations[] = {0, 1, 0x7fffff, 0xffffff};
    for (size_t g = 0; g < 4; g++)
        for (unsigned s = 0; s < LEASE_STATES; s++)
            for (unsigned k = 0; k < 36; k++) {
                struct lease_view v = {generations[g], (enum lease_state)s, (UINT64_C(1) << k) | 1};
                struct lease_view w = lease_unpack(lease_pack(v));
                assert_true(v.generation == w.generation && v.state == w.state &&
                            v.owner == w.owner);
            }
    assert_int_equal(lease_pack((struct lease_view){0}), 0); /* fresh memory is FREE */
}

/* --- every state x every edge x every kind of caller ---------------------------------------- */

enum caller { RIGHT, WRONG_OWNER, NEXT_INCARNATION, STALE_GENERATION, OTHER_ARENA, CALLERS };

static bool try_edge(enum lease_edge edge, struct lease_ref r, actor_id synthd, actor_id gpud,
                     actor_id owner)
{
    struct lease_result sums = sums_of(1);
    struct lease_terms t = terms_of((struct extent){0, ARENA_GRANULE_BYTES}, 8, 0);
    struct lease_ref out;
    switch (edge) {
    case EDGE_GRANT:
        return lease_grant(&arena, r.row, &t, synthd, &out);
    case EDGE_CLAIM:
        return lease_claim(&arena, r, synthd);
    case EDGE_PUBLISH:
        return lease_publish(&arena, r, synthd);
    case EDGE_TAKE:
        return lease_take(&arena, r, gpud);
    case EDGE_UPLOADED:
        return lease_uploaded(&arena, r, gpud);
    case EDGE_PROVED:
        return lease_proved(&arena, r, gpud, &sums);
    case EDGE_FAIL:
        return lease_fail(&arena, r, owner, 5, "reason");
    case EDGE_SETTLE:
        return lease_settle(&arena, r);
    case EDGE_WITHDRAW:
        return lease_withdraw(&arena, r);
    case EDGE_ABANDON:
        return lease_abandon(&arena, r, owner);
    case EDGE_REASSIGN:
        return lease_reassign(&arena, r, gpud, GPUD_B);
    case EDGE_REQUEUE:
        return lease_requeue(&arena, r, gpud, GPUD_B);
    case LEASE_EDGES:
        break;
    }
    return false;
}

/* DESIGN's table, written a second time as data: from, edge, to. */
static const struct {
    enum lease_state from;
    enum lease_edge edge;
    enum lease_state to;
} table[] = {
    {LEASE_FREE, EDGE_GRANT, LEASE_GRANTED},        {LEASE_GRANTED, EDGE_CLAIM, LEASE_FILLING},
    {LEASE_FILLING, EDGE_PUBLISH, LEASE_READY},     {LEASE_READY, EDGE_TAKE, LEASE_PROVING},
    {LEASE_PROVING, EDGE_UPLOADED, LEASE_UPLOADED}, {LEASE_PROVING, EDGE_PROVED, LEASE_PROVED},
    {LEASE_UPLOADED, EDGE_PROVED, LEASE_PROVED},    {LEASE_FILLING, EDGE_FAIL, LEASE_FAILED},
    {LEASE_PROVING, EDGE_FAIL, LEASE_FAILED},       {LEASE_UPLOADED, EDGE_FAIL, LEASE_FAILED},
    {LEASE_PROVED, EDGE_SETTLE, LEASE_FREE},        {LEASE_FAILED, EDGE_SETTLE, LEASE_FREE},
    {LEASE_GRANTED, EDGE_WITHDRAW, LEASE_FREE},     {LEASE_READY, EDGE_WITHDRAW, LEASE_FREE},
    {LEASE_GRANTED, EDGE_ABANDON, LEASE_FREE},      {LEASE_FILLING, EDGE_ABANDON, LEASE_FREE},
    {LEASE_PROVING, EDGE_ABANDON, LEASE_FREE},      {LEASE_UPLOADED, EDGE_ABANDON, LEASE_FREE},
    {LEASE_READY, EDGE_REASSIGN, LEASE_READY},      {LEASE_PROVING, EDGE_REQUEUE, LEASE_READY},
};

static int legal(enum lease_state from, enum lease_edge edge)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].from == from && table[i].edge == edge)
            return (int)table[i].to;
    return -1;
}

/* Does the edge look at who calls? SETTLE, WITHDRAW and GRANT are the desk's and name no owner. */
static bool names_an_owner(enum lease_edge edge)
{
    return edge != EDGE_SETTLE && edge != EDGE_WITHDRAW && edge != EDGE_GRANT;
}

static void every_edge_from_every_state(void **state)
{
    (void)state;
    for (unsigned from = 0; from < LEASE_STATES; from++)
        for (unsigned edge = 0; edge < LEASE_EDGES; edge++)
            for (unsigned caller = 0; caller < CALLERS; caller++) {
                struct lease_ref r = brought_to(&arena, (enum lease_state)from);
                struct extent x;
                if (from == LEASE_FREE && lease_extent_due(&arena, 0, &x))
                    lease_extent_returned(&arena, 0);
                struct lease_view before = lease_look(&arena, 0);
                actor_id synthd = SYNTHD_A, gpud = GPUD_A, owner = before.owner;
                if (caller == WRONG_OWNER)
                    synthd = gpud = owner = SYNTHD_B;
                if (caller == NEXT_INCARNATION)
                    synthd = gpud = owner = GPUD_B;
                if (caller == STALE_GENERATION)
                    r.generation = (r.generation - 1) & 0xffffff;
                if (caller == OTHER_ARENA)
                    r.arena_epoch ^= 1;
                int to = legal((enum lease_state)from, (enum lease_edge)edge);
                bool wrong = names_an_owner((enum lease_edge)edge) ? caller != RIGHT
                                                                   : caller >= STALE_GENERATION;
                if (edge == EDGE_GRANT)
                    wrong = false; /* names a row, not an attempt */
                if (owner == 0 && (edge == EDGE_ABANDON || edge == EDGE_FAIL))
                    owner = SYNTHD_A;
                uint64_t made = arena.header->edges[edge], stale = arena.header->stale[edge];
                bool moved = try_edge((enum lease_edge)edge, r, synthd, gpud, owner);
                struct lease_view after = lease_look(&arena, 0);
                if (moved != (to >= 0 && !wrong))
                    fail_msg("%s from %s by caller %u: %s", lease_edge_name((enum lease_edge)edge),
                             lease_state_name((enum lease_state)from), caller,
                             moved ? "went through" : "was refused");
                assert_int_equal(arena.header->edges[edge] - made, moved);
                assert_int_equal(arena.header->stale[edge] - stale, !moved);
                if (moved) {
                    assert_int_equal(after.state, to);
                    assert_int_equal(after.generation,
                                     (before.generation + (edge == EDGE_GRANT)) & 0xffffff);
                } else {
                    assert_memory_equal(&after, &before, sizeof after);
                }
                if (edge == EDGE_GRANT && moved)
                    assert_true(extent_claim(&arena, (struct extent){0, ARENA_GRANULE_BYTES}));
                cleared(&arena);
                assert_int_equal(extent_free_bytes(&arena), arena.bulk_bytes);
            }
}

static void owners_are_as_the_table_says(void **state)
{
    (void)state;
    struct lease_ref r = granted(&arena);
    assert_int_equal(lease_look(&arena, 0).owner, SYNTHD_A);
    lease_claim(&arena, r, SYNTHD_A);
    lease_retarget(&arena, r, GPUD_B); /* its gpud was restarted meanwhile */
    lease_publish(&arena, r, SYNTHD_A);
    assert_int_equal(lease_look(&arena, 0).owner, GPUD_B);
    assert_true(lease_reassign(&arena, r, GPUD_B, GPUD_A));
    assert_true(lease_take(&arena, r, GPUD_A));
    assert_true(lease_requeue(&arena, r, GPUD_A, GPUD_B));
    assert_false(lease_take(&arena, r, GPUD_A));
    assert_true(lease_take(&arena, r, GPUD_B));
    assert_int_equal(lease_count(&arena, 1u << LEASE_PROVING, GPUD_B), 1);
    assert_int_equal(lease_count(&arena, 1u << LEASE_PROVING, GPUD_A), 0);
    assert_int_equal(lease_row(&arena, 0)->gpud, GPUD_B);
    assert_true(lease_row(&arena, 0)->at_ns[LEASE_PROVING] >=
                lease_row(&arena, 0)->at_ns[LEASE_GRANTED]);
    cleared(&arena);
}

static void terms_travel_whole(void **state)
{
    (void)state;
    struct extent x;
    struct lease_ref r;
    assert_true(extent_cut(&arena, 1, &x));
    struct lease_terms t = terms_of(x, 77, 3), back;
    memset(&back, 0xee, sizeof back);
    assert_true(lease_grant(&arena, 5, &t, SYNTHD_A, &r));
    assert_int_equal(r.row, 5);
    assert_int_equal(r.arena_epoch, arena.header->epoch);
    lease_terms_read(&arena, 5, &back);
    assert_memory_equal(&back, &t, sizeof t);
    assert_null(lease_row(&arena, 8));
    assert_false(
        lease_claim(&arena, (struct lease_ref){r.arena_epoch, 0, 4000000000u, 1}, SYNTHD_A));
    lease_withdraw(&arena, r);
    lease_extent_returned(&arena, 5);
}

static void results_are_whole_and_wiped(void **state)
{
    (void)state;
    struct lease_ref r = brought_to(&arena, LEASE_UPLOADED);
    struct lease_result in = sums_of(0xc3), out;
    assert_false(lease_result_read(&arena, r, &out)); /* not yet */
    assert_true(lease_proved(&arena, r, GPUD_A, &in));
    assert_true(lease_result_read(&arena, r, &out));
    assert_memory_equal(&in, &out, sizeof in);
    uint8_t *cell = (uint8_t *)arena.header + arena.header->cells_offset;
    for (size_t i = 0; i < sizeof(struct lease_cell) - sizeof((struct lease_cell *)0)->padding;
         i++) {
        cell[i] ^= 0x10; /* any byte */
        assert_false(lease_result_read(&arena, r, &out));
        for (size_t k = 0; k < sizeof out; k++)
            assert_int_equal(((uint8_t *)&out)[k], 0);
        cell[i] ^= 0x10;
    }
    assert_true(lease_result_read(&arena, r, &out));
    struct lease_ref old = r;
    assert_true(lease_settle(&arena, r));
    for (size_t i = 0; i < sizeof(struct lease_cell); i++)
        assert_int_equal(cell[i], 0); /* sums are secret */
    assert_false(lease_result_read(&arena, old, &out));
    cleared(&arena);

    r = brought_to(&arena, LEASE_FILLING);
    char longest[1000];
    memset(longest, 'x', sizeof longest);
    longest[999] = 0;
    assert_true(lease_fail(&arena, r, SYNTHD_A, 5, longest));
    assert_true(lease_result_read(&arena, r, &out));
    assert_int_equal(out.code, 5);
    assert_int_equal(strlen(out.reason), LEASE_REASON_MAX);
    cleared(&arena);
}

static void cancel_names_one_attempt(void **state)
{
    (void)state;
    struct lease_ref first = granted(&arena);
    assert_int_equal(lease_cancelled(&arena, first), CANCEL_NONE);
    lease_cancel(&arena, first, CANCEL_DEADLINE);
    assert_int_equal(lease_cancelled(&arena, first), CANCEL_DEADLINE);
    cleared(&arena);
    struct lease_ref second = granted(&arena);
    assert_int_equal(lease_cancelled(&arena, second), CANCEL_NONE);
    lease_cancel(&arena, first, CANCEL_BY_CLIENT); /* late: cancels nobody */
    assert_int_equal(lease_cancelled(&arena, second), CANCEL_NONE);
    assert_int_equal(lease_cancelled(&arena, first), CANCEL_NONE);
    cleared(&arena);
}

static void an_extent_is_due_only_when_nobody_touches_it(void **state)
{
    (void)state;
    for (unsigned s = 0; s < LEASE_STATES; s++) {
        struct extent x;
        brought_to(&arena, (enum lease_state)s);
        bool due = lease_extent_due(&arena, 0, &x);
        assert_int_equal(due, s == LEASE_FREE || s >= LEASE_UPLOADED);
        if (due) {
            lease_extent_returned(&arena, 0);
            assert_false(lease_extent_due(&arena, 0, &x));
            assert_int_equal(extent_free_bytes(&arena), arena.bulk_bytes);
        }
        cleared(&arena);
    }
    /* A row that still holds its extent is not granted again: the extent is not wiped yet. */
    struct extent x;
    struct lease_ref r = brought_to(&arena, LEASE_FREE);
    struct lease_terms t = terms_of((struct extent){0, ARENA_GRANULE_BYTES}, 1, 0);
    assert_false(lease_grant(&arena, 0, &t, SYNTHD_A, &r));
    assert_true(lease_extent_due(&arena, 0, &x));
    cleared(&arena);
}

static void recovery_rebuilds_the_map(void **state)
{
    (void)state;
    uint32_t in_use;
    struct err e = {0};
    struct lease_ref r = brought_to(&arena, LEASE_PROVING);
    struct extent lost;
    assert_true(extent_cut(&arena, 1, &lost)); /* cut, and the desk died before it was granted */
    memset((uint8_t *)arena.header + arena.header->cells_offset + 2048, 0x77, 2048); /* row 1 */
    assert_int_equal(lease_recover(&arena, &in_use, &e), ERR_OK);
    assert_int_equal(in_use, 1);
    assert_int_equal(extent_free_bytes(&arena), arena.bulk_bytes - ARENA_GRANULE_BYTES);
    assert_int_equal(((uint8_t *)arena.header)[arena.header->cells_offset + 2048 + 5], 0);
    assert_int_equal(lease_look(&arena, 0).state, LEASE_PROVING);
    lease_row(&arena, 3)->extent_offset = lease_row(&arena, 0)->extent_offset;
    lease_row(&arena, 3)->extent_bytes = ARENA_GRANULE_BYTES;
    lease_row(&arena, 3)->extent_held = 1;
    assert_int_equal(lease_recover(&arena, &in_use, &e), ERR_FORMAT);
    assert_non_null(strstr(e.text, "row 3"));
    lease_row(&arena, 3)->extent_held = 0;
    assert_int_equal(lease_recover(&arena, &in_use, &e), ERR_OK);
    lease_abandon(&arena, r, GPUD_A);
    cleared(&arena);
}

static void order_is_priority_age_job_partition(void **state)
{
    (void)state;
    struct lease_row x = {.priority = 1, .submitted_ns = 5, .job = 5, .partition = 5}, y = x;
    assert_int_equal(lease_order(&x, &y), 0);
    y.partition = 6;
    assert_true(lease_order(&x, &y) < 0 && lease_order(&y, &x) > 0);
    y.job = 4;
    assert_true(lease_order(&x, &y) > 0);
    y.submitted_ns = 6;
    assert_true(lease_order(&x, &y) < 0);
    y.priority = 0;
    assert_true(lease_order(&x, &y) > 0);
}

/* --- races ---------------------------------------------------------------------------------- */

static pthread_barrier_t barrier;
static struct lease_ref race_ref;

static void *race_claim(void *arg)
{
    pthread_barrier_wait(&barrier);
    *(bool *)arg = lease_claim(&arena, race_ref, SYNTHD_A);
    return NULL;
}

/* The desk withdraws while synthd claims: one of the two, never both, never neither. */
static void withdraw_against_claim(void **state)
{
    (void)state;
    unsigned claims = 0, withdrawals = 0;
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 2000; i++) {
        pthread_t t;
        bool claimed = false;
        race_ref = granted(&arena);
        pthread_create(&t, NULL, race_claim, &claimed);
        pthread_barrier_wait(&barrier);
        bool withdrawn = lease_withdraw(&arena, race_ref);
        pthread_join(t, NULL);
        assert_true(claimed != withdrawn);
        claims += claimed;
        withdrawals += withdrawn;
        cleared(&arena);
    }
    pthread_barrier_destroy(&barrier);
    print_message("%u claimed, %u withdrawn\n", claims, withdrawals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_hold_every_view),
        cmocka_unit_test(every_edge_from_every_state),
        cmocka_unit_test(owners_are_as_the_table_says),
        cmocka_unit_test(terms_travel_whole),
        cmocka_unit_test(results_are_whole_and_wiped),
        cmocka_unit_test(cancel_names_one_attempt),
        cmocka_unit_test(an_extent_is_due_only_when_nobody_touches_it),
        cmocka_unit_test(recovery_rebuilds_the_map),
        cmocka_unit_test(order_is_priority_age_job_partition),
        cmocka_unit_test(withdraw_against_claim),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
