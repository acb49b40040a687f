#include "spool.h"
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "wtns.h"

enum { PIECE = 1 << 20 };

static enum err_code copy_input(struct spool *s, const char *path, size_t index, bool durable,
                                crypto_generichash_state *hash, uint8_t *piece, struct err *e)
{
    int from = open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
    struct stat st;
    if (fstat(from, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(from);
        return err_set(e, ERR_IO, "%s: not a regular file", path);
    }
    char name[SPOOL_NAME_MAX + 24];
    snprintf(name, sizeof name, "%s.%zu", s->name, index);
    int to = openat(s->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (to < 0) {
        int why = errno;
        close(from);
        return err_set(e, ERR_IO, "spool/%s: %s", name, strerror(why));
    }
    s->n = index + 1;
    uint64_t size = (uint64_t)st.st_size, done = 0;
    crypto_generichash_update(hash, (const uint8_t *)&size, sizeof size);
    enum err_code rc = ERR_OK;
    while (!rc && done < size) {
        size_t want = size - done < PIECE ? (size_t)(size - done) : PIECE;
        ssize_t got = read(from, piece, want);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            rc = got < 0 ? err_set(e, ERR_IO, "%s: %s", path, strerror(errno))
                         : err_set(e, ERR_IO,
                                   "%s: ends at offset %llu, %llu bytes were expected: "
                                   "it shrank while it was read",
                                   path, (unsigned long long)done, (unsigned long long)size);
            break;
        }
        crypto_generichash_update(hash, piece, (size_t)got);
        for (ssize_t at = 0; at < got;) {
            ssize_t put = write(to, piece + at, (size_t)(got - at));
            if (put < 0 && errno == EINTR)
                continue;
            if (put < 0) {
                rc = err_set(e, ERR_IO, "spool/%s: %s", name, strerror(errno));
                break;
            }
            at += put;
        }
        done += (uint64_t)got;
    }
    if (!rc && durable && fsync(to) != 0)
        rc = err_set(e, ERR_IO, "spool/%s: %s", name, strerror(errno));
    close(from);
    if (close(to) != 0 && !rc)
        rc = err_set(e, ERR_IO, "spool/%s: %s", name, strerror(errno));
    return rc;
}

enum err_code spool_inputs(struct spool *s, const struct instance *in, const char *const *inputs,
                           size_t n, bool wtns, bool durable, struct err *e)
{
    *s = (struct spool){.fd = openat(in->dir_fd, "spool", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (s->fd < 0)
        return err_set(e, ERR_IO, "%s/spool: %s", in->dir, strerror(errno));
    uint8_t random[16];
    randombytes_buf(random, sizeof random);
    sodium_bin2hex(s->name, sizeof s->name, random, sizeof random);
    uint8_t *piece = malloc(PIECE);
    if (!piece) {
        spool_close(s);
        return err_set(e, ERR_MEMORY, "no memory to copy an input");
    }
    crypto_generichash_state hash;
    crypto_generichash_init(&hash, NULL, 0, sizeof s->content);
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < n && !rc; i++) {
        if (wtns) {
            struct wtns *f = wtns_open(inputs[i], e);
            if (!f) {
                rc = e->code;
                break;
            }
            wtns_close(&f);
        }
        rc = copy_input(s, inputs[i], i, durable, &hash, piece, e);
    }
    crypto_generichash_final(&hash, s->content, sizeof s->content);
    sodium_memzero(piece, PIECE); /* it held a witness */
    free(piece);
    if (!rc && durable && fsync(s->fd) != 0)
        rc = err_set(e, ERR_IO, "%s/spool: %s", in->dir, strerror(errno));
    if (rc) {
        spool_remove(s);
        spool_close(s);
    }
    return rc;
}

void spool_remove(struct spool *s)
{
    char name[SPOOL_NAME_MAX + 24];
    for (size_t i = 0; i < s->n; i++) {
        snprintf(name, sizeof name, "%s.%zu", s->name, i);
        unlinkat(s->fd, name, 0);
    }
    s->n = 0;
}

void spool_close(struct spool *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}
