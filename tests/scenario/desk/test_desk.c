/* The desk with simulated daemons: jobs, cancels, deaths, lost and repeated messages, restarts. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "rig.h"

static struct rig rig;
static const char quick[] = "[desk]\nheartbeat = 200ms\n";

static void expect_done(uint64_t job, unsigned partitions)
{
    unsigned proofs = 0;
    char reason[512] = "";
    int code = rig_await(&rig, job, 15000, &proofs, reason);
    if (code != 0)
        fail_msg("job %lu: code %d: %s", (unsigned long)job, code, reason);
    assert_int_equal(proofs, partitions); /* in order, with the publics of each */
}

static void expect_clean(void)
{
    assert_true(rig_wait_all_free(&rig, 5000));
}

static int close_rig(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static void jobs_of_one_and_of_sixteen(void **state)
{
    uint64_t job[40];
    (void)state;
    rig_open(&rig, 16, 32, quick);
    rig_spawn(&rig, "synthd", 0, 4, NULL);
    rig_spawn(&rig, "gpud", 0, 2, NULL);
    for (unsigned i = 0; i < 40; i++)
        job[i] = rig_submit(&rig, "", i % 2 ? 16 : 1, i % 4, 0, NULL);
    for (unsigned i = 0; i < 40; i++)
        expect_done(job[i], i % 2 ? 16 : 1);
    expect_clean();
    expect_done(job[3], 16); /* asked again after the end: from the ledger */
}

static void lost_and_repeated_messages(void **state)
{
    uint64_t job[10];
    (void)state;
    rig_open(&rig, 16, 32, quick);
    rig_spawn(&rig, "synthd", 0, 2, "lose=2 repeat");
    rig_spawn(&rig, "gpud", 0, 2, "lose=3 repeat");
    for (unsigned i = 0; i < 10; i++)
        job[i] = rig_submit(&rig, "", 4, 0, 0, NULL);
    for (unsigned i = 0; i < 10; i++)
        expect_done(job[i], 4);
    expect_clean();
}

static void same_request_is_the_same_job(void **state)
{
    struct message answer;
    (void)state;
    rig_open(&rig, 16, 32, quick);
    uint64_t job = rig_submit(&rig, "r1", 2, 0, 0, NULL);
    assert_int_equal(rig_submit(&rig, "r1", 2, 0, 0, &answer), job);
    assert_int_equal(answer.accepted.existed, 1);
    assert_int_equal(rig_submit(&rig, "r1", 3, 0, 0, &answer), 0); /* other content */
    assert_int_equal(answer.kind, MSG_REFUSED);
    rig_kill_desk(&rig);
    rig_start_desk(&rig, NULL);
    assert_int_equal(rig_submit(&rig, "r1", 2, 0, 0, &answer), job);
    rig_spawn(&rig, "synthd", 0, 1, NULL);
    rig_spawn(&rig, "gpud", 0, 1, NULL);
    expect_done(job, 2);
}

static void a_full_queue_refuses_with_the_reason(void **state)
{
    struct message answer;
    (void)state;
    rig_open(&rig, 4, 8, "[desk]\nmax_partitions = 10\nclient_max_partitions = 8\n");
    assert_true(rig_submit(&rig, "", 8, 0, 0, NULL) > 0);
    assert_int_equal(rig_submit(&rig, "", 1, 0, 0, &answer), 0);
    assert_non_null(strstr(answer.refused.reason, "client_max_partitions"));
    assert_int_equal(rig_submit(&rig, "", 3, 0, 0, &answer), 0);
    assert_non_null(strstr(answer.refused.reason, "max_partitions"));
    assert_int_equal(answer.refused.code, ERR_REFUSED);
}

static void cancel_frees_everything(void **state)
{
    static const char *const holds[][2] = {{"hold=GRANTED", ""},
                                           {"hold=FILLING", ""},
                                           {"", "hold=READY"},
                                           {"", "hold=PROVING"},
                                           {"", "hold=UPLOADED"}};
    (void)state;
    rig_open(&rig, 16, 32, quick);
    for (unsigned i = 0; i < 5; i++) {
        char reason[512];
        struct message cancel = {.kind = MSG_CANCEL_JOB}, answer;
        int s = rig_spawn(&rig, "synthd", 0, 1, holds[i][0]);
        int g = rig_spawn(&rig, "gpud", 0, 1, holds[i][1]);
        uint64_t job = rig_submit(&rig, "", 6, 0, 0, NULL);
        rig_wait_held(&rig);
        cancel.cancel_job.job = job;
        strcpy(cancel.cancel_job.client, "test");
        assert_true(rig_ask(&rig, &cancel, &answer, 5000));
        assert_int_equal(answer.kind, MSG_OK);
        assert_int_equal(rig_await(&rig, job, 5000, NULL, reason), ERR_CANCELLED);
        expect_clean();
        rig_kill(&rig, s);
        rig_kill(&rig, g);
    }
}

static void a_deadline_ends_the_job(void **state)
{
    char reason[512];
    (void)state;
    rig_open(&rig, 16, 32, quick);
    rig_spawn(&rig, "synthd", 0, 1, NULL);
    rig_spawn(&rig, "gpud", 0, 1, "hold=PROVING");
    uint64_t job = rig_submit(&rig, "", 4, 0, 300, NULL);
    assert_int_equal(rig_await(&rig, job, 5000, NULL, reason), ERR_DEADLINE);
    assert_non_null(strstr(reason, "deadline-exceeded"));
    expect_clean();
}

static void an_owner_past_its_limit_is_killed(void **state)
{
    (void)state;
    rig_open(&rig, 16, 32, "[desk]\nstep_limit = 300ms\n");
    rig_spawn(&rig, "synthd", 0, 1, NULL);
    rig_spawn(&rig, "gpud", 0, 1, "hold=PROVING"); /* first attempts hang there */
    uint64_t job = rig_submit(&rig, "", 1, 0, 0, NULL);
    rig_wait_held(&rig);
    rig_spawn(&rig, "gpud", 1, 1, NULL);
    expect_done(job, 1);
    expect_clean();
}

static void a_poison_partition_fails_its_job_alone(void **state)
{
    char reason[512];
    (void)state;
    rig_open(&rig, 16, 32, "[desk]\ndeaths_alone = 1\n");
    int s = rig_spawn(&rig, "synthd", 0, 1, "hold=FILLING");
    uint64_t bad = rig_submit(&rig, "", 1, 0, 0, NULL);
    rig_spawn(&rig, "gpud", 0, 1, NULL);
    rig_wait_held(&rig);
    rig_kill(&rig, s);
    assert_int_equal(rig_await(&rig, bad, 8000, NULL, reason), ERR_FAILED);
    assert_non_null(strstr(reason, "died"));
    rig_spawn(&rig, "synthd", 0, 1, NULL);
    expect_done(rig_submit(&rig, "", 3, 0, 0, NULL), 3);
    expect_clean();
}

static void a_rejected_proof_is_made_once_more(void **state)
{
    char reason[512];
    (void)state;
    rig_open(&rig, 16, 32, quick);
    rig_kill_desk(&rig);
    rig_start_desk(&rig, "SIM_REJECT=1");
    rig_spawn(&rig, "synthd", 0, 1, NULL);
    rig_spawn(&rig, "gpud", 0, 2, NULL);
    expect_done(rig_submit(&rig, "", 1, 0, 0, NULL), 1);
    rig_kill_desk(&rig);
    rig_start_desk(&rig, "SIM_REJECT=2");
    uint64_t job = rig_submit(&rig, "", 1, 0, 0, NULL);
    assert_int_equal(rig_await(&rig, job, 8000, NULL, reason), ERR_UNSATISFIED);
    assert_non_null(strstr(reason, "witness does not satisfy the circuit"));
    expect_clean();
}

static void a_failed_attempt_is_made_again_unless_the_input_is_to_blame(void **state)
{
    char reason[512];
    (void)state;
    rig_open(&rig, 16, 32, quick);
    rig_spawn(&rig, "gpud", 0, 1, NULL);
    int s = rig_spawn(&rig, "synthd", 0, 1, "fail=8"); /* ERR_MEMORY */
    expect_done(rig_submit(&rig, "", 3, 0, 0, NULL), 3);
    rig_kill(&rig, s);
    rig_spawn(&rig, "synthd", 0, 1, "fail=5"); /* ERR_VALUE */
    uint64_t job = rig_submit(&rig, "", 3, 0, 0, NULL);
    assert_int_equal(rig_await(&rig, job, 8000, NULL, reason), ERR_VALUE);
    expect_clean();
}

/* States x who dies when: a lease is held in each state, then each of the five dies; a fresh set of
 * daemons must end the job once, with every proof, and leave nothing behind. */
static void every_state_by_every_death(void **state)
{
    enum { SYNTHD = 1, GPUD = 2, DESK = 4 };
    static const char *const names[] = {"GRANTED", "FILLING", "READY", "PROVING", "UPLOADED", ""};
    static const int deaths[] = {
        SYNTHD, GPUD, DESK, SYNTHD | DESK, GPUD | DESK, SYNTHD | GPUD, SYNTHD | GPUD | DESK};
    (void)state;
    rig_open(&rig, 16, 32, "[desk]\nheartbeat = 200ms\ndeaths_alone = 1000\n");
    for (unsigned at = 0; at < 6; at++)
        for (unsigned i = 0; i < sizeof deaths / sizeof *deaths; i++) {
            char hold[32] = "";
            if (at < 5)
                snprintf(hold, sizeof hold, "hold=%s", names[at]);
            if (at == 5) { /* PROVED: the finisher is slow */
                rig_kill_desk(&rig);
                rig_start_desk(&rig, "SIM_SLOW=300");
            }
            int s = rig_spawn(&rig, "synthd", 0, 1, at < 2 ? hold : "");
            int g = rig_spawn(&rig, "gpud", 0, 1, at < 2 ? "" : hold);
            uint64_t job = rig_submit(&rig, "", 2, 0, 0, NULL);
            if (at < 5) {
                rig_wait_held(&rig);
            } else {
                for (uint32_t row = 0; row < 32;)
                    if (!lease_next(&rig.arena, LEASE_PROVED, 0, &row))
                        row = 0;
                    else
                        break;
            }
            if (deaths[i] & DESK)
                rig_kill_desk(&rig);
            if (deaths[i] & SYNTHD)
                rig_kill(&rig, s);
            if (deaths[i] & GPUD)
                rig_kill(&rig, g);
            if (deaths[i] & DESK)
                rig_start_desk(&rig, NULL);
            /* Whoever still holds a first attempt is killed too: its hold never ends. */
            rig_kill(&rig, s);
            rig_kill(&rig, g);
            s = rig_spawn(&rig, "synthd", 0, 1, NULL);
            g = rig_spawn(&rig, "gpud", 0, 1, NULL);
            expect_done(job, 2);
            expect_clean();
            rig_kill(&rig, s);
            rig_kill(&rig, g);
            unlinkat(rig.in.dir_fd, "held", 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(jobs_of_one_and_of_sixteen, close_rig),
        cmocka_unit_test_teardown(lost_and_repeated_messages, close_rig),
        cmocka_unit_test_teardown(same_request_is_the_same_job, close_rig),
        cmocka_unit_test_teardown(a_full_queue_refuses_with_the_reason, close_rig),
        cmocka_unit_test_teardown(cancel_frees_everything, close_rig),
        cmocka_unit_test_teardown(a_deadline_ends_the_job, close_rig),
        cmocka_unit_test_teardown(an_owner_past_its_limit_is_killed, close_rig),
        cmocka_unit_test_teardown(a_poison_partition_fails_its_job_alone, close_rig),
        cmocka_unit_test_teardown(a_rejected_proof_is_made_once_more, close_rig),
        cmocka_unit_test_teardown(a_failed_attempt_is_made_again_unless_the_input_is_to_blame,
                                  close_rig),
        cmocka_unit_test_teardown(every_state_by_every_death, close_rig),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
