#include "bytefile.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct bytefile {
    int fd;
    char *name;
    uint64_t size;
};

struct bytefile *bytefile_open_fd(int fd, const char *name, const char *kind, struct err *e)
{
    struct bytefile *f = calloc(1, sizeof *f);
    if (!f || !(f->name = strdup(name))) {
        err_set(e, ERR_MEMORY, "%s: no memory", name);
        free(f);
        close(fd);
        return NULL;
    }
    f->fd = fd;
    struct stat st;
    enum err_code code = ERR_OK;
    if (fstat(fd, &st) != 0)
        code = err_set(e, ERR_IO, "%s: cannot stat: %s", name, strerror(errno));
    else if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
        code =
            err_set(e, ERR_IO, "%s: is not a regular file; a %s is read in any order", name, kind);
    else
        f->size = (uint64_t)st.st_size;
    if (code)
        bytefile_close(&f);
    return f;
}

struct bytefile *bytefile_open(const char *path, const char *kind, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); /* a fifo must not hang us */
    if (fd < 0) {
        err_set(e, ERR_IO, "%s: cannot open: %s", path, strerror(errno));
        return NULL;
    }
    return bytefile_open_fd(fd, path, kind, e);
}

void bytefile_close(struct bytefile **f)
{
    if (!f || !*f)
        return;
    close((*f)->fd);
    free((*f)->name);
    free(*f);
    *f = NULL;
}

const char *bytefile_name(const struct bytefile *f)
{
    return f->name;
}

uint64_t bytefile_size(const struct bytefile *f)
{
    return f->size;
}

enum err_code bytefile_read(const struct bytefile *f, uint64_t offset, void *out, size_t n,
                            struct err *e)
{
    unsigned char *p = out;
    while (n) {
        ssize_t got = pread(f->fd, p, n, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_set(e, ERR_IO, "%s: offset %" PRIu64 ": cannot read: %s", f->name, offset,
                           strerror(errno));
        if (got == 0)
            return err_set(e, ERR_IO,
                           "%s: offset %" PRIu64 ": the file shrank while it was read (it had "
                           "%" PRIu64 " bytes)",
                           f->name, offset, f->size);
        p += got;
        n -= (size_t)got;
        offset += (uint64_t)got;
    }
    return ERR_OK;
}

enum err_code bytefile_error(const struct bytefile *f, const char *what, uint64_t offset,
                             enum err_code code, struct err *e, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return err_set(e, code, "%s: %s: offset %" PRIu64 ": %s", f->name, what, offset, text);
}

enum err_code bytefile_expect(const struct bytefile *f, const char *what, uint64_t offset,
                              uint64_t bytes, struct err *e)
{
    if (offset <= f->size && bytes <= f->size - offset)
        return ERR_OK;
    return bytefile_error(f, what, offset, ERR_FORMAT, e,
                          "expected %" PRIu64 " bytes, but the file ends at %" PRIu64, bytes,
                          f->size);
}

enum err_code bytefile_expect_end(const struct bytefile *f, uint64_t offset, struct err *e)
{
    if (offset == f->size)
        return ERR_OK;
    return bytefile_error(f, "end", offset, ERR_FORMAT, e,
                          "expected the file's end, but %" PRIu64 " bytes follow",
                          f->size - offset);
}
