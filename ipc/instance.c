#include "instance.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

static const char *const folders[] = {"run", "store", "spool", "ledger", "log"};

/* FNV-1a: only names a folder, whose owner is then checked. */
static uint64_t hash_path(const char *path, uid_t uid)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325) ^ uid;
    for (; *path; path++)
        h = (h ^ (uint8_t)*path) * UINT64_C(0x100000001b3);
    return h;
}

const char *instance_default_dir(const char *argument, char *out, size_t n)
{
    const char *named = argument ? argument : getenv("MILLRACE_DIR");
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (named && *named)
        snprintf(out, n, "%s", named);
    else if (state && *state == '/')
        snprintf(out, n, "%s/millrace", state);
    else if (home && *home == '/')
        snprintf(out, n, "%s/.local/state/millrace", home);
    else
        snprintf(out, n, "/var/lib/millrace-%u", (unsigned)getuid());
    return out;
}

enum err_code instance_create(const char *dir, struct err *e)
{
    if (mkdir(dir, 0700) != 0 && errno != EEXIST)
        return err_set(e, ERR_IO, "%s: cannot make the instance's directory: %s", dir,
                       strerror(errno));
    int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_set(e, ERR_IO, "%s: %s", dir, strerror(errno));
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        if (mkdirat(fd, folders[i], 0700) != 0 && errno != EEXIST) {
            enum err_code code =
                err_set(e, ERR_IO, "%s/%s: cannot make it: %s", dir, folders[i], strerror(errno));
            close(fd);
            return code;
        }
    }
    close(fd);
    return ERR_OK;
}

static enum err_code check_private(int fd, const char *what, struct err *e)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return err_set(e, ERR_IO, "%s: %s", what, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return err_set(e, ERR_REFUSED, "%s: is not a directory", what);
    if (st.st_uid != geteuid())
        return err_set(e, ERR_REFUSED,
                       "%s: belongs to user %u, this process runs as %u: an instance serves its "
                       "owner alone",
                       what, (unsigned)st.st_uid, (unsigned)geteuid());
    if (st.st_mode & 077)
        return err_set(e, ERR_REFUSED, "%s: mode is %03o, others can reach in: chmod 700 it", what,
                       (unsigned)(st.st_mode & 0777));
    return ERR_OK;
}

enum err_code instance_open(struct instance *in, const char *dir, struct err *e)
{
    *in = (struct instance){.dir_fd = -1, .run_fd = -1};
    char *absolute = realpath(dir, NULL);
    if (!absolute)
        return err_set(e, ERR_UNAVAILABLE, "%s: no instance there: %s", dir, strerror(errno));
    snprintf(in->dir, sizeof in->dir, "%s", absolute);
    free(absolute);
    in->dir_fd = open(in->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (in->dir_fd < 0)
        return err_set(e, ERR_UNAVAILABLE, "%s: no instance there: %s", dir, strerror(errno));
    enum err_code code = check_private(in->dir_fd, in->dir, e);
    if (code == ERR_OK) {
        in->run_fd = openat(in->dir_fd, "run", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (in->run_fd < 0)
            code =
                err_set(e, ERR_UNAVAILABLE, "%s/run: %s: not an instance; `millrace up` makes one",
                        in->dir, strerror(errno));
    }
    if (code != ERR_OK) {
        instance_close(in);
        return code;
    }
    in->hash = hash_path(in->dir, geteuid());
    snprintf(in->arena_dir, sizeof in->arena_dir, "/dev/shm/millrace-%u-%016llx",
             (unsigned)geteuid(), (unsigned long long)in->hash);
    return ERR_OK;
}

void instance_close(struct instance *in)
{
    if (in->run_fd >= 0)
        close(in->run_fd);
    if (in->dir_fd >= 0)
        close(in->dir_fd);
    in->run_fd = in->dir_fd = -1;
}

int instance_arena_fd(const struct instance *in, struct err *e)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(in->run_fd, "arena", target, sizeof target - 1);
    if (n < 0) {
        err_set(e, ERR_UNAVAILABLE,
                "%s/run/arena: %s: no arenas were made; `millrace up` makes them", in->dir,
                strerror(errno));
        return -1;
    }
    target[n] = 0;
    /* The folder may lie in the sticky /dev/shm, where anybody could have put one of that name:
     * what counts is who owns the folder that was opened. */
    int fd = open(target, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        err_set(e, ERR_UNAVAILABLE, "%s: %s: the arenas are gone; `millrace up` makes them", target,
                strerror(errno));
        return -1;
    }
    if (check_private(fd, target, e) != ERR_OK) {
        close(fd);
        return -1;
    }
    struct statfs fs;
    if (fstatfs(fd, &fs) != 0 || (fs.f_type != TMPFS_MAGIC && fs.f_type != HUGETLBFS_MAGIC)) {
        err_set(e, ERR_REFUSED, "%s: is not on a tmpfs: arenas live in memory alone", target);
        close(fd);
        return -1;
    }
    return fd;
}

int instance_evidence_fd(const struct instance *in)
{
    int fd = instance_arena_fd(in, NULL);
    return fd >= 0 ? fd : fcntl(in->run_fd, F_DUPFD_CLOEXEC, 0);
}

void instance_folder_empty(int dir_fd)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(d));)
        unlinkat(dir_fd, entry->d_name, 0);
    closedir(d);
}

int instance_lock(const struct instance *in, const char *file, const char *what, struct err *e)
{
    int fd = openat(in->run_fd, file, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        err_set(e, ERR_IO, "%s/run/%s: %s", in->dir, file, strerror(errno));
        return -1;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    if (errno == EWOULDBLOCK)
        err_set(e, ERR_REFUSED, "%s: %s already in this instance", in->dir, what);
    else
        err_set(e, ERR_IO, "%s/run/%s: cannot lock it: %s", in->dir, file, strerror(errno));
    close(fd);
    return -1;
}
