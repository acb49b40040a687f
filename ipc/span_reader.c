#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "evidence.h"
#include "span_ring.h"

enum { LOOK_AGAIN_MS = 200 };

struct source {
    struct span_source about;
    const struct span_file *file;
    uint64_t next; /* sequence to read next */
};

struct span_reader {
    const struct instance *in;
    struct source *source;
    size_t n, room, current;
    uint64_t looked_ns;
};

static const struct span_file *map_ring(int dir_fd, const char *name)
{
    struct stat st;
    const struct span_file *file = MAP_FAILED;
    int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) == 0 && st.st_size == sizeof *file)
        file = mmap(NULL, sizeof *file, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (file == MAP_FAILED)
        return NULL;
    if (atomic_load_explicit(&file->magic, memory_order_acquire) == SPAN_MAGIC &&
        file->version == SPAN_VERSION && file->records == SPAN_RING_RECORDS)
        return file;
    munmap((void *)file, sizeof *file);
    return NULL;
}

static void add_source(void *arg, int dir_fd, const char *name, const struct actor *who,
                       const char *suffix)
{
    struct span_reader *r = arg;
    struct source s = {.about = {.actor = *who}, .next = 1};
    size_t n = strlen(suffix) - strlen(".spans");
    if (n >= SPAN_THREAD_MAX)
        return;
    memcpy(s.about.thread, suffix, n);
    for (size_t i = 0; i < r->n; i++)
        if (actor_equal(&r->source[i].about.actor, who) &&
            strcmp(r->source[i].about.thread, s.about.thread) == 0)
            return;
    s.file = map_ring(dir_fd, name);
    if (!s.file)
        return;
    if (r->n == r->room) {
        r->room = r->room ? r->room * 2 : 32;
        r->source = realloc(r->source, r->room * sizeof *r->source);
        INVARIANT(r->source != NULL);
    }
    r->source[r->n++] = s;
}

static void look_for_rings(struct span_reader *r)
{
    evidence_scan(r->in, ".spans", add_source, r);
    r->looked_ns = span_now_ns();
}

struct span_reader *span_reader_new(const struct instance *in, struct err *e)
{
    struct span_reader *r = calloc(1, sizeof *r);
    if (!r) {
        err_set(e, ERR_MEMORY, "spans: no memory for a reader");
        return NULL;
    }
    r->in = in;
    look_for_rings(r);
    return r;
}

void span_reader_free(struct span_reader **reader)
{
    struct span_reader *r = *reader;
    if (!r)
        return;
    for (size_t i = 0; i < r->n; i++)
        munmap((void *)r->source[i].file, sizeof *r->source[i].file);
    free(r->source);
    free(r);
    *reader = NULL;
}

/* The next whole record of one ring. What the writer has run over is counted and passed. */
static bool next_of_source(struct source *s, struct span *out)
{
    for (;;) {
        uint64_t newest = atomic_load_explicit(&s->file->newest, memory_order_acquire);
        if (s->next > newest)
            return false;
        uint64_t oldest = newest > SPAN_RING_RECORDS ? newest - SPAN_RING_RECORDS + 1 : 1;
        if (s->next < oldest) {
            s->about.lost += oldest - s->next;
            s->next = oldest;
        }
        const struct span *at = &s->file->span[(s->next - 1) % SPAN_RING_RECORDS];
        bool whole = __atomic_load_n(&at->sequence, __ATOMIC_ACQUIRE) == s->next;
        memcpy(out, at, sizeof *out);
        atomic_thread_fence(memory_order_acquire);
        whole = whole && __atomic_load_n(&at->sequence, __ATOMIC_RELAXED) == s->next;
        s->next++;
        if (whole && out->kind > SPAN_NONE && out->kind < SPAN_KINDS) {
            out->sequence = s->next - 1;
            return true;
        }
        s->about.lost++;
    }
}

bool span_reader_next(struct span_reader *r, struct span *out, const struct span_source **from)
{
    for (size_t tried = 0; tried < r->n; tried++) {
        struct source *s = &r->source[r->current];
        if (next_of_source(s, out)) {
            *from = &s->about;
            return true;
        }
        r->current = (r->current + 1) % r->n;
    }
    if (span_now_ns() - r->looked_ns > LOOK_AGAIN_MS * UINT64_C(1000000)) {
        size_t before = r->n;
        look_for_rings(r);
        for (size_t i = before; i < r->n; i++)
            if (next_of_source(&r->source[i], out)) {
                r->current = i;
                *from = &r->source[i].about;
                return true;
            }
    }
    return false;
}
