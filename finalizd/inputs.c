#include "inputs.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "log.h"

/* A claim touches a file and a sweep removes it for its age; between the sweep's look at the age
 * and its unlink no claim may come. Held on workers only. */
static pthread_mutex_t claim_or_sweep = PTHREAD_MUTEX_INITIALIZER;

const char *spool_name(const char *spool, uint32_t index, char out[LEASE_SPOOL_MAX + 1])
{
    snprintf(out, LEASE_SPOOL_MAX + 1, "%s.%u", spool, index);
    return out;
}

/* ---- are they there? ---- */

bool inputs_are_there(const struct job *j)
{
    for (uint32_t i = 0; i < j->n; i++) {
        char name[LEASE_SPOOL_MAX + 1], path[LEASE_SPOOL_MAX + 16];
        if (j->part[i].state != PART_WAITING)
            continue; /* done, or filled already */
        snprintf(path, sizeof path, "spool/%s", spool_name(j->spool, i, name));
        if (faccessat(j->desk->instance.dir_fd, path, R_OK, 0) != 0)
            return false;
    }
    return true;
}

struct claim {
    struct work work;
    struct desk *desk;
    void (*then)(void *arg, const struct err *e);
    void *arg;
    struct err err;
    uint32_t n;
    char spool[NAME_BYTES];
};

static void claim_run(struct work *w)
{
    struct claim *c = (struct claim *)w;
    pthread_mutex_lock(&claim_or_sweep);
    for (uint32_t i = 0; i < c->n && !c->err.code; i++) {
        char name[LEASE_SPOOL_MAX + 1], path[LEASE_SPOOL_MAX + 16];
        snprintf(path, sizeof path, "spool/%s", spool_name(c->spool, i, name));
        if (utimensat(c->desk->instance.dir_fd, path, NULL, AT_SYMLINK_NOFOLLOW) != 0)
            err_set(&c->err, ERR_UNAVAILABLE,
                    "%s: %s: the input of partition %u must be sent again", path, strerror(errno),
                    i);
    }
    pthread_mutex_unlock(&claim_or_sweep);
}

static void claim_done(struct work *w)
{
    struct claim *c = (struct claim *)w;
    c->then(c->arg, &c->err);
    free(c);
}

void inputs_claim(struct desk *d, const char *spool, uint32_t n,
                  void (*then)(void *arg, const struct err *e), void *arg)
{
    struct claim *c = calloc(1, sizeof *c);
    INVARIANT(c != NULL);
    c->work.run = claim_run;
    c->work.done = claim_done;
    c->desk = d;
    c->then = then;
    c->arg = arg;
    c->n = n;
    snprintf(c->spool, sizeof c->spool, "%s", spool);
    workers_put(d->intake, &c->work);
}

/* ---- gone ---- */

struct wiping {
    struct work work;
    struct desk *desk;
    char spool[NAME_BYTES];
    uint32_t first, n;
};

static void overwrite(int fd)
{
    static const uint8_t zeros[1 << 16];
    struct stat st;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size == 0)
        return;
    for (off_t at = 0; at < st.st_size;) {
        size_t n = st.st_size - at < (off_t)sizeof zeros ? (size_t)(st.st_size - at) : sizeof zeros;
        ssize_t k = pwrite(fd, zeros, n, at);
        if (k <= 0 && errno != EINTR)
            return;
        at += k > 0 ? k : 0;
    }
    fdatasync(fd);
}

static void wipe_files(struct work *w)
{
    struct wiping *x = (struct wiping *)w;
    for (uint32_t i = x->first; i < x->first + x->n; i++) {
        char name[LEASE_SPOOL_MAX + 1], path[LEASE_SPOOL_MAX + 16];
        snprintf(path, sizeof path, "spool/%s", spool_name(x->spool, i, name));
        int fd = openat(x->desk->instance.dir_fd, path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd >= 0) {
            overwrite(fd);
            close(fd);
            unlinkat(x->desk->instance.dir_fd, path, 0);
        }
    }
    free(x);
}

void spool_wipe(struct desk *d, const char *spool, uint32_t first, uint32_t n)
{
    if (!spool[0])
        return;
    struct wiping *x = calloc(1, sizeof *x);
    INVARIANT(x != NULL);
    x->work.run = wipe_files;
    x->desk = d;
    x->first = first;
    x->n = n;
    snprintf(x->spool, sizeof x->spool, "%s", spool);
    workers_put(d->sweepers, &x->work);
}

/* ---- what belongs to no job ---- */

struct sweeping {
    struct work work;
    int dir_fd;
    uint64_t older_than_ns;
    size_t n;
    char (*keep)[NAME_BYTES]; /* spool names of open jobs, sorted */
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

static uint64_t modified_ns(const struct stat *st)
{
    return (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
}

static void sweep(struct work *w)
{
    struct sweeping *s = (struct sweeping *)w;
    int fd = openat(s->dir_fd, "spool", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    unsigned removed = 0;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char base[NAME_BYTES];
        struct stat st;
        const char *dot = strrchr(entry->d_name, '.');
        if (entry->d_name[0] == '.')
            continue;
        size_t n = dot ? (size_t)(dot - entry->d_name) : strlen(entry->d_name);
        if (n >= sizeof base)
            n = sizeof base - 1;
        memcpy(base, entry->d_name, n);
        base[n] = '\0';
        if (s->n && bsearch(base, s->keep, s->n, NAME_BYTES, compare_names))
            continue;
        pthread_mutex_lock(&claim_or_sweep);
        if (fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
            modified_ns(&st) < s->older_than_ns)
            removed += unlinkat(fd, entry->d_name, 0) == 0;
        pthread_mutex_unlock(&claim_or_sweep);
    }
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
    if (removed)
        log_info("spool-swept", NULL, "files=%u reason=%s", removed, "they belonged to no job");
    free(s->keep);
    free(s);
}

void inputs_sweep(struct desk *d)
{
    struct sweeping *s = calloc(1, sizeof *s);
    uint64_t now = wall_now_ns();
    INVARIANT(s != NULL);
    s->work.run = sweep;
    s->dir_fd = d->instance.dir_fd;
    s->older_than_ns = now > d->set.orphan_input_ns ? now - d->set.orphan_input_ns : 0;
    s->keep = calloc(d->n_jobs + 1, NAME_BYTES);
    INVARIANT(s->keep != NULL);
    for (const struct job *j = d->jobs; j; j = j->next)
        memcpy(s->keep[s->n++], j->spool, NAME_BYTES);
    qsort(s->keep, s->n, NAME_BYTES, compare_names);
    workers_put(d->sweepers, &s->work);
}
