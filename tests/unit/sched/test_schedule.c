/* Who is granted what, and when, on the desk's own code (model.h): order, priorities, the urgent
 * class, passes and their bounds, the ready queue, refusals. */
#include "keys.h"
#include "log.h"
#include "model.h"

#define KEY 100

static const struct model_config base = {.name = "base",
                                         .granules = 8,
                                         .rows = 12,
                                         .gpuds = 1,
                                         .synthds = 1,
                                         .ready_bound = 2,
                                         .synthd_credit = 2,
                                         .in_flight = 1,
                                         .evaluate = EVALUATE_SYNTHD,
                                         .room_passes = 3,
                                         .key_passes = 2,
                                         .early_upload = true,
                                         .circuit = {{1, 1, KEY, false}}};

static unsigned place_in_grants(uint64_t job, uint32_t partition)
{
    for (unsigned i = 0; i < model_n_granted; i++)
        if (model_granted[i].job == job && model_granted[i].partition == partition)
            return i;
    fail_msg("job %lu, partition %u was not granted", (unsigned long)job, partition);
    return 0;
}

static unsigned count_of(enum lease_state s)
{
    const struct arena *a = &model_desk()->nodes[0].arena;
    return lease_count(a, 1u << s, 0);
}

static void all_ends(void)
{
    model_hold_gpuds = model_hold_synthds = model_hold_clients = false;
    model_settle();
    assert_true(model_ended());
    model_close();
}

/* cuzk: a heap that is drained eagerly, so that partitions of two jobs interleave and both are
 * late. */
static void one_job_is_finished_before_the_next(void **state)
{
    struct model_config c = base;
    (void)state;
    c.job[0] = c.job[1] = c.job[2] = (struct model_job){0, 4, false};
    model_open(&c);
    model_settle();
    for (unsigned i = 0; i < 12; i++) {
        assert_int_equal(model_granted[i].job, i / 4 + 1);
        assert_int_equal(model_granted[i].partition, i % 4);
    }
    all_ends();
}

static void priority_goes_before_age(void **state)
{
    struct model_config c = base;
    (void)state;
    c.job[0] = c.job[1] = c.job[2] = (struct model_job){0, 3, false};
    c.late = 3;
    model_open(&c);
    model_hold_synthds = true;
    model_settle();
    struct desk *d = model_desk();
    /* Nobody was granted more than the synthd's credit; the rest is put in another order. */
    for (struct job *j = d->jobs; j; j = j->next) {
        bool waits = order_waits(&j->order);
        order_remove(d->order, &j->order);
        j->order.priority = (uint8_t)(3 - j->id);
        if (waits)
            order_put(d->order, &j->order);
    }
    model_hold_synthds = false;
    model_settle();
    assert_true(place_in_grants(3, 0) < place_in_grants(2, 0));
    assert_true(place_in_grants(2, 2) < place_in_grants(1, 2));
    all_ends();
}

/* cuzk: a WinningPoSt waits behind the partitions of everyone before it. */
static void urgent_overtakes_at_the_next_partition(void **state)
{
    struct model_config c = base;
    (void)state;
    c.circuit[1] = (struct model_circuit){1, 1, KEY, true};
    c.job[0] = (struct model_job){0, 10, false};
    c.job[1] = (struct model_job){1, 1, true};
    c.late = 1;
    model_open(&c);
    model_hold_gpuds = model_hold_clients = true;
    model_settle();
    unsigned before = model_n_granted;
    assert_true(before >= c.ready_bound && before < 10);
    model_hold_clients = false;
    model_settle();
    assert_true(place_in_grants(2, 0) ==
                before); /* the very next, though the GPU took nothing yet */
    const struct desk *d = model_desk();
    /* And it is ready, in an order in which the gpud takes it first. */
    for (uint32_t i = 0; i < c.rows; i++)
        if (lease_look(&d->nodes[0].arena, i).state == LEASE_READY)
            for (uint32_t k = 0; k < c.rows; k++)
                if (lease_row(&d->nodes[0].arena, i)->job == 2 &&
                    lease_look(&d->nodes[0].arena, k).state == LEASE_READY && k != i)
                    assert_true(lease_order(lease_row(&d->nodes[0].arena, i),
                                            lease_row(&d->nodes[0].arena, k)) < 0);
    all_ends();
}

/* cuzk: it has to find budget among PoRep's partitions. */
static void urgent_has_room_when_all_is_taken(void **state)
{
    struct model_config c = base;
    (void)state;
    c.granules = 7;
    c.early_upload = false;
    c.circuit[0] = (struct model_circuit){3, 1, KEY, false};
    c.circuit[1] = (struct model_circuit){1, 1, KEY, true};
    c.job[0] = (struct model_job){0, 6, false};
    c.job[1] = (struct model_job){1, 1, true};
    c.late = 1;
    model_open(&c);
    model_hold_gpuds = model_hold_clients = true;
    model_settle();
    assert_int_equal(extent_free_bytes(&model_desk()->nodes[0].arena), 0); /* 3 + 3, and 1 kept */
    assert_int_equal(model_n_granted, 2);
    model_hold_clients = false;
    model_settle();
    assert_int_equal(model_granted[2].job, 2); /* nothing had to end for it */
    all_ends();
}

/* cuzk: a 14 GiB item that waits for budget stops a 9 GiB one that would fit; or is overtaken for
 * ever. */
static void a_head_without_room_is_passed_so_often_and_no_more(void **state)
{
    struct model_config c = base;
    (void)state;
    c.granules = 4;
    c.early_upload = false;
    c.ready_bound = 8;
    c.circuit[0] = (struct model_circuit){1, 1, KEY, false};
    c.circuit[1] = (struct model_circuit){4, 1, KEY, false};
    c.job[0] = (struct model_job){0, 2, false};
    c.job[1] = (struct model_job){1, 1, false}; /* needs the whole arena */
    c.job[2] = (struct model_job){0, 20, false};
    model_open(&c);
    model_settle();
    unsigned at = place_in_grants(2, 0), passed = 0;
    for (unsigned i = 0; i < at; i++)
        passed += model_granted[i].job == 3;
    assert_int_equal(passed,
                     c.room_passes); /* some that fit went first, not one more than stated */
    all_ends();
}

static void a_resident_key_is_preferred_within_its_bound(void **state)
{
    struct model_config c = base;
    (void)state;
    c.device_limit = KEY + KEY / 2; /* one key at a time */
    c.circuit[1] = (struct model_circuit){1, 1, KEY, false};
    c.job[0] = (struct model_job){0, 2, false};
    c.job[1] = (struct model_job){1, 1, false};
    c.job[2] = (struct model_job){0, 8, false};
    model_open(&c);
    model_settle();
    unsigned at = place_in_grants(2, 0), passed = 0;
    for (unsigned i = 0; i < at; i++)
        passed += model_granted[i].job == 3;
    /* The key of circuit 0 was there; then room is waited for, then nobody goes before it. */
    print_message("passed %u times\n", passed);
    assert_true(passed >= 1 && passed <= c.key_passes + c.room_passes);
    all_ends();
}

/* cuzk: a rate controller that hoards memory or starves the GPU. Here: a bound. */
static void a_ready_queue_is_bounded_and_never_empty(void **state)
{
    struct model_config c = base;
    char what[64];
    (void)state;
    c.granules = 12;
    c.job[0] = (struct model_job){0, 30, false};
    model_open(&c);
    model_hold_gpuds = true;
    model_settle();
    /* A GPU that takes nothing: so many are filled, and no more, though there is room for twelve.
     */
    assert_true(count_of(LEASE_READY) >= c.ready_bound);
    assert_true(count_of(LEASE_READY) <= c.ready_bound + c.synthds * c.synthd_credit - 1);
    assert_int_equal(count_of(LEASE_GRANTED) + count_of(LEASE_FILLING), 0);
    model_hold_gpuds = false;
    unsigned left = 30;
    while (left > 4 && model_step(0, false, what)) {
        left = (unsigned)model_desk()->n_waiting;
        if (strncmp(what, "take", 4) ==
            0) /* whenever one is taken another is ready or on its way */
            assert_true(count_of(LEASE_READY) + count_of(LEASE_FILLING) + count_of(LEASE_GRANTED) >
                        0);
    }
    all_ends();
}

/* cuzk: a request larger than the total is logged, and blocks for ever. */
static void what_can_never_fit_is_refused_with_the_figures(void **state)
{
    struct model_config c = base;
    struct err e = {0};
    (void)state;
    c.circuit[1] = (struct model_circuit){9, 2, KEY, false};
    c.circuit[2] = (struct model_circuit){1, 1, UINT64_C(1) << 61, false};
    c.job[0] = (struct model_job){0, 1, false};
    model_open(&c);
    struct desk *d = model_desk();
    assert_int_equal(budget_can_ever(d, d->circuits[1], false, &e), ERR_MEMORY);
    assert_non_null(strstr(e.text, "18874368")); /* 9 granules */
    assert_non_null(strstr(e.text, "16777216")); /* of 8 */
    d->host_keys.limit = 1000;
    assert_int_equal(budget_can_ever(d, d->circuits[2], false, &e), ERR_MEMORY);
    assert_non_null(strstr(e.text, "leave 1000 of"));
    assert_non_null(strstr(e.text, "2305843009213693952"));
    d->set.evaluate = EVALUATE_GPU; /* then it needs room for w alone */
    assert_int_equal(budget_can_ever(d, d->circuits[1], false, &e), ERR_OK);
    all_ends();
}

/* cuzk: abc stays pinned in a free list after its budget was released. */
static void an_extent_comes_back_when_it_is_no_longer_read(void **state)
{
    struct model_config c = base;
    (void)state;
    c.granules = 1;
    c.in_flight = 2;
    c.job[0] = (struct model_job){0, 3, false};
    model_open(&c);
    struct desk *d = model_desk();
    char what[64];
    bool overlapped = false;
    while (model_step(0, false, what)) {
        model_check();
        bool uploaded = lease_count(&d->nodes[0].arena, 1u << LEASE_UPLOADED, 0) > 0;
        bool another = count_of(LEASE_GRANTED) + count_of(LEASE_FILLING) + count_of(LEASE_READY) +
                           count_of(LEASE_PROVING) >
                       0;
        overlapped = overlapped || (uploaded && another); /* one granule served two partitions */
        if (uploaded)
            assert_true(keys_find(&d->host_keys, 0)->users > 0); /* the key's charge stays */
    }
    (void)overlapped;
    all_ends();
}

/* ---- auto: who evaluates ---- */

static void the_gpu_evaluates_when_it_waits_for_synthd(void **state)
{
    struct model_config c = base;
    (void)state;
    c.evaluate = EVALUATE_AUTO;
    c.circuit[0] = (struct model_circuit){2, 1, KEY, false};
    c.granules = 24;
    c.job[0] = (struct model_job){0, 12, false};
    model_open(&c);
    model_hold_gpuds = true;
    model_settle(); /* the first find nothing ready; once some are, synthd evaluates */
    assert_true(model_granted[0].evaluate_gpu);
    assert_false(model_granted[model_n_granted - 1].evaluate_gpu);
    all_ends();
}

/* ---- keys ---- */

static void the_least_recently_used_idle_key_goes(void **state)
{
    struct key_set s = {.limit = 300};
    unsigned victim = 99;
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        keys_use(&s, i, 100, 10 + i);
        keys_report(&s, i, true, 100, 10 + i);
    }
    assert_int_equal(keys_room(&s, 3, 100), KEY_BUSY); /* all are in use: none is a victim */
    assert_false(keys_victim(&s, 100, &victim));
    keys_done(&s, 2, 20);
    keys_done(&s, 0, 30);
    assert_int_equal(keys_room(&s, 3, 100), KEY_EVICTS);
    assert_true(keys_victim(&s, 100, &victim));
    assert_int_equal(victim, 2);
    assert_false(keys_victim(&s, 100, &victim));         /* what is leaving suffices */
    assert_int_equal(keys_room(&s, 3, 100), KEY_EVICTS); /* charged until it has gone */
    keys_report(&s, 2, false, 0, 40);
    assert_int_equal(s.used, 200);
    assert_int_equal(keys_room(&s, 3, 100), KEY_FITS);
    assert_int_equal(keys_room(&s, 4, 1000), KEY_BUSY); /* larger than all: the whole, when idle */
    keys_done(&s, 1, 50);
    assert_true(keys_victim(&s, 1000, &victim) && victim == 0);
    assert_true(keys_victim(&s, 1000, &victim) && victim == 1);
    keys_use(&s, 1, 100, 60); /* wanted again before it went: it stays */
    assert_int_equal(keys_room(&s, 1, 100), KEY_RESIDENT);
    keys_report(&s, 0, false, 0, 61);
    keys_done(&s, 1, 62);
    keys_report(&s, 1, false, 0, 63);
    assert_int_equal(s.used, 0);
    keys_free(&s);
}

/* ---- order against sorting ---- */

static uint64_t state_of_draw = 7;
static uint32_t draw(uint32_t n)
{
    state_of_draw = state_of_draw * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)((state_of_draw >> 33) % n);
}

static void the_walk_is_the_documented_order(void **state)
{
    enum { N = 60 };
    static struct order_entry e[N];
    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        struct order *o = order_new(round % 2 ? 50 : 0);
        memset(e, 0, sizeof e);
        for (unsigned i = 0; i < N; i++) {
            e[i] = (struct order_entry){.urgent = draw(8) == 0,
                                        .priority = (uint8_t)draw(4),
                                        .submit_ns = draw(300),
                                        .id = i + 1,
                                        .circuit = draw(5)};
            order_put(o, &e[i]);
        }
        for (unsigned i = 0; i < N / 3; i++)
            order_remove(o, &e[draw(N)]);
        while (order_count(o) > 0) {
            struct order_entry *first = order_first(o), *at = first;
            for (unsigned i = 0; i < N; i++)
                if (order_waits(&e[i]) && &e[i] != first)
                    assert_true(order_before(o, first, &e[i]));
            for (struct order_entry *next; (next = order_next(o, at)); at = next)
                assert_true(order_before(o, at, next));
            order_remove(o, first);
        }
        order_free(&o);
    }
}

/* A priority ages: 1 goes before 0 that is younger by more than a step. */
static void low_priority_ages(void **state)
{
    struct order *o = order_new(100);
    struct order_entry old = {.priority = 1, .submit_ns = 0, .id = 1},
                       young = {.priority = 0, .submit_ns = 101, .id = 2},
                       near = {.priority = 0, .submit_ns = 99, .id = 3};
    (void)state;
    assert_true(order_before(o, &old, &young));
    assert_true(order_before(o, &near, &old));
    order_free(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_job_is_finished_before_the_next),
        cmocka_unit_test(priority_goes_before_age),
        cmocka_unit_test(urgent_overtakes_at_the_next_partition),
        cmocka_unit_test(urgent_has_room_when_all_is_taken),
        cmocka_unit_test(a_head_without_room_is_passed_so_often_and_no_more),
        cmocka_unit_test(a_resident_key_is_preferred_within_its_bound),
        cmocka_unit_test(a_ready_queue_is_bounded_and_never_empty),
        cmocka_unit_test(what_can_never_fit_is_refused_with_the_figures),
        cmocka_unit_test(an_extent_comes_back_when_it_is_no_longer_read),
        cmocka_unit_test(the_gpu_evaluates_when_it_waits_for_synthd),
        cmocka_unit_test(the_least_recently_used_idle_key_goes),
        cmocka_unit_test(the_walk_is_the_documented_order),
        cmocka_unit_test(low_priority_ages),
    };
    setenv("MILLRACE_LOG", "error", 1);
    log_init("schedule");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
