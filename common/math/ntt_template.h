/* ntt_template: the passes of ntt_path.h over FIELD, with the lanes of ntt_lanes_*.h included
 * before. It defines MATH_NAME(<field>_ntt_path) and undefines FIELD. */
#define P_(name) MATH_JOIN(FIELD, pass_##name)

static size_t P_(rev)(size_t i, unsigned bits)
{
    size_t r = 0;
    for (unsigned k = 0; k < bits; k++)
        r |= (i >> k & 1) << (bits - 1 - k);
    return r;
}

/* Natural to reversed order: one factor a block, the block's halves become two blocks. */
static void P_(to_reversed)(L_t *x, unsigned bits, const fr_t *reversed)
{
    for (unsigned s = 0; s < bits; s++) {
        size_t half = (size_t)1 << (bits - 1 - s), b = 0;
        if (s < L_(free_stages)) {
            for (size_t i = 0; i < half; i++)
                L_(butterfly_one)(&x[i], &x[i + half], s);
            b = 1;
        }
        for (; b < (size_t)1 << s; b++) {
            L_t w, *lo = x + 2 * half * b;
            L_(broadcast)(&w, &reversed[b]);
            for (size_t i = 0; i < half; i++)
                L_(butterfly)(&lo[i], &lo[i + half], &w);
        }
    }
}

/* Reversed to natural order. */
static void P_(to_natural)(L_t *x, unsigned bits, const fr_t *stage)
{
    size_t n = (size_t)1 << bits;
    for (unsigned s = 0; s < bits; s++) {
        size_t half = (size_t)1 << s, j = 0;
        if (s < L_(free_stages)) {
            for (size_t b = 0; b < n; b += 2 * half)
                L_(butterfly_one)(&x[b], &x[b + half], s);
            j = 1;
        }
        for (; j < half; j++) {
            L_t w;
            L_(broadcast)(&w, &stage[half + j]);
            for (size_t b = j; b < n; b += 2 * half)
                L_(butterfly)(&x[b], &x[b + half], &w);
        }
    }
}

enum { P_(chains) = 4 };

/* Powers first * step^k for k = 0, 1, 2, ... in several chains, so that products of different
 * chains overlap. */
struct P_(powers) {
    L_t next[P_(chains)], step;
};

static void P_(powers_begin)(struct P_(powers) * p, const L_t *first, const L_t *step)
{
    p->next[0] = *first;
    for (unsigned k = 1; k < P_(chains); k++)
        L_(mul)(&p->next[k], &p->next[k - 1], step);
    L_(mul)(&p->step, step, step);
    L_(mul)(&p->step, &p->step, &p->step);
}

static void P_(powers_take)(struct P_(powers) * p, size_t k, L_t *x)
{
    L_t *power = &p->next[k % P_(chains)];
    L_(mul)(x, x, power);
    L_(mul)(power, power, &p->step);
}

static void P_(load_columns)(const struct ntt_pass *p, size_t index, L_t *x)
{
    size_t n2 = (size_t)1 << p->log2_columns;
    for (size_t i = 0; i < (size_t)1 << p->log2_rows; i++)
        L_(load)(&x[i], p->x + i * n2 + index * NTT_LANES, 1);
}

static void P_(columns_reversing)(const struct ntt_pass *p, size_t index, void *buffer)
{
    L_t *x = buffer, first, step, growth;
    size_t n2 = (size_t)1 << p->log2_columns;
    P_(load_columns)(p, index, x);
    P_(to_reversed)(x, p->log2_rows, p->f->reversed);
    L_(broadcast)(&first, p->first);
    L_(load)(&step, p->f->step + index * NTT_LANES, 1);
    if (p->growth) {
        L_(broadcast)(&growth, p->growth);
        L_(mul)(&step, &step, &growth);
    }
    struct P_(powers) powers;
    P_(powers_begin)(&powers, &first, &step);
    for (size_t k1 = 0; k1 < (size_t)1 << p->log2_rows; k1++) {
        size_t row = P_(rev)(k1, p->log2_rows);
        P_(powers_take)(&powers, k1, &x[row]);
        L_(store_loose)(&x[row], p->x + row * n2 + index * NTT_LANES, 1);
    }
}

static void P_(columns_ordering)(const struct ntt_pass *p, size_t index, void *buffer)
{
    L_t *x = buffer;
    size_t n2 = (size_t)1 << p->log2_columns;
    P_(load_columns)(p, index, x);
    P_(to_natural)(x, p->log2_rows, p->f->stage);
    for (size_t i = 0; i < (size_t)1 << p->log2_rows; i++)
        L_(store)(&x[i], p->x + i * n2 + index * NTT_LANES, 1);
}

static void P_(rows_forth)(const struct ntt_pass *p, size_t index, L_t *x)
{
    size_t n2 = (size_t)1 << p->log2_columns;
    for (size_t j = 0; j < n2; j++)
        L_(load)(&x[j], p->x + index * NTT_LANES * n2 + j, n2);
    P_(to_reversed)(x, p->log2_columns, p->f->reversed);
    for (size_t k2 = 0; p->by_column && k2 < n2; k2++) {
        L_t w, *at = &x[P_(rev)(k2, p->log2_columns)];
        L_(broadcast)(&w, &p->by_column[k2]);
        L_(mul)(at, at, &w);
    }
}

static void P_(rows_reversing)(const struct ntt_pass *p, size_t index, void *buffer)
{
    L_t *x = buffer;
    size_t n2 = (size_t)1 << p->log2_columns;
    P_(rows_forth)(p, index, x);
    for (size_t j = 0; j < n2; j++)
        L_(store)(&x[j], p->x + index * NTT_LANES * n2 + j, n2);
}

static void P_(rows_there_and_back)(const struct ntt_pass *p, size_t index, void *buffer)
{
    L_t *x = buffer, one, step;
    size_t n2 = (size_t)1 << p->log2_columns;
    fr_t w[NTT_LANES];
    P_(rows_forth)(p, index, x);
    P_(to_natural)(x, p->log2_columns, p->back->stage);
    for (size_t i = 0; i < NTT_LANES; i++)
        w[i] = p->back->step[P_(rev)(index * NTT_LANES + i, p->log2_rows)];
    L_(load)(&step, w, 1);
    L_(broadcast)(&one, &p->back->step[0]);
    struct P_(powers) powers;
    P_(powers_begin)(&powers, &one, &step);
    for (size_t j = 0; j < n2; j++) {
        P_(powers_take)(&powers, j, &x[j]);
        L_(store_loose)(&x[j], p->x + index * NTT_LANES * n2 + j, n2);
    }
}

extern const struct ntt_path MATH_NAME(MATH_JOIN(FIELD, ntt_path));
const struct ntt_path MATH_NAME(MATH_JOIN(FIELD, ntt_path)) = {
    .form_shift = L_(form_shift),
    .bits_max = L_(bits_max),
    .element_bytes = sizeof(L_t),
    .columns_reversing = P_(columns_reversing),
    .columns_ordering = P_(columns_ordering),
    .rows_reversing = P_(rows_reversing),
    .rows_there_and_back = P_(rows_there_and_back),
};

#undef F_
#undef L_
#undef L_t
#undef V_
#undef LANES
#undef P_
#undef FIELD
