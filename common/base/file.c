#include "file.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 20, READ_STEP_BYTES = 1 << 16 };

struct file_writer {
    int fd;
    bool straight; /* the target is written as it stands: no rename */
    uint64_t offset;
    size_t buffered;
    char *name;  /* as the caller gave it, for messages */
    char *final; /* where the rename goes */
    char *temporary;
    unsigned char buffer[BUFFER_BYTES];
};

const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

enum err_code file_read(const char *path, size_t max_bytes, char **data, size_t *n, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return err_set(e, ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    size_t have = 0, room = 0;
    char *buf = NULL;
    enum err_code code = ERR_OK;
    /* The size that fstat gives is a hint at best (pipes, growing files): read until the end. */
    for (;;) {
        if (have == room) {
            room = room ? 2 * room : READ_STEP_BYTES;
            char *bigger = realloc(buf, room + 1);
            if (!bigger) {
                code = err_set(e, ERR_MEMORY, "%s: no memory for %zu bytes", path, room);
                break;
            }
            buf = bigger;
        }
        ssize_t got = read(fd, buf + have, room - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            code = err_set(e, ERR_IO, "%s: cannot read: %s", path, strerror(errno));
            break;
        }
        if (got == 0)
            break;
        have += (size_t)got;
        if (have > max_bytes) {
            code = err_set(e, ERR_FORMAT, "%s: longer than the %zu bytes allowed for this kind",
                           path, max_bytes);
            break;
        }
    }
    close(fd);
    if (code) {
        free(buf);
        return code;
    }
    buf[have] = 0;
    *data = buf;
    *n = have;
    return ERR_OK;
}

enum err_code file_replace(const char *path, const void *data, size_t n, mode_t mode, struct err *e)
{
    struct file_writer *w = file_writer_open(path, mode, e);
    if (!w)
        return e ? e->code : ERR_IO;
    enum err_code code = file_writer_write(w, data, n, e);
    if (code) {
        file_writer_abort(&w);
        return code;
    }
    return file_writer_commit(&w, e);
}

static void writer_free(struct file_writer *w)
{
    if (w->fd >= 0)
        close(w->fd);
    free(w->name);
    free(w->final);
    free(w->temporary);
    free(w);
}

/* The file that path names after symbolic links, or path itself when nothing is there yet. */
static char *resolve(const char *path)
{
    char *real = realpath(path, NULL);
    return real ? real : strdup(path);
}

/* Creates ".NAME.XXXXXX.tmp" beside path; the umask applies as to any new file (mkstemp would make
 * it 0600, and umask() cannot be read without setting it under other threads). */
static int create_beside(const char *path, mode_t mode, char **temporary)
{
    const char *base = file_name(path);
    size_t room = strlen(path) + sizeof "..XXXXXX.tmp";
    char *t = malloc(room);
    for (int attempt = 0; t && attempt < 64; attempt++) {
        uint32_t random;
        if (getrandom(&random, sizeof random, 0) != sizeof random)
            break;
        snprintf(t, room, "%.*s.%s.%06x.tmp", (int)(base - path), path, base, random & 0xffffff);
        int fd = open(t, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, mode);
        if (fd >= 0) {
            *temporary = t;
            return fd;
        }
        if (errno != EEXIST)
            break;
    }
    free(t);
    return -1;
}

struct file_writer *file_writer_open(const char *path, mode_t mode, struct err *e)
{
    struct file_writer *w = calloc(1, sizeof *w);
    if (!w) {
        err_set(e, ERR_MEMORY, "%s: no memory for a write buffer", path);
        return NULL;
    }
    w->fd = -1;
    w->name = strdup(path);
    struct stat st;
    w->straight = stat(path, &st) == 0 && !S_ISREG(st.st_mode);
    if (w->straight) {
        w->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    } else if ((w->final = resolve(path))) {
        w->fd = create_beside(w->final, mode, &w->temporary);
    }
    if (w->fd < 0) {
        err_set(e, ERR_IO, "%s: cannot create: %s", path, strerror(errno));
        writer_free(w);
        return NULL;
    }
    return w;
}

static enum err_code write_fully(struct file_writer *w, const void *data, size_t n, struct err *e)
{
    const unsigned char *p = data;
    while (n) {
        ssize_t put = write(w->fd, p, n < SSIZE_MAX ? n : SSIZE_MAX);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return err_set(e, ERR_IO, "%s: cannot write: %s", w->name, strerror(errno));
        p += put;
        n -= (size_t)put;
    }
    return ERR_OK;
}

static enum err_code flush(struct file_writer *w, struct err *e)
{
    enum err_code code = write_fully(w, w->buffer, w->buffered, e);
    w->buffered = 0;
    return code;
}

enum err_code file_writer_write(struct file_writer *w, const void *data, size_t n, struct err *e)
{
    w->offset += n;
    if (n <= BUFFER_BYTES - w->buffered) {
        if (n)
            memcpy(w->buffer + w->buffered, data, n);
        w->buffered += n;
        return ERR_OK;
    }
    enum err_code code = flush(w, e);
    if (code)
        return code;
    if (n >= BUFFER_BYTES)
        return write_fully(w, data, n, e);
    memcpy(w->buffer, data, n);
    w->buffered = n;
    return ERR_OK;
}

enum err_code file_writer_align(struct file_writer *w, size_t alignment, struct err *e)
{
    static const unsigned char zeros[4096];
    size_t pad = (size_t)(-w->offset & (alignment - 1));
    while (pad) {
        size_t step = pad < sizeof zeros ? pad : sizeof zeros;
        enum err_code code = file_writer_write(w, zeros, step, e);
        if (code)
            return code;
        pad -= step;
    }
    return ERR_OK;
}

enum err_code file_writer_patch(struct file_writer *w, uint64_t offset, const void *data, size_t n,
                                struct err *e)
{
    INVARIANT(offset <= w->offset && n <= w->offset - offset);
    if (w->straight)
        return err_set(e, ERR_IO, "%s: is not a regular file; this kind of file needs one",
                       w->name);
    enum err_code code = flush(w, e);
    const unsigned char *p = data;
    while (!code && n) {
        ssize_t put = pwrite(w->fd, p, n, (off_t)offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return err_set(e, ERR_IO, "%s: cannot write: %s", w->name, strerror(errno));
        p += put;
        n -= (size_t)put;
        offset += (uint64_t)put;
    }
    return code;
}

uint64_t file_writer_offset(const struct file_writer *w)
{
    return w->offset;
}

/* The rename is durable once the directory is. */
static enum err_code sync_directory(const char *path, struct err *e)
{
    const char *base = file_name(path);
    char *dir = base == path ? strdup(".") : strndup(path, (size_t)(base - path));
    int fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    enum err_code code = ERR_OK;
    /* Some file systems cannot fsync a directory (EINVAL): there is nothing more to ask of them. */
    if (fd < 0 || (fsync(fd) != 0 && errno != EINVAL))
        code = err_set(e, ERR_IO, "%s: cannot sync its directory: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    free(dir);
    return code;
}

enum err_code file_writer_commit(struct file_writer **wp, struct err *e)
{
    struct file_writer *w = *wp;
    enum err_code code = flush(w, e);
    if (!code && !w->straight && fsync(w->fd) != 0)
        code = err_set(e, ERR_IO, "%s: cannot sync: %s", w->name, strerror(errno));
    if (!code && close(w->fd) != 0)
        code = err_set(e, ERR_IO, "%s: cannot close: %s", w->name, strerror(errno));
    else if (code)
        close(w->fd);
    w->fd = -1;
    if (!code && !w->straight) {
        if (rename(w->temporary, w->final) != 0)
            code = err_set(e, ERR_IO, "%s: cannot rename into place: %s", w->name, strerror(errno));
        else
            code = sync_directory(w->final, e);
    }
    if (code && w->temporary)
        unlink(w->temporary);
    writer_free(w);
    *wp = NULL;
    return code;
}

void file_writer_abort(struct file_writer **wp)
{
    if (!wp || !*wp)
        return;
    if ((*wp)->temporary)
        unlink((*wp)->temporary);
    writer_free(*wp);
    *wp = NULL;
}
