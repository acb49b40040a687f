#include "evidence.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void file_name(const struct actor *self, const char *suffix, char out[EVIDENCE_NAME_MAX])
{
    char id[ROUTING_ID_MAX];
    snprintf(out, EVIDENCE_NAME_MAX, "%s.%s", actor_routing_id(self, id), suffix);
}

bool evidence_parse(const char *name, struct actor *who, const char **suffix)
{
    const char *hash = strchr(name, '#');
    const char *dot = hash ? strchr(hash, '.') : NULL;
    if (!dot || !actor_parse(who, name, (size_t)(dot - name)))
        return false;
    *suffix = dot + 1;
    return true;
}

void evidence_scan(const struct instance *in, const char *ending, evidence_each *each, void *arg)
{
    int dir_fd = instance_evidence_fd(in);
    int fd = dir_fd >= 0 ? openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *entry; d && (entry = readdir(d));) {
        struct actor who;
        const char *suffix;
        size_t n = strlen(entry->d_name), m = strlen(ending);
        if (n > m && strcmp(entry->d_name + n - m, ending) == 0 &&
            evidence_parse(entry->d_name, &who, &suffix))
            each(arg, dir_fd, entry->d_name, &who, suffix);
    }
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
    if (dir_fd >= 0)
        close(dir_fd);
}

struct kin {
    const struct actor *self;
    const char *suffix;
    uint64_t newest[EVIDENCE_KEPT]; /* incarnations before this one, newest first */
};

static bool is_kin(const struct kin *k, const struct actor *who, const char *suffix)
{
    return who->kind == k->self->kind && who->node == k->self->node &&
           who->index == k->self->index && who->incarnation != k->self->incarnation &&
           strcmp(suffix, k->suffix) == 0;
}

static void note_newest(void *arg, int dir_fd, const char *name, const struct actor *who,
                        const char *suffix)
{
    (void)dir_fd;
    (void)name;
    struct kin *k = arg;
    if (!is_kin(k, who, suffix))
        return;
    uint64_t v = who->incarnation;
    for (int i = 0; i < EVIDENCE_KEPT; i++)
        if (v > k->newest[i]) {
            uint64_t was = k->newest[i];
            k->newest[i] = v;
            v = was;
        }
}

static void remove_older(void *arg, int dir_fd, const char *name, const struct actor *who,
                         const char *suffix)
{
    struct kin *k = arg;
    if (is_kin(k, who, suffix) && who->incarnation < k->newest[EVIDENCE_KEPT - 1])
        unlinkat(dir_fd, name, 0);
}

void *evidence_create(const struct instance *in, const struct actor *self, const char *suffix,
                      size_t bytes, struct err *e)
{
    char name[EVIDENCE_NAME_MAX];
    file_name(self, suffix, name);
    struct kin kin = {.self = self, .suffix = suffix};
    evidence_scan(in, suffix, note_newest, &kin);
    evidence_scan(in, suffix, remove_older, &kin);

    int dir_fd = instance_evidence_fd(in);
    unlinkat(dir_fd, name, 0);
    int fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int rc = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)bytes);
    void *at = MAP_FAILED;
    if (rc == 0) {
        at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
        rc = at == MAP_FAILED ? errno : 0;
    }
    if (rc != 0) {
        err_set(e, rc == ENOSPC || rc == ENOMEM ? ERR_MEMORY : ERR_IO, "%s: cannot make it: %s",
                name, strerror(rc));
        if (fd >= 0)
            unlinkat(dir_fd, name, 0);
    } else {
        madvise(at, bytes, MADV_DONTFORK);
    }
    if (fd >= 0)
        close(fd);
    if (dir_fd >= 0)
        close(dir_fd);
    return rc == 0 ? at : NULL;
}

void evidence_unmap(void *at, size_t bytes)
{
    if (at)
        munmap(at, bytes);
}

void evidence_remove(const struct instance *in, const struct actor *self, const char *suffix)
{
    char name[EVIDENCE_NAME_MAX];
    int dir_fd = instance_evidence_fd(in);
    file_name(self, suffix, name);
    if (dir_fd >= 0) {
        unlinkat(dir_fd, name, 0);
        close(dir_fd);
    }
}
