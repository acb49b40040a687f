#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "actors.h"
#include "alive.h"
#include "instance.h"

/* NAME.lock holds one line of fixed length, "INCARNATION PID START_TICKS BOOT_ID", written in one
 * call: a crash leaves the old or the new one. */
enum { LINE = 5 + 1 + 10 + 1 + 20 + 1 + 36 + 1, EXIT_PATIENCE_MS = 20000 };

static bool read_line(int fd, uint64_t *incarnation, struct alive_id *who)
{
    char text[LINE + 1] = {0};
    unsigned long n;
    unsigned pid;
    unsigned long long ticks;
    *who = (struct alive_id){0};
    *incarnation = 0;
    if (pread(fd, text, LINE, 0) <= 0)
        return false;
    int got = sscanf(text, "%5lu %10u %20llu %36s", &n, &pid, &ticks, who->boot_id);
    if (got < 1 || n > INCARNATION_MAX)
        return false;
    *incarnation = n;
    if (got < 4)
        return false;
    who->pid = pid;
    who->start_ticks = ticks;
    return true;
}

/* A killed process lets its lock go before its mappings and its device's copies end. Whoever comes
 * after it waits for that, so that a new incarnation is the proof that the old one is dead. */
static enum err_code wait_for_predecessor(const struct alive_id *who, const char *name,
                                          struct err *e)
{
    int pidfd;
    struct err unseen;
    if (alive_open(who, &pidfd, &unseen) != ALIVE_YES)
        return ERR_OK;
    bool dead = alive_wait_dead(pidfd, EXIT_PATIENCE_MS);
    close(pidfd);
    return dead ? ERR_OK
                : err_set(e, ERR_UNAVAILABLE,
                          "the %s before this one, process %u, has let its lock go but has not "
                          "ended after %d s",
                          name, who->pid, EXIT_PATIENCE_MS / 1000);
}

enum err_code actor_enter(struct actor *self, const struct instance *in, int *lock_fd,
                          struct err *e)
{
    char name[ACTOR_NAME_MAX], file[ACTOR_NAME_MAX + 8], what[ACTOR_NAME_MAX + 16];
    struct err lost;
    struct alive_id before, me;
    uint64_t last = 0;
    e = e ? e : &lost;
    snprintf(file, sizeof file, "%s.lock", actor_name(self, name));
    snprintf(what, sizeof what, "a %s runs", name);
    int fd = instance_lock(in, file, what, e);
    if (fd < 0)
        return e->code;
    enum err_code code = alive_self(&me, e);
    if (code == ERR_OK && read_line(fd, &last, &before) && before.pid != me.pid)
        code = wait_for_predecessor(&before, name, e);
    if (code == ERR_OK) {
        char text[LINE + 1];
        self->incarnation = last % INCARNATION_MAX + 1;
        snprintf(text, sizeof text, "%05u %010u %020llu %36.36s\n", (unsigned)self->incarnation,
                 me.pid, (unsigned long long)me.start_ticks, me.boot_id);
        if (pwrite(fd, text, LINE, 0) != LINE)
            code = err_set(e, ERR_IO, "%s/run/%s: cannot write the incarnation: %s", in->dir, file,
                           strerror(errno));
    }
    if (code != ERR_OK) {
        close(fd);
        return code;
    }
    *lock_fd = fd;
    return ERR_OK;
}

enum actor_fate actor_last_seen(const struct actor *a, const struct instance *in,
                                struct alive_id *who)
{
    char name[ACTOR_NAME_MAX], file[ACTOR_NAME_MAX + 8];
    uint64_t last = 0;
    snprintf(file, sizeof file, "%s.lock", actor_name(a, name));
    int fd = openat(in->run_fd, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool told = fd >= 0 && read_line(fd, &last, who);
    if (fd >= 0)
        close(fd);
    if (last != 0 && last != a->incarnation)
        return ACTOR_SUCCEEDED;
    return told ? ACTOR_LAST : ACTOR_UNKNOWN;
}
