#include "circuit.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "owner.h"

/* From here on a region asks for huge pages: fewer faults while a key is read, fewer misses while
 * a multi-exponentiation walks it. */
enum { HUGE_FROM_BYTES = 8 << 20 };

enum err_code region_new(struct region *r, uint64_t bytes, const char *what, struct err *e)
{
    *r = (struct region){0};
    if (bytes == 0)
        return ERR_OK;
    void *p = bytes > SIZE_MAX ? MAP_FAILED
                               : mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return err_set(e, ERR_MEMORY, "no memory for %llu bytes of %s", (unsigned long long)bytes,
                       what);
    if (bytes >= HUGE_FROM_BYTES)
        madvise(p, (size_t)bytes, MADV_HUGEPAGE);
    r->base = p;
    r->bytes = (size_t)bytes;
    return ERR_OK;
}

static size_t page_ceil(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) & ~(page - 1);
}

void region_shrink(struct region *r, uint64_t bytes)
{
    if (bytes >= r->bytes)
        return;
    if (bytes == 0) {
        region_free(r);
        return;
    }
    size_t keep = page_ceil((size_t)bytes), have = page_ceil(r->bytes);
    if (keep < have)
        munmap((char *)r->base + keep, have - keep);
    r->bytes = (size_t)bytes;
}

void region_free(struct region *r)
{
    if (r->base)
        munmap(r->base, page_ceil(r->bytes));
    *r = (struct region){0};
}

struct circuit *circuit_new(struct err *e)
{
    struct circuit *c = calloc(1, sizeof *c);
    struct circuit_owner *o = calloc(1, sizeof *o);
    if (!c || !o) {
        err_set(e, ERR_MEMORY, "no memory for a circuit");
        free(c);
        free(o);
        return NULL;
    }
    c->owner = o;
    return c;
}

struct circuit_owner *circuit_owner(const struct circuit *c)
{
    return c->owner;
}

void circuit_free(struct circuit **cp)
{
    struct circuit *c = cp ? *cp : NULL;
    if (!c)
        return;
    struct circuit_owner *o = c->owner;
    for (unsigned i = 0; i < OWNER_REGIONS; i++)
        region_free(&o->regions[i]);
    if (o->heap_matrices) {
        matrix_free(&c->a);
        matrix_free(&c->b);
        matrix_free(&c->c);
    }
    if (o->mapping)
        munmap((void *)o->mapping, o->mapping_bytes);
    free(o);
    free(c);
    *cp = NULL;
}

static uint64_t matrix_bytes(const struct matrix *m)
{
    return ((uint64_t)matrix_stored_rows(m) + 1) * sizeof *m->row_start +
           m->n_entries * (sizeof *m->wire + m->code_bytes) +
           (uint64_t)m->n_dictionary * sizeof *m->dictionary;
}

uint64_t circuit_mapped_bytes(const struct circuit *c)
{
    const struct circuit_owner *o = c->owner;
    if (o->mapping)
        return o->mapping_bytes;
    uint64_t bytes = sizeof *c + sizeof *o;
    for (unsigned i = 0; i < OWNER_REGIONS; i++)
        bytes += page_ceil(o->regions[i].bytes);
    return bytes + matrix_bytes(&c->a) + matrix_bytes(&c->b) + (c->has_c ? matrix_bytes(&c->c) : 0);
}
