#include "process.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static _Noreturn void become(const char *const *argv)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null >= 0)
        dup2(null, STDOUT_FILENO);
    execv(argv[0], (char *const *)argv);
    fprintf(stderr, "%s: %m\n", argv[0]);
    _exit(127);
}

bool process_measure(const char *const *argv, struct measure *out)
{
    double begin = now_s();
    pid_t pid = fork();
    if (pid < 0)
        return false;
    if (pid == 0)
        become(argv);
    int status;
    struct rusage use;
    if (wait4(pid, &status, 0, &use) != pid)
        return false;
    *out = (struct measure){
        .wall_s = now_s() - begin,
        .cpu_s = seconds(use.ru_utime) + seconds(use.ru_stime),
        .peak_mib = (double)use.ru_maxrss / 1024,
    };
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
