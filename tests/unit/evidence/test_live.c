/* The live view against an instance that this test plays: stat pages, rings, a lease. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "live.h"

struct world {
    char dir[64];
    struct instance in;
    struct live *live;
};

static int begin(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    struct err e;
    strcpy(w->dir, "/tmp/millrace-live-XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    assert_int_equal(instance_create(w->dir, &e), ERR_OK);
    assert_int_equal(instance_open(&w->in, w->dir, &e), ERR_OK);
    struct live_options o = {.window_s = 5, .ask_s = -1, .account_of_window = true};
    w->live = live_open(&w->in, &o, &e);
    assert_non_null(w->live);
    *state = w;
    return 0;
}

static int end(void **state)
{
    struct world *w = *state;
    char command[128];
    live_close(&w->live);
    instance_close(&w->in);
    snprintf(command, sizeof command, "rm -rf %s", w->dir);
    assert_int_equal(system(command), 0);
    free(w);
    return 0;
}

static const struct live_view *turn(struct world *w)
{
    struct err e = {0};
    assert_int_equal(live_turn(w->live, 0, &e), ERR_OK);
    return live_view(w->live);
}

static const struct actor gpud = {.kind = ACTOR_GPUD, .incarnation = 1};
static const struct actor gpud_again = {.kind = ACTOR_GPUD, .incarnation = 2};

static void an_instance_that_is_down(void **state)
{
    const struct live_view *v = turn(*state);
    assert_int_equal(v->n_actors, 0);
    assert_int_equal(v->n_nodes, 0);
    assert_int_equal(v->n_partitions, 0);
    assert_false(v->desk.present);
}

static void counters_never_fall_when_a_daemon_restarts(void **state)
{
    struct world *w = *state;
    struct err e;
    struct stats *s = stats_open(&w->in, &gpud, &e);
    assert_non_null(s);
    stat_add(s, STAT_PARTITIONS_PROVED, 7);
    stat_set(s, STAT_IN_FLIGHT, 2);
    stat_step(s, "proving");
    const struct live_view *v = turn(w);
    assert_int_equal(v->n_actors, 1);
    assert_string_equal(v->actor[0].name, "gpud.0");
    assert_string_equal(v->actor[0].step, "proving");
    assert_true(v->actor[0].running);
    assert_int_equal(v->actor[0].total[STAT_PARTITIONS_PROVED], 7);
    stat_add(s, STAT_PARTITIONS_PROVED, 3); /* after our last look: its page tells it */
    struct stats *again = stats_open(&w->in, &gpud_again, &e);
    stat_add(again, STAT_PARTITIONS_PROVED, 5);
    v = turn(w);
    assert_int_equal(v->n_actors, 1);
    assert_int_equal(v->actor[0].who.incarnation, 2);
    assert_int_equal(v->actor[0].value[STAT_PARTITIONS_PROVED], 5);
    assert_int_equal(v->actor[0].total[STAT_PARTITIONS_PROVED], 15);
    assert_int_equal(v->actor[0].total[STAT_IN_FLIGHT], 0); /* a gauge is of now */
    stats_close(&again);
    stats_close(&s);
    assert_int_equal(turn(w)->n_actors, 0);
}

static void one_span(struct span_ring *r, enum span_kind kind, uint64_t job, uint32_t partition,
                     uint64_t begin_ns, uint64_t end_ns)
{
    struct span_who who = {.job = job, .partition = partition, .attempt = 1, .row = UINT32_MAX};
    span_write(r, kind, &who, begin_ns, end_ns, 0);
}

static unsigned shown;
static void count_span(void *arg, const struct span *s, const struct span_source *from)
{
    (void)arg;
    (void)s;
    assert_string_equal(from->thread, "take");
    shown++;
}

static void spans_stand_with_their_partition(void **state)
{
    struct world *w = *state;
    struct err e;
    shown = 0;
    live_on_span(w->live, count_span, NULL);
    struct span_ring *r = span_ring_open(&w->in, &gpud, "take", &e);
    assert_non_null(r);
    uint64_t now = span_now_ns(), s = 1000000000;
    one_span(r, SPAN_KERNELS, 4, 1, now - 60 * s, now - 59 * s); /* before the window */
    one_span(r, SPAN_KERNELS, 5, 1, now - 2 * s, now - s);
    one_span(r, SPAN_WITNESS, 5, 0, now - 4 * s, now - 3 * s);
    one_span(r, SPAN_KERNELS, 5, 0, now - 3 * s, now - 2 * s);
    one_span(r, SPAN_JOB, 5, 0, now - 5 * s, now);
    one_span(r, SPAN_RELEASE, 5, 1, now, now + 1); /* ended after the reader began */
    const struct live_view *v = turn(w);
    assert_int_equal(v->n_partitions, 2);
    assert_int_equal(v->partition[0].partition, 0);
    assert_int_equal(v->partition[0].n, 2);
    assert_int_equal(v->spans.at[v->span_of[v->partition[0].first]].s.kind, SPAN_WITNESS);
    assert_int_equal(v->partition[1].n, 2);
    assert_true(v->partition[0].begin_ns < v->partition[1].begin_ns);
    assert_int_equal(shown, 2); /* the job and the release; the others ended before */
    assert_int_equal(v->n_accounts, 1);
    uint64_t sum = v->account[0].busy_ns;
    for (unsigned c = 0; c < GAP_CAUSE_COUNT; c++)
        sum += v->account[0].by_cause_ns[c];
    assert_int_equal(sum, v->account[0].end_ns - v->account[0].begin_ns);
    turn(w);
    assert_int_equal(shown, 2); /* nothing is shown twice */
    span_ring_close(&r);
}

static void the_step_that_a_lease_is_in_is_a_span_until_now(void **state)
{
    struct world *w = *state;
    struct err e = {0};
    char folder[] = "/dev/shm/millrace-live-XXXXXX";
    struct arena_header report;
    struct arena a;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(symlinkat(folder, w->in.run_fd, "arena"), 0);
    int fd = instance_arena_fd(&w->in, &e);
    struct arena_request rq = {.bulk_bytes = 8 << 20, .rows = 8, .n_threads = 1};
    assert_int_equal(arena_create(fd, &rq, &report, &e), ERR_OK);
    assert_int_equal(arena_attach(&a, fd, 0, ARENA_DESK, &e), ERR_OK);
    struct lease_terms t = {.job = 9, .partition = 2, .n_partitions = 3, .attempt = 1};
    struct actor synthd = {.kind = ACTOR_SYNTHD, .index = 1, .incarnation = 4};
    struct lease_ref ref;
    assert_true(extent_cut(&a, 4 << 20, &t.extent));
    t.target = actor_to_id(&gpud);
    assert_true(lease_grant(&a, 3, &t, actor_to_id(&synthd), &ref));
    const struct live_view *v = turn(w);
    assert_int_equal(v->n_nodes, 1);
    assert_int_equal(v->node[0].used_bytes, 4 << 20);
    assert_int_equal(v->node[0].largest_free_bytes, 4 << 20);
    assert_int_equal(v->node[0].count[LEASE_GRANTED], 1);
    assert_int_equal(v->node[0].count[LEASE_FREE], 7);
    assert_int_equal(v->n_leases, 1);
    assert_int_equal(v->lease[0].row, 3);
    assert_int_equal(v->lease[0].owner.index, 1);
    assert_int_equal(v->lease[0].gpud.kind, ACTOR_GPUD);
    assert_int_equal(v->n_partitions, 1);
    assert_true(v->partition[0].open);
    assert_int_equal(v->partition[0].job, 9);
    assert_int_equal(v->partition[0].n, 1);
    const struct span *step = &v->spans.at[v->span_of[v->partition[0].first]].s;
    assert_int_equal(step->kind, SPAN_GRANT);
    assert_int_equal(step->reserved, LIVE_STEP_OPEN);
    assert_int_equal(step->end_ns, v->now_ns);
    assert_int_equal(turn(w)->spans.n, 1); /* made anew each time, never twice */
    arena_detach(&a);
    arena_remove(fd);
    close(fd);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(turn(w)->n_nodes, 0); /* its arenas are gone: no error */
}

static void a_silent_gpud_has_an_account_of_no_work(void **state)
{
    struct world *w = *state;
    struct err e;
    struct stats *s = stats_open(&w->in, &gpud, &e);
    const struct live_view *v = turn(w);
    assert_int_equal(v->n_accounts, 1);
    assert_int_equal(v->account[0].by_cause_ns[GAP_NO_WORK], v->now_ns - v->begin_ns);
    stats_close(&s);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(an_instance_that_is_down),
        TEST(counters_never_fall_when_a_daemon_restarts),
        TEST(spans_stand_with_their_partition),
        TEST(a_silent_gpud_has_an_account_of_no_work),
        TEST(the_step_that_a_lease_is_in_is_a_span_until_now),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
