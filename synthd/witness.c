/* witness: the partition's input, from its file in the spool into the extent. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "synthd.h"
#include "wtns.h"

enum err_code witness_open(struct synthd *s, struct work *w, struct err *e)
{
    const char *name = w->terms.spool;
    if (name[0] == 0 || name[0] == '.' || strchr(name, '/') != NULL)
        return err_set(e, ERR_INTERNAL, "the lease names no file of the spool");
    char path[LEASE_SPOOL_MAX + 16];
    snprintf(path, sizeof path, "spool/%s", name);
    int fd = openat(s->instance.dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return err_set(e, ERR_IO, "%s: not a regular file", path);
    }
    w->input_fd = fd;
    return ERR_OK;
}

/* The desk cut these; a mistake of its must not let us write into a neighbour's extent. */
static bool inside(const struct synthd *s, const struct lease_terms *t, uint64_t offset,
                   uint64_t count)
{
    const struct extent *x = &t->extent;
    return x->offset <= s->arena.bulk_bytes && x->bytes <= s->arena.bulk_bytes - x->offset &&
           offset >= x->offset && offset - x->offset <= x->bytes && offset % 64 == 0 &&
           count <= (x->bytes - (offset - x->offset)) / sizeof(fr_t);
}

static enum err_code check_terms(const struct synthd *s, const struct lease_terms *t,
                                 const struct circuit *c, struct err *e)
{
    uint64_t n = UINT64_C(1) << c->domain_log2;
    if (t->w_count != c->n_wires || (t->ab_count != 0 && t->ab_count != n))
        return err_set(
            e, ERR_INTERNAL,
            "the lease has room for %llu wires and %llu rows, the circuit has %u and %llu",
            (unsigned long long)t->w_count, (unsigned long long)t->ab_count, c->n_wires,
            (unsigned long long)n);
    if (!inside(s, t, t->w_offset, t->w_count) ||
        (t->ab_count != 0 && (!inside(s, t, t->a_offset, n) || !inside(s, t, t->b_offset, n))))
        return err_set(e, ERR_INTERNAL, "the lease's vectors lie outside of its extent");
    return ERR_OK;
}

static enum err_code read_checked(struct synthd *s, struct work *w, const struct circuit *c,
                                  struct err *e)
{
    enum err_code rc = check_terms(s, &w->terms, c, e);
    if (rc != ERR_OK)
        return rc;
    char name[sizeof w->terms.spool + 32];
    bool made = (w->terms.flags & LEASE_INPUT_JSON) != 0;
    snprintf(name, sizeof name, "%s%s", made ? "the program's witness of " : "", w->terms.spool);
    struct wtns *f = wtns_open_fd(w->input_fd, name, e);
    w->input_fd = -1; /* taken over, also on failure */
    if (f == NULL)
        return e->code;
    fr_t *to = (fr_t *)(void *)(s->arena.bulk + w->terms.w_offset);
    rc = wtns_expect(f, c->curve, c->n_wires, e);
    if (rc == ERR_OK)
        rc = wtns_read(f, to, s->pool, e);
    wtns_close(&f);
    return rc;
}

enum err_code witness_read(struct synthd *s, struct work *w, const struct circuit *c, struct err *e)
{
    uint64_t begin = span_now_ns();
    stat_step(s->stats, "witness");
    enum err_code rc = read_checked(s, w, c, e);
    stat_step(s->stats, "");
    struct span_who who = work_who(w);
    who.outcome = (uint16_t)rc;
    span_write(s->fill_ring, SPAN_WITNESS, &who, begin, span_now_ns(),
               w->terms.w_count * sizeof(fr_t));
    return rc;
}
