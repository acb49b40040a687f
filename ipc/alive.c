#include "alive.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

static bool read_boot_id(char out[37])
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, out, 36) : -1;
    if (fd >= 0)
        close(fd);
    out[n == 36 ? 36 : 0] = 0;
    return n == 36;
}

/* Field 22 of /proc/PID/stat. The name in field 2 may hold anything, so fields are counted from
 * the last closing parenthesis. 0: no such process, -1 with errno: cannot be read. */
static int read_start_ticks(uint32_t pid, uint64_t *ticks)
{
    char path[40], text[1024];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : -1;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return errno == ESRCH ? 0 : -1;
    text[n] = 0;
    const char *p = strrchr(text, ')');
    for (int field = 2; p && field < 22; field++)
        p = (p = strchr(p, ' ')) ? p + 1 : NULL;
    if (!p)
        return -1;
    *ticks = strtoull(p, NULL, 10);
    return 1;
}

enum err_code alive_self(struct alive_id *id, struct err *e)
{
    *id = (struct alive_id){.pid = (uint32_t)getpid()};
    if (!read_boot_id(id->boot_id) || read_start_ticks(id->pid, &id->start_ticks) != 1)
        return err_set(e, ERR_UNAVAILABLE,
                       "cannot tell who this process is: /proc is not mounted or not readable");
    return ERR_OK;
}

void alive_to_hello(const struct alive_id *id, struct msg_hello *hello)
{
    hello->pid = id->pid;
    hello->start_ticks = id->start_ticks;
    memcpy(hello->boot_id, id->boot_id, sizeof id->boot_id);
}

void alive_from_hello(struct alive_id *id, const struct msg_hello *hello)
{
    id->pid = hello->pid;
    id->start_ticks = hello->start_ticks;
    memcpy(id->boot_id, hello->boot_id, sizeof id->boot_id);
}

enum alive_state alive_open(const struct alive_id *id, int *pidfd, struct err *e)
{
    char boot_id[37];
    *pidfd = -1;
    if (!read_boot_id(boot_id)) {
        err_set(e, ERR_UNAVAILABLE, "cannot read the boot id: /proc is not mounted");
        return ALIVE_UNKNOWN;
    }
    if (strcmp(boot_id, id->boot_id) != 0)
        return ALIVE_DEAD;
    if (id->pid == 0 || id->pid > INT32_MAX)
        return ALIVE_DEAD;
    /* The descriptor first, then the comparison: were it the other way round, the process could end
     * and its pid be reused in between, and the descriptor would watch a stranger. */
    int fd = pidfd_open((pid_t)id->pid, 0);
    if (fd < 0) {
        if (errno == ESRCH)
            return ALIVE_DEAD;
        err_set(e, ERR_UNAVAILABLE, "process %u: cannot open a pidfd: %s", id->pid,
                strerror(errno));
        return ALIVE_UNKNOWN;
    }
    uint64_t ticks = 0;
    int rc = read_start_ticks(id->pid, &ticks);
    if (rc == 1 && ticks == id->start_ticks) {
        *pidfd = fd;
        return ALIVE_YES;
    }
    close(fd);
    if (rc >= 0)
        return ALIVE_DEAD;
    err_set(e, ERR_UNAVAILABLE, "process %u: cannot read its start time: %s", id->pid,
            strerror(errno));
    return ALIVE_UNKNOWN;
}

bool alive_wait_dead(int pidfd, int timeout_ms)
{
    struct pollfd p = {.fd = pidfd, .events = POLLIN};
    return poll(&p, 1, timeout_ms) == 1 && (p.revents & POLLIN);
}

bool alive_is_dead(int pidfd)
{
    return alive_wait_dead(pidfd, 0);
}

bool alive_signal(int pidfd, int signal_number)
{
    return pidfd_send_signal(pidfd, signal_number, NULL, 0) == 0;
}
