/* Three processes, SIGKILL at every kill point of the lease code: each point of a daemon paired
 * with each point of the desk. Both partitions end committed exactly once, with everything free. */
#include "lease_roles.h"
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

static const char *const synthd_points[] = {"lease.claim.before", "lease.claim.after",
                                            "lease.publish.before", "lease.publish.after"};
static const char *const gpud_points[] = {
    "lease.take.before",    "lease.take.after",    "lease.uploaded.before",
    "lease.uploaded.after", "lease.proved.before", "lease.proved.after",
    "lease.fail.before",    "lease.fail.after",    "lease.result.half"};
static const char *const desk_points[] = {"none",
                                          "lease.grant.before",
                                          "lease.grant.terms",
                                          "lease.grant.after",
                                          "lease.settle.before",
                                          "lease.settle.after",
                                          "lease.abandon.before",
                                          "lease.abandon.after",
                                          "lease.reassign.before",
                                          "lease.reassign.after",
                                          "lease.requeue.before",
                                          "lease.requeue.after",
                                          "lease.extent.between",
                                          "lease.grant.terms:3"};

static struct scratch scratch;
static struct arena arena;
static struct world *world; /* shared by the three */

/* One process: attaches the arena itself and does its turns until all is done. */
static void run_role(enum role r, uint64_t incarnation, const char *kill_at)
{
    struct arena a;
    struct err e = {0};
    struct mind m = {0};
    uint32_t in_use;
    setenv("MILLRACE_KILL_AT", kill_at, 1);
    if (arena_attach(&a, scratch.arena_fd, 0, ARENA_DESK, &e) != ERR_OK)
        _exit(1);
    if (r == DESK && lease_recover(&a, &in_use, &e) != ERR_OK)
        _exit(2);
    for (;;) {
        bool moved = role_turn(r, &a, world, incarnation, &m);
        if (r == DESK && all_done(&a, world))
            _exit(0);
        if (!moved)
            nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
}

static pid_t start(enum role r, const char *kill_at)
{
    pid_t pid = fork();
    if (pid == 0)
        run_role(r, world->alive[r], kill_at);
    assert_true(pid > 0);
    return pid;
}

/* Returns how many processes were killed at their points. */
static unsigned run_pair(enum role victim, const char *point, const char *desk_point)
{
    *world = (struct world){.alive = {1, 1, 1}};
    pid_t pid[ROLES];
    for (int r = 0; r < ROLES; r++)
        pid[r] = start((enum role)r, r == (int)victim ? point : r == DESK ? desk_point : "");
    unsigned deaths = 0;
    alarm(20); /* a hang is a failure */
    for (bool ended = false; !ended;) {
        int status;
        pid_t gone = waitpid(-1, &status, 0);
        for (int r = 0; r < ROLES; r++) {
            if (pid[r] != gone)
                continue;
            if (WIFEXITED(status)) {
                assert_int_equal(r, DESK);
                assert_int_equal(WEXITSTATUS(status), 0);
                ended = true;
                continue;
            }
            assert_int_equal(WTERMSIG(status), SIGKILL);
            deaths++;
            world->alive[r]++; /* proven dead: it is reaped */
            pid[r] = start((enum role)r, "");
        }
    }
    alarm(0);
    for (int r = SYNTHD; r < ROLES; r++) {
        kill(pid[r], SIGKILL);
        waitpid(pid[r], NULL, 0);
    }
    for (uint32_t p = 0; p < PARTITIONS; p++)
        assert_int_equal(world->commits[p], 1);
    assert_int_equal(world->spoiled, 0);
    assert_true(all_done(&arena, world));
    for (size_t i = 0; i < 2 * sizeof(struct lease_cell); i++) /* secrets are wiped */
        assert_int_equal(((uint8_t *)arena.header)[arena.header->cells_offset + i], 0);
    assert_int_equal(*(uint64_t *)arena.bulk, 0);
    return deaths;
}

static void killed_at_every_point(void **state)
{
    (void)state;
    unsigned pairs = 0, deaths = 0;
    scratch_open(&scratch);
    scratch_arena(&scratch, &arena, 0, 2, 2, 0);
    world = mmap(NULL, sizeof *world, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (size_t d = 0; d < sizeof desk_points / sizeof *desk_points; d++) {
        for (size_t i = 0; i < sizeof synthd_points / sizeof *synthd_points; i++, pairs++) {
            unsigned n = run_pair(SYNTHD, synthd_points[i], desk_points[d]);
            assert_true(n >= 1); /* the daemon's own point is always passed */
            deaths += n;
        }
        for (size_t i = 0; i < sizeof gpud_points / sizeof *gpud_points; i++, pairs++) {
            unsigned n = run_pair(GPUD, gpud_points[i], desk_points[d]);
            assert_true(n >= 1);
            deaths += n;
        }
    }
    print_message("%u pairs of points, %u deaths\n", pairs, deaths);
    assert_true(deaths > pairs * 3 / 2); /* most of the desk's points were passed as well */
    munmap(world, sizeof *world);
    arena_detach(&arena);
    scratch_close(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(killed_at_every_point)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
