#include "scratch.h"
#include <sys/wait.h>
#include <unistd.h>
#include "actors.h"
#include "alive.h"
#include "lane.h"

static void names_round_trip(void **state)
{
    (void)state;
    static const char *const good[] = {"finalizd",     "synthd.0.0",    "synthd.255.255",
                                       "gpud.0",       "gpud.17#65535", "client#1",
                                       "synthd.3.4#7", "supervisor#2",  "tap#18446744073709551615",
                                       "gateway"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct actor a;
        char name[ACTOR_NAME_MAX], id[ROUTING_ID_MAX];
        assert_true(actor_parse(&a, good[i], strlen(good[i])));
        const char *back = a.incarnation ? actor_routing_id(&a, id) : actor_name(&a, name);
        assert_string_equal(back, good[i]);
    }
}

static void other_names_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "desk",
                                      "finalizd.0",
                                      "gpud",
                                      "gpud.",
                                      "gpud.256",
                                      "gpud.01",
                                      "gpud.-1",
                                      "gpud.0#",
                                      "gpud.0#0",
                                      "gpud.0#65536",
                                      "gpud.0#1x",
                                      "synthd.0",
                                      "synthd.0.",
                                      "synthd.0.0.0",
                                      "synthd.0.0 ",
                                      "client.1",
                                      "clients",
                                      "none",
                                      "gpud.0##1",
                                      "client#18446744073709551616"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct actor a;
        if (actor_parse(&a, bad[i], strlen(bad[i])))
            fail_msg("took \"%s\"", bad[i]);
    }
    struct actor a;
    assert_false(actor_parse(&a, "gpud.0\0#1", 9)); /* a NUL inside */
}

static void ids_hold_every_daemon(void **state)
{
    (void)state;
    for (unsigned k = 0; k < ACTOR_KINDS; k++)
        for (unsigned node = 0; node < 256; node += 51)
            for (unsigned index = 0; index < 256; index += 85)
                for (uint64_t inc = 1; inc < 65536; inc += 21845) {
                    struct actor a = {(enum actor_kind)k, node, index, inc};
                    actor_id id = actor_to_id(&a);
                    bool daemon = k == ACTOR_FINALIZD || k == ACTOR_SYNTHD || k == ACTOR_GPUD;
                    assert_int_equal(id != 0, daemon);
                    assert_true(id >> ACTOR_ID_BITS == 0);
                    struct actor back = actor_from_id(id);
                    assert_true(!daemon || actor_equal(&a, &back));
                }
}

static void a_name_runs_once_and_counts_its_runs(void **state)
{
    (void)state;
    struct scratch s;
    scratch_open(&s);
    struct err e = {0};
    for (uint64_t run = 1; run <= 3; run++) {
        struct actor a = {.kind = ACTOR_GPUD, .index = 3}, twin = a, other = {.kind = ACTOR_GPUD};
        int fd, fd2;
        assert_int_equal(actor_enter(&a, &s.in, &fd, &e), ERR_OK);
        assert_int_equal(a.incarnation, run);
        assert_int_equal(actor_enter(&twin, &s.in, &fd2, &e), ERR_REFUSED);
        assert_non_null(strstr(e.text, "gpud.3 runs already"));
        assert_int_equal(actor_enter(&other, &s.in, &fd2, &e), ERR_OK);
        close(fd2);
        close(fd);
    }
    scratch_close(&s);
}

/* A killed gpud let go of its lock, its successors pushed its page out, and each new desk waited
 * for the HELLO of the dead one that still stood in a lease. */
static void a_new_run_is_the_proof_that_the_old_one_is_dead(void **state)
{
    (void)state;
    struct scratch s;
    scratch_open(&s);
    struct err e = {0};
    struct actor a = {.kind = ACTOR_GPUD, .index = 3};
    struct alive_id who;
    int fd, ready[2];
    assert_int_equal(actor_last_seen(&a, &s.in, &who), ACTOR_UNKNOWN);
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        if (actor_enter(&a, &s.in, &fd, &e) != ERR_OK)
            _exit(1);
        close(fd); /* as the kernel does, before the end of a process that is killed */
        if (write(ready[1], "x", 1) != 1)
            _exit(1);
        usleep(200000);
        _exit(0);
    }
    char x;
    assert_int_equal(read(ready[0], &x, 1), 1);
    struct actor first = {.kind = ACTOR_GPUD, .index = 3, .incarnation = 1};
    assert_int_equal(actor_last_seen(&first, &s.in, &who), ACTOR_LAST);
    assert_int_equal(who.pid, child);
    assert_int_equal(actor_enter(&a, &s.in, &fd, &e), ERR_OK);
    assert_int_equal(waitpid(child, NULL, WNOHANG), child); /* it had ended by then */
    assert_int_equal(a.incarnation, 2);
    assert_int_equal(actor_last_seen(&first, &s.in, &who), ACTOR_SUCCEEDED);
    assert_int_equal(actor_last_seen(&a, &s.in, &who), ACTOR_LAST);
    assert_int_equal(who.pid, getpid());
    close(fd);
    close(ready[0]);
    close(ready[1]);
    scratch_close(&s);
}

/* A Unix socket's path ends at 107 bytes; an instance's need not. */
static void lanes_work_in_a_deep_directory(void **state)
{
    (void)state;
    char base[] = "/tmp/millrace-deep-XXXXXX", dir[400];
    struct err e = {0};
    struct instance in;
    assert_non_null(mkdtemp(base));
    snprintf(dir, sizeof dir, "%s/%0100d", base, 1);
    mkdir(dir, 0700);
    snprintf(dir, sizeof dir, "%s/%0100d/%0100d", base, 1, 2);
    assert_int_equal(instance_create(dir, &e), ERR_OK);
    assert_int_equal(instance_open(&in, dir, &e), ERR_OK);
    struct actor desk = {.kind = ACTOR_FINALIZD, .incarnation = 1};
    struct actor client = {.kind = ACTOR_CLIENT, .incarnation = 5};
    struct lanes *ds = lanes_new(&in, &desk, &e), *cs = lanes_new(&in, &client, &e);
    struct lane *bound = lane_bind(ds, LANE_CLIENT, 0, &e);
    struct lane *connected = lane_connect(cs, LANE_CLIENT, 0, &e);
    assert_non_null(bound);
    assert_non_null(connected);
    struct message ping = {.kind = MSG_PING, .ping.tag = 77};
    assert_int_equal(lane_send(connected, NULL, &ping), LANE_SENT);
    assert_int_equal(lanes_wait(ds, 5000), 1);
    struct incoming got;
    assert_true(lane_receive(bound, &got));
    assert_int_equal(got.m.ping.tag, 77);
    struct stat st;
    assert_int_equal(fstatat(in.run_fd, "client.sock", &st, 0), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    lanes_free(&cs);
    lanes_free(&ds);
    instance_folder_empty(in.run_fd);
    instance_close(&in);
    char command[500];
    snprintf(command, sizeof command, "rm -r %s", base);
    assert_int_equal(system(command), 0);
}

static void an_instance_is_private(void **state)
{
    (void)state;
    struct scratch s;
    scratch_open(&s);
    struct instance in;
    struct err e = {0};
    chmod(s.dir, 0750);
    assert_int_equal(instance_open(&in, s.dir, &e), ERR_REFUSED);
    assert_non_null(strstr(e.text, "chmod 700"));
    chmod(s.dir, 0700);
    assert_int_equal(instance_open(&in, "/nonexistent/dir", &e), ERR_UNAVAILABLE);
    /* The arenas' folder may be squatted in a world-writable place: owner and mode are checked. */
    chmod(s.folder, 0755);
    assert_int_equal(instance_arena_fd(&s.in, &e), -1);
    assert_int_equal(e.code, ERR_REFUSED);
    chmod(s.folder, 0700);
    unlinkat(s.in.run_fd, "arena", 0);
    assert_int_equal(symlinkat("/", s.in.run_fd, "arena"), 0);
    assert_int_equal(instance_arena_fd(&s.in, &e), -1);
    scratch_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_round_trip),
        cmocka_unit_test(other_names_are_refused),
        cmocka_unit_test(ids_hold_every_daemon),
        cmocka_unit_test(a_name_runs_once_and_counts_its_runs),
        cmocka_unit_test(a_new_run_is_the_proof_that_the_old_one_is_dead),
        cmocka_unit_test(lanes_work_in_a_deep_directory),
        cmocka_unit_test(an_instance_is_private),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
