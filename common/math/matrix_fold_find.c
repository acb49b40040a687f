/* The search for blocks of rows that repeat (matrix_fold.h). */
#include <stdlib.h>
#include <string.h>
#include "matrix_fold.h"

enum {
    WINDOW = 32,        /* rows that are hashed together */
    SAMPLES = 1 << 14,  /* windows that are looked at, about */
    CANDIDATES = 24,    /* lengths of a block that are tried in each round */
    ROUNDS = 256,       /* and so the most folds */
    STARTS = 8,         /* places in a run at which the moves of wires are learnt */
    LEAST_TERMS = 4096, /* what a fold must save, and a 64th of all */
    LEAST_SHARE = 64,
};
#define UNKNOWN UINT32_MAX

struct search {
    const struct matrix *const *m;
    size_t n_matrices;
    uint32_t n_rows, n_wires;
    uint64_t n_terms;
    uint64_t *hash; /* of each row's values; of a row that is folded already a number of its own */
    uint32_t *move; /* of each wire from a copy to the next; UNKNOWN */
    struct matrix_fold *fold;
    uint32_t n_folds;
};

static uint64_t mix(uint64_t h)
{
    h ^= h >> 31;
    h *= 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint32_t code_at(const struct matrix *m, uint64_t i)
{
    return m->code_bytes == 1   ? ((const uint8_t *)m->code)[i]
           : m->code_bytes == 2 ? ((const uint16_t *)m->code)[i]
                                : ((const uint32_t *)m->code)[i];
}

static void hash_rows(struct search *s)
{
    for (uint32_t row = 0; row < s->n_rows; row++) {
        uint64_t h = 1;
        for (size_t k = 0; k < s->n_matrices; k++) {
            const struct matrix *m = s->m[k];
            h = mix(h + m->row_start[row + 1] - m->row_start[row]);
            for (uint32_t i = m->row_start[row]; i < m->row_start[row + 1]; i++)
                h = mix(h + code_at(m, i));
        }
        s->hash[row] = h;
    }
}

struct sample {
    uint64_t hash;
    uint32_t row;
};

static int by_hash_and_row(const void *x, const void *y)
{
    const struct sample *a = x, *b = y;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

/* Windows whose own hash says so: the same ones in every copy of a block. */
static size_t take_samples(const struct search *s, struct sample *out, size_t room)
{
    uint64_t factor = 1, h = 0, mask = 1;
    for (int i = 0; i < WINDOW; i++)
        factor *= 0x9e3779b97f4a7c15u;
    while (mask * SAMPLES < s->n_rows)
        mask *= 2;
    size_t n = 0;
    for (uint32_t row = 0; row < s->n_rows && n < room; row++) {
        h = h * 0x9e3779b97f4a7c15u + s->hash[row];
        if (row >= WINDOW)
            h -= factor * s->hash[row - WINDOW];
        if (row >= WINDOW - 1 && !(mix(h) & (mask - 1)))
            out[n++] = (struct sample){h, row};
    }
    return n;
}

struct candidate {
    uint64_t weight; /* then: rows that a fold of this length would save */
    uint32_t length, run_begin, run_end;
};

static int by_length(const void *x, const void *y)
{
    const struct candidate *a = x, *b = y;
    return a->length < b->length ? -1 : a->length > b->length;
}

static int by_weight(const void *x, const void *y)
{
    const struct candidate *a = x, *b = y;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return by_length(x, y);
}

/* The distances between windows that are the same, the most weighty first; n samples. */
static size_t distances(struct sample *sample, size_t n, struct candidate *out)
{
    size_t n_out = 0, n_distinct = 0;
    qsort(sample, n, sizeof *sample, by_hash_and_row);
    for (size_t i = 1; i < n; i++)
        if (sample[i].hash == sample[i - 1].hash)
            out[n_out++] = (struct candidate){.length = sample[i].row - sample[i - 1].row};
    qsort(out, n_out, sizeof *out, by_length);
    for (size_t i = 0; i < n_out; i++) {
        if (i == 0 || out[i].length != out[n_distinct - 1].length)
            out[n_distinct++] = out[i];
        out[n_distinct - 1].weight += out[n_distinct - 1].length;
    }
    qsort(out, n_distinct, sizeof *out, by_weight);
    return n_distinct < CANDIDATES ? n_distinct : CANDIDATES;
}

/* The longest run of rows each of which has the values of the row c->length further on. */
static void find_run(const struct search *s, struct candidate *c)
{
    uint32_t begin = 0;
    c->run_begin = c->run_end = 0;
    for (uint32_t row = 0; row + c->length < s->n_rows; row++) {
        if (s->hash[row] != s->hash[row + c->length])
            begin = row + 1;
        else if (row + 1 - begin > c->run_end - c->run_begin) {
            c->run_begin = begin;
            c->run_end = row + 1;
        }
    }
    c->weight = (c->run_end - c->run_begin) / c->length * (uint64_t)c->length;
}

/* The different moves that are known by now. */
struct moves {
    uint32_t value[MATRIX_SHIFTS_MAX];
    uint32_t n;
    bool closed; /* no further one is accepted */
};

static bool is_move(struct moves *v, uint32_t value)
{
    for (uint32_t i = 0; i < v->n; i++)
        if (v->value[i] == value)
            return true;
    if (v->closed || v->n == MATRIX_SHIFTS_MAX)
        return false;
    v->value[v->n++] = value;
    return true;
}

/* Has row + length the terms of row, each moved as its wire is known to move? What is not known yet
 * is learnt. */
static bool row_repeats(struct search *s, uint32_t row, uint32_t length, struct moves *moves)
{
    for (size_t k = 0; k < s->n_matrices; k++) {
        const struct matrix *m = s->m[k];
        uint32_t at = m->row_start[row], other = m->row_start[row + length];
        uint32_t n = m->row_start[row + 1] - at;
        if (m->row_start[row + length + 1] - other != n)
            return false;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t wire = m->wire[at + i], moved = m->wire[other + i];
            if (moved < wire || code_at(m, at + i) != code_at(m, other + i) ||
                (s->move[wire] != UNKNOWN ? s->move[wire] != moved - wire
                                          : !is_move(moves, moved - wire)))
                return false;
            s->move[wire] = moved - wire;
        }
    }
    return true;
}

/* The moves of the block's own wires, as shifts; false when there are too many. */
static bool make_shifts(const struct search *s, struct matrix_fold *f)
{
    uint8_t *used = calloc(s->n_wires ? s->n_wires : 1, 1);
    if (!used)
        return false;
    for (size_t k = 0; k < s->n_matrices; k++) {
        const struct matrix *m = s->m[k];
        for (uint32_t i = m->row_start[f->row]; i < m->row_start[f->row + f->n_rows]; i++)
            used[m->wire[i]] = 1;
    }
    bool fits = true;
    f->n_shifts = 0;
    for (uint32_t wire = 0; wire < s->n_wires && fits; wire++) {
        if (!used[wire] || (f->n_shifts && f->shift[f->n_shifts - 1].by == s->move[wire]))
            continue;
        fits = f->n_shifts < MATRIX_SHIFTS_MAX;
        if (fits)
            f->shift[f->n_shifts] = (struct matrix_shift){f->n_shifts ? wire : 0, s->move[wire]};
        f->n_shifts++;
    }
    free(used);
    if (fits && f->n_shifts == 0)
        f->n_shifts = 1; /* rows without a term */
    return fits;
}

/* How many copies in a row are exactly what the shifts say. */
static uint32_t count_copies(const struct search *s, const struct matrix_fold *f)
{
    for (uint32_t copy = 1; copy < f->count; copy++)
        for (size_t k = 0; k < s->n_matrices; k++) {
            const struct matrix *m = s->m[k];
            uint32_t at = m->row_start[f->row], n = m->row_start[f->row + f->n_rows] - at;
            uint32_t row = f->row + copy * f->n_rows, other = m->row_start[row];
            if (m->row_start[row + f->n_rows] - other != n)
                return copy;
            for (uint32_t r = 0; r < f->n_rows; r++)
                if (m->row_start[row + r] - other != m->row_start[f->row + r] - at)
                    return copy;
            for (uint32_t i = 0; i < n; i++)
                if (m->wire[other + i] != matrix_moved_wire(f, copy, m->wire[at + i]) ||
                    code_at(m, at + i) != code_at(m, other + i))
                    return copy;
        }
    return f->count;
}

static uint64_t saved_terms(const struct search *s, const struct matrix_fold *f)
{
    uint64_t n = 0;
    for (size_t k = 0; k < s->n_matrices; k++)
        n += s->m[k]->row_start[f->row + f->n_rows] - s->m[k]->row_start[f->row];
    return n * (f->count - 1);
}

/* Learns how wires move from one block's length of rows at `at`, then goes as far as that holds. */
static bool try_at(struct search *s, const struct candidate *c, uint32_t at, struct matrix_fold *f)
{
    struct moves moves = {.n = 0};
    uint32_t length = c->length, begin = at, end = at;
    memset(s->move, 0xff, (size_t)s->n_wires * sizeof *s->move);
    for (; end < at + length; end++)
        if (!row_repeats(s, end, length, &moves))
            return false;
    moves.closed = true;
    while (end < c->run_end && row_repeats(s, end, length, &moves))
        end++;
    while (begin > c->run_begin && row_repeats(s, begin - 1, length, &moves))
        begin--;
    *f = (struct matrix_fold){.row = begin, .n_rows = length, .count = (end - begin) / length + 1};
    if (!make_shifts(s, f))
        return false;
    f->count = count_copies(s, f);
    uint64_t saved = saved_terms(s, f);
    return f->count > 1 && saved >= LEAST_TERMS && saved >= s->n_terms / LEAST_SHARE;
}

static bool try_candidate(struct search *s, const struct candidate *c, struct matrix_fold *f)
{
    uint32_t run = c->run_end - c->run_begin;
    if (run < c->length)
        return false;
    for (uint32_t i = 0; i < STARTS; i++) {
        uint32_t at = c->run_begin + (uint32_t)((uint64_t)(run - c->length) * i / (STARTS - 1));
        if (try_at(s, c, at, f))
            return true;
    }
    return false;
}

/* The fold that saves most, or the next best one that holds. */
static bool find_one(struct search *s, struct sample *sample, size_t room, struct candidate *c,
                     struct matrix_fold *f)
{
    size_t n = distances(sample, take_samples(s, sample, room), c);
    for (size_t i = 0; i < n; i++)
        find_run(s, &c[i]);
    qsort(c, n, sizeof *c, by_weight);
    for (size_t i = 0; i < n; i++)
        if (try_candidate(s, &c[i], f))
            return true;
    return false;
}

static int by_row(const void *x, const void *y)
{
    const struct matrix_fold *a = x, *b = y;
    return a->row < b->row ? -1 : a->row > b->row;
}

enum err_code matrix_find_folds(const struct matrix *const *m, size_t n_matrices, uint32_t n_rows,
                                struct matrix_fold **folds, uint32_t *n, struct err *e)
{
    struct search s = {
        .m = m, .n_matrices = n_matrices, .n_rows = n_rows, .n_wires = m[0]->n_wires};
    for (size_t k = 0; k < n_matrices; k++)
        s.n_terms += m[k]->n_entries;
    *folds = NULL;
    *n = 0;
    if (s.n_terms < LEAST_TERMS)
        return ERR_OK;
    size_t room = 4 * (size_t)SAMPLES;
    s.hash = malloc((size_t)n_rows * sizeof *s.hash + 1);
    s.move = malloc((size_t)s.n_wires * sizeof *s.move + 1);
    s.fold = malloc(ROUNDS * sizeof *s.fold);
    struct sample *sample = malloc(room * sizeof *sample);
    struct candidate *c = malloc(room * sizeof *c);
    bool memory = s.hash && s.move && s.fold && sample && c;
    if (memory)
        hash_rows(&s);
    while (memory && s.n_folds < ROUNDS && find_one(&s, sample, room, c, &s.fold[s.n_folds])) {
        const struct matrix_fold *f = &s.fold[s.n_folds++];
        for (uint32_t i = 0; i < f->n_rows * f->count; i++)
            s.hash[f->row + i] = mix(~(uint64_t)(f->row + i));
    }
    free(s.hash);
    free(s.move);
    free(sample);
    free(c);
    if (!memory || s.n_folds == 0) {
        free(s.fold);
        return memory ? ERR_OK : err_set(e, ERR_MEMORY, "no memory to look for rows that repeat");
    }
    qsort(s.fold, s.n_folds, sizeof *s.fold, by_row);
    *folds = s.fold;
    *n = s.n_folds;
    return ERR_OK;
}
