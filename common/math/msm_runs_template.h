/* msm_runs_template: sums of runs of points, by trees of batched affine additions. Include it once
 * per group with GROUP and GROUP_FIELD, after the group's add_pairs; it leaves them defined.
 *
 * The entries of run r are entry[start[r]] .. entry[start[r + 1] - 1], indices into from with
 * MSM_NEGATE; its sum goes to out[r], infinity for an empty run. All runs together are cut into
 * chunks of nearly equal size, one a task: a run of any length costs the same per entry, and a run
 * that is longer than a chunk is summed by several. In a chunk every round adds neighbours within
 * each run, so that a round halves all runs with a few inversions. */
#include <stdlib.h>
#include <string.h>
#include "msm_pairs.h"

#define G_(name) MATH_JOIN(GROUP, name)
#define AFFINE_t G_(affine_t)
#define XYZZ_t   G_(xyzz_t)

/* A chunk of 2 MiB of points keeps the inversions at a few per cent of its work and its
 * intermediate sums in the cache. */
enum {
    G_(chunk_max) = (2 << 20) / sizeof(AFFINE_t),
    G_(chunk_min) = 1024,
    G_(tail_pairs) = 24, /* a round of fewer is dearer than adding one by one */
};

struct G_(runs) {
    const AFFINE_t *from;
    const uint32_t *entry, *start;
    size_t n_runs;
    AFFINE_t *out;
    /* of the call */
    msm_add_pairs *add_pairs;
    size_t n_chunks, chunk;
    AFFINE_t *head;     /* a chunk: the sum of its part of a run that an earlier chunk began */
    uint32_t *head_run; /* a chunk: that run, or UINT32_MAX */
    struct G_(runs_scratch) * scratch; /* a worker */
};

struct G_(run) {
    uint32_t out, length; /* UINT32_MAX: the chunk's head */
};

struct G_(runs_scratch) {
    struct G_(run) run[G_(chunk_max) + 2];
    uint32_t a[MSM_PAIRS_MAX], b[MSM_PAIRS_MAX], at[MSM_PAIRS_MAX];
    _Alignas(64) unsigned char pairs[G_(pairs_scratch_bytes)];
    _Alignas(64) AFFINE_t sums[2][G_(chunk_max) / 3 * 2 + 2];
};

/* The first run that starts at or after position. */
static size_t G_(first_run_from)(const struct G_(runs) * s, size_t position)
{
    size_t lo = 0, hi = s->n_runs;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (s->start[mid] < position)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Where chunk j begins: at the start of a run, if there is one soon. */
static size_t G_(chunk_begin)(const struct G_(runs) * s, size_t j)
{
    size_t total = s->start[s->n_runs];
    if (j == 0 || j >= s->n_chunks)
        return j ? total : 0;
    size_t position = j * s->chunk, run = G_(first_run_from)(s, position);
    size_t next = s->start[run];
    return next - position <= s->chunk / 2 ? next : position;
}

static void G_(copy_signed)(AFFINE_t *to, const AFFINE_t *from, uint32_t index)
{
    *to = from[index & ~MSM_NEGATE];
    if (index & MSM_NEGATE)
        G_(affine_neg)(to, to);
}

/* The runs of chunk j: lengths and where their sums go. A run of none or one is done here. */
static size_t G_(list_runs)(const struct G_(runs) * s, size_t j, size_t begin, size_t end,
                            struct G_(run) * run)
{
    size_t n = 0, first = G_(first_run_from)(s, begin), last = G_(first_run_from)(s, end);
    if (j + 1 == s->n_chunks)
        last = s->n_runs;
    s->head_run[j] = UINT32_MAX;
    size_t next = s->start[first]; /* start has n_runs + 1 elements */
    if (begin < end && next > begin) {
        s->head_run[j] = (uint32_t)first - 1;
        run[n++] = (struct G_(run)){UINT32_MAX, (uint32_t)((next < end ? next : end) - begin)};
    }
    for (size_t r = first; r < last; r++) {
        size_t stop = s->start[r + 1] < end ? s->start[r + 1] : end;
        if (s->start[r] == s->start[r + 1])
            G_(affine_set_infinity)(&s->out[r]);
        else
            run[n++] = (struct G_(run)){(uint32_t)r, (uint32_t)(stop - s->start[r])};
    }
    return n;
}

/* One round over `from` (indices entry[], or 0, 1, 2, ... when NULL): the halves of the runs come
 * to `to`, runs of one go to their place. Returns the number of runs that are left. */
static size_t G_(halve_runs)(const struct G_(runs) * s, size_t j, struct G_(runs_scratch) * w,
                             size_t n_runs, const AFFINE_t *from, const uint32_t *entry,
                             AFFINE_t *to)
{
    struct msm_pairs p = {from, from, w->a, w->b, to, w->at, 0};
    size_t left = 0, in = 0, out = 0;
    for (size_t r = 0; r < n_runs; r++) {
        size_t length = w->run[r].length;
        if (length == 1) {
            AFFINE_t *place = w->run[r].out == UINT32_MAX ? &s->head[j] : &s->out[w->run[r].out];
            G_(copy_signed)(place, from, entry ? entry[in] : (uint32_t)in);
            in++;
            continue;
        }
        for (size_t k = 0; k + 1 < length; k += 2, in += 2) {
            w->a[p.n] = entry ? entry[in] : (uint32_t)in;
            w->b[p.n] = entry ? entry[in + 1] : (uint32_t)in + 1;
            w->at[p.n++] = (uint32_t)out++;
            if (p.n == MSM_PAIRS_MAX) {
                s->add_pairs(&p, w->pairs);
                p.n = 0;
            }
        }
        if (length % 2) {
            G_(copy_signed)(&to[out++], from, entry ? entry[in] : (uint32_t)in);
            in++;
        }
        w->run[left++] = (struct G_(run)){w->run[r].out, (uint32_t)(length + 1) / 2};
    }
    if (p.n)
        s->add_pairs(&p, w->pairs);
    return left;
}

static void G_(sum_tails)(const struct G_(runs) * s, size_t j, const struct G_(run) * run,
                          size_t n_runs, const AFFINE_t *from, const uint32_t *entry)
{
    size_t in = 0;
    for (size_t r = 0; r < n_runs; r++) {
        AFFINE_t *place = run[r].out == UINT32_MAX ? &s->head[j] : &s->out[run[r].out], p;
        XYZZ_t sum;
        G_(xyzz_set_infinity)(&sum);
        for (size_t k = 0; k < run[r].length; k++, in++) {
            G_(copy_signed)(&p, from, entry ? entry[in] : (uint32_t)in);
            G_(xyzz_add_affine)(&sum, &sum, &p);
        }
        if (run[r].length == 1)
            *place = p;
        else
            G_(xyzz_to_affine)(place, &sum);
    }
}

static size_t G_(pairs_in)(const struct G_(run) * run, size_t n)
{
    size_t pairs = 0;
    for (size_t r = 0; r < n; r++)
        pairs += run[r].length / 2;
    return pairs;
}

static void G_(sum_chunk)(void *arg, size_t j, unsigned worker)
{
    const struct G_(runs) *s = arg;
    struct G_(runs_scratch) *w = &s->scratch[worker];
    size_t begin = G_(chunk_begin)(s, j), end = G_(chunk_begin)(s, j + 1);
    size_t n = G_(list_runs)(s, j, begin, end, w->run);
    const AFFINE_t *from = s->from;
    const uint32_t *entry = s->entry + begin;
    for (unsigned round = 0; n; round++) {
        size_t pairs = G_(pairs_in)(w->run, n);
        /* With one inversion a run, adding one by one pays only for few runs. */
        if (pairs < G_(tail_pairs) && n <= 2) {
            G_(sum_tails)(s, j, w->run, n, from, entry);
            break;
        }
        n = G_(halve_runs)(s, j, w, n, from, entry, w->sums[round % 2]);
        from = w->sums[round % 2];
        entry = NULL;
    }
}

/* Adds the parts of runs that were cut by chunks. */
static void G_(join_heads)(const struct G_(runs) * s)
{
    for (size_t j = 0; j < s->n_chunks;) {
        uint32_t run = s->head_run[j];
        if (run == UINT32_MAX) {
            j++;
            continue;
        }
        XYZZ_t sum;
        G_(xyzz_from_affine)(&sum, &s->out[run]);
        for (; j < s->n_chunks && s->head_run[j] == run; j++)
            G_(xyzz_add_affine)(&sum, &sum, &s->head[j]);
        G_(xyzz_to_affine)(&s->out[run], &sum);
    }
}

/* s has from, entry, start, n_runs, out; scratch is one struct a thread. False without memory. */
static bool G_(sum_runs)(struct G_(runs) * s, struct pool *pool)
{
    size_t total = s->start[s->n_runs];
    s->add_pairs = G_(add_pairs)();
    s->chunk = total / (4 * pool_threads(pool)) + 1;
    if (s->chunk > G_(chunk_max) / 3 * 2)
        s->chunk = G_(chunk_max) / 3 * 2; /* a chunk grows by up to half of it */
    if (s->chunk < G_(chunk_min))
        s->chunk = G_(chunk_min);
    s->n_chunks = total ? (total - 1) / s->chunk + 1 : 1;
    s->head = malloc(s->n_chunks * (sizeof *s->head + sizeof *s->head_run));
    if (!s->head)
        return false;
    s->head_run = (uint32_t *)(s->head + s->n_chunks);
    pool_run(pool, G_(sum_chunk), s, s->n_chunks);
    G_(join_heads)(s);
    free(s->head);
    return true;
}

#undef G_
#undef AFFINE_t
#undef XYZZ_t
