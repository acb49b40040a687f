#include "scratch.h"
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include "evidence.h"
#include "span.h"
#include "stat.h"

static const struct actor gpud = {ACTOR_GPUD, 0, 0, 1};

static void spans_are_read_in_order_and_loss_is_told(void **state)
{
    (void)state;
    struct scratch s;
    struct err e = {0};
    struct span got;
    const struct span_source *from;
    scratch_open(&s);
    struct span_ring *ring = span_ring_open(&s.in, &gpud, "take", &e);
    struct span_reader *r = span_reader_new(&s.in, &e);
    assert_non_null(ring);
    assert_false(span_reader_next(r, &got, &from));
    struct span_who who = {.job = 9, .partition = 2, .attempt = 1, .row = 5, .outcome = 14};
    span_write(ring, SPAN_COPY_IN, &who, 100, 200, 4096);
    assert_true(span_reader_next(r, &got, &from));
    assert_true(actor_equal(&from->actor, &gpud));
    assert_string_equal(from->thread, "take");
    assert_int_equal(got.kind, SPAN_COPY_IN);
    assert_int_equal(got.job, 9);
    assert_int_equal(got.partition, 2);
    assert_int_equal(got.begin_ns, 100);
    assert_int_equal(got.end_ns, 200);
    assert_int_equal(got.value, 4096);
    assert_int_equal(got.outcome, 14);
    assert_int_equal(got.row, 5);
    for (uint64_t i = 0; i < SPAN_RING_RECORDS + 100; i++)
        span_write(ring, SPAN_PAIRING, SPAN_NOBODY, i, i + 1, i);
    uint64_t n = 0, last = 0;
    while (span_reader_next(r, &got, &from)) {
        assert_true(n == 0 || got.value == last + 1);
        last = got.value;
        n++;
    }
    assert_int_equal(n, SPAN_RING_RECORDS);
    assert_int_equal(from->lost, 100);
    span_reader_free(&r);
    span_ring_close(&ring);
    span_write(NULL, SPAN_PAIRING, SPAN_NOBODY, 0, 0, 0); /* no ring: nothing happens */
    scratch_close(&s);
}

static void a_crashed_process_leaves_its_spans(void **state)
{
    (void)state;
    struct scratch s;
    struct err e = {0};
    scratch_open(&s);
    pid_t pid = fork();
    if (pid == 0) {
        struct span_ring *ring = span_ring_open(&s.in, &gpud, "take", &e);
        struct stats *stats = stats_open(&s.in, &gpud, &e);
        stat_add(stats, STAT_PARTITIONS_PROVED, 3);
        stat_step(stats, "proving job 4 partition 2");
        span_write(ring, SPAN_KERNELS, SPAN_NOBODY, 1, 2, 3);
        raise(SIGKILL);
    }
    waitpid(pid, NULL, 0);
    struct span got;
    const struct span_source *from;
    struct span_reader *r = span_reader_new(&s.in, &e);
    assert_true(span_reader_next(r, &got, &from));
    assert_int_equal(got.kind, SPAN_KERNELS);
    span_reader_free(&r);
    scratch_close(&s);
}

static void spans_can_be_turned_off(void **state)
{
    (void)state;
    struct scratch s;
    struct err e = {0};
    scratch_open(&s);
    setenv("MILLRACE_SPANS", "off", 1);
    assert_null(span_ring_open(&s.in, &gpud, "take", &e));
    assert_non_null(strstr(e.text, "MILLRACE_SPANS"));
    setenv("MILLRACE_SPANS", "on", 1);
    struct span_ring *ring = span_ring_open(&s.in, &gpud, "take", &e);
    assert_non_null(ring);
    span_ring_close(&ring);
    unsetenv("MILLRACE_SPANS");
    scratch_close(&s);
}

/* Killed wherever it happens to be, also in the middle of a record: what is read is whole. */
static void a_process_killed_while_it_writes_leaves_whole_spans(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 40; round++) {
        struct scratch s;
        struct err e = {0};
        int ready[2];
        char byte = 0;
        scratch_open(&s);
        assert_int_equal(pipe(ready), 0);
        pid_t pid = fork();
        if (pid == 0) {
            struct span_ring *ring = span_ring_open(&s.in, &gpud, "take", &e);
            for (uint64_t i = 1;; i++) {
                span_write(ring, SPAN_COMMIT, &(struct span_who){.job = i}, i, i ^ UINT64_MAX,
                           i * 3);
                if (i == 1000 + 500 * round && write(ready[1], &byte, 1) != 1)
                    _exit(1);
            }
        }
        assert_int_equal(read(ready[0], &byte, 1), 1);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        struct span_reader *r = span_reader_new(&s.in, &e);
        struct span got;
        const struct span_source *from = NULL;
        uint64_t n = 0;
        while (span_reader_next(r, &got, &from)) {
            assert_int_equal(got.job, got.sequence);
            assert_int_equal(got.begin_ns, got.job);
            assert_int_equal(got.end_ns, got.job ^ UINT64_MAX);
            assert_int_equal(got.value, got.job * 3);
            n++;
        }
        /* All that fit into the ring, but for the one that it died in. */
        uint64_t whole =
            1000 + 500 * round < SPAN_RING_RECORDS ? 1000 + 500 * round : SPAN_RING_RECORDS;
        assert_true(n + 1 >= whole);
        span_reader_free(&r);
        close(ready[0]);
        close(ready[1]);
        scratch_close(&s);
    }
}

/* One writer at full speed, one reader: every span the reader gets is whole. */
static _Atomic bool stop;

static void *write_all_the_time(void *arg)
{
    for (uint64_t i = 1; !stop; i++)
        span_write(arg, SPAN_COMMIT, &(struct span_who){.job = i, .partition = (uint32_t)i}, i,
                   i ^ UINT64_MAX, i * 3);
    return NULL;
}

static void readers_never_see_half_a_span(void **state)
{
    (void)state;
    struct scratch s;
    struct err e = {0};
    pthread_t t;
    scratch_open(&s);
    struct span_ring *ring = span_ring_open(&s.in, &gpud, "desk", &e);
    struct span_reader *r = span_reader_new(&s.in, &e);
    stop = false;
    pthread_create(&t, NULL, write_all_the_time, ring);
    uint64_t seen = 0;
    const struct span_source *from = NULL;
    for (uint64_t until = span_now_ns() + 300000000; span_now_ns() < until;) {
        struct span got;
        if (!span_reader_next(r, &got, &from))
            continue;
        assert_int_equal(got.job, got.sequence);
        assert_int_equal(got.begin_ns, got.job);
        assert_int_equal(got.end_ns, got.job ^ UINT64_MAX);
        assert_int_equal(got.value, got.job * 3);
        seen++;
    }
    stop = true;
    pthread_join(t, NULL);
    assert_true(seen > 1000);
    print_message("%llu read, %llu overrun\n", (unsigned long long)seen,
                  (unsigned long long)from->lost);
    span_reader_free(&r);
    span_ring_close(&ring);
    scratch_close(&s);
}

static void count_one(void *arg, int dir_fd, const char *name, const struct actor *who,
                      const char *suffix)
{
    (void)dir_fd;
    (void)name;
    (void)who;
    (void)suffix;
    ++*(int *)arg;
}

/* A thousand restarts must not fill the tmpfs. */
static void only_the_last_incarnations_are_kept(void **state)
{
    (void)state;
    struct scratch s;
    struct err e = {0};
    int n = 0;
    scratch_open(&s);
    for (uint64_t run = 1; run <= 20; run++) {
        struct actor a = {ACTOR_SYNTHD, 0, 1, run};
        struct span_ring *ring = span_ring_open(&s.in, &a, "fill", &e);
        assert_non_null(ring);
        span_ring_close(&ring);
    }
    evidence_scan(&s.in, ".spans", count_one, &n);
    assert_int_equal(n, EVIDENCE_KEPT + 1);
    scratch_close(&s);
}

static void note_page(void *arg, const struct actor *who, const struct stat_page *page)
{
    if (who->kind == ACTOR_GPUD)
        memcpy(arg, page, sizeof *page);
}

static void stats_are_seen_and_go_with_a_clean_end(void **state)
{
    (void)state;
    struct scratch s;
    struct err e = {0};
    struct stat_page page = {0};
    scratch_open(&s);
    struct stats *stats = stats_open(&s.in, &gpud, &e);
    stat_add(stats, STAT_DEATHS, 2);
    stat_add(stats, STAT_DEATHS, 1);
    stat_set(stats, STAT_QUEUED, 7);
    stat_step(stats,
              "a step with a name that is far longer than the sixty-three bytes it may have");
    stats_read(&s.in, note_page, &page);
    assert_int_equal(page.value[STAT_DEATHS], 3);
    assert_int_equal(page.value[STAT_QUEUED], 7);
    assert_int_equal(page.pid, getpid());
    assert_int_equal(strlen(page.step), 63);
    assert_true(page.heartbeat_ns <= span_now_ns() && page.heartbeat_ns > 0);
    stats_close(&stats);
    page = (struct stat_page){0};
    stats_read(&s.in, note_page, &page);
    assert_int_equal(page.n, 0);
    stat_add(NULL, STAT_DEATHS, 1);
    scratch_close(&s);
}

static void every_kind_is_documented(void **state)
{
    (void)state;
    for (int k = 1; k < SPAN_KINDS; k++)
        assert_true(strlen(span_info((enum span_kind)k)->doc) > 10);
    for (int k = 0; k < STAT_IDS; k++)
        assert_true(strlen(stat_info((enum stat_id)k)->doc) > 10);
    assert_null(span_info(SPAN_NONE));
    assert_null(span_info(SPAN_KINDS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_are_read_in_order_and_loss_is_told),
        cmocka_unit_test(a_crashed_process_leaves_its_spans),
        cmocka_unit_test(a_process_killed_while_it_writes_leaves_whole_spans),
        cmocka_unit_test(spans_can_be_turned_off),
        cmocka_unit_test(readers_never_see_half_a_span),
        cmocka_unit_test(only_the_last_incarnations_are_kept),
        cmocka_unit_test(stats_are_seen_and_go_with_a_clean_end),
        cmocka_unit_test(every_kind_is_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
