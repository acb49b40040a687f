#include "harness.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *input_file(const uint8_t *data, size_t n)
{
    static int fd = -1;
    static char path[40];
    if (fd < 0) {
        fd = memfd_create("fuzz input", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (fd < 0 || ftruncate(fd, 0) != 0 || ftruncate(fd, (off_t)n) != 0 ||
        pwrite(fd, data, n, 0) != (ssize_t)n)
        DIE("cannot hold an input of %zu bytes: %s", n, strerror(errno));
    return path;
}

void refused_in_one_line(enum err_code code, const struct err *e)
{
    if (code == ERR_OK)
        return;
    PROPERTY(e->code == code);
    PROPERTY(e->text[0] && !strchr(e->text, '\n'));
    PROPERTY(memchr(e->text, 0, sizeof e->text));
    PROPERTY(code != ERR_INTERNAL);
}
