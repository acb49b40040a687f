#include <stdlib.h>
#include "account_parts.h"

#define ON_ITS_WAY_NS UINT64_C(100000000) /* a table is looked through at least so often */

/* From the nearest to the GPU to the farthest: the precedence of account.h with its fine print. */
enum rank {
    RANK_REGISTRATION,
    RANK_DOWN,
    RANK_KEY_LOAD,
    RANK_COPY_IN,
    RANK_FINISH,
    RANK_NOT_TAKEN, /* a gpud that does not look */
    RANK_DESCRIPTOR,
    RANK_MATRICES,
    RANK_WITNESS,
    RANK_FILL_WAIT,
    RANK_DESK_DOWN,
    RANK_SYNTHD,
    RANK_ROOM,
    RANK_BETWEEN, /* between two steps */
};

static enum err_code claim(struct claims *to, uint64_t begin, uint64_t end, enum gap_cause cause,
                           enum rank rank, struct err *e)
{
    if (end <= begin)
        return ERR_OK;
    if (to->n == to->cap) {
        size_t cap = to->cap ? 2 * to->cap : 64;
        struct claim *more = realloc(to->at, cap * sizeof *more);
        if (!more)
            return err_set(e, ERR_MEMORY, "no memory for an account");
        to->at = more;
        to->cap = cap;
    }
    to->at[to->n++] = (struct claim){begin, end, cause, rank};
    return ERR_OK;
}

bool is_run_of(const struct spans *s, unsigned source, const struct actor *daemon)
{
    const struct actor *a = &s->source[source].actor;
    return a->kind == daemon->kind && a->node == daemon->node && a->index == daemon->index;
}

/* --- what each step claims ------------------------------------------------------------------- */

/* A descriptor is on its way for so long at most; the rest is a receiver that does not take. */
static enum err_code claim_way(struct claims *to, const struct span *s, enum gap_cause late,
                               enum rank late_rank, struct err *e)
{
    uint64_t until = s->begin_ns + ON_ITS_WAY_NS;
    if (until > s->end_ns)
        until = s->end_ns;
    if (claim(to, s->begin_ns, until, GAP_DESCRIPTOR, RANK_DESCRIPTOR, e))
        return e->code;
    return claim(to, until, s->end_ns, late, late_rank, e);
}

/* A step of the partition that the GPU waits for. */
static enum err_code claim_step(struct claims *to, const struct span *s, struct err *e)
{
    static const struct {
        bool claims;
        enum gap_cause cause;
        enum rank rank;
    } of[SPAN_KINDS] = {
        [SPAN_KEY_LOAD] = {true, GAP_KEY_LOAD, RANK_KEY_LOAD},
        [SPAN_COPY_IN] = {true, GAP_COPY_IN, RANK_COPY_IN},
        [SPAN_PROVE_START] = {true, GAP_COPY_IN, RANK_COPY_IN},
        [SPAN_READY_WAIT] = {true, GAP_FINISH, RANK_FINISH},
        [SPAN_PUBLISH] = {true, GAP_DESCRIPTOR, RANK_DESCRIPTOR},
        [SPAN_ATTEMPT] = {true, GAP_DESCRIPTOR, RANK_DESCRIPTOR},
        [SPAN_MATRICES] = {true, GAP_MATRICES, RANK_MATRICES},
        [SPAN_WITNESS] = {true, GAP_WITNESS, RANK_WITNESS},
        [SPAN_PROGRAM] = {true, GAP_WITNESS, RANK_WITNESS},
        [SPAN_FILL_WAIT] = {true, GAP_SYNTHD, RANK_FILL_WAIT},
        [SPAN_SYNTHD_WAIT] = {true, GAP_SYNTHD, RANK_SYNTHD},
        [SPAN_ROOM_WAIT] = {true, GAP_ROOM, RANK_ROOM},
    };
    if (s->kind == SPAN_GRANT)
        return claim_way(to, s, GAP_SYNTHD, RANK_FILL_WAIT, e);
    if (s->kind == SPAN_RING)
        return claim_way(to, s, GAP_DOWN, RANK_NOT_TAKEN, e);
    if (!of[s->kind].claims)
        return ERR_OK;
    return claim(to, s->begin_ns, s->end_ns, of[s->kind].cause, of[s->kind].rank, e);
}

static bool keeps_others(enum span_kind kind)
{
    return kind == SPAN_REGISTER || kind == SPAN_KEY_LOAD || kind == SPAN_PROVE_FINISH ||
           kind == SPAN_RELEASE;
}

/* A step of the GPU's own gpud that keeps whoever is next waiting. */
static enum err_code claim_own(struct claims *to, const struct span *s, const struct gap *g,
                               struct err *e)
{
    if (s->kind == SPAN_REGISTER)
        return claim(to, s->begin_ns, s->end_ns, GAP_REGISTRATION, RANK_REGISTRATION, e);
    if (s->kind == SPAN_KEY_LOAD)
        return claim(to, s->begin_ns, s->end_ns, GAP_KEY_LOAD, RANK_KEY_LOAD, e);
    /* prove_finish of the one that ends the gap is no finish before it. */
    if (g->job && s->job == g->job && s->partition == g->partition && s->attempt == g->attempt)
        return ERR_OK;
    return claim(to, s->begin_ns, s->end_ns, GAP_FINISH, RANK_FINISH, e);
}

/* --- the spans in order ---------------------------------------------------------------------- */

static int by_partition(const void *a, const void *b)
{
    const struct span *x = &(*(const struct seen_span *const *)a)->s;
    const struct span *y = &(*(const struct seen_span *const *)b)->s;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    if (x->partition != y->partition)
        return x->partition < y->partition ? -1 : 1;
    return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

/* The first span of a partition; n: how many it has. */
static const struct seen_span **spans_of(const struct sight *v, uint64_t job, uint32_t partition,
                                         size_t *n)
{
    size_t low = 0, high = v->n_part;
    while (low < high) {
        size_t mid = (low + high) / 2;
        const struct span *s = &v->part[mid]->s;
        if (s->job < job || (s->job == job && s->partition < partition))
            low = mid + 1;
        else
            high = mid;
    }
    *n = 0;
    while (low + *n < v->n_part && v->part[low + *n]->s.job == job &&
           v->part[low + *n]->s.partition == partition)
        ++*n;
    return v->part + low;
}

/* Did this run have kernels of this attempt? gpud NULL: any run of any. */
static bool has_run(const struct sight *v, const struct span *of, const struct actor *gpud)
{
    size_t n;
    const struct seen_span **at = spans_of(v, of->job, of->partition, &n);
    for (size_t i = 0; i < n; i++)
        if (at[i]->s.kind == SPAN_KERNELS && at[i]->s.attempt == of->attempt &&
            (!gpud || actor_equal(&v->spans->source[at[i]->source].actor, gpud)))
            return true;
    return false;
}

/* --- who was not there ----------------------------------------------------------------------- */

/* When that run died, as the desk has it; 0: it does not say. */
static uint64_t death_of(const struct sight *v, const struct actor *run)
{
    actor_id id = actor_to_id(run);
    for (size_t i = 0; i < v->n_deaths; i++)
        if (v->death[i]->s.value == id)
            return v->death[i]->s.begin_ns;
    return 0;
}

/* Between the last sign of one run and the first of the next it was down, where the desk does not
 * say so itself. */
static enum err_code infer_down(struct sight *v, struct err *e)
{
    const struct spans *s = v->spans;
    const struct actor *run = NULL;
    uint64_t last = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (!is_run_of(s, s->at[i].source, &v->account->gpud))
            continue;
        const struct actor *now = &s->source[s->at[i].source].actor;
        if (run && !actor_equal(now, run) && !death_of(v, run) &&
            claim(&v->down, last, s->at[i].s.begin_ns, GAP_DOWN, RANK_DOWN, e))
            return e->code;
        run = now;
        if (s->at[i].s.end_ns > last)
            last = s->at[i].s.end_ns;
    }
    return ERR_OK;
}

static enum err_code find_down(struct sight *v, struct err *e)
{
    const struct spans *s = v->spans;
    for (size_t i = 0; i < s->n; i++) {
        const struct span *k = &s->at[i].s;
        struct actor who = actor_from_id(k->value);
        enum err_code rc = ERR_OK;
        if (k->kind == SPAN_DOWN && who.kind == ACTOR_FINALIZD)
            rc = claim(&v->down, k->begin_ns, k->end_ns, GAP_DOWN, RANK_DESK_DOWN, e);
        else if (k->kind == SPAN_DOWN && who.kind == ACTOR_GPUD &&
                 who.index == v->account->gpud.index)
            rc = claim(&v->down, k->begin_ns, k->end_ns, GAP_DOWN, RANK_DOWN, e);
        else if (k->kind == SPAN_PROVE_START && is_run_of(s, s->at[i].source, &v->account->gpud)) {
            const struct actor *run = &s->source[s->at[i].source].actor;
            uint64_t died = death_of(v, run);
            if (died && !k->outcome && !has_run(v, k, run)) /* lost with it */
                rc = claim(&v->down, k->end_ns, died, GAP_DOWN, RANK_DOWN, e);
        }
        if (rc)
            return rc;
    }
    return infer_down(v, e);
}

enum err_code sight_make(struct sight *v, const struct spans *s, const struct account *a,
                         struct err *e)
{
    *v = (struct sight){.spans = s, .account = a};
    v->part = calloc(s->n + 1, sizeof(const struct seen_span *));
    v->own = calloc(s->n + 1, sizeof(const struct seen_span *));
    v->own_reach = calloc(s->n + 1, sizeof *v->own_reach);
    v->death = calloc(s->n + 1, sizeof(const struct seen_span *));
    if (!v->death || !v->part || !v->own || !v->own_reach)
        return err_set(e, ERR_MEMORY, "no memory for an account");
    uint64_t reach = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct span *k = &s->at[i].s;
        if (k->job && k->kind != SPAN_JOB)
            v->part[v->n_part++] = &s->at[i];
        if (k->kind == SPAN_DOWN)
            v->death[v->n_deaths++] = &s->at[i];
        if (!keeps_others((enum span_kind)k->kind) || !is_run_of(s, s->at[i].source, &a->gpud))
            continue;
        reach = k->end_ns > reach ? k->end_ns : reach;
        v->own_reach[v->n_own] = reach;
        v->own[v->n_own++] = &s->at[i];
    }
    qsort(v->part, v->n_part, sizeof(const struct seen_span *), by_partition);
    return find_down(v, e);
}

void sight_free(struct sight *v)
{
    free(v->part);
    free(v->own);
    free(v->own_reach);
    free(v->death);
    free(v->down.at);
    *v = (struct sight){0};
}

/* --- a gap ----------------------------------------------------------------------------------- */

static enum err_code claims_of_gpu(const struct sight *v, const struct gap *g, struct claims *out,
                                   struct err *e)
{
    size_t low = 0, high = v->n_own; /* the first that reaches into the gap */
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (v->own_reach[mid] <= g->begin_ns)
            low = mid + 1;
        else
            high = mid;
    }
    for (size_t i = low; i < v->n_own && v->own[i]->s.begin_ns < g->end_ns; i++)
        if (v->own[i]->s.end_ns > g->begin_ns && claim_own(out, &v->own[i]->s, g, e))
            return e->code;
    for (size_t i = 0; i < v->down.n; i++) {
        const struct claim *d = &v->down.at[i];
        if (d->begin < g->end_ns && d->end > g->begin_ns &&
            claim(out, d->begin, d->end, d->cause, (enum rank)d->rank, e))
            return e->code;
    }
    return ERR_OK;
}

/* The steps of the partition that ended it; earlier attempts are part of its way. */
static enum err_code claims_of_partition(const struct sight *v, const struct gap *g,
                                         struct claims *out, struct err *e)
{
    size_t n;
    const struct seen_span **at = spans_of(v, g->job, g->partition, &n);
    if (n && claim(out, at[0]->s.begin_ns, g->end_ns, GAP_DESCRIPTOR, RANK_BETWEEN, e))
        return e->code;
    for (size_t i = 0; i < n; i++)
        if (at[i]->s.begin_ns < g->end_ns && at[i]->s.end_ns > g->begin_ns &&
            claim_step(out, &at[i]->s, e))
            return e->code;
    return ERR_OK;
}

/* Nothing has ended it: whatever is on its way may be what it waits for. */
static enum err_code claims_of_all(const struct sight *v, const struct gap *g, struct claims *out,
                                   struct err *e)
{
    for (size_t i = 0; i < v->n_part; i++) {
        const struct span *s = &v->part[i]->s;
        if (s->begin_ns < g->end_ns && s->end_ns > g->begin_ns && !has_run(v, s, NULL) &&
            claim_step(out, s, e))
            return e->code;
    }
    return ERR_OK;
}

enum err_code claims_of_gap(const struct sight *v, const struct gap *g, struct claims *out,
                            struct err *e)
{
    if (claims_of_gpu(v, g, out, e))
        return e->code;
    return g->job ? claims_of_partition(v, g, out, e) : claims_of_all(v, g, out, e);
}
