#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "owner.h"
#include "prepared_layout.h"

static enum err_code read_header(int fd, const char *path, struct prepared_header *h, struct err *e)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return err_set(e, ERR_IO, "%s: cannot stat: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_IO, "%s: is not a regular file", path);
    size_t have = 0;
    while (have < sizeof *h) {
        ssize_t got = pread(fd, (char *)h + have, sizeof *h - have, (off_t)have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_set(e, ERR_IO, "%s: cannot read: %s", path, strerror(errno));
        if (got == 0)
            return err_set(
                e, ERR_FORMAT,
                "%s: header: offset %zu: the file ends here; expected a prepared circuit "
                "with a header of %d bytes",
                path, have, PREPARED_HEADER_BYTES);
        have += (size_t)got;
    }
    return prepared_header_check(h, (uint64_t)st.st_size, path, e);
}

enum err_code prepared_open(const char *path, struct prepared_header *h, int *fd, struct err *e)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (*fd < 0)
        return err_set(e, ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    enum err_code code = read_header(*fd, path, h, e);
    if (code)
        close(*fd);
    return code;
}

static const void *section_at(const struct prepared_header *h, const void *base, unsigned id)
{
    return h->section[id].length ? (const char *)base + h->section[id].offset : NULL;
}

static void point_matrix(const struct prepared_header *h, const void *base, unsigned first,
                         struct matrix *m)
{
    m->fold = section_at(h, base, PREPARED_FOLDS);
    m->n_folds = h->n_folds;
    m->row_start = section_at(h, base, first);
    m->wire = section_at(h, base, first + 1);
    m->code = section_at(h, base, first + 2);
    m->dictionary = section_at(h, base, first + 3);
}

static void point_into(const struct prepared_header *h, const void *base, struct circuit *c)
{
    point_matrix(h, base, PREPARED_A_ROW_START, &c->a);
    point_matrix(h, base, PREPARED_B_ROW_START, &c->b);
    if (c->has_c)
        point_matrix(h, base, PREPARED_C_ROW_START, &c->c);
    struct query *queries[QUERIES] = {&c->a_query, &c->b1_query, &c->b2_query, &c->l_query};
    for (unsigned i = 0; i < QUERIES; i++) {
        queries[i]->points = section_at(h, base, PREPARED_A_POINTS + 2 * i);
        queries[i]->wire = section_at(h, base, PREPARED_A_WIRES + 2 * i);
    }
    c->h_points = section_at(h, base, PREPARED_H_POINTS);
    c->vk.ic = section_at(h, base, PREPARED_IC);
}

/* Folds say which rows are stored, so nothing is read by them before they fit the header. */
static enum err_code check_folds(const struct prepared_header *h, const struct circuit *c,
                                 const char *path, struct err *e)
{
    const struct matrix *const all[3] = {&c->a, &c->b, &c->c};
    for (int i = 0; i < (c->has_c ? 3 : 2); i++) {
        if (matrix_check_folds(all[i], e))
            return err_prefix(e, "%s: section %d (folds): matrix %c", path, PREPARED_FOLDS,
                              "ABC"[i]);
        uint32_t stored = matrix_stored_rows(all[i]);
        if (stored != h->matrix[i].n_stored_rows)
            return err_set(
                e, ERR_FORMAT,
                "%s: section %d (folds): matrix %c: they leave %u rows to be stored, the "
                "header says %u",
                path, PREPARED_FOLDS, "ABC"[i], stored, h -> matrix[i].n_stored_rows);
    }
    return ERR_OK;
}

struct circuit *circuit_map(const char *path, struct err *e)
{
    struct prepared_header h;
    int fd;
    if (prepared_open(path, &h, &fd, e))
        return NULL;
    struct circuit *c = circuit_new(e);
    void *base = MAP_FAILED;
    if (c) {
        base = mmap(NULL, (size_t)h.file_bytes, PROT_READ, MAP_SHARED, fd, 0);
        if (base == MAP_FAILED) {
            err_set(e, ERR_MEMORY, "%s: cannot map %llu bytes: %s", path,
                    (unsigned long long)h.file_bytes, strerror(errno));
            circuit_free(&c);
        }
    }
    close(fd);
    if (!c)
        return NULL;
    struct circuit_owner *o = circuit_owner(c);
    o->mapping = base;
    o->mapping_bytes = (size_t)h.file_bytes;
    prepared_header_to_circuit(&h, c);
    point_into(&h, base, c);
    if (check_folds(&h, c, path, e))
        circuit_free(&c);
    return c;
}

struct circuit *circuit_head(const char *path, uint64_t *file_bytes, struct err *e)
{
    struct prepared_header h;
    int fd;
    if (prepared_open(path, &h, &fd, e))
        return NULL;
    struct circuit *c = circuit_new(e);
    uint64_t length = h.section[PREPARED_IC].length;
    struct region *ic = c ? &circuit_owner(c)->regions[OWNER_IC] : NULL;
    if (c && region_new(ic, length, "a verification key", e))
        circuit_free(&c);
    for (uint64_t have = 0; c && have < length;) {
        ssize_t got = pread(fd, (char *)ic->base + have, (size_t)(length - have),
                            (off_t)(h.section[PREPARED_IC].offset + have));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            err_set(e, ERR_IO, "%s: cannot read the verification key: %s", path,
                    got ? strerror(errno) : "the file ends there");
            circuit_free(&c);
            break;
        }
        have += (uint64_t)got;
    }
    close(fd);
    if (!c)
        return NULL;
    prepared_header_to_circuit(&h, c);
    c->vk.ic = ic->base;
    *file_bytes = h.file_bytes;
    return c;
}

enum err_code prepared_digest(const char *path, uint8_t digest[32], struct err *e)
{
    struct prepared_header h;
    int fd;
    enum err_code code = prepared_open(path, &h, &fd, e);
    if (code)
        return code;
    close(fd);
    memcpy(digest, h.digest, sizeof h.digest);
    return ERR_OK;
}
