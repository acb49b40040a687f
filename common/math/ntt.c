#include "ntt.h"
#include "cpu.h"
#include "ntt_path.h"
#include <stdlib.h>
#include <string.h>

extern const struct ntt_path bn254_fr_ntt_path_portable, bls12_381_fr_ntt_path_portable;
#if defined(__x86_64__)
extern const struct ntt_path bn254_fr_ntt_path_adx, bls12_381_fr_ntt_path_adx;
extern const struct ntt_path bn254_fr_ntt_path_ifma, bls12_381_fr_ntt_path_ifma;
#endif

const struct ntt_path *ntt_path_for(enum curve_id id, unsigned log2_n)
{
    bool bn = id == CURVE_BN254;
#if defined(__x86_64__)
    const struct ntt_path *ifma = bn ? &bn254_fr_ntt_path_ifma : &bls12_381_fr_ntt_path_ifma;
    if (cpu_variant() >= CPU_IFMA && (log2_n + 1) / 2 <= ifma->bits_max)
        return ifma;
    if (cpu_variant() >= CPU_ADX)
        return bn ? &bn254_fr_ntt_path_adx : &bls12_381_fr_ntt_path_adx;
#endif
    (void)log2_n;
    return bn ? &bn254_fr_ntt_path_portable : &bls12_381_fr_ntt_path_portable;
}

/* Below this size there are fewer than 8 rows or columns: the plain transform. */
enum { LOG2_SMALLEST_MATRIX = 6, SWAP_GRAIN = 4096 };

struct ntt_domain {
    const struct curve *c;
    const struct ntt_path *path;
    unsigned log2_n, log2_rows, log2_columns;
    size_t bytes;
    /* Montgomery form, for the plain transform */
    fr_t root[2], shift[2], inverse_n; /* [0] forward, [1] inverse */
    /* the path's form */
    struct ntt_factors factors[2];
    fr_t *by_column[2]; /* N2: [k2] = shift^(N1 k2) */
    fr_t path_one, path_inverse_n, path_shift[2];
    fr_t table[];
};

static void to_path_form(const struct ntt_domain *d, fr_t *r, const fr_t *mont)
{
    *r = *mont;
    for (unsigned i = 0; i < d->path->form_shift; i++)
        d->c->fr_add(r, r, r);
}

/* out[i] = base^i, path form */
static void fill_powers(const struct ntt_domain *d, fr_t *out, const fr_t *base, size_t n)
{
    fr_t power = *d->c->fr_one;
    for (size_t i = 0; i < n; i++) {
        to_path_form(d, &out[i], &power);
        d->c->fr_mul(&power, &power, base);
    }
}

static size_t reverse_bits(size_t i, unsigned bits)
{
    size_t r = 0;
    for (unsigned k = 0; k < bits; k++)
        r |= (i >> k & 1) << (bits - 1 - k);
    return r;
}

static void fill_factors(const struct ntt_domain *d, const struct ntt_factors *f, const fr_t *root)
{
    size_t n1 = (size_t)1 << d->log2_rows;
    fr_t w = *root; /* to the root of order N1 */
    for (unsigned i = 0; i < d->log2_columns; i++)
        d->c->fr_mul(&w, &w, &w);
    fill_powers(d, f->step, root, n1);
    f->stage[0] = d->path_one;
    for (size_t half = n1 / 2; half; half /= 2) {
        fill_powers(d, f->stage + half, &w, half);
        d->c->fr_mul(&w, &w, &w);
    }
    for (size_t i = 0; i < n1 / 2; i++)
        f->reversed[i] = f->stage[n1 / 2 + reverse_bits(i, d->log2_rows - 1)];
}

struct ntt_domain *ntt_domain_new(const struct curve *c, enum root_convention roots,
                                  unsigned log2_n, struct pool *pool, struct err *e)
{
    (void)pool; /* the tables are about the square root of N */
    if (log2_n > c->two_adicity) {
        err_set(e, ERR_VALUE, "a domain of 2^%u: the scalar field of %s has roots up to 2^%u",
                log2_n, c->name, c->two_adicity);
        return NULL;
    }
    size_t n1 = 0, n2 = 0;
    if (log2_n >= LOG2_SMALLEST_MATRIX) {
        n1 = (size_t)1 << (log2_n + 1) / 2;
        n2 = (size_t)1 << log2_n / 2;
    }
    size_t bytes = sizeof(struct ntt_domain) + (5 * n1 + 2 * n2) * sizeof(fr_t);
    struct ntt_domain *d = calloc(1, bytes);
    if (!d) {
        err_set(e, ERR_MEMORY, "no memory for the tables of a domain of 2^%u", log2_n);
        return NULL;
    }
    d->c = c;
    d->path = ntt_path_for(c->id, log2_n);
    d->log2_n = log2_n;
    d->log2_rows = (log2_n + 1) / 2;
    d->log2_columns = log2_n / 2;
    d->bytes = bytes;
    c->fr_root(&d->root[0], roots, log2_n);
    c->fr_coset_shift(&d->shift[0], roots, log2_n);
    for (int i = 0; i < 2; i++)
        c->fr_inv(i ? &d->shift[1] : &d->root[1], i ? &d->shift[0] : &d->root[0]);
    fr_t n = *c->fr_one;
    for (unsigned i = 0; i < log2_n; i++)
        c->fr_add(&n, &n, &n);
    c->fr_inv(&d->inverse_n, &n);
    if (!n1)
        return d;
    to_path_form(d, &d->path_one, c->fr_one);
    to_path_form(d, &d->path_inverse_n, &d->inverse_n);
    fr_t *at = d->table;
    for (int i = 0; i < 2; i++) {
        struct ntt_factors *f = &d->factors[i];
        f->reversed = at;
        f->stage = at += n1 / 2;
        f->step = at += n1;
        d->by_column[i] = at += n1;
        at += n2;
        fill_factors(d, f, &d->root[i]);
        to_path_form(d, &d->path_shift[i], &d->shift[i]);
        fr_t jump = d->shift[i];
        for (unsigned k = 0; k < d->log2_rows; k++)
            c->fr_mul(&jump, &jump, &jump);
        fill_powers(d, d->by_column[i], &jump, n2);
    }
    return d;
}

void ntt_domain_free(struct ntt_domain **d)
{
    free(*d);
    *d = NULL;
}

size_t ntt_domain_bytes(const struct ntt_domain *d)
{
    return d->bytes;
}

struct reordering {
    fr_t *x;
    unsigned bits;
};

static void swap_range(void *arg, size_t begin, size_t end, unsigned worker)
{
    (void)worker;
    const struct reordering *r = arg;
    for (size_t i = begin; i < end; i++) {
        size_t j = reverse_bits(i, r->bits);
        if (i < j) { /* a pair is swapped by whoever has its smaller index */
            fr_t t = r->x[i];
            r->x[i] = r->x[j];
            r->x[j] = t;
        }
    }
}

static void reorder(fr_t *x, unsigned bits, struct pool *pool)
{
    struct reordering r = {x, bits};
    pool_range(pool, swap_range, &r, (size_t)1 << bits, SWAP_GRAIN);
}

/* Radix 2 in place, no table, no scratch: for tiny domains, and when there is no memory. */
static void plain_transform(const struct ntt_domain *d, fr_t *x, bool inverse)
{
    const struct curve *c = d->c;
    size_t n = (size_t)1 << d->log2_n;
    reorder(x, d->log2_n, NULL);
    for (unsigned s = 1; s <= d->log2_n; s++) {
        size_t half = (size_t)1 << (s - 1);
        fr_t w = d->root[inverse], power = *c->fr_one, t;
        for (unsigned i = s; i < d->log2_n; i++)
            c->fr_mul(&w, &w, &w);
        for (size_t j = 0; j < half; j++) {
            for (size_t b = j; b < n; b += 2 * half) {
                c->fr_mul(&t, &x[b + half], &power);
                c->fr_sub(&x[b + half], &x[b], &t);
                c->fr_add(&x[b], &x[b], &t);
            }
            c->fr_mul(&power, &power, &w);
        }
    }
}

/* x[i] *= first * step^i */
static void plain_scale(const struct ntt_domain *d, fr_t *x, const fr_t *first, const fr_t *step)
{
    fr_t power = *first;
    for (size_t i = 0; i < (size_t)1 << d->log2_n; i++) {
        d->c->fr_mul(&x[i], &x[i], &power);
        d->c->fr_mul(&power, &power, step);
    }
}

struct pass_run {
    void (*pass)(const struct ntt_pass *p, size_t index, void *buffer);
    struct ntt_pass p;
    unsigned char *buffer; /* buffer_bytes a worker */
    size_t buffer_bytes;
};

static void run_index(void *arg, size_t index, unsigned worker)
{
    const struct pass_run *r = arg;
    r->pass(&r->p, index, r->buffer + worker * r->buffer_bytes);
}

/* False when the passes do not apply: a tiny domain, or no memory for the buffers. */
static bool begin_passes(const struct ntt_domain *d, fr_t *x, struct pool *pool, struct pass_run *r)
{
    if (d->log2_n < LOG2_SMALLEST_MATRIX)
        return false;
    size_t bytes = d->path->element_bytes << d->log2_rows;
    *r = (struct pass_run){.p = {.x = x,
                                 .log2_rows = d->log2_rows,
                                 .log2_columns = d->log2_columns,
                                 .first = &d->path_one},
                           .buffer = aligned_alloc(64, bytes * pool_threads(pool)),
                           .buffer_bytes = bytes};
    return r->buffer != NULL;
}

static void run_columns(struct pass_run *r, void (*pass)(const struct ntt_pass *, size_t, void *),
                        struct pool *pool)
{
    r->pass = pass;
    pool_run(pool, run_index, r, ((size_t)1 << r->p.log2_columns) / NTT_LANES);
}

static void run_rows(struct pass_run *r, void (*pass)(const struct ntt_pass *, size_t, void *),
                     struct pool *pool)
{
    r->pass = pass;
    pool_run(pool, run_index, r, ((size_t)1 << r->p.log2_rows) / NTT_LANES);
}

void ntt_forward(const struct ntt_domain *d, fr_t *x, struct pool *pool)
{
    struct pass_run r;
    if (!begin_passes(d, x, pool, &r)) {
        plain_transform(d, x, false);
        return;
    }
    r.p.f = &d->factors[0];
    run_columns(&r, d->path->columns_reversing, pool);
    run_rows(&r, d->path->rows_reversing, pool);
    free(r.buffer);
    reorder(x, d->log2_n, pool);
}

/* Values to coefficients; with `coset`, from the coset's values. */
static void inverse(const struct ntt_domain *d, fr_t *x, bool coset, struct pool *pool)
{
    struct pass_run r;
    if (!begin_passes(d, x, pool, &r)) {
        plain_transform(d, x, true);
        plain_scale(d, x, &d->inverse_n, coset ? &d->shift[1] : d->c->fr_one);
        return;
    }
    r.p.f = &d->factors[1];
    r.p.first = &d->path_inverse_n;
    if (coset) {
        r.p.growth = &d->path_shift[1];
        r.p.by_column = d->by_column[1];
    }
    run_columns(&r, d->path->columns_reversing, pool);
    run_rows(&r, d->path->rows_reversing, pool);
    free(r.buffer);
    reorder(x, d->log2_n, pool);
}

void ntt_inverse(const struct ntt_domain *d, fr_t *x, struct pool *pool)
{
    inverse(d, x, false, pool);
}

void ntt_from_coset(const struct ntt_domain *d, fr_t *x, struct pool *pool)
{
    inverse(d, x, true, pool);
}

void ntt_to_coset(const struct ntt_domain *d, fr_t *x, struct pool *pool)
{
    struct pass_run r;
    if (!begin_passes(d, x, pool, &r)) {
        plain_transform(d, x, true);
        plain_scale(d, x, &d->inverse_n, &d->shift[0]);
        plain_transform(d, x, false);
        return;
    }
    r.p.f = &d->factors[1];
    r.p.back = &d->factors[0];
    r.p.first = &d->path_inverse_n;
    r.p.growth = &d->path_shift[0];
    r.p.by_column = d->by_column[0];
    run_columns(&r, d->path->columns_reversing, pool);
    run_rows(&r, d->path->rows_there_and_back, pool);
    r.p.f = &d->factors[0];
    run_columns(&r, d->path->columns_ordering, pool);
    free(r.buffer);
}
