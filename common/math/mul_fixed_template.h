/* mul_fixed_template: many multiples of one point. Include it once per group with GROUP and
 * GROUP_FIELD, after the group's add_pairs; it undefines them.
 *
 * table[w][d - 1] = d 2^(bits w) base. A batch of multiples grows window by window: each step adds
 * one table entry to every multiple of the batch, with one inversion for all. */
#include <stdlib.h>
#include "msm_digits.h"
#include "msm_pairs.h"

#define G_(name) MATH_JOIN(GROUP, name)
#define AFFINE_t G_(affine_t)
#define XYZZ_t   G_(xyzz_t)
#define F_t      MATH_JOIN(GROUP_FIELD, t)

enum { G_(fixed_batch) = 2048, G_(fixed_bits_large) = 12, G_(fixed_bits_small) = 6 };

struct G_(fixed_scratch) {
    int16_t digit[MSM_WINDOWS_MAX * G_(fixed_batch)];
    uint32_t a[G_(fixed_batch)], b[G_(fixed_batch)];
    _Alignas(64) unsigned char pairs[G_(pairs_scratch_bytes)];
};

struct G_(fixed) {
    struct msm_digits digits;
    msm_add_pairs *add_pairs;
    size_t half; /* entries of a window */
    AFFINE_t *table;
    XYZZ_t *row;
    F_t *inverses;          /* a window */
    const AFFINE_t *powers; /* 2^(bits w) base */
    const fr_t *scalars;
    AFFINE_t *out;
    struct G_(fixed_scratch) * scratch; /* a worker */
};

static void G_(fixed_fill)(void *arg, size_t window, unsigned worker)
{
    (void)worker;
    const struct G_(fixed) *f = arg;
    XYZZ_t *row = f->row + window * f->half;
    G_(xyzz_from_affine)(&row[0], &f->powers[window]);
    for (size_t d = 1; d < f->half; d++)
        G_(xyzz_add_affine)(&row[d], &row[d - 1], &f->powers[window]);
    G_(xyzz_batch_to_affine)
    (f->table + window * f->half, row, f->half, f->inverses + window * f->half);
}

static void G_(fixed_range)(void *arg, size_t begin, size_t end, unsigned worker)
{
    const struct G_(fixed) *f = arg;
    struct G_(fixed_scratch) *s = &f->scratch[worker];
    size_t n = end - begin;
    for (size_t i = 0; i < n; i++) {
        msm_digits_of(&f->digits, &f->scalars[begin + i], &s->digit[i], n);
        G_(affine_set_infinity)(&f->out[begin + i]);
    }
    struct msm_pairs p = {f->out + begin, NULL, s->a, s->b, f->out + begin, s->a, 0};
    for (unsigned w = 0; w < f->digits.n_windows; w++) {
        const int16_t *digit = s->digit + w * n;
        p.n = 0;
        p.from_b = f->table + w * f->half;
        for (size_t i = 0; i < n; i++) {
            int32_t d = digit[i];
            if (d) {
                s->a[p.n] = (uint32_t)i;
                s->b[p.n++] = d < 0 ? (uint32_t)(-d - 1) | MSM_NEGATE : (uint32_t)(d - 1);
            }
        }
        if (p.n)
            f->add_pairs(&p, s->pairs);
    }
}

/* powers[w] = 2^(bits w) base */
static void G_(fixed_powers)(struct G_(fixed) * f, const AFFINE_t *base, AFFINE_t *powers)
{
    XYZZ_t p[MSM_WINDOWS_MAX];
    F_t scratch[MSM_WINDOWS_MAX];
    G_(xyzz_from_affine)(&p[0], base);
    for (unsigned w = 1; w < f->digits.n_windows; w++) {
        p[w] = p[w - 1];
        for (unsigned i = 0; i < f->digits.bits; i++)
            G_(xyzz_dbl)(&p[w], &p[w]);
    }
    G_(xyzz_batch_to_affine)(powers, p, f->digits.n_windows, scratch);
    f->powers = powers;
}

enum err_code MATH_NAME(G_(mul_fixed))(void *out, const void *base, const fr_t *scalars_plain,
                                       size_t n, struct pool *pool, struct err *e)
{
    struct G_(fixed) f = {.scalars = scalars_plain, .out = out, .add_pairs = G_(add_pairs)()};
    AFFINE_t powers[MSM_WINDOWS_MAX];
    msm_digits_set(&f.digits, G_(msm_order)(), true);
    msm_digits_cut(&f.digits, n < 4096 ? G_(fixed_bits_small) : G_(fixed_bits_large));
    f.half = (size_t)1 << (f.digits.bits - 1);
    size_t entries = f.half * f.digits.n_windows;
    f.table = malloc(entries * sizeof *f.table);
    f.row = malloc(entries * sizeof *f.row);
    f.inverses = malloc(entries * sizeof *f.inverses);
    f.scratch = aligned_alloc(64, pool_threads(pool) * sizeof *f.scratch);
    bool ok = f.table && f.row && f.inverses && f.scratch;
    if (ok) {
        G_(fixed_powers)(&f, base, powers);
        pool_run(pool, G_(fixed_fill), &f, f.digits.n_windows);
        pool_range(pool, G_(fixed_range), &f, n, G_(fixed_batch));
    }
    free(f.table);
    free(f.row);
    free(f.inverses);
    free(f.scratch);
    return ok ? ERR_OK : err_set(e, ERR_MEMORY, "no memory for %zu multiples of a point", n);
}

#undef G_
#undef AFFINE_t
#undef XYZZ_t
#undef F_t
#undef GROUP
#undef GROUP_FIELD
