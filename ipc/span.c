#include "span.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "evidence.h"
#include "span_ring.h"

static const struct span_info infos[SPAN_KINDS] = {
#define S(kind, name_, value_, doc_) [SPAN_##kind] = {name_, value_, doc_},
    SPANS(S)
#undef S
};

const struct span_info *span_info(enum span_kind kind)
{
    return kind > SPAN_NONE && kind < SPAN_KINDS ? &infos[kind] : NULL;
}

struct span_ring {
    struct span_file *file;
    uint64_t written; /* the writer's own count: the shared one is for readers */
};

struct span_ring *span_ring_open(const struct instance *in, const struct actor *self,
                                 const char *thread, struct err *e)
{
    char suffix[SPAN_THREAD_MAX + 8];
    const char *wish = getenv("MILLRACE_SPANS");
    if (wish && strcmp(wish, "off") == 0) {
        err_set(e, ERR_UNAVAILABLE, "spans are turned off (MILLRACE_SPANS=off)");
        return NULL;
    }
    INVARIANT(strlen(thread) < SPAN_THREAD_MAX && !strpbrk(thread, "/#."));
    snprintf(suffix, sizeof suffix, "%s.spans", thread);
    struct span_file *file = evidence_create(in, self, suffix, sizeof *file, e);
    if (!file)
        return NULL;
    /* Every page is written once now, so that no first touch of one falls on a span. */
    memset(file->span, 0, sizeof file->span);
    struct span_ring *r = malloc(sizeof *r);
    INVARIANT(r != NULL);
    *r = (struct span_ring){.file = file};
    file->version = SPAN_VERSION;
    file->records = SPAN_RING_RECORDS;
    atomic_store_explicit(&file->magic, SPAN_MAGIC, memory_order_release);
    return r;
}

void span_ring_close(struct span_ring **r)
{
    if (*r) {
        evidence_unmap((*r)->file, sizeof *(*r)->file);
        free(*r);
        *r = NULL;
    }
}

/* The slot's sequence is taken away, the record written, the sequence put back: a reader that sees
 * the same sequence before and after its copy has a whole record. */
void span_write(struct span_ring *r, enum span_kind kind, const struct span_who *who,
                uint64_t begin_ns, uint64_t end_ns, uint64_t value)
{
    if (!r)
        return;
    uint64_t sequence = ++r->written;
    struct span *s = &r->file->span[(sequence - 1) % SPAN_RING_RECORDS];
    __atomic_store_n(&s->sequence, 0, __ATOMIC_RELAXED);
    atomic_thread_fence(memory_order_release);
    s->begin_ns = begin_ns;
    s->end_ns = end_ns;
    s->job = who->job;
    s->value = value;
    s->partition = who->partition;
    s->attempt = who->attempt;
    s->kind = (uint16_t)kind;
    s->outcome = who->outcome;
    s->row = who->row;
    __atomic_store_n(&s->sequence, sequence, __ATOMIC_RELEASE);
    atomic_store_explicit(&r->file->newest, sequence, memory_order_release);
}
