/* synthd and gpud, real processes, driven by a stand-in for the desk: what a partition's life is,
 * and what is left of it when messages are lost, inputs are bad and processes are stopped. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "desk.h"
#include "file.h"
#include "span.h"
#include "stat.h"

static struct desk desk;
static struct circuit *mul, *wide;
static struct child *synthd, *gpud;
static char mul_wtns[4096], wide_wtns[4096];

enum { S = 20000 }; /* no step here takes long; other work of the machine may */
#define IN(state) (1u << LEASE_##state)

static int set_up(void **state)
{
    (void)state;
    const char *fixtures = getenv("FIXTURES");
    desk_open(&desk, 64 << 20);
    mul = desk_add_circuit(&desk, "bn128/mul");
    wide = desk_add_circuit(&desk, "bls12381/wide_12");
    snprintf(mul_wtns, sizeof mul_wtns, "%s/bn128/mul/mul.wtns", fixtures);
    snprintf(wide_wtns, sizeof wide_wtns, "%s/bls12381/wide_12/wide_12.wtns", fixtures);
    desk_spool(&desk, "mul", mul_wtns);
    desk_spool(&desk, "wide", wide_wtns);
    synthd = desk_start(&desk, ACTOR_SYNTHD, 0, NULL);
    gpud = desk_start(&desk, ACTOR_GPUD, 0, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    circuit_free(&mul);
    circuit_free(&wide);
    desk_close(&desk);
    return 0;
}

static struct want want(const struct circuit *c, const char *spool)
{
    return (struct want){.circuit = c->digest, .facts = c, .spool = spool};
}

static struct lease_ref grant(const struct circuit *c, const char *spool)
{
    struct want w = want(c, spool);
    return desk_grant(&desk, synthd, gpud, &w);
}

/* Waits for the sums of a lease and holds them against those computed here. */
static void expect_proved(struct lease_ref r, const struct circuit *c, const char *wtns)
{
    struct lease_result result;
    struct groth16_sums expected;
    if (!desk_wait(&desk, r, IN(PROVED) | IN(FAILED), S))
        fail_msg("row %u stays %s", r.row, lease_state_name(lease_look(&desk.arena, r.row).state));
    desk_settle(&desk, r, &result);
    if (result.code != 0)
        fail_msg("%s", result.reason);
    desk_expected(c, wtns, &expected);
    assert_int_equal(result.sums_bytes, sizeof expected);
    struct groth16_sums got;
    memcpy(&got, result.sums, sizeof got);
    assert_memory_equal(&got.a, &expected.a, c->curve->g1->bytes);
    assert_memory_equal(&got.b1, &expected.b1, c->curve->g1->bytes);
    assert_memory_equal(&got.b2, &expected.b2, c->curve->g2->bytes);
    assert_memory_equal(&got.l, &expected.l, c->curve->g1->bytes);
    assert_memory_equal(&got.h, &expected.h, c->curve->g1->bytes);
    assert_true(desk_all_free(&desk));
}

static void expect_failed(struct lease_ref r, uint32_t code, const char *words)
{
    struct lease_result result;
    if (!desk_wait(&desk, r, IN(PROVED) | IN(FAILED), S))
        fail_msg("row %u stays %s", r.row, lease_state_name(lease_look(&desk.arena, r.row).state));
    desk_settle(&desk, r, &result);
    if (result.code != code || strstr(result.reason, words) == NULL)
        fail_msg("code %u, '%s'; expected %u, '%s'", result.code, result.reason, code, words);
    assert_true(desk_all_free(&desk));
}

/* ---- the straight line --------------------------------------------------------------------- */

static void proves(void **state)
{
    (void)state;
    unsigned published = desk.heard[MSG_PUBLISHED], taken = desk.heard[MSG_TAKEN],
             proved = desk.heard[MSG_PROVED];
    expect_proved(grant(mul, "mul"), mul, mul_wtns);
    expect_proved(grant(wide, "wide"), wide, wide_wtns);
    assert_true(desk_wait_heard(&desk, MSG_PUBLISHED, published + 2, S));
    assert_true(desk_wait_heard(&desk, MSG_TAKEN, taken + 2, S));
    assert_true(desk_wait_heard(&desk, MSG_PROVED, proved + 2, S));
}

static void matrices_by_the_backend(void **state)
{
    (void)state;
    assert_true(gpud->hello.evaluates);
    struct want w = want(mul, "mul");
    w.flags = LEASE_EVALUATE_GPU;
    expect_proved(desk_grant(&desk, synthd, gpud, &w), mul, mul_wtns);
    w.without_ab = true;
    expect_proved(desk_grant(&desk, synthd, gpud, &w), mul, mul_wtns);
}

static void heartbeats_come(void **state)
{
    (void)state;
    unsigned n = desk.heard[MSG_HEARTBEAT];
    assert_true(desk_wait_heard(&desk, MSG_HEARTBEAT, n + 6, S));
    assert_true(gpud->beat.done >= 2 && synthd->beat.done >= 2);
    assert_int_equal(synthd->beat.epoch, desk.self.incarnation);
    assert_true(synthd->beat.charged_bytes > 0);
}

/* ---- doorbells ------------------------------------------------------------------------------ */

static void lost_doorbells(void **state)
{
    (void)state;
    desk.rings = 0;
    expect_proved(grant(mul, "mul"), mul, mul_wtns);
    desk.rings = 1;
}

static void repeated_and_stale_doorbells(void **state)
{
    (void)state;
    desk.rings = 5;
    struct lease_ref r = grant(mul, "mul");
    desk.rings = 1;
    expect_proved(r, mul, mul_wtns);
    for (int i = 0; i < 5; i++)
        desk_ring(&desk, synthd, r); /* over long ago */
    struct lease_ref other = r;
    other.arena_epoch ^= 1;
    desk_ring(&desk, synthd, other);
    other = r;
    other.generation += 7;
    desk_ring(&desk, synthd, other);
    expect_proved(grant(mul, "mul"), mul, mul_wtns);
}

static void who_are_you(void **state)
{
    (void)state;
    unsigned hello = desk.heard[MSG_HELLO], ready = desk.heard[MSG_READY];
    struct message m = {.kind = MSG_WHO};
    m.who.epoch = desk.self.incarnation;
    desk_send(&desk, synthd, &m);
    desk_send(&desk, gpud, &m);
    assert_true(desk_wait_heard(&desk, MSG_HELLO, hello + 2, S));
    assert_true(desk_wait_heard(&desk, MSG_READY, ready + 2, S));
}

/* ---- bad inputs ------------------------------------------------------------------------------ */

static char *wtns(size_t *n)
{
    char *data;
    struct err e;
    assert_int_equal(file_read(mul_wtns, 1 << 20, &data, n, &e), ERR_OK);
    return data;
}

enum { VALUES = 76 }; /* offset of w[0] in a .wtns with 32-byte values */

static void bad_witnesses(void **state)
{
    (void)state;
    size_t n;
    char *data = wtns(&n);
    data[VALUES] = 2;
    desk_spool_bytes(&desk, "bad", data, n);
    expect_failed(grant(mul, "bad"), ERR_VALUE, "bad");
    data[VALUES] = 1;
    memset(data + VALUES + 32, 0xff, 32); /* above r */
    desk_spool_bytes(&desk, "bad", data, n);
    expect_failed(grant(mul, "bad"), ERR_VALUE, "1");
    free(data);
    data = wtns(&n);
    desk_spool_bytes(&desk, "bad", data, n - 8);
    expect_failed(grant(mul, "bad"), ERR_FORMAT, "bad");
    desk_spool_bytes(&desk, "bad", "no witness at all", 17);
    expect_failed(grant(mul, "bad"), ERR_FORMAT, "bad");
    free(data);
    expect_failed(grant(mul, "wide"), ERR_MISMATCH, "wide");
    expect_failed(grant(mul, "missing"), ERR_IO, "missing");
    expect_failed(grant(mul, "../millrace.conf"), ERR_INTERNAL, "spool");
    expect_proved(grant(mul, "mul"), mul, mul_wtns); /* and goes on */
}

static void links_and_pipes_are_not_followed(void **state)
{
    (void)state;
    char path[200];
    snprintf(path, sizeof path, "%s/spool/link", desk.dir);
    assert_int_equal(symlink(mul_wtns, path), 0);
    expect_failed(grant(mul, "link"), ERR_IO, "link");
    snprintf(path, sizeof path, "%s/spool/fifo", desk.dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_failed(grant(mul, "fifo"), ERR_IO, "not a regular file");
}

static void unknown_circuit(void **state)
{
    (void)state;
    uint8_t digest[32] = {1, 2, 3};
    struct want w = want(mul, "mul");
    w.circuit = digest;
    expect_failed(desk_grant(&desk, synthd, gpud, &w), ERR_IO, "01020300");
    /* sizes that are another circuit's */
    w.circuit = wide->digest;
    expect_failed(desk_grant(&desk, synthd, gpud, &w), ERR_INTERNAL, "the circuit has");
}

/* ---- cancel -----------------------------------------------------------------------------------
 */

static void cancelled_while_ready(void **state)
{
    (void)state;
    desk_signal(gpud, SIGSTOP);
    struct lease_ref r = grant(mul, "mul");
    assert_true(desk_wait(&desk, r, IN(READY), S));
    lease_cancel(&desk.arena, r, CANCEL_BY_CLIENT);
    assert_true(lease_withdraw(&desk.arena, r));
    struct extent x;
    assert_true(lease_extent_due(&desk.arena, r.row, &x));
    lease_extent_returned(&desk.arena, r.row);
    desk_signal(gpud, SIGCONT);
    /* its doorbell is about nothing any more */
    expect_proved(grant(mul, "mul"), mul, mul_wtns);
}

static void cancelled_before_the_proof(void **state)
{
    (void)state;
    desk_signal(gpud, SIGSTOP);
    struct lease_ref r = grant(mul, "mul");
    assert_true(desk_wait(&desk, r, IN(READY), S));
    lease_cancel(&desk.arena, r, CANCEL_DEADLINE);
    desk_signal(gpud, SIGCONT);
    expect_failed(r, ERR_CANCELLED, lease_cancel_name(CANCEL_DEADLINE));
}

static void cancelled_before_the_claim(void **state)
{
    (void)state;
    desk_signal(synthd, SIGSTOP);
    struct lease_ref r = grant(mul, "mul");
    lease_cancel(&desk.arena, r, CANCEL_BY_CLIENT);
    desk_signal(synthd, SIGCONT);
    for (int i = 0; i < 30; i++)
        desk_turn(&desk, 10);
    assert_int_equal(lease_look(&desk.arena, r.row).state, LEASE_GRANTED);
    assert_true(lease_withdraw(&desk.arena, r));
    struct extent x;
    assert_true(lease_extent_due(&desk.arena, r.row, &x));
    lease_extent_returned(&desk.arena, r.row);
    assert_true(desk_all_free(&desk));
}

/* ---- order ------------------------------------------------------------------------------------
 */

/* What waits at a stopped gpud is taken by priority, then age, then partition. */
static void order(void **state)
{
    (void)state;
    const struct {
        uint32_t priority, partition;
        uint64_t submitted_ns;
        int place;
    } plan[] = {{2, 0, 10, 5}, {1, 1, 30, 3}, {0, 0, 99, 0},
                {1, 0, 20, 1}, {1, 1, 20, 2}, {1, 2, 30, 4}};
    enum { N = sizeof plan / sizeof *plan };
    struct lease_ref r[N];
    uint64_t at[N];
    desk_signal(gpud, SIGSTOP);
    for (int i = 0; i < N; i++) {
        struct want w = want(mul, "mul");
        w.priority = plan[i].priority;
        w.partition = plan[i].partition;
        w.submitted_ns = plan[i].submitted_ns;
        r[i] = desk_grant(&desk, synthd, gpud, &w);
        assert_true(desk_wait(&desk, r[i], IN(READY), S));
    }
    desk_signal(gpud, SIGCONT);
    for (int i = 0; i < N; i++) {
        struct lease_result result;
        assert_true(desk_wait(&desk, r[i], IN(PROVED), S));
        at[i] = atomic_load(&lease_row(&desk.arena, r[i].row)->at_ns[LEASE_PROVING]);
        desk_settle(&desk, r[i], &result);
        assert_int_equal(result.code, 0);
    }
    for (int i = 0; i < N; i++) {
        int before = 0;
        for (int k = 0; k < N; k++)
            before += at[k] < at[i];
        assert_int_equal(before, plan[i].place);
    }
}

static void a_suspect_is_alone(void **state)
{
    (void)state;
    struct lease_ref r[6];
    desk_signal(gpud, SIGSTOP);
    for (int i = 0; i < 6; i++) {
        struct want w = want(wide, "wide");
        w.flags = i == 2 ? LEASE_ALONE : 0;
        w.priority = (uint32_t)i;
        r[i] = desk_grant(&desk, synthd, gpud, &w);
    }
    for (int i = 0; i < 6; i++)
        assert_true(desk_wait(&desk, r[i], IN(READY), S));
    desk_signal(gpud, SIGCONT);
    uint64_t begin[6], end[6];
    for (int i = 0; i < 6; i++) {
        struct lease_result result;
        assert_true(desk_wait(&desk, r[i], IN(PROVED), S));
        begin[i] = atomic_load(&lease_row(&desk.arena, r[i].row)->at_ns[LEASE_PROVING]);
        end[i] = atomic_load(&lease_row(&desk.arena, r[i].row)->at_ns[LEASE_PROVED]);
        desk_settle(&desk, r[i], &result);
    }
    for (int i = 0; i < 6; i++)
        assert_true(i == 2 || end[i] <= begin[2] || begin[i] >= end[2]);
}

/* ---- keys -------------------------------------------------------------------------------------
 */

static void load_and_evict(void **state)
{
    (void)state;
    struct message m = {.kind = MSG_CIRCUIT_EVICT};
    memcpy(m.circuit_evict.circuit, wide->digest, 32);
    unsigned heard = desk.heard[MSG_CIRCUIT_STATE];
    /* A key in use is not given up; the proof before may only just have left it. */
    for (int i = 0; i < 100; i++) {
        heard = desk.heard[MSG_CIRCUIT_STATE];
        desk_send(&desk, gpud, &m);
        assert_true(desk_wait_heard(&desk, MSG_CIRCUIT_STATE, heard + 1, S));
        if (!desk.circuit_state.resident)
            break;
        nanosleep(&(struct timespec){0, 50000000}, NULL);
    }
    assert_int_equal(desk.circuit_state.resident, 0);
    desk_send(&desk, synthd, &m);
    assert_true(desk_wait_heard(&desk, MSG_CIRCUIT_STATE, heard + 2, S));
    m = (struct message){.kind = MSG_CIRCUIT_LOAD};
    memcpy(m.circuit_load.circuit, wide->digest, 32);
    desk_send(&desk, gpud, &m);
    assert_true(desk_wait_heard(&desk, MSG_CIRCUIT_STATE, heard + 3, S));
    assert_int_equal(desk.circuit_state.resident, 1);
    assert_true(desk.circuit_state.bytes > 0);
    memset(m.circuit_load.circuit, 9, 32);
    desk_send(&desk, gpud, &m);
    assert_true(desk_wait_heard(&desk, MSG_CIRCUIT_STATE, heard + 4, S));
    assert_int_equal(desk.circuit_state.resident, 0);
    assert_int_equal(desk.circuit_state.code, ERR_IO);
    expect_proved(grant(wide, "wide"), wide, wide_wtns);
}

/* ---- deaths ------------------------------------------------------------------------------------
 */

/* The others go on while one is killed, and the next of its name serves. */
static void gpud_killed_while_proving(void **state)
{
    (void)state;
    struct lease_ref r = grant(wide, "wide");
    assert_true(desk_wait(&desk, r, IN(PROVING) | IN(PROVED), S));
    actor_id dead = actor_to_id(&gpud->actor);
    desk_signal(gpud, SIGKILL);
    assert_true(desk_wait_end(&desk, gpud, S));
    gpud = desk_start(&desk, ACTOR_GPUD, 0, NULL);
    assert_true(actor_to_id(&gpud->actor) != dead);
    if (lease_look(&desk.arena, r.row).state == LEASE_PROVING)
        assert_true(lease_requeue(&desk.arena, r, dead, actor_to_id(&gpud->actor)));
    expect_proved(r, wide, wide_wtns); /* from the same extent: it is intact */
}

static void synthd_killed_while_filling(void **state)
{
    (void)state;
    desk_signal(synthd, SIGSTOP);
    struct lease_ref r = grant(wide, "wide");
    actor_id dead = actor_to_id(&synthd->actor);
    desk_signal(synthd, SIGKILL);
    assert_true(desk_wait_end(&desk, synthd, S));
    assert_true(lease_abandon(&desk.arena, r, dead));
    struct extent x;
    assert_true(lease_extent_due(&desk.arena, r.row, &x));
    lease_extent_returned(&desk.arena, r.row);
    synthd = desk_start(&desk, ACTOR_SYNTHD, 0, NULL);
    expect_proved(grant(wide, "wide"), wide, wide_wtns);
}

static void stopped_longer_than_a_heartbeat(void **state)
{
    (void)state;
    desk_signal(synthd, SIGSTOP);
    desk_signal(gpud, SIGSTOP);
    struct lease_ref r = grant(mul, "mul");
    for (int i = 0; i < 50; i++)
        desk_turn(&desk, 10);
    desk_signal(synthd, SIGCONT);
    desk_signal(gpud, SIGCONT);
    expect_proved(r, mul, mul_wtns);
}

/* Taken from a stopped synthd and given to another: the first must find out and keep quiet. */
static void taken_away_while_filled(void **state)
{
    (void)state;
    struct child *second = desk_start(&desk, ACTOR_SYNTHD, 1, NULL);
    desk_signal(synthd, SIGSTOP);
    struct lease_ref r = grant(mul, "mul");
    assert_true(lease_withdraw(&desk.arena, r));
    struct extent x;
    assert_true(lease_extent_due(&desk.arena, r.row, &x));
    lease_extent_returned(&desk.arena, r.row);
    struct want w = want(mul, "mul");
    struct lease_ref again = desk_grant(&desk, second, gpud, &w);
    assert_int_equal(again.row, r.row);
    assert_true(again.generation > r.generation);
    desk_signal(synthd, SIGCONT);
    expect_proved(again, mul, mul_wtns);
    desk_signal(second, SIGTERM);
    assert_true(desk_wait_end(&desk, second, S));
    assert_true(WIFEXITED(second->status) && WEXITSTATUS(second->status) == 0);
}

static void a_name_runs_once(void **state)
{
    (void)state;
    struct child *twin = desk_start(&desk, ACTOR_SYNTHD, 0, "none");
    assert_true(twin->ended);
    assert_int_equal(WEXITSTATUS(twin->status), ERR_REFUSED);
    expect_proved(grant(mul, "mul"), mul, mul_wtns);
}

/* ---- evidence ----------------------------------------------------------------------------------
 */

static void spans_of_every_step(void **state)
{
    (void)state;
    struct err e;
    struct span_reader *reader = span_reader_new(&desk.in, &e);
    assert_non_null(reader);
    unsigned n[SPAN_KINDS] = {0};
    struct span s;
    const struct span_source *from;
    while (span_reader_next(reader, &s, &from)) {
        assert_true(s.end_ns >= s.begin_ns);
        n[s.kind]++;
    }
    span_reader_free(&reader);
    static const enum span_kind needed[] = {
        SPAN_GRANT,        SPAN_WITNESS,         SPAN_MATRICES,      SPAN_PUBLISH,
        SPAN_RING,         SPAN_READY_WAIT,      SPAN_KEY_LOAD,      SPAN_KEY_EVICT,
        SPAN_REGISTER,     SPAN_PROVE_START,     SPAN_KERNELS,       SPAN_KERNEL_NTT,
        SPAN_KERNEL_MSM_A, SPAN_KERNEL_MSM_B1,   SPAN_KERNEL_MSM_B2, SPAN_KERNEL_MSM_L,
        SPAN_KERNEL_MSM_H, SPAN_PROVE_FINISH,    SPAN_RELEASE,       SPAN_IDLE,
        SPAN_COPY_IN,      SPAN_KERNEL_MATRICES,
    };
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (n[needed[i]] == 0)
            fail_msg("no span %s", span_info(needed[i])->name);
}

static unsigned count_lines(const char *path, const char *a, const char *b)
{
    char *text;
    size_t len;
    struct err e;
    unsigned n = 0;
    assert_int_equal(file_read(path, 16 << 20, &text, &len, &e), ERR_OK);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        n += strstr(line, a) != NULL && strstr(line, b) != NULL;
    free(text);
    return n;
}

static void timing_lines(void **state)
{
    (void)state;
    assert_true(count_lines(gpud->log, "GPU_TIMING", "outcome=proved") >= 5);
    assert_true(count_lines(gpud->log, "GPU_TIMING", "outcome=failed") +
                    count_lines(gpud->log, "GPU_TIMING", "outcome=discarded") >=
                1);
    assert_true(count_lines(gpud->log, "GPU_TIMING", "msm_b2_ms=") >= 5);
}

/* ---- the end ------------------------------------------------------------------------------------
 */

static void drains(void **state)
{
    (void)state;
    struct lease_ref r[4];
    for (int i = 0; i < 4; i++)
        r[i] = grant(wide, "wide");
    struct message m = {.kind = MSG_DRAIN};
    m.drain.grace_ms = 10000;
    for (int i = 0; i < 4; i++)
        assert_true(desk_wait(&desk, r[i], IN(FILLING) | IN(READY) | IN(PROVING) | IN(PROVED), S));
    desk_send(&desk, synthd, &m);
    assert_true(desk_wait_end(&desk, synthd, S));
    assert_true(WIFEXITED(synthd->status) && WEXITSTATUS(synthd->status) == 0);
    for (int i = 0; i < 4; i++) { /* what it held was finished */
        struct lease_result result;
        assert_true(desk_wait(&desk, r[i], IN(PROVED), S));
        desk_settle(&desk, r[i], &result);
    }
    desk_signal(gpud, SIGTERM);
    assert_true(desk_wait_end(&desk, gpud, S));
    assert_true(WIFEXITED(gpud->status) && WEXITSTATUS(gpud->status) == 0);
    assert_true(desk_all_free(&desk));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proves),
        cmocka_unit_test(matrices_by_the_backend),
        cmocka_unit_test(heartbeats_come),
        cmocka_unit_test(lost_doorbells),
        cmocka_unit_test(repeated_and_stale_doorbells),
        cmocka_unit_test(who_are_you),
        cmocka_unit_test(bad_witnesses),
        cmocka_unit_test(links_and_pipes_are_not_followed),
        cmocka_unit_test(unknown_circuit),
        cmocka_unit_test(cancelled_while_ready),
        cmocka_unit_test(cancelled_before_the_proof),
        cmocka_unit_test(cancelled_before_the_claim),
        cmocka_unit_test(order),
        cmocka_unit_test(a_suspect_is_alone),
        cmocka_unit_test(load_and_evict),
        cmocka_unit_test(stopped_longer_than_a_heartbeat),
        cmocka_unit_test(taken_away_while_filled),
        cmocka_unit_test(a_name_runs_once),
        cmocka_unit_test(timing_lines),
        cmocka_unit_test(gpud_killed_while_proving),
        cmocka_unit_test(synthd_killed_while_filling),
        cmocka_unit_test(spans_of_every_step),
        cmocka_unit_test(drains),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
