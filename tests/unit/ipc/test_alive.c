#include "scratch.h"
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include "alive.h"

/* A child that tells who it is and then waits for a signal. */
static pid_t start(struct alive_id *id)
{
    int fd[2];
    struct err e = {0};
    assert_int_equal(pipe(fd), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (alive_self(id, &e) != ERR_OK || write(fd[1], id, sizeof *id) != sizeof *id)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(fd[0], id, sizeof *id), sizeof *id);
    close(fd[0]);
    close(fd[1]);
    assert_int_equal(id->pid, pid);
    return pid;
}

static void only_the_pidfd_proves_death(void **state)
{
    (void)state;
    struct alive_id id;
    struct err e = {0};
    int fd, again;
    pid_t pid = start(&id);
    assert_int_equal(alive_open(&id, &fd, &e), ALIVE_YES);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_false(alive_is_dead(fd));
    kill(pid, SIGSTOP); /* late with everything, and alive */
    assert_false(alive_wait_dead(fd, 50));
    assert_true(alive_signal(fd, SIGKILL));
    assert_true(alive_wait_dead(fd, 5000));
    assert_true(alive_is_dead(fd));
    /* A zombie has ended, whether its parent has looked or not. */
    if (alive_open(&id, &again, &e) == ALIVE_YES) {
        assert_true(alive_is_dead(again));
        close(again);
    }
    waitpid(pid, NULL, 0);
    assert_false(alive_signal(fd, 0));
    close(fd);
    assert_int_equal(alive_open(&id, &fd, &e), ALIVE_DEAD);
    assert_int_equal(fd, -1);
}

static void a_reused_pid_is_nobody_we_know(void **state)
{
    (void)state;
    struct alive_id id, other;
    struct err e = {0};
    int fd;
    pid_t pid = start(&id);
    other = id;
    other.start_ticks--;
    assert_int_equal(alive_open(&other, &fd, &e), ALIVE_DEAD);
    other = id;
    other.boot_id[0] = other.boot_id[0] == '0' ? '1' : '0';
    assert_int_equal(alive_open(&other, &fd, &e), ALIVE_DEAD);
    other = id;
    other.pid = 0;
    assert_int_equal(alive_open(&other, &fd, &e), ALIVE_DEAD);
    other.pid = UINT32_MAX;
    assert_int_equal(alive_open(&other, &fd, &e), ALIVE_DEAD);
    assert_int_equal(alive_open(&id, &fd, &e), ALIVE_YES);
    close(fd);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void hello_carries_it(void **state)
{
    (void)state;
    struct alive_id id, back;
    struct err e = {0};
    struct msg_hello hello = {0};
    assert_int_equal(alive_self(&id, &e), ERR_OK);
    assert_int_equal(id.pid, getpid());
    assert_int_equal(strlen(id.boot_id), 36);
    alive_to_hello(&id, &hello);
    alive_from_hello(&back, &hello);
    assert_int_equal(back.pid, id.pid);
    assert_int_equal(back.start_ticks, id.start_ticks);
    assert_string_equal(back.boot_id, id.boot_id);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_pidfd_proves_death),
        cmocka_unit_test(a_reused_pid_is_nobody_we_know),
        cmocka_unit_test(hello_carries_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
