/* Witness programs under synthd: circom's own make the fixtures' witnesses; a program that hangs,
 * eats memory, floods its output, forks, or calls the network is a stated failure of its partition
 * and of no other. ROGUE names the program that does these things (rogue.c). */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "desk.h"
#include "file.h"
#include "span.h"

static struct desk desk;
static struct circuit *mul, *wide, *rogue; /* rogue: circuit edge_full with the rogue program */
static struct child *synthd, *gpud;

enum { S = 30000 };
#define IN(state) (1u << LEASE_##state)

static int set_up(void **state)
{
    (void)state;
    char path[4096];
    const char *fixtures = getenv("FIXTURES");
    static const char conf[] =
        "[synthd]\nprogram_limit = 5s\nprogram_memory = 256MiB\nprograms = 4\n";
    struct err e;
    desk_open(&desk, 64 << 20);
    snprintf(path, sizeof path, "%s/millrace.conf", desk.dir);
    assert_int_equal(file_replace(path, conf, strlen(conf), 0600, &e), ERR_OK);
    mul = desk_add_circuit(&desk, "bn128/mul");
    wide = desk_add_circuit(&desk, "bls12381/wide_12");
    rogue = desk_add_circuit(&desk, "bn128/edge_full");
    snprintf(path, sizeof path, "%s/bn128/mul/mul.wasm", fixtures);
    desk_add_program(&desk, mul, path);
    snprintf(path, sizeof path, "%s/bls12381/wide_12/wide_12.wasm", fixtures);
    desk_add_program(&desk, wide, path);
    desk_add_program(&desk, rogue, getenv("ROGUE"));
    snprintf(path, sizeof path, "%s/bn128/mul/input.json", fixtures);
    desk_spool(&desk, "mul", path);
    snprintf(path, sizeof path, "%s/bls12381/wide_12/input.json", fixtures);
    desk_spool(&desk, "wide", path);
    synthd = desk_start(&desk, ACTOR_SYNTHD, 0, NULL);
    gpud = desk_start(&desk, ACTOR_GPUD, 0, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    circuit_free(&mul);
    circuit_free(&wide);
    circuit_free(&rogue);
    desk_close(&desk);
    return 0;
}

static struct lease_ref grant(const struct circuit *c, const char *spool, uint64_t step_limit_ns)
{
    struct want w = {.circuit = c->digest,
                     .facts = c,
                     .spool = spool,
                     .flags = LEASE_INPUT_JSON,
                     .step_limit_ns = step_limit_ns};
    return desk_grant(&desk, synthd, gpud, &w);
}

static struct lease_ref grant_rogue(const char *deed)
{
    desk_spool_bytes(&desk, deed, deed, strlen(deed));
    return grant(rogue, deed, 0);
}

static void expect_proved(struct lease_ref r, const struct circuit *c, const char *fixture)
{
    struct lease_result result;
    struct groth16_sums expected, got;
    char wtns[4096];
    if (!desk_wait(&desk, r, IN(PROVED) | IN(FAILED), S))
        fail_msg("row %u stays %s", r.row, lease_state_name(lease_look(&desk.arena, r.row).state));
    desk_settle(&desk, r, &result);
    if (result.code != 0)
        fail_msg("%s", result.reason);
    snprintf(wtns, sizeof wtns, "%s/%s", getenv("FIXTURES"), fixture);
    desk_expected(c, wtns, &expected);
    memcpy(&got, result.sums, sizeof got);
    assert_memory_equal(&got.a, &expected.a, c->curve->g1->bytes);
    assert_memory_equal(&got.b2, &expected.b2, c->curve->g2->bytes);
    assert_memory_equal(&got.h, &expected.h, c->curve->g1->bytes);
}

static void expect_failed(struct lease_ref r, uint32_t code, const char *words)
{
    struct lease_result result;
    if (!desk_wait(&desk, r, IN(PROVED) | IN(FAILED), S))
        fail_msg("row %u stays %s", r.row, lease_state_name(lease_look(&desk.arena, r.row).state));
    desk_settle(&desk, r, &result);
    if (result.code != code || strstr(result.reason, words) == NULL)
        fail_msg("code %u, '%s'; expected %u, '%s'", result.code, result.reason, code, words);
    for (const char *c = result.reason; *c != 0; c++)
        assert_in_range(*c, ' ', '~'); /* nothing that a terminal would act on */
}

static void from_input_json(void **state)
{
    (void)state;
    expect_proved(grant(mul, "mul", 0), mul, "bn128/mul/mul.wtns");
    expect_proved(grant(wide, "wide", 0), wide, "bls12381/wide_12/wide_12.wtns");
    struct lease_ref r[8];
    for (int i = 0; i < 8; i++)
        r[i] = grant(mul, "mul", 0);
    for (int i = 0; i < 8; i++)
        expect_proved(r[i], mul, "bn128/mul/mul.wtns");
    assert_true(desk_all_free(&desk));
}

static void faults_of_the_input(void **state)
{
    (void)state;
    static const char missing[] = "{\"a\":\"3\"}", unknown[] = "{\"a\":1,\"b\":2,\"x\":3}",
                      many[] = "{\"a\":[1,2],\"b\":2}", text[] = "{\"a\":";
    desk_spool_bytes(&desk, "bad", missing, strlen(missing));
    expect_failed(grant(mul, "bad", 0), ERR_MISMATCH, "1 of 2 values given");
    desk_spool_bytes(&desk, "bad", unknown, strlen(unknown));
    expect_failed(grant(mul, "bad", 0), ERR_MISMATCH, "signal x");
    desk_spool_bytes(&desk, "bad", many, strlen(many));
    expect_failed(grant(mul, "bad", 0), ERR_MISMATCH, "signal a: too many values");
    desk_spool_bytes(&desk, "bad", text, strlen(text));
    expect_failed(grant(mul, "bad", 0), ERR_FORMAT, "not JSON");
}

static void no_program(void **state)
{
    (void)state;
    struct circuit *bare = desk_add_circuit(&desk, "bn128/edge_nopub");
    expect_failed(grant(bare, "mul", 0), ERR_UNAVAILABLE, "no witness program");
    circuit_free(&bare);
}

static void native_program(void **state)
{
    (void)state;
    char path[4096], *data, *all;
    size_t n;
    struct err e;
    snprintf(path, sizeof path, "%s/bn128/edge_full/edge_full.wtns", getenv("FIXTURES"));
    assert_int_equal(file_read(path, 1 << 20, &data, &n, &e), ERR_OK);
    all = malloc(n + 5);
    memcpy(all, "copy\n", 5);
    memcpy(all + 5, data, n);
    desk_spool_bytes(&desk, "copy", all, n + 5);
    expect_proved(grant(rogue, "copy", 0), rogue, "bn128/edge_full/edge_full.wtns");
    desk_spool_bytes(&desk, "half", all, n / 2);
    expect_failed(grant(rogue, "half", 0), ERR_FORMAT, "half");
    free(all);
    free(data);
}

static void hangs_and_spins(void **state)
{
    (void)state;
    uint64_t begin = span_now_ns();
    struct lease_ref hang = grant_rogue("hang"), spin = grant_rogue("spin");
    struct lease_ref good = grant(mul, "mul", 0);
    expect_proved(good, mul, "bn128/mul/mul.wtns"); /* meanwhile */
    assert_true(lease_look(&desk.arena, hang.row).state == LEASE_FILLING);
    expect_failed(hang, ERR_FAILED, "longer than its limit of 5 s");
    expect_failed(spin, ERR_FAILED, "limit");
    assert_true(span_now_ns() - begin < UINT64_C(30000000000));
}

/* The desk kills an owner that is past its step's limit; the program goes first. */
static void the_step_limit_is_kept(void **state)
{
    (void)state;
    desk_spool_bytes(&desk, "hang", "hang", 4);
    expect_failed(grant(rogue, "hang", 300000000), ERR_FAILED, "limit of 0.27 s");
}

static void eats_memory(void **state)
{
    (void)state;
    expect_failed(grant_rogue("eat"), ERR_FAILED, "no more memory");
}

static void floods(void **state)
{
    (void)state;
    expect_failed(grant_rogue("flood"), ERR_FAILED, "larger than 256 MiB");
    expect_failed(grant_rogue("chatter"), ERR_FAILED, "line 0 of too many");
}

static void is_confined(void **state)
{
    (void)state;
    static const char *const deeds[] = {"fork", "socket", "kill", "descriptors", "environment"};
    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++)
        expect_failed(grant_rogue(deeds[i]), ERR_FAILED, "failed without a word");
    expect_failed(grant_rogue("die"), ERR_FAILED, "signal 6");
}

/* Processes whose command line holds this text. */
static int processes_of(const char *text)
{
    char command[4200];
    snprintf(command, sizeof command, "grep -l -- '%s' /proc/[0-9]*/cmdline 2>/dev/null | wc -l",
             text);
    FILE *p = popen(command, "r");
    int n = -1;
    assert_int_equal(fscanf(p, "%d", &n), 1);
    pclose(p);
    return n;
}

static int programs_left(void)
{
    char text[200];
    snprintf(text, sizeof text, "%s/store/programs", desk.dir);
    /* the grep's own shell is one that holds the text */
    return processes_of(text) - processes_of("no such text: the shell and its grep alone");
}

static void cancelled_program(void **state)
{
    (void)state;
    struct lease_ref r = grant_rogue("hang");
    assert_true(desk_wait(&desk, r, IN(FILLING), S));
    for (int i = 0; i < 10; i++)
        desk_turn(&desk, 10);
    uint64_t begin = span_now_ns();
    lease_cancel(&desk.arena, r, CANCEL_BY_CLIENT);
    struct message m = {.kind = MSG_CANCEL};
    message_set_lease(&m, r, 1, 0, 1);
    m.cancel.why = CANCEL_BY_CLIENT;
    desk_send(&desk, synthd, &m);
    expect_failed(r, ERR_CANCELLED, "cancelled");
    assert_true(span_now_ns() - begin < UINT64_C(4000000000)); /* well before its own limit */
}

static void dies_with_its_synthd(void **state)
{
    (void)state;
    struct lease_ref r = grant_rogue("hang");
    assert_true(desk_wait(&desk, r, IN(FILLING), S));
    for (int i = 0; i < 10; i++)
        desk_turn(&desk, 10);
    assert_true(programs_left() > 0);
    actor_id dead = actor_to_id(&synthd->actor);
    desk_signal(synthd, SIGKILL);
    assert_true(desk_wait_end(&desk, synthd, S));
    for (int i = 0; i < 50 && programs_left() > 0; i++)
        desk_turn(&desk, 10);
    assert_int_equal(programs_left(), 0);
    assert_true(lease_abandon(&desk.arena, r, dead));
    struct extent x;
    assert_true(lease_extent_due(&desk.arena, r.row, &x));
    lease_extent_returned(&desk.arena, r.row);
    synthd = desk_start(&desk, ACTOR_SYNTHD, 0, NULL);
    expect_proved(grant(mul, "mul", 0), mul, "bn128/mul/mul.wtns");
    assert_true(desk_all_free(&desk));
}

/* A synthd that has run a hundred programs holds no descriptor and no child of theirs. */
static void nothing_leaks(void **state)
{
    (void)state;
    char command[100];
    int n[2];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < (round == 0 ? 5 : 40); i++) {
            expect_proved(grant(mul, "mul", 0), mul, "bn128/mul/mul.wtns");
            expect_failed(grant_rogue("die"), ERR_FAILED, "signal 6");
        }
        snprintf(command, sizeof command, "ls /proc/%d/fd | wc -l", (int)synthd->pid);
        FILE *p = popen(command, "r");
        assert_int_equal(fscanf(p, "%d", &n[round]), 1);
        pclose(p);
    }
    assert_true(n[1] <= n[0] + 1);
    snprintf(command, sizeof command, "cat /proc/%d/task/*/children", (int)synthd->pid);
    FILE *p = popen(command, "r");
    int child = 0;
    assert_int_not_equal(fscanf(p, "%d", &child), 1);
    pclose(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_input_json),      cmocka_unit_test(faults_of_the_input),
        cmocka_unit_test(no_program),           cmocka_unit_test(native_program),
        cmocka_unit_test(hangs_and_spins),      cmocka_unit_test(the_step_limit_is_kept),
        cmocka_unit_test(eats_memory),          cmocka_unit_test(floods),
        cmocka_unit_test(is_confined),          cmocka_unit_test(cancelled_program),
        cmocka_unit_test(dies_with_its_synthd), cmocka_unit_test(nothing_leaks),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
