/* msm_template: Pippenger's sum and fixed-base multiples over one group. Include it once per group
 * with GROUP, the prefix of an instance of group_template.h; it undefines it.
 *
 * Source: N. Pippenger "On the evaluation of powers and monomials" (1980). */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "curve.h"
#include "math_fn.h"

#define G_(name) MATH_JOIN(GROUP, name)
#define AFFINE_t G_(affine_t)
#define XYZZ_t   G_(xyzz_t)

enum { G_(window_max) = 15 };

struct G_(sum) {
    const AFFINE_t *bases;
    const fr_t *scalars;
    const uint32_t *index;
    size_t n;
    unsigned window_bits, n_windows;
    XYZZ_t *buckets; /* 2^(window_bits - 1) a worker */
    XYZZ_t *totals;  /* one a window */
};

static int64_t G_(digit)(const fr_t *k, unsigned window, unsigned bits)
{
    /* The digit of k + sum 2^(bits-1) 2^(bits i), less 2^(bits-1): signed, and without a carry from
     * window to window. */
    uint64_t limb[6] = {0}, offset[6] = {0};
    for (unsigned bit = bits - 1; bit < 320; bit += bits)
        offset[bit / 64] |= (uint64_t)1 << (bit % 64);
    unsigned carry = 0;
    for (unsigned i = 0; i < 6; i++) {
        unsigned __int128 t = (unsigned __int128)(i < 4 ? k->limb[i] : 0) + offset[i] + carry;
        limb[i] = (uint64_t)t;
        carry = (unsigned)(t >> 64);
    }
    unsigned at = window * bits;
    uint64_t v = limb[at / 64] >> (at % 64);
    if (at % 64 && at / 64 + 1 < 6)
        v |= limb[at / 64 + 1] << (64 - at % 64);
    return (int64_t)(v & (((uint64_t)1 << bits) - 1)) - ((int64_t)1 << (bits - 1));
}

static void G_(sum_window)(void *arg, size_t window, unsigned worker)
{
    const struct G_(sum) *s = arg;
    size_t n_buckets = (size_t)1 << (s->window_bits - 1);
    XYZZ_t *bucket = s->buckets + worker * n_buckets, running, total;
    for (size_t b = 0; b < n_buckets; b++)
        G_(xyzz_set_infinity)(&bucket[b]);
    for (size_t i = 0; i < s->n; i++) {
        int64_t d =
            G_(digit)(&s->scalars[s->index ? s->index[i] : i], (unsigned)window, s->window_bits);
        if (d > 0)
            G_(xyzz_add_affine)(&bucket[d - 1], &bucket[d - 1], &s->bases[i]);
        else if (d < 0)
            G_(xyzz_sub_affine)(&bucket[-d - 1], &bucket[-d - 1], &s->bases[i]);
    }
    G_(xyzz_set_infinity)(&running);
    G_(xyzz_set_infinity)(&total);
    for (size_t b = n_buckets; b-- > 0;) {
        G_(xyzz_add)(&running, &running, &bucket[b]);
        G_(xyzz_add)(&total, &total, &running);
    }
    s->totals[window] = total;
}

enum err_code MATH_NAME(G_(msm))(void *r, const void *bases, const fr_t *scalars,
                                 const uint32_t *index, size_t n, bool any_subgroup,
                                 struct pool *pool, struct err *e)
{
    (void)any_subgroup;
    struct G_(sum) s = {bases, scalars, index, n, 3, 0, NULL, NULL};
    while (s.window_bits < G_(window_max) && n >> (s.window_bits + 3))
        s.window_bits++;
    s.n_windows = 257 / s.window_bits + 1;
    size_t n_buckets = (size_t)1 << (s.window_bits - 1);
    s.buckets = malloc((pool_threads(pool) * n_buckets + s.n_windows) * sizeof *s.buckets);
    if (!s.buckets)
        return err_set(e, ERR_MEMORY, "no memory for a sum of %zu points", n);
    s.totals = s.buckets + pool_threads(pool) * n_buckets;
    pool_run(pool, G_(sum_window), &s, s.n_windows);
    XYZZ_t sum = s.totals[s.n_windows - 1];
    for (unsigned w = s.n_windows - 1; w-- > 0;) {
        for (unsigned i = 0; i < s.window_bits; i++)
            G_(xyzz_dbl)(&sum, &sum);
        G_(xyzz_add)(&sum, &sum, &s.totals[w]);
    }
    G_(xyzz_to_affine)(r, &sum);
    free(s.buckets);
    return ERR_OK;
}

enum { G_(fixed_bits) = 8, G_(fixed_windows) = 33, G_(fixed_batch) = 256 };

struct G_(fixed) {
    AFFINE_t (*table)[1 << (G_(fixed_bits) - 1)]; /* [w][d - 1] = d 2^(8 w) base */
    const fr_t *scalars;
    AFFINE_t *out;
};

static void G_(fixed_range)(void *arg, size_t begin, size_t end, unsigned worker)
{
    (void)worker;
    const struct G_(fixed) *f = arg;
    XYZZ_t sum[G_(fixed_batch)];
    MATH_JOIN(GROUP_FIELD, t) scratch[G_(fixed_batch)];
    for (size_t i = begin; i < end; i++) {
        XYZZ_t *p = &sum[i - begin];
        G_(xyzz_set_infinity)(p);
        for (unsigned w = 0; w < G_(fixed_windows); w++) {
            int64_t d = G_(digit)(&f->scalars[i], w, G_(fixed_bits));
            if (d > 0)
                G_(xyzz_add_affine)(p, p, &f->table[w][d - 1]);
            else if (d < 0)
                G_(xyzz_sub_affine)(p, p, &f->table[w][-d - 1]);
        }
    }
    G_(xyzz_batch_to_affine)(f->out + begin, sum, end - begin, scratch);
}

enum err_code MATH_NAME(G_(mul_fixed))(void *out, const void *base, const fr_t *scalars_plain,
                                       size_t n, struct pool *pool, struct err *e)
{
    enum { HALF = 1 << (G_(fixed_bits) - 1) };
    struct G_(fixed) f = {NULL, scalars_plain, out};
    XYZZ_t *row = malloc(HALF * sizeof *row);
    MATH_JOIN(GROUP_FIELD, t) *scratch = malloc(HALF * sizeof *scratch);
    f.table = malloc(G_(fixed_windows) * sizeof *f.table);
    bool ok = row && scratch && f.table;
    if (ok) {
        XYZZ_t power;
        G_(xyzz_from_affine)(&power, base);
        for (unsigned w = 0; w < G_(fixed_windows); w++) {
            row[0] = power;
            for (unsigned d = 1; d < HALF; d++)
                G_(xyzz_add)(&row[d], &row[d - 1], &power);
            G_(xyzz_dbl)(&power, &row[HALF - 1]);
            G_(xyzz_batch_to_affine)(f.table[w], row, HALF, scratch);
        }
        pool_range(pool, G_(fixed_range), &f, n, G_(fixed_batch));
    }
    free(row);
    free(scratch);
    free(f.table);
    return ok ? ERR_OK : err_set(e, ERR_MEMORY, "no memory for %zu multiples of a point", n);
}

#undef G_
#undef AFFINE_t
#undef XYZZ_t
#undef GROUP
#undef GROUP_FIELD
