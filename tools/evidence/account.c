#include "account.h"
#include <stdlib.h>
#include <string.h>

const char *gap_cause_name(enum gap_cause c)
{
    static const char *const name[] = {
#define C(cause, text, doc) text,
        GAP_CAUSES(C)
#undef C
    };
    return name[c];
}

const char *gap_cause_doc(enum gap_cause c)
{
    static const char *const doc_of[] = {
#define C(cause, text, doc) doc,
        GAP_CAUSES(C)
#undef C
    };
    return doc_of[c];
}

struct interval {
    uint64_t begin, end;
    enum gap_cause cause;
};

struct intervals {
    struct interval *at;
    size_t n, cap;
};

static enum err_code add(struct intervals *to, uint64_t begin, uint64_t end, enum gap_cause cause,
                         struct err *e)
{
    if (end <= begin)
        return ERR_OK;
    if (to->n == to->cap) {
        size_t cap = to->cap ? 2 * to->cap : 64;
        struct interval *more = realloc(to->at, cap * sizeof *more);
        if (!more)
            return err_set(e, ERR_MEMORY, "no memory for an account");
        to->at = more;
        to->cap = cap;
    }
    to->at[to->n++] = (struct interval){begin, end, cause};
    return ERR_OK;
}

/* Which cause a step of this kind is, for a GPU that waits for it; GAP_CAUSE_COUNT: none. own: a
 * step of that gpud; partition: of the partition that it will run next. */
static enum gap_cause cause_of(enum span_kind kind, bool own, bool partition)
{
    if (own) {
        switch (kind) {
        case SPAN_REGISTER:
            return GAP_REGISTRATION;
        case SPAN_KEY_LOAD:
        case SPAN_COPY_KEY:
            return GAP_KEY_LOAD;
        case SPAN_PROVE_FINISH:
        case SPAN_RELEASE:
            return GAP_FINISH;
        case SPAN_DOWN:
            return GAP_DOWN;
        default:
            break;
        }
    }
    if (!partition)
        return GAP_CAUSE_COUNT;
    switch (kind) {
    case SPAN_COPY_IN:
    case SPAN_PROVE_START:
        return GAP_COPY_IN;
    case SPAN_READY_WAIT:
        return GAP_FINISH;
    case SPAN_QUEUE_WAIT: /* first in order, or about to be, and not granted yet */
    case SPAN_GRANT:
    case SPAN_PUBLISH:
    case SPAN_RING:
        return GAP_DESCRIPTOR;
    case SPAN_MATRICES:
        return GAP_MATRICES;
    case SPAN_WITNESS:
    case SPAN_PROGRAM:
        return GAP_WITNESS;
    case SPAN_SYNTHD_WAIT:
        return GAP_SYNTHD;
    case SPAN_ROOM_WAIT:
        return GAP_ROOM;
    default:
        return GAP_CAUSE_COUNT;
    }
}

static bool is_gpud(const struct spans *s, unsigned source, unsigned index)
{
    const struct actor *a = &s->source[source].actor;
    return a->kind == ACTOR_GPUD && a->index == index;
}

/* --- busy time ------------------------------------------------------------------------------- */

/* Kernel intervals of a gpud, merged, clipped to the window; `first[i]` is the span that begins the
 * i-th. */
struct busy {
    struct interval *at;
    const struct span **first;
    size_t n;
};

static enum err_code find_busy(const struct spans *s, struct account *a, struct busy *b,
                               struct err *e)
{
    *b = (struct busy){.at = calloc(s->n + 1, sizeof *b->at),
                       .first = calloc(s->n + 1, sizeof *b->first)};
    if (!b->at || !b->first)
        return err_set(e, ERR_MEMORY, "no memory for an account");
    for (size_t i = 0; i < s->n; i++) {
        const struct span *k = &s->at[i].s;
        if (k->kind != SPAN_KERNELS || !is_gpud(s, s->at[i].source, a->gpud.index) ||
            k->end_ns <= a->begin_ns || k->begin_ns >= a->end_ns)
            continue;
        uint64_t begin = k->begin_ns > a->begin_ns ? k->begin_ns : a->begin_ns;
        uint64_t end = k->end_ns < a->end_ns ? k->end_ns : a->end_ns;
        a->partitions++;
        if (b->n && begin <= b->at[b->n - 1].end) {
            if (end > b->at[b->n - 1].end)
                b->at[b->n - 1].end = end;
            continue;
        }
        b->first[b->n] = k;
        b->at[b->n++] = (struct interval){begin, end, GAP_NO_WORK};
    }
    for (size_t i = 0; i < b->n; i++)
        a->busy_ns += b->at[i].end - b->at[i].begin;
    return ERR_OK;
}

/* --- a gap ------------------------------------------------------------------------------------ */

static int compare_times(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Cuts the gap wherever an interval begins or ends; each piece goes to the cause of the highest
 * precedence that covers it. */
static enum err_code divide(struct gap *g, const struct intervals *in, struct err *e)
{
    uint64_t *cut = calloc(2 * in->n + 2, sizeof *cut);
    if (!cut)
        return err_set(e, ERR_MEMORY, "no memory for an account");
    size_t n = 0;
    cut[n++] = g->begin_ns;
    cut[n++] = g->end_ns;
    for (size_t i = 0; i < in->n; i++) {
        if (in->at[i].begin > g->begin_ns && in->at[i].begin < g->end_ns)
            cut[n++] = in->at[i].begin;
        if (in->at[i].end > g->begin_ns && in->at[i].end < g->end_ns)
            cut[n++] = in->at[i].end;
    }
    qsort(cut, n, sizeof *cut, compare_times);
    for (size_t k = 0; k + 1 < n; k++) {
        enum gap_cause best = GAP_NO_WORK;
        for (size_t i = 0; i < in->n; i++)
            if (in->at[i].begin <= cut[k] && in->at[i].end >= cut[k + 1] && in->at[i].cause < best)
                best = in->at[i].cause;
        g->by_cause_ns[best] += cut[k + 1] - cut[k];
    }
    free(cut);
    g->cause = GAP_NO_WORK;
    for (unsigned c = 0; c < GAP_CAUSE_COUNT; c++)
        if (g->by_cause_ns[c] > g->by_cause_ns[g->cause])
            g->cause = (enum gap_cause)c;
    return ERR_OK;
}

/* Between the last sign of one run of the gpud and the first of the next, it was down. */
static enum err_code find_down(const struct spans *s, const struct account *a, struct intervals *to,
                               struct err *e)
{
    uint64_t run = 0, last = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (!is_gpud(s, s->at[i].source, a->gpud.index))
            continue;
        uint64_t incarnation = s->source[s->at[i].source].actor.incarnation;
        if (run && incarnation != run && s->at[i].s.begin_ns > last &&
            add(to, last, s->at[i].s.begin_ns, GAP_DOWN, e))
            return e->code;
        run = incarnation;
        if (s->at[i].s.end_ns > last)
            last = s->at[i].s.end_ns;
    }
    return ERR_OK;
}

static enum err_code explain(const struct spans *s, const struct account *a, struct gap *g,
                             const struct intervals *down, struct err *e)
{
    struct intervals in = {0};
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < down->n && !rc; i++)
        rc = add(&in, down->at[i].begin, down->at[i].end, GAP_DOWN, e);
    for (size_t i = 0; i < s->n && !rc; i++) {
        const struct span *k = &s->at[i].s;
        if (k->begin_ns >= g->end_ns)
            break; /* sorted */
        if (k->end_ns <= g->begin_ns)
            continue;
        bool own = is_gpud(s, s->at[i].source, a->gpud.index);
        bool next = g->job && k->job == g->job && k->partition == g->partition &&
                    (k->attempt == g->attempt || k->attempt == 0);
        /* Nothing ended it within the window: whatever is under way may be what it waits for. */
        bool any = g->job == 0 && k->job != 0;
        enum gap_cause c = cause_of((enum span_kind)k->kind, own, next || any);
        if (c != GAP_CAUSE_COUNT)
            rc = add(&in, k->begin_ns, k->end_ns, c, e);
    }
    if (!rc)
        rc = divide(g, &in, e);
    free(in.at);
    return rc;
}

/* --- a gpud ------------------------------------------------------------------------------------
 */

static enum err_code make_one(const struct spans *s, struct account *a, struct err *e)
{
    struct busy b;
    struct intervals down = {0};
    enum err_code rc = find_busy(s, a, &b, e);
    if (!rc)
        rc = find_down(s, a, &down, e);
    if (!rc && !(a->gap = calloc(b.n + 1, sizeof *a->gap)))
        rc = err_set(e, ERR_MEMORY, "no memory for an account");
    uint64_t at = a->begin_ns;
    for (size_t i = 0; i <= b.n && !rc; i++) {
        uint64_t until = i < b.n ? b.at[i].begin : a->end_ns;
        if (until > at) {
            struct gap *g = &a->gap[a->n_gaps++];
            *g = (struct gap){.begin_ns = at, .end_ns = until};
            if (i < b.n) {
                g->job = b.first[i]->job;
                g->partition = b.first[i]->partition;
                g->attempt = b.first[i]->attempt;
            }
            rc = explain(s, a, g, &down, e);
            for (unsigned c = 0; c < GAP_CAUSE_COUNT; c++)
                a->by_cause_ns[c] += g->by_cause_ns[c];
        }
        if (i < b.n)
            at = b.at[i].end;
    }
    free(b.at);
    free(b.first);
    free(down.at);
    return rc;
}

enum err_code account_make(const struct spans *s, uint64_t begin_ns, uint64_t end_ns,
                           struct account **out, size_t *n, struct err *e)
{
    enum { INDICES = 256 };
    static const struct account none;
    uint64_t first[INDICES] = {0}, last = 0;
    *n = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct actor *a = &s->source[s->at[i].source].actor;
        if (a->kind == ACTOR_GPUD && a->index < INDICES && !first[a->index])
            first[a->index] = s->at[i].s.begin_ns ? s->at[i].s.begin_ns : 1;
        if (s->at[i].s.end_ns > last)
            last = s->at[i].s.end_ns;
    }
    *out = calloc(INDICES, sizeof **out);
    if (!*out)
        return err_set(e, ERR_MEMORY, "no memory for an account");
    for (unsigned i = 0; i < INDICES; i++) {
        if (!first[i])
            continue;
        struct account *a = &(*out)[*n];
        *a = none;
        a->gpud = (struct actor){.kind = ACTOR_GPUD, .index = i};
        a->begin_ns = begin_ns ? begin_ns : first[i];
        a->end_ns = end_ns ? end_ns : last;
        if (a->end_ns < a->begin_ns)
            a->end_ns = a->begin_ns;
        (*n)++;
        if (make_one(s, a, e)) {
            account_free(out, *n);
            return e->code;
        }
    }
    return ERR_OK;
}

void account_free(struct account **a, size_t n)
{
    for (size_t i = 0; *a && i < n; i++)
        free((*a)[i].gap);
    free(*a);
    *a = NULL;
}
