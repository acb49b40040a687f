#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "member.h"
#include "span.h"
#include "store.h"

/* Above what the child's own descriptors 0 to 3 take, so that no file action overwrites a source
 * of a later one. */
static int moved_up(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, 10);
    close(fd);
    return high;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* DIR/store/HEX.program is a link to programs/NAME; the name tells its kind and where its data
 * lies, so the runner is given the target. */
static enum err_code find_program(struct program *p, const char *dir, int dir_fd,
                                  const uint8_t circuit[32], char path[PATH_MAX], struct err *e)
{
    char link[STORE_NAME_MAX], target[STORE_NAME_MAX];
    ssize_t n = readlinkat(dir_fd, store_program_name(circuit, link), target, sizeof target - 1);
    if (n <= 0)
        return err_set(e, ERR_UNAVAILABLE,
                       "the circuit has no witness program (add it with: millrace circuit add "
                       "--program), and the input is an input.json");
    target[n] = 0;
    const char *name = strrchr(target, '/');
    name = name != NULL ? name + 1 : target;
    snprintf(p->name, sizeof p->name, "program %.16s", name);
    if (snprintf(path, PATH_MAX, "%s/store/programs/%s", dir, name) >= PATH_MAX)
        return err_set(e, ERR_IO, "%s: path too long", dir);
    return ERR_OK;
}

static enum err_code open_channels(struct program *p, int *child_error, struct err *e)
{
    int pipe_fd[2];
    p->output_fd = memfd_create("witness", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (p->output_fd < 0)
        return err_set(e, ERR_IO, "memfd for a witness: %s", strerror(errno));
    p->output_fd = moved_up(p->output_fd);
    if (p->output_fd < 0 || pipe2(pipe_fd, O_CLOEXEC | O_NONBLOCK) != 0)
        return err_set(e, ERR_IO, "pipe for a witness program: %s", strerror(errno));
    p->error_fd = moved_up(pipe_fd[0]);
    *child_error = moved_up(pipe_fd[1]);
    return p->error_fd >= 0 && *child_error >= 0
               ? ERR_OK
               : err_set(e, ERR_IO, "descriptors for a witness program: %s", strerror(errno));
}

static int spawn(struct program *p, const char *runner, const char *path, int input_fd,
                 int child_error, const struct program_limits *limits)
{
    char parent[16], cpu[24], memory[24];
    snprintf(parent, sizeof parent, "%d", (int)getpid());
    snprintf(cpu, sizeof cpu, "%llu", (unsigned long long)limits->cpu_s);
    snprintf(memory, sizeof memory, "%llu", (unsigned long long)(limits->memory_bytes >> 20));
    char *const argv[] = {(char *)"millrace-wasm",
                          (char *)"--parent",
                          parent,
                          (char *)"--cpu-s",
                          cpu,
                          (char *)"--memory-mib",
                          memory,
                          (char *)path,
                          (char *)"/proc/self/fd/0",
                          (char *)"/proc/self/fd/3",
                          NULL};
    char *const envp[] = {NULL};

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input_fd, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, child_error, 2);
    posix_spawn_file_actions_adddup2(&actions, p->output_fd, 3);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    int failed = posix_spawn(&p->pid, runner, &actions, &attributes, argv, envp);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0)
        p->pid = 0;
    return failed;
}

static void close_all(struct program *p)
{
    close_fd(&p->pidfd);
    close_fd(&p->output_fd);
    close_fd(&p->error_fd);
}

enum err_code program_start(struct program *p, const char *runner, const char *dir, int dir_fd,
                            const uint8_t circuit[32], int input_fd,
                            const struct program_limits *limits, struct err *e)
{
    char path[PATH_MAX];
    int child_error = -1;
    *p = (struct program){.pidfd = -1, .output_fd = -1, .error_fd = -1};
    enum err_code rc = find_program(p, dir, dir_fd, circuit, path, e);
    if (rc == ERR_OK)
        rc = open_channels(p, &child_error, e);
    int input = rc == ERR_OK ? fcntl(input_fd, F_DUPFD_CLOEXEC, 10) : -1;
    if (rc == ERR_OK) {
        int failed = spawn(p, runner, path, input, child_error, limits);
        if (failed != 0)
            rc = err_set(e, ERR_IO, "%s: cannot be started: %s", p->name, strerror(failed));
    }
    close_fd(&input);
    close_fd(&child_error);
    if (rc == ERR_OK) {
        p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0); /* close-on-exec by definition */
        if (p->pidfd < 0) {
            rc = err_set(e, ERR_IO, "%s: pidfd_open: %s", p->name, strerror(errno));
            program_kill(p);
            waitpid(p->pid, NULL, 0);
            p->pid = 0;
        }
    }
    if (rc != ERR_OK) {
        close_all(p);
        return rc;
    }
    p->started_ns = span_now_ns();
    p->limit_ns = limits->wall_ns;
    p->memory_bytes = limits->memory_bytes;
    p->until_ns = limits->wall_ns != 0 ? p->started_ns + limits->wall_ns : 0;
    return ERR_OK;
}

/* Keeps the begin of what the program prints and drops the rest: it must not block on a full pipe.
 */
static void drain_error_pipe(struct program *p)
{
    char piece[512];
    ssize_t n;
    while ((n = read(p->error_fd, piece, sizeof piece)) > 0) {
        size_t room = sizeof p->said - 1 - p->n_said;
        size_t take = (size_t)n < room ? (size_t)n : room;
        memcpy(p->said + p->n_said, piece, take);
        p->n_said += take;
    }
    p->said[p->n_said] = 0;
}

bool program_watch(struct program *p, uint64_t now_ns)
{
    drain_error_pipe(p);
    if (p->until_ns != 0 && now_ns >= p->until_ns && p->killed_for == PROGRAM_RUNS) {
        program_kill(p);
        p->killed_for = PROGRAM_TIMED_OUT;
    }
    struct pollfd f = {.fd = p->pidfd, .events = POLLIN};
    return poll(&f, 1, 0) == 1;
}

void program_kill(struct program *p)
{
    if (p->pid == 0)
        return;
    /* The leader is not reaped yet, so neither its pid nor its group can be another's. */
    kill(-p->pid, SIGKILL);
    if (p->killed_for == PROGRAM_RUNS)
        p->killed_for = PROGRAM_KILLED;
}

static const char runner_prefix[] = "millrace-wasm: ";

/* The first line that it printed. */
static const char *first_line(struct program *p)
{
    p->said[strcspn(p->said, "\n")] = 0;
    text_clean(p->said);
    return p->said;
}

static enum err_code why_none(struct program *p, const siginfo_t *end, struct err *e)
{
    const char *said = first_line(p);
    double seconds = (double)(span_now_ns() - p->started_ns) / 1e9;
    if (p->killed_for == PROGRAM_TIMED_OUT)
        return err_set(e, ERR_FAILED, "%s: killed: it ran longer than its limit of %.3g s", p->name,
                       (double)p->limit_ns / 1e9);
    if (p->killed_for == PROGRAM_KILLED)
        return err_set(e, ERR_CANCELLED, "%s: killed after %.1f s: cancelled", p->name, seconds);
    if (end->si_code == CLD_EXITED && strncmp(said, runner_prefix, sizeof runner_prefix - 1) == 0)
        return err_set(e, (enum err_code)end->si_status, "%s: %s", p->name,
                       said + sizeof runner_prefix - 1);
    if (end->si_code == CLD_EXITED) /* a native program's own exit code is no err_code */
        return err_set(e, ERR_FAILED, "%s: %s", p->name,
                       said[0] != 0 ? said : "it failed without a word");
    switch (end->si_status) {
    case SIGXCPU:
    case SIGKILL:
        return err_set(e, ERR_FAILED,
                       "%s: killed after %.1f s: over its limit of CPU time, or out of "
                       "memory",
                       p->name, seconds);
    case SIGXFSZ:
        return err_set(e, ERR_FAILED, "%s: its output is larger than %llu MiB", p->name,
                       (unsigned long long)(p->memory_bytes >> 20));
    case SIGSYS:
        return err_set(e, ERR_FAILED, "%s: stopped: it made a system call that it may not make",
                       p->name);
    case SIGABRT:
    case SIGSEGV:
    case SIGBUS:
        return err_set(e, ERR_FAILED,
                       "%s: crashed with signal %d (its memory is limited to %llu MiB)"
                       "%s%s",
                       p->name, end->si_status, (unsigned long long)(p->memory_bytes >> 20),
                       said[0] != 0 ? ": " : "", said);
    default:
        return err_set(e, ERR_FAILED, "%s: killed by signal %d", p->name, end->si_status);
    }
}

enum err_code program_finish(struct program *p, int *wtns_fd, struct err *e)
{
    siginfo_t end = {0};
    *wtns_fd = -1;
    INVARIANT(p->pid != 0);
    /* What it left behind in its group goes with it. A process that ended by itself is not
     * "killed": program_kill would say so. */
    kill(-p->pid, SIGKILL);
    while (waitid(P_PID, (id_t)p->pid, &end, WEXITED) != 0 && errno == EINTR)
        ;
    p->pid = 0;
    drain_error_pipe(p);
    enum err_code rc = ERR_OK;
    if (end.si_code != CLD_EXITED || end.si_status != 0 || p->killed_for != PROGRAM_RUNS)
        rc = why_none(p, &end, e);
    else if (fcntl(p->output_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0)
        rc = err_set(e, ERR_IO, "%s: its output cannot be sealed: %s", p->name, strerror(errno));
    if (rc == ERR_OK) {
        *wtns_fd = p->output_fd;
        p->output_fd = -1;
    }
    close_all(p);
    return rc;
}
