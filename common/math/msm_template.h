/* msm_template: Pippenger's sum over one group. Include it once per group with GROUP and
 * GROUP_FIELD, after msm_runs_template.h; it leaves them defined. It needs a function
 * G_(msm_order)(), the order r of the subgroup.
 *
 *   classify   drop zero scalars and infinite bases; +-1 needs no bucket; the rest is numbered
 *   digits     of the rest, signed, all windows
 *   for some windows at a time:
 *     sort     the points by bucket (a counting sort of their numbers)
 *     fill     every bucket is the sum of a run of points (msm_runs_template.h)
 *     weigh    sum b * bucket[b]: the buckets as a table of rows and columns, b = row * width +
 *              column + 1; the sums of rows and of columns are again sums of runs, and only their
 *              few results are weighted by running sums
 *   combine    the windows, by doubling
 *
 * No distribution of scalars is slow, since a run of any length costs the same per entry. The
 * endomorphism is not used: with batched affine additions it would halve the buckets' share, a few
 * per cent, and cost a product for every second addition.
 *
 * Source: N. Pippenger "On the evaluation of powers and monomials" (1980); D. Bernstein, J. Doumen,
 * T. Lange, J.-J. Oosterwijk "Faster batch forgery identification" (2012), section 4. */
#include <stdlib.h>
#include <string.h>
#include "msm_digits.h"

#define G_(name) MATH_JOIN(GROUP, name)
#define AFFINE_t G_(affine_t)
#define XYZZ_t   G_(xyzz_t)

enum {
    G_(slice_min) = 512,
    G_(windows_at_once) = 4,       /* of a large sum: what the sorted numbers may take */
    G_(entries_at_once) = 1 << 21, /* of a small sum: more windows fit */
};

struct G_(sum) {
    const AFFINE_t *bases;
    const fr_t *scalars;
    const uint32_t *index;
    size_t n;
    struct msm_digits digits;
    struct pool *pool;
    /* classes: each slice of the input keeps its +-1 at its front and the rest at its end */
    size_t n_slices, slice;
    uint32_t *number;          /* n: of a base, with MSM_NEGATE */
    uint32_t *n_ones, *n_rest; /* a slice */
    uint32_t *rest_at;         /* a slice: rest entries before it */
    /* the rest */
    size_t n_rest_all;
    uint32_t *rest; /* n_rest_all numbers */
    int16_t *digit; /* [window][n_rest_all] */
    /* the windows at hand */
    unsigned first_window, n_windows;
    size_t n_parts;  /* of a window's entries, for the sort */
    uint32_t *count; /* [window][part][bucket] */
    uint32_t *start; /* [window][bucket], and the end */
    uint32_t *sorted;
    AFFINE_t *bucket;                  /* [window][bucket] */
    uint32_t *line_entry, *line_start; /* rows and columns of buckets */
    AFFINE_t *line;
    XYZZ_t *total; /* a window, of all */
};

static void G_(classify)(void *arg, size_t slice, unsigned worker)
{
    (void)worker;
    const struct G_(sum) *s = arg;
    size_t begin = slice * s->slice, end = begin + s->slice < s->n ? begin + s->slice : s->n;
    size_t front = begin, back = end;
    for (size_t i = begin; i < end; i++) {
        fr_t k = s->scalars[s->index ? s->index[i] : i];
        if (!(k.limb[0] | k.limb[1] | k.limb[2] | k.limb[3]))
            continue;
        uint32_t number = (uint32_t)i;
        if (msm_normalise(&s->digits, &k))
            number |= MSM_NEGATE;
        uint64_t upper = k.limb[1] | k.limb[2] | k.limb[3];
        if (!(upper | k.limb[0]) || G_(affine_is_infinity)(&s->bases[i]))
            continue;
        if (!upper && k.limb[0] == 1)
            s->number[front++] = number;
        else
            s->number[--back] = number;
    }
    s->n_ones[slice] = (uint32_t)(front - begin);
    s->n_rest[slice] = (uint32_t)(end - back);
}

static void G_(cut_digits)(void *arg, size_t slice, unsigned worker)
{
    (void)worker;
    const struct G_(sum) *s = arg;
    size_t begin = slice * s->slice, end = begin + s->slice < s->n ? begin + s->slice : s->n;
    size_t to = s->rest_at[slice];
    for (size_t from = end; from-- > end - s->n_rest[slice]; to++) { /* they lie backwards */
        uint32_t number = s->number[from], i = number & ~MSM_NEGATE;
        fr_t k = s->scalars[s->index ? s->index[i] : i];
        msm_normalise(&s->digits, &k);
        s->rest[to] = number;
        msm_digits_of(&s->digits, &k, &s->digit[to], s->n_rest_all);
    }
}

static size_t G_(n_buckets)(const struct G_(sum) * s)
{
    return (size_t)1 << (s->digits.bits - 1);
}

static size_t G_(part_begin)(const struct G_(sum) * s, size_t part)
{
    return s->n_rest_all * part / s->n_parts;
}

static void G_(count_part)(void *arg, size_t task, unsigned worker)
{
    (void)worker;
    const struct G_(sum) *s = arg;
    size_t window = task / s->n_parts, part = task % s->n_parts;
    const int16_t *digit = s->digit + (s->first_window + window) * s->n_rest_all;
    uint32_t *count = s->count + task * G_(n_buckets)(s);
    memset(count, 0, G_(n_buckets)(s) * sizeof *count);
    for (size_t i = G_(part_begin)(s, part); i < G_(part_begin)(s, part + 1); i++) {
        int32_t d = digit[i];
        if (d)
            count[(d < 0 ? -d : d) - 1]++;
    }
}

/* Counts to positions: window by window, bucket by bucket, part by part. */
static void G_(place_buckets)(const struct G_(sum) * s)
{
    size_t n_buckets = G_(n_buckets)(s);
    uint32_t at = 0;
    for (size_t w = 0; w < s->n_windows; w++)
        for (size_t b = 0; b < n_buckets; b++) {
            s->start[w * n_buckets + b] = at;
            for (size_t part = 0; part < s->n_parts; part++) {
                uint32_t *count = &s->count[(w * s->n_parts + part) * n_buckets + b], c = *count;
                *count = at;
                at += c;
            }
        }
    s->start[s->n_windows * n_buckets] = at;
}

static void G_(sort_part)(void *arg, size_t task, unsigned worker)
{
    (void)worker;
    const struct G_(sum) *s = arg;
    size_t window = task / s->n_parts, part = task % s->n_parts;
    const int16_t *digit = s->digit + (s->first_window + window) * s->n_rest_all;
    uint32_t *at = s->count + task * G_(n_buckets)(s);
    for (size_t i = G_(part_begin)(s, part); i < G_(part_begin)(s, part + 1); i++) {
        int32_t d = digit[i];
        if (d)
            s->sorted[at[(d < 0 ? -d : d) - 1]++] = s->rest[i] ^ (d < 0 ? MSM_NEGATE : 0);
    }
}

/* The table of a window's buckets: 2^row_bits rows of 2^column_bits. */
static unsigned G_(column_bits)(const struct G_(sum) * s)
{
    return s->digits.bits / 2;
}

static size_t G_(n_lines)(const struct G_(sum) * s)
{
    return ((size_t)1 << G_(column_bits)(s)) + (G_(n_buckets)(s) >> G_(column_bits)(s));
}

/* The runs of the lines: for each window its rows, then its columns; full buckets only. */
static void G_(list_lines)(const struct G_(sum) * s)
{
    size_t n_buckets = G_(n_buckets)(s), width = (size_t)1 << G_(column_bits)(s);
    size_t line = 0, at = 0;
    for (size_t w = 0; w < s->n_windows; w++) {
        const uint32_t *start = s->start + w * n_buckets;
        for (size_t row = 0; row < n_buckets / width; row++) {
            s->line_start[line++] = (uint32_t)at;
            for (size_t b = row * width; b < (row + 1) * width; b++)
                if (start[b] != start[b + 1])
                    s->line_entry[at++] = (uint32_t)(w * n_buckets + b);
        }
        for (size_t column = 0; column < width; column++) {
            s->line_start[line++] = (uint32_t)at;
            for (size_t b = column; b < n_buckets; b += width)
                if (start[b] != start[b + 1])
                    s->line_entry[at++] = (uint32_t)(w * n_buckets + b);
        }
    }
    s->line_start[line] = (uint32_t)at;
}

/* sum (i + from) point[i], from = 0 or 1 */
static void G_(weighted_sum)(XYZZ_t *total, const AFFINE_t *point, size_t n, size_t from)
{
    XYZZ_t running;
    G_(xyzz_set_infinity)(&running);
    G_(xyzz_set_infinity)(total);
    for (size_t i = n; i-- > 0;) {
        G_(xyzz_add_affine)(&running, &running, &point[i]);
        if (i || from)
            G_(xyzz_add)(total, total, &running);
    }
}

static void G_(weigh_window)(void *arg, size_t window, unsigned worker)
{
    (void)worker;
    const struct G_(sum) *s = arg;
    unsigned column_bits = G_(column_bits)(s);
    size_t width = (size_t)1 << column_bits, n_rows = G_(n_buckets)(s) >> column_bits;
    const AFFINE_t *rows = s->line + window * G_(n_lines)(s), *columns = rows + n_rows;
    XYZZ_t total, rest;
    G_(weighted_sum)(&total, rows, n_rows, 0);
    for (unsigned i = 0; i < column_bits; i++)
        G_(xyzz_dbl)(&total, &total);
    G_(weighted_sum)(&rest, columns, width, 1);
    G_(xyzz_add)(&s->total[s->first_window + window], &total, &rest);
}

static bool G_(sum_windows)(struct G_(sum) * s, struct G_(runs_scratch) * scratch)
{
    size_t n_tasks = s->n_windows * s->n_parts;
    pool_run(s->pool, G_(count_part), s, n_tasks);
    G_(place_buckets)(s);
    pool_run(s->pool, G_(sort_part), s, n_tasks);
    struct G_(runs) fill = {.from = s->bases,
                            .entry = s->sorted,
                            .start = s->start,
                            .n_runs = s->n_windows * G_(n_buckets)(s),
                            .out = s->bucket,
                            .scratch = scratch};
    if (!G_(sum_runs)(&fill, s->pool))
        return false;
    G_(list_lines)(s);
    struct G_(runs) lines = {.from = s->bucket,
                             .entry = s->line_entry,
                             .start = s->line_start,
                             .n_runs = s->n_windows * G_(n_lines)(s),
                             .out = s->line,
                             .scratch = scratch};
    if (!G_(sum_runs)(&lines, s->pool))
        return false;
    pool_run(s->pool, G_(weigh_window), s, s->n_windows);
    return true;
}

/* The width of the windows with the fewest additions: one a point and two a bucket. */
static unsigned G_(best_bits)(const struct G_(sum) * s)
{
    unsigned best = MSM_BITS_MIN;
    uint64_t least = UINT64_MAX;
    for (unsigned bits = MSM_BITS_MIN; bits <= MSM_BITS_MAX; bits++) {
        uint64_t cost = msm_windows(&s->digits, bits) *
                        (s->n_rest_all + ((uint64_t)1 << bits) + 4 * (uint64_t)bits * bits);
        if (cost < least) {
            best = bits;
            least = cost;
        }
    }
    return best;
}

/* The sum over all windows; *sum is infinity when there is nothing. */
static bool G_(sum_rest)(struct G_(sum) * s, struct G_(runs_scratch) * scratch, XYZZ_t *sum)
{
    G_(xyzz_set_infinity)(sum);
    if (s->n_rest_all == 0)
        return true;
    msm_digits_cut(&s->digits, G_(best_bits)(s));
    unsigned all = s->digits.n_windows, at_once = G_(windows_at_once);
    while (at_once < all && (at_once + 1) * s->n_rest_all <= G_(entries_at_once))
        at_once++;
    at_once = at_once < all ? at_once : all;
    unsigned threads = pool_threads(s->pool);
    s->n_parts = (threads + at_once - 1) / at_once;
    size_t n_buckets = at_once * G_(n_buckets)(s), n_lines = at_once * G_(n_lines)(s);
    s->rest = big_alloc(s->n_rest_all * sizeof *s->rest);
    s->digit = big_alloc(s->n_rest_all * all * sizeof *s->digit);
    s->sorted = big_alloc(s->n_rest_all * at_once * sizeof *s->sorted);
    s->count = malloc(n_buckets * s->n_parts * sizeof *s->count);
    s->start = malloc((n_buckets + 1) * sizeof *s->start);
    s->bucket = big_alloc(n_buckets * sizeof *s->bucket);
    s->line_entry = malloc(2 * n_buckets * sizeof *s->line_entry);
    s->line_start = malloc((n_lines + 1) * sizeof *s->line_start);
    s->line = malloc(n_lines * sizeof *s->line);
    s->total = malloc(all * sizeof *s->total);
    bool ok = s->rest && s->digit && s->sorted && s->count && s->start && s->bucket &&
              s->line_entry && s->line_start && s->line && s->total;
    if (ok)
        pool_run(s->pool, G_(cut_digits), s, s->n_slices);
    for (s->first_window = 0; ok && s->first_window < all; s->first_window += at_once) {
        s->n_windows = all - s->first_window < at_once ? all - s->first_window : at_once;
        ok = G_(sum_windows)(s, scratch);
    }
    for (unsigned w = all; ok && w-- > 0;) {
        for (unsigned i = 0; i < s->digits.bits; i++)
            G_(xyzz_dbl)(sum, sum);
        G_(xyzz_add)(sum, sum, &s->total[w]);
    }
    free(s->rest);
    free(s->digit);
    free(s->sorted);
    free(s->count);
    free(s->start);
    free(s->bucket);
    free(s->line_entry);
    free(s->line_start);
    free(s->line);
    free(s->total);
    return ok;
}

/* The sum of the points with scalar +-1. */
static bool G_(sum_ones)(struct G_(sum) * s, struct G_(runs_scratch) * scratch, AFFINE_t *sum)
{
    uint32_t start[2] = {0, 0};
    for (size_t i = 0; i < s->n_slices;
         i++) { /* to the front; a slice's front is used up by then */
        memmove(s->number + start[1], s->number + i * s->slice, s->n_ones[i] * sizeof *s->number);
        start[1] += s->n_ones[i];
    }
    struct G_(runs) runs = {.from = s->bases,
                            .entry = s->number,
                            .start = start,
                            .n_runs = 1,
                            .out = sum,
                            .scratch = scratch};
    return G_(sum_runs)(&runs, s->pool);
}

static bool G_(sum_all)(struct G_(sum) * s, AFFINE_t *r)
{
    s->slice = s->n / (8 * pool_threads(s->pool)) + 1;
    if (s->slice < G_(slice_min))
        s->slice = G_(slice_min);
    s->n_slices = (s->n - 1) / s->slice + 1;
    size_t scratch_bytes = pool_threads(s->pool) * sizeof(struct G_(runs_scratch));
    /* A small sum touches little of it: not in huge pages then. */
    struct G_(runs_scratch) *scratch = s->n < G_(chunk_min)
                                           ? aligned_alloc(64, (scratch_bytes + 63) / 64 * 64)
                                           : big_alloc(scratch_bytes);
    s->number = big_alloc(s->n * sizeof *s->number);
    s->n_ones = malloc(3 * s->n_slices * sizeof *s->n_ones);
    bool ok = scratch && s->number && s->n_ones;
    if (ok) {
        s->n_rest = s->n_ones + s->n_slices;
        s->rest_at = s->n_rest + s->n_slices;
        pool_run(s->pool, G_(classify), s, s->n_slices);
        for (size_t i = 0; i < s->n_slices; i++) {
            s->rest_at[i] = (uint32_t)s->n_rest_all;
            s->n_rest_all += s->n_rest[i];
        }
        XYZZ_t sum;
        AFFINE_t ones;
        ok = G_(sum_rest)(s, scratch, &sum) && G_(sum_ones)(s, scratch, &ones);
        if (ok) {
            G_(xyzz_add_affine)(&sum, &sum, &ones);
            G_(xyzz_to_affine)(r, &sum);
        }
    }
    free(scratch);
    free(s->number);
    free(s->n_ones);
    return ok;
}

enum err_code MATH_NAME(G_(msm))(void *r, const void *bases, const fr_t *scalars,
                                 const uint32_t *index, size_t n, bool any_subgroup,
                                 struct pool *pool, struct err *e)
{
    enum {
        PIECE = 1 << 28
    }; /* numbers of points leave room for a sign, positions of 8 windows fit */
    XYZZ_t sum;
    G_(xyzz_set_infinity)(&sum);
    for (size_t at = 0; at < n; at += PIECE) {
        struct G_(sum) s = {.bases = (const AFFINE_t *)bases + at,
                            .scalars = index ? scalars : scalars + at,
                            .index = index ? index + at : NULL,
                            .n = n - at < PIECE ? n - at : PIECE,
                            .pool = pool};
        AFFINE_t part;
        msm_digits_set(&s.digits, G_(msm_order)(), any_subgroup);
        if (!G_(sum_all)(&s, &part))
            return err_set(e, ERR_MEMORY, "no memory for a sum of %zu points", n);
        G_(xyzz_add_affine)(&sum, &sum, &part);
    }
    G_(xyzz_to_affine)(r, &sum);
    return ERR_OK;
}

#undef G_
#undef AFFINE_t
#undef XYZZ_t
