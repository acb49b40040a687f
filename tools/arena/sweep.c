#include "sweep.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWNER "owner"

enum err_code sweep_sign(const struct instance *in, int folder_fd, struct err *e)
{
    size_t n = strlen(in->dir);
    int fd = openat(folder_fd, OWNER, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    ssize_t put = fd >= 0 ? write(fd, in->dir, n) : -1;
    int why = errno;
    if (fd >= 0)
        close(fd);
    return put == (ssize_t)n
               ? ERR_OK
               : err_set(e, ERR_IO, "%s/run/arena/" OWNER ": %s", in->dir, strerror(why));
}

/* Does any process that we may look at map a file below `folder`? Our own are all such. */
static bool is_mapped(const char *folder)
{
    bool found = false;
    char line[8192];
    size_t n = strlen(folder);
    DIR *proc = opendir("/proc");
    if (!proc)
        return true;
    for (struct dirent *p; !found && (p = readdir(proc));) {
        char path[300];
        if (!isdigit((unsigned char)p->d_name[0]))
            continue;
        snprintf(path, sizeof path, "/proc/%s/maps", p->d_name);
        FILE *maps = fopen(path, "re");
        while (maps && !found && fgets(line, sizeof line, maps)) {
            const char *at = strstr(line, folder);
            found = at && at[n] == '/';
        }
        if (maps)
            fclose(maps);
    }
    closedir(proc);
    return found;
}

static bool leads_to(const char *owner, const char *folder)
{
    char link[4200], target[4096];
    snprintf(link, sizeof link, "%s/run/arena", owner);
    ssize_t n = readlink(link, target, sizeof target - 1);
    if (n < 0)
        return errno != ENOENT && errno != ENOTDIR; /* cannot be told: it stays */
    target[n] = 0;
    return strcmp(target, folder) == 0;
}

static void look_at(const char *path, int dir_fd, const char *name)
{
    char owner[4096], folder[4096];
    struct stat st;
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int said = fd >= 0 ? openat(fd, OWNER, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1;
    ssize_t n = said >= 0 ? read(said, owner, sizeof owner - 1) : -1;
    if (said >= 0)
        close(said);
    if (n > 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid()) {
        owner[n] = 0;
        snprintf(folder, sizeof folder, "%s/%s", path, name);
        if (!leads_to(owner, folder) && !is_mapped(folder)) {
            instance_folder_empty(fd);
            if (unlinkat(dir_fd, name, AT_REMOVEDIR) == 0)
                fprintf(stderr, "removed %s: the instance %s, whose arenas these were, is gone\n",
                        folder, owner);
        }
    }
    if (fd >= 0)
        close(fd);
}

void sweep_gone(const char *path)
{
    char prefix[32];
    int n = snprintf(prefix, sizeof prefix, "millrace-%u-", (unsigned)geteuid());
    DIR *dir = opendir(path);
    for (struct dirent *d; dir && (d = readdir(dir));)
        if (strncmp(d->d_name, prefix, (size_t)n) == 0)
            look_at(path, dirfd(dir), d->d_name);
    if (dir)
        closedir(dir);
}
