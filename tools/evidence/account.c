#include "account.h"
#include <limits.h>
#include <stdlib.h>
#include "account_parts.h"

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

/* --- busy time ------------------------------------------------------------------------------- */

/* Kernels of a gpud, merged, clipped to the window; `first` begins the stretch. */
struct busy {
    struct {
        uint64_t begin, end;
        const struct span *first;
    } * at;
    size_t n;
};

static enum err_code find_busy(const struct spans *s, struct account *a, struct busy *b,
                               struct err *e)
{
    b->at = calloc(s->n + 1, sizeof *b->at);
    if (!b->at)
        return err_set(e, ERR_MEMORY, "no memory for an account");
    for (size_t i = 0; i < s->n; i++) {
        const struct span *k = &s->at[i].s;
        if (k->kind != SPAN_KERNELS || !is_run_of(s, s->at[i].source, &a->gpud) ||
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
        b->at[b->n].first = k;
        b->at[b->n].begin = begin;
        b->at[b->n++].end = end;
    }
    for (size_t i = 0; i < b->n; i++)
        a->busy_ns += b->at[i].end - b->at[i].begin;
    return ERR_OK;
}

/* --- gaps ------------------------------------------------------------------------------------ */

static int compare_times(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Cuts the gap wherever a claim begins or ends; each piece goes to the claim of the best rank that
 * covers it. */
static enum err_code divide(struct gap *g, const struct claims *in, struct err *e)
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
        struct claim best = {.cause = GAP_NO_WORK, .rank = UINT_MAX};
        for (size_t i = 0; i < in->n; i++)
            if (in->at[i].begin <= cut[k] && in->at[i].end >= cut[k + 1] &&
                in->at[i].rank < best.rank)
                best = in->at[i];
        g->by_cause_ns[best.cause] += cut[k + 1] - cut[k];
    }
    free(cut);
    g->cause = GAP_NO_WORK;
    for (unsigned c = 0; c < GAP_CAUSE_COUNT; c++)
        if (g->by_cause_ns[c] > g->by_cause_ns[g->cause])
            g->cause = (enum gap_cause)c;
    return ERR_OK;
}

static enum err_code explain(const struct sight *sight, struct gap *g, struct err *e)
{
    struct claims claims = {0};
    enum err_code rc = claims_of_gap(sight, g, &claims, e);
    if (!rc)
        rc = divide(g, &claims, e);
    free(claims.at);
    return rc;
}

static enum err_code find_gaps(const struct sight *sight, struct account *a, const struct busy *b,
                               struct err *e)
{
    uint64_t at = a->begin_ns;
    a->gap = calloc(b->n + 1, sizeof *a->gap);
    if (!a->gap)
        return err_set(e, ERR_MEMORY, "no memory for an account");
    for (size_t i = 0; i <= b->n; i++) {
        uint64_t until = i < b->n ? b->at[i].begin : a->end_ns;
        if (until > at) {
            struct gap *g = &a->gap[a->n_gaps++];
            *g = (struct gap){.begin_ns = at, .end_ns = until};
            if (i < b->n) {
                g->job = b->at[i].first->job;
                g->partition = b->at[i].first->partition;
                g->attempt = b->at[i].first->attempt;
            }
            if (explain(sight, g, e))
                return e->code;
            for (unsigned c = 0; c < GAP_CAUSE_COUNT; c++)
                a->by_cause_ns[c] += g->by_cause_ns[c];
        }
        if (i < b->n)
            at = b->at[i].end;
    }
    return ERR_OK;
}

/* --- a gpud ---------------------------------------------------------------------------------- */

static enum err_code make_one(const struct spans *s, struct account *a, struct err *e)
{
    struct busy b = {0};
    struct sight sight = {0};
    enum err_code rc = find_busy(s, a, &b, e);
    if (!rc)
        rc = sight_make(&sight, s, a, e);
    if (!rc)
        rc = find_gaps(&sight, a, &b, e);
    sight_free(&sight);
    free(b.at);
    return rc;
}

/* Where a ring has run over, what came before is not known: an account begins after that. */
static uint64_t all_rings_whole(const struct spans *s)
{
    uint64_t from = 0;
    for (unsigned k = 0; k < s->n_sources; k++) {
        if (!s->source[k].lost)
            continue;
        size_t i = 0;
        while (i < s->n && s->at[i].source != k)
            i++;
        if (i < s->n && s->at[i].s.begin_ns > from)
            from = s->at[i].s.begin_ns;
    }
    return from;
}

enum err_code account_make(const struct spans *s, uint64_t begin_ns, uint64_t end_ns,
                           struct account **out, size_t *n, struct err *e)
{
    enum { INDICES = 256 };
    static const struct account none;
    uint64_t first[INDICES] = {0}, last = 0;
    uint64_t whole = begin_ns ? 0 : all_rings_whole(s);
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
        a->begin_ns = begin_ns ? begin_ns : first[i] > whole ? first[i] : whole;
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
