/* Evaluation: a row is the integer sum of (dictionary value in Montgomery form) * w, 512 bits a
 * product, and of +-w * 2^256, so that the one reduction at its end turns both kinds of entry into
 * the plain dot product. Nothing in the loop over entries depends on the modulus. */
#include "matrix.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_A_PIECE = 512, CODE_ONE = 0, CODE_MINUS_ONE = 1 };
typedef unsigned __int128 u128;

/* The modulus as the reduction needs it. */
struct modulus {
    fr_t r;
    uint64_t neg_inv; /* -1/r mod 2^64 */
};

static struct modulus modulus_of(const struct curve *c)
{
    struct modulus m = {.r = *c->r};
    uint64_t x = m.r.limb[0]; /* odd: correct to 3 bits; each step doubles that */
    for (int i = 0; i < 5; i++)
        x *= 2 - m.r.limb[0] * x;
    m.neg_inv = -x;
    return m;
}

static inline uint32_t code_at(const void *code, uint32_t code_bytes, uint64_t i)
{
    switch (code_bytes) {
    case 1:
        return ((const uint8_t *)code)[i];
    case 2:
        return ((const uint16_t *)code)[i];
    default:
        return ((const uint32_t *)code)[i];
    }
}

/* acc: 9 limbs; every sum of fewer than 2^32 entries stays below 2^543. */
static inline void add_high(uint64_t acc[9], const uint64_t x[4])
{
    u128 t = (u128)acc[4] + x[0];
    acc[4] = (uint64_t)t;
    t = (u128)acc[5] + x[1] + (uint64_t)(t >> 64);
    acc[5] = (uint64_t)t;
    t = (u128)acc[6] + x[2] + (uint64_t)(t >> 64);
    acc[6] = (uint64_t)t;
    t = (u128)acc[7] + x[3] + (uint64_t)(t >> 64);
    acc[7] = (uint64_t)t;
    acc[8] += (uint64_t)(t >> 64);
}

static inline void add_negated_high(uint64_t acc[9], const fr_t *r, const fr_t *x)
{
    uint64_t d[4];
    u128 borrow = 0;
    for (int i = 0; i < 4; i++) {
        u128 t = (u128)r->limb[i] - x->limb[i] - borrow;
        d[i] = (uint64_t)t;
        borrow = (t >> 64) & 1;
    }
    add_high(acc, d);
}

static inline void add_product(uint64_t acc[9], const fr_t *a, const fr_t *b)
{
    uint64_t p[8] = {0};
    for (int i = 0; i < 4; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < 4; j++) {
            u128 t = (u128)a->limb[i] * b->limb[j] + p[i + j] + carry;
            p[i + j] = (uint64_t)t;
            carry = (uint64_t)(t >> 64);
        }
        p[i + 4] = carry;
    }
    uint64_t carry = 0;
    for (int i = 0; i < 8; i++) {
        u128 t = (u128)acc[i] + p[i] + carry;
        acc[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
    acc[8] += carry;
}

/* x (5 limbs) -= k * r */
static void sub_multiple(uint64_t x[5], const fr_t *r, uint64_t k)
{
    uint64_t carry = 0, borrow = 0;
    for (int i = 0; i < 5; i++) {
        u128 p = (i < 4 ? (u128)r->limb[i] * k : 0) + carry;
        carry = (uint64_t)(p >> 64);
        u128 d = (u128)x[i] - (uint64_t)p - borrow;
        x[i] = (uint64_t)d;
        borrow = (uint64_t)(d >> 64) & 1;
    }
}

static bool below(const uint64_t x[4], const fr_t *r)
{
    for (int i = 3; i >= 0; i--)
        if (x[i] != r->limb[i])
            return x[i] < r->limb[i];
    return false;
}

/* The canonical value of acc / 2^256. */
static void reduce(fr_t *out, uint64_t acc[9], const struct modulus *m)
{
    if (acc[0] | acc[1] | acc[2] | acc[3]) {
        for (int i = 0; i < 4; i++) {
            uint64_t k = acc[i] * m->neg_inv, carry = 0;
            for (int j = 0; j < 4; j++) {
                u128 t = (u128)k * m->r.limb[j] + acc[i + j] + carry;
                acc[i + j] = (uint64_t)t;
                carry = (uint64_t)(t >> 64);
            }
            for (int j = i + 4; carry && j < 9; j++) {
                u128 t = (u128)acc[j] + carry;
                acc[j] = (uint64_t)t;
                carry = (uint64_t)(t >> 64);
            }
        }
    }
    uint64_t *x = acc + 4;
    while (x[4]) { /* x < 2^288: an underestimate of the quotient from the upper 64 bits */
        uint64_t upper = x[4] << 32 | x[3] >> 32;
        sub_multiple(x, &m->r, upper / ((m->r.limb[3] >> 32) + 1));
    }
    while (!below(x, &m->r))
        sub_multiple(x, &m->r, 1);
    memcpy(out->limb, x, sizeof out->limb);
}

/* f: NULL, or the fold whose copy `copy` is evaluated; a constant NULL in the loop without. */
static inline __attribute__((always_inline)) void
evaluate_row(const struct matrix *m, const struct modulus *mod, const fr_t *w, uint32_t code_bytes,
             size_t row, const struct matrix_fold *f, uint32_t copy, fr_t *plain)
{
    uint64_t acc[9] = {0};
    for (uint32_t i = m->row_start[row]; i < m->row_start[row + 1]; i++) {
        const fr_t *x = &w[f ? matrix_moved_wire(f, copy, m->wire[i]) : m->wire[i]];
        uint32_t code = code_at(m->code, code_bytes, i);
        if (code == CODE_ONE)
            add_high(acc, x->limb);
        else if (code == CODE_MINUS_ONE)
            add_negated_high(acc, &mod->r, x);
        else
            add_product(acc, &m->dictionary[code], x);
    }
    reduce(plain, acc, mod);
}

/* n rows that are stored one after the other, from p on. */
static inline __attribute__((always_inline)) void
evaluate_stored(const struct matrix *m, const struct modulus *mod, const fr_t *w,
                uint32_t code_bytes, const struct matrix_place *p, size_t n, fr_t *out)
{
    if (p->copy)
        for (size_t i = 0; i < n; i++)
            evaluate_row(m, mod, w, code_bytes, p->stored + i, p->fold, p->copy, &out[i]);
    else
        for (size_t i = 0; i < n; i++)
            evaluate_row(m, mod, w, code_bytes, p->stored + i, NULL, 0, &out[i]);
}

/* Rows [begin,end) into out[0..], Montgomery form. */
static void evaluate_rows(const struct curve *c, const struct matrix *m, const struct modulus *mod,
                          const fr_t *w, size_t begin, size_t end, fr_t *out)
{
    for (size_t row = begin; row < end;) {
        struct matrix_place p = matrix_find_row(m, (uint32_t)row);
        size_t n = end - row < p.left ? end - row : p.left;
        switch (m->code_bytes) { /* one loop a width, so that the width is a constant in it */
        case 1:
            evaluate_stored(m, mod, w, 1, &p, n, out + (row - begin));
            break;
        case 2:
            evaluate_stored(m, mod, w, 2, &p, n, out + (row - begin));
            break;
        default:
            evaluate_stored(m, mod, w, 4, &p, n, out + (row - begin));
        }
        row += n;
    }
    c->fr_to_mont(out, out, end - begin);
}

struct evaluation {
    const struct curve *c;
    const struct matrix *m;
    struct modulus mod;
    const fr_t *w;
    fr_t *out;
};

static void evaluate_piece(void *arg, size_t begin, size_t end, unsigned worker)
{
    (void)worker;
    const struct evaluation *ev = arg;
    size_t stored = end < ev->m->n_rows ? end : ev->m->n_rows;
    if (begin < stored)
        evaluate_rows(ev->c, ev->m, &ev->mod, ev->w, begin, stored, ev->out + begin);
    else
        stored = begin;
    memset(ev->out + stored, 0, (end - stored) * sizeof *ev->out);
}

void matrix_evaluate(const struct curve *c, const struct matrix *m, const fr_t *w_plain, fr_t *out,
                     size_t n_out, struct pool *pool)
{
    struct evaluation ev = {c, m, modulus_of(c), w_plain, out};
    pool_range(pool, evaluate_piece, &ev, n_out, ROWS_A_PIECE);
}

struct satisfaction {
    const struct curve *c;
    const struct matrix *m[3];
    struct modulus mod;
    const fr_t *w;
    atomic_size_t first;
};

static void check_piece(void *arg, size_t begin, size_t end, unsigned worker)
{
    (void)worker;
    struct satisfaction *s = arg;
    if (begin >= atomic_load_explicit(&s->first, memory_order_relaxed))
        return;
    fr_t v[3][ROWS_A_PIECE];
    for (int k = 0; k < 3; k++) {
        size_t stored = end < s->m[k]->n_rows ? end : s->m[k]->n_rows;
        memset(v[k], 0, sizeof v[k]);
        if (begin < stored)
            evaluate_rows(s->c, s->m[k], &s->mod, s->w, begin, stored, v[k]);
    }
    s->c->fr_mul_many(v[0], v[0], v[1], end - begin);
    for (size_t i = begin; i < end; i++) {
        if (memcmp(&v[0][i - begin], &v[2][i - begin], sizeof(fr_t)) == 0)
            continue;
        size_t old = atomic_load_explicit(&s->first, memory_order_relaxed);
        while (i < old && !atomic_compare_exchange_weak_explicit(
                              &s->first, &old, i, memory_order_relaxed, memory_order_relaxed)) {
        }
        return;
    }
}

size_t matrix_first_unsatisfied(const struct curve *c, const struct matrix *a,
                                const struct matrix *b, const struct matrix *m_c,
                                const fr_t *w_plain, struct pool *pool)
{
    struct satisfaction s = {c, {a, b, m_c}, modulus_of(c), w_plain, a->n_rows};
    pool_range(pool, check_piece, &s, a->n_rows, ROWS_A_PIECE);
    return atomic_load(&s.first);
}
