/* The account of a GPU's time: each cause planted in turn is named, and the sum is the wall clock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "account.h"
#include "trace.h"

#define MS UINT64_C(1000000)

static const struct span_source gpud = {.actor = {.kind = ACTOR_GPUD, .incarnation = 1},
                                        .thread = "take"};
static const struct span_source gpud_again = {.actor = {.kind = ACTOR_GPUD, .incarnation = 2},
                                              .thread = "take"};
static const struct span_source other_gpud = {
    .actor = {.kind = ACTOR_GPUD, .index = 1, .incarnation = 1}, .thread = "take"};
static const struct span_source synthd = {.actor = {.kind = ACTOR_SYNTHD, .incarnation = 1},
                                          .thread = "fill"};
static const struct span_source desk = {.actor = {.kind = ACTOR_FINALIZD, .incarnation = 1},
                                        .thread = "desk"};

static void put(struct spans *s, const struct span_source *from, enum span_kind kind, uint64_t job,
                uint64_t begin_ms, uint64_t end_ms)
{
    struct span x = {.kind = (uint16_t)kind,
                     .job = job,
                     .attempt = job ? 1 : 0,
                     .begin_ns = begin_ms * MS,
                     .end_ns = end_ms * MS};
    assert_int_equal(spans_add(s, &x, from, NULL), ERR_OK);
}

/* Kernels of job 1 until 100 ms and of job 2 from 200 ms on; what lies between is planted. */
static void frame(struct spans *s)
{
    put(s, &gpud, SPAN_KERNELS, 1, 10, 100);
    put(s, &gpud, SPAN_KERNELS, 2, 200, 300);
}

static struct account one(struct spans *s, uint64_t begin_ms, uint64_t end_ms)
{
    struct account *a, copy;
    size_t n;
    struct err e = {0};
    spans_sort(s);
    assert_int_equal(account_make(s, begin_ms * MS, end_ms * MS, &a, &n, &e), ERR_OK);
    assert_true(n >= 1);
    copy = a[0];
    uint64_t sum = copy.busy_ns;
    for (unsigned c = 0; c < GAP_CAUSE_COUNT; c++)
        sum += copy.by_cause_ns[c];
    assert_int_equal(sum, copy.end_ns - copy.begin_ns); /* the account is complete */
    a[0].gap = NULL;
    account_free(&a, n);
    spans_free(s);
    return copy;
}

static const struct gap *gap_at(const struct account *a, uint64_t begin_ms)
{
    for (size_t i = 0; i < a->n_gaps; i++)
        if (a->gap[i].begin_ns == begin_ms * MS)
            return &a->gap[i];
    fail_msg("no gap begins at %llu ms", (unsigned long long)begin_ms);
    return NULL;
}

static void each_cause_is_named(void **state)
{
    (void)state;
    static const struct {
        const struct span_source *from;
        enum span_kind kind;
        uint64_t job;
        enum gap_cause cause;
    } planted[] = {
        {&gpud, SPAN_REGISTER, 0, GAP_REGISTRATION}, {&gpud, SPAN_KEY_LOAD, 2, GAP_KEY_LOAD},
        {&gpud, SPAN_COPY_IN, 2, GAP_COPY_IN},       {&gpud, SPAN_PROVE_FINISH, 1, GAP_FINISH},
        {&synthd, SPAN_RING, 2, GAP_DESCRIPTOR},     {&synthd, SPAN_MATRICES, 2, GAP_MATRICES},
        {&synthd, SPAN_WITNESS, 2, GAP_WITNESS},     {&synthd, SPAN_PROGRAM, 2, GAP_WITNESS},
        {&desk, SPAN_SYNTHD_WAIT, 2, GAP_SYNTHD},    {&desk, SPAN_ROOM_WAIT, 2, GAP_ROOM},
        {&desk, SPAN_GRANT, 2, GAP_DESCRIPTOR},
    };
    for (size_t i = 0; i < sizeof planted / sizeof planted[0]; i++) {
        struct spans s = {0};
        frame(&s);
        put(&s, planted[i].from, planted[i].kind, planted[i].job, 110, 195);
        struct account a = one(&s, 10, 300);
        const struct gap *g = gap_at(&a, 100);
        assert_int_equal(g->end_ns, 200 * MS);
        assert_string_equal(gap_cause_name(g->cause), gap_cause_name(planted[i].cause));
        assert_int_equal(g->by_cause_ns[planted[i].cause],
                         planted[i].cause == GAP_DESCRIPTOR ? 90 * MS : 85 * MS);
        /* Before its first step it did not exist, after its last it is being handed over. */
        bool existed = planted[i].job == 2;
        if (existed && planted[i].cause != GAP_DESCRIPTOR)
            assert_int_equal(g->by_cause_ns[GAP_DESCRIPTOR], 5 * MS);
        assert_int_equal(g->by_cause_ns[GAP_NO_WORK], existed ? 10 * MS : 15 * MS);
        assert_int_equal(g->job, 2);
        free(a.gap);
    }
}

static void nothing_submitted_is_no_work(void **state)
{
    (void)state;
    struct spans s = {0};
    frame(&s);
    struct account a = one(&s, 10, 300);
    assert_int_equal(gap_at(&a, 100)->cause, GAP_NO_WORK);
    assert_int_equal(a.by_cause_ns[GAP_NO_WORK], 100 * MS);
    free(a.gap);
}

static void a_dead_gpud_is_process_down(void **state)
{
    (void)state;
    struct spans s = {0};
    put(&s, &gpud, SPAN_KERNELS, 1, 10, 100);
    put(&s, &gpud_again, SPAN_REGISTER, 0, 160, 180);
    put(&s, &gpud_again, SPAN_KERNELS, 2, 200, 300);
    struct account a = one(&s, 10, 300);
    const struct gap *g = gap_at(&a, 100);
    assert_int_equal(g->cause, GAP_DOWN);
    assert_int_equal(g->by_cause_ns[GAP_DOWN], 60 * MS);
    assert_int_equal(g->by_cause_ns[GAP_REGISTRATION], 20 * MS);
    free(a.gap);
}

static void the_nearer_to_the_gpu_wins(void **state)
{
    (void)state;
    struct spans s = {0};
    frame(&s);
    put(&s, &desk, SPAN_ROOM_WAIT, 2, 100, 170);
    put(&s, &synthd, SPAN_WITNESS, 2, 120, 150);
    put(&s, &gpud, SPAN_COPY_IN, 2, 140, 160);
    struct account a = one(&s, 10, 300);
    const struct gap *g = gap_at(&a, 100);
    assert_int_equal(g->by_cause_ns[GAP_ROOM], (20 + 10) * MS);
    assert_int_equal(g->by_cause_ns[GAP_WITNESS], 20 * MS);
    assert_int_equal(g->by_cause_ns[GAP_COPY_IN], 20 * MS);
    assert_int_equal(g->by_cause_ns[GAP_DESCRIPTOR], 30 * MS); /* after the copy */
    assert_int_equal(g->by_cause_ns[GAP_NO_WORK], 0);
    free(a.gap);
}

static void put_down(struct spans *s, const struct span_source *who, uint64_t begin_ms,
                     uint64_t end_ms)
{
    struct span x = {.kind = SPAN_DOWN,
                     .value = actor_to_id(&who->actor),
                     .begin_ns = begin_ms * MS,
                     .end_ns = end_ms * MS};
    assert_int_equal(spans_add(s, &x, &desk, NULL), ERR_OK);
}

/* What it had under way when it died is lost, and counts with the outage. */
static void the_desk_says_when_a_gpud_died(void **state)
{
    (void)state;
    struct spans s = {0};
    put(&s, &gpud, SPAN_KERNELS, 1, 10, 100);
    put(&s, &gpud, SPAN_PROVE_START, 2, 98, 99);
    put_down(&s, &gpud, 140, 170);
    put_down(&s, &gpud, 170, 190); /* in pieces */
    put(&s, &gpud_again, SPAN_REGISTER, 0, 180, 190);
    put(&s, &gpud_again, SPAN_KERNELS, 2, 200, 300);
    struct account a = one(&s, 10, 300);
    const struct gap *g = gap_at(&a, 100);
    assert_int_equal(g->by_cause_ns[GAP_DOWN], 80 * MS); /* 100 to 180 */
    assert_int_equal(g->by_cause_ns[GAP_REGISTRATION], 10 * MS);
    assert_int_equal(g->by_cause_ns[GAP_DESCRIPTOR], 10 * MS);
    free(a.gap);
}

static void a_dead_desk_counts_where_the_desk_was_waited_for(void **state)
{
    (void)state;
    struct spans s = {0};
    frame(&s);
    put(&s, &desk, SPAN_SYNTHD_WAIT, 2, 100, 140);
    put(&s, &synthd, SPAN_WITNESS, 2, 160, 195);
    put_down(&s, &desk, 110, 180);
    struct account a = one(&s, 10, 300);
    const struct gap *g = gap_at(&a, 100);
    assert_int_equal(g->by_cause_ns[GAP_SYNTHD], 10 * MS);
    assert_int_equal(g->by_cause_ns[GAP_DOWN], 50 * MS);
    assert_int_equal(g->by_cause_ns[GAP_WITNESS], 35 * MS);
    free(a.gap);
}

/* A table is looked through ten times a second: what is longer on its way is not taken. */
static void a_receiver_that_does_not_take_is_named(void **state)
{
    (void)state;
    struct spans s = {0};
    put(&s, &gpud, SPAN_KERNELS, 1, 10, 100);
    put(&s, &gpud, SPAN_KERNELS, 2, 1000, 1100);
    put(&s, &gpud, SPAN_KERNELS, 3, 2000, 2100);
    put(&s, &synthd, SPAN_GRANT, 2, 100, 1000);
    put(&s, &gpud, SPAN_RING, 3, 1100, 2000);
    struct account a = one(&s, 10, 2100);
    assert_int_equal(gap_at(&a, 100)->by_cause_ns[GAP_SYNTHD], 800 * MS);
    assert_int_equal(gap_at(&a, 100)->by_cause_ns[GAP_DESCRIPTOR], 100 * MS);
    assert_int_equal(gap_at(&a, 1100)->by_cause_ns[GAP_DOWN], 800 * MS);
    free(a.gap);
}

/* The gpud waits in prove_finish for the very partition that ends the gap. */
static void its_own_finish_is_no_finish_before_it(void **state)
{
    (void)state;
    struct spans s = {0};
    frame(&s);
    put(&s, &gpud, SPAN_PROVE_FINISH, 1, 50, 120);
    put(&s, &gpud, SPAN_COPY_IN, 2, 120, 195);
    put(&s, &gpud, SPAN_PROVE_FINISH, 2, 120, 301);
    struct account a = one(&s, 10, 300);
    assert_int_equal(gap_at(&a, 100)->by_cause_ns[GAP_FINISH], 20 * MS);
    assert_int_equal(gap_at(&a, 100)->by_cause_ns[GAP_COPY_IN], 75 * MS);
    free(a.gap);
}

/* A ring that has run over hides what was before: that time is not made up. */
static void an_account_begins_where_every_ring_is_whole(void **state)
{
    (void)state;
    struct span_source lossy = synthd;
    struct spans s = {0};
    frame(&s);
    lossy.lost = 7;
    put(&s, &lossy, SPAN_WITNESS, 1, 60, 70);
    struct account a = one(&s, 0, 0);
    assert_int_equal(a.begin_ns, 60 * MS);
    assert_int_equal(a.end_ns, 300 * MS);
    assert_int_equal(a.busy_ns, 140 * MS);
    free(a.gap);
}

static void steps_of_others_do_not_count(void **state)
{
    (void)state;
    struct spans s = {0};
    frame(&s);
    put(&s, &synthd, SPAN_WITNESS, 3, 100, 200);      /* another partition's */
    put(&s, &other_gpud, SPAN_REGISTER, 0, 100, 200); /* another GPU's */
    put(&s, &other_gpud, SPAN_KERNELS, 3, 210, 220);
    struct account a = one(&s, 10, 300);
    assert_int_equal(gap_at(&a, 100)->cause, GAP_NO_WORK);
    assert_int_equal(a.partitions, 2);
    free(a.gap);
}

static void overlapping_kernels_are_busy_once(void **state)
{
    (void)state;
    struct spans s = {0};
    put(&s, &gpud, SPAN_KERNELS, 1, 10, 100);
    put(&s, &gpud, SPAN_KERNELS, 2, 90, 150);
    put(&s, &gpud, SPAN_KERNELS, 3, 95, 120);
    struct account a = one(&s, 0 + 10, 160);
    assert_int_equal(a.busy_ns, 140 * MS);
    assert_int_equal(a.n_gaps, 1); /* the tail, which nothing ended */
    assert_int_equal(a.gap[0].job, 0);
    free(a.gap);
}

static void the_window_clips(void **state)
{
    (void)state;
    struct spans s = {0};
    frame(&s);
    struct account a = one(&s, 50, 250);
    assert_int_equal(a.busy_ns, 100 * MS);
    assert_int_equal(a.by_cause_ns[GAP_NO_WORK], 100 * MS);
    free(a.gap);
}

static void a_trace_is_json_with_tracks_and_arrows(void **state)
{
    (void)state;
    struct spans s = {0};
    put(&s, &desk, SPAN_QUEUE_WAIT, 1, 5, 6);
    put(&s, &synthd, SPAN_WITNESS, 1, 6, 8);
    put(&s, &gpud, SPAN_COPY_IN, 1, 8, 9);
    put(&s, &gpud, SPAN_KERNELS, 1, 9, 12);
    spans_sort(&s);
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    struct err e;
    assert_int_equal(trace_write(out, &s, 0, 0, &e), ERR_OK);
    fclose(out);
    json_error_t at;
    json_t *o = json_loads(text, 0, &at);
    assert_non_null(o);
    unsigned spans = 0, starts = 0, steps = 0, ends = 0, names = 0;
    size_t i;
    json_t *event;
    json_array_foreach(json_object_get(o, "traceEvents"), i, event)
    {
        const char *ph = json_string_value(json_object_get(event, "ph"));
        assert_true(json_is_integer(json_object_get(event, "pid")));
        spans += ph[0] == 'X';
        starts += ph[0] == 's';
        steps += ph[0] == 't';
        ends += ph[0] == 'f';
        names += ph[0] == 'M';
        if (ph[0] == 'X')
            assert_true(json_is_number(json_object_get(event, "dur")));
    }
    assert_int_equal(spans, 3); /* and a wait */
    assert_int_equal(starts, 1);
    assert_int_equal(steps, 1);
    assert_int_equal(ends, 1);
    assert_int_equal(names, 6); /* three processes, a thread, copy engine, stream */
    json_decref(o);
    free(text);
    spans_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cause_is_named),
        cmocka_unit_test(nothing_submitted_is_no_work),
        cmocka_unit_test(a_dead_gpud_is_process_down),
        cmocka_unit_test(the_nearer_to_the_gpu_wins),
        cmocka_unit_test(the_desk_says_when_a_gpud_died),
        cmocka_unit_test(a_dead_desk_counts_where_the_desk_was_waited_for),
        cmocka_unit_test(a_receiver_that_does_not_take_is_named),
        cmocka_unit_test(its_own_finish_is_no_finish_before_it),
        cmocka_unit_test(an_account_begins_where_every_ring_is_whole),
        cmocka_unit_test(steps_of_others_do_not_count),
        cmocka_unit_test(overlapping_kernels_are_busy_once),
        cmocka_unit_test(the_window_clips),
        cmocka_unit_test(a_trace_is_json_with_tracks_and_arrows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
