#include "generate_shape.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "generate_rows.h"

enum {
    MAX_ROW = 64,
    NEAR = 1024,        /* half of the wires come from the last so many of their kind */
    OTHER_PERCENT = 10, /* of the entries have a value other than +-1 */
    TRIES = 16,         /* to find a wire that is not yet in the row */
};

enum class { ZERO, ONE, FULL, CLASSES };

/* Wires of one class that a matrix may hold. Up to `covered` each stands in some row already. */
struct list {
    uint32_t *wire;
    uint32_t n, covered, room;
};

/* Shares a total evenly among so many turns, to the unit; early: each unit as soon as may be. */
struct quota {
    uint64_t total, turns, turn;
    bool early;
};

static uint32_t quota_next(struct quota *q)
{
    __extension__ typedef unsigned __int128 wide;
    if (q->turns == 0)
        return 0;
    uint64_t up = q->early ? q->turns - 1 : 0;
    uint64_t before = (uint64_t)(((wide)q->total * q->turn + up) / q->turns);
    q->turn++;
    return (uint32_t)((uint64_t)(((wide)q->total * q->turn + up) / q->turns) - before);
}

struct builder {
    const struct shape_statistics *t;
    const struct curve *c;
    uint64_t random;
    struct grower a, b, k;
    fr_t dictionary[N_VALUES];
    fr_t *w;        /* mont while it grows */
    uint8_t *of;    /* enum class of each wire */
    uint32_t n;     /* wires so far */
    uint32_t input; /* next input to be bound */
    struct list in_a[CLASSES], in_b[CLASSES], in_c[CLASSES];
    struct quota bits, dense_a, dense_b; /* over aux wires */
    struct quota per_a, per_b, per_c;    /* over rows that bind no input */
    uint32_t owed_a, owed_b, owed_c;     /* entries that found no place in their row */
    bool no_memory;
};

/* ---- wires ---- */

static void list_add(struct builder *g, struct list *l, uint32_t wire)
{
    if (l->n == l->room) {
        uint32_t room = l->room ? l->room + l->room / 2 : 256;
        uint32_t *more = realloc(l->wire, room * sizeof *more);
        if (!more) {
            g->no_memory = true;
            return;
        }
        l->wire = more;
        l->room = room;
    }
    l->wire[l->n++] = wire;
}

static void random_scalar(struct builder *g, fr_t *mont)
{
    uint8_t bytes[64];
    for (size_t i = 0; i < sizeof bytes; i += 8) {
        uint64_t x = draw(&g->random);
        memcpy(bytes + i, &x, 8);
    }
    g->c->fr_reduce_512(mont, bytes);
    g->c->fr_to_mont(mont, mont, 1);
}

static enum class class_of(const struct builder *g, const fr_t *mont) {
    static const fr_t zero; if (memcmp(mont, &zero, sizeof zero) == 0) return ZERO;
    return memcmp(mont, g->c->fr_one, sizeof zero) == 0 ? ONE : FULL;
}

/* The newest wire has its value: from now on rows may use it. */
static void wire_known(struct builder *g)
{
    uint32_t wire = g->n++;
    enum class k = class_of(g, &g->w[wire]);
    g->of[wire] = (uint8_t)k;
    list_add(g, &g->in_c[k], wire);
    if (quota_next(&g->dense_a))
        list_add(g, &g->in_a[k], wire);
    if (quota_next(&g->dense_b))
        list_add(g, &g->in_b[k], wire);
}

static void free_wire(struct builder *g)
{
    fr_t *v = &g->w[g->n];
    if (!quota_next(&g->bits))
        random_scalar(g, v);
    else
        *v = draw(&g->random) & 1 ? *g->c->fr_one : (fr_t){{0}};
    wire_known(g);
}

static uint32_t uncovered(const struct list *l)
{
    return l->n - l->covered;
}

static uint8_t any_code(struct builder *g)
{
    if (below(&g->random, 100) < OTHER_PERCENT)
        return (uint8_t)(2 + below(&g->random, N_VALUES - 2));
    return (uint8_t)(draw(&g->random) & 1);
}

/* Puts a wire of the list into the row, first one that stands in no row yet (cover); false when
 * there is none that is not in the row. */
static bool put(struct builder *g, struct list *l, bool cover, uint8_t code, struct entry *row,
                size_t *n)
{
    if (cover && uncovered(l)) {
        *n = row_insert(row, *n, (struct entry){l->wire[l->covered++], code});
        return true; /* it stands in no row, so not in this one */
    }
    for (int i = 0; i < TRIES && l->n; i++) {
        uint32_t at = draw(&g->random) & 1 && l->n > NEAR ? l->n - 1 - below(&g->random, NEAR)
                                                          : below(&g->random, l->n);
        if (cover && at >= l->covered)
            continue;
        size_t before = *n;
        *n = row_insert(row, before, (struct entry){l->wire[at], code});
        if (*n > before)
            return true;
    }
    return false;
}

static void value_of(const struct builder *g, const struct entry *row, size_t n, fr_t *out)
{
    *out = (fr_t){{0}};
    for (size_t i = 0; i < n; i++) {
        fr_t term;
        g->c->fr_mul(&term, &g->w[row[i].wire], &g->dictionary[row[i].code]);
        g->c->fr_add(out, out, &term);
    }
}

/* ---- rows ---- */

struct rows {
    struct entry a[MAX_ROW], b[MAX_ROW], c[MAX_ROW];
    size_t n_a, n_b, n_c;
    size_t want_a, want_b, want_c;
};

static size_t wanted(struct quota *q, uint32_t *owed)
{
    size_t want = quota_next(q) + *owed;
    *owed = 0;
    if (want > MAX_ROW) {
        *owed = (uint32_t)(want - MAX_ROW);
        want = MAX_ROW;
    }
    return want;
}

static void rows_begin(struct builder *g, struct rows *r)
{
    r->n_a = r->n_b = r->n_c = 0;
    r->want_a = wanted(&g->per_a, &g->owed_a);
    r->want_b = wanted(&g->per_b, &g->owed_b);
    r->want_c = wanted(&g->per_c, &g->owed_c);
}

/* What is missing is made up for later; what is too much (a row has one entry at least) as well. */
static void settle(struct quota *q, uint32_t *owed, size_t want, size_t have)
{
    if (have < want)
        *owed += (uint32_t)(want - have);
    else if (q->total > have - want)
        q->total -= have - want;
}

static bool rows_end(struct builder *g, struct rows *r)
{
    settle(&g->per_a, &g->owed_a, r->want_a, r->n_a);
    settle(&g->per_b, &g->owed_b, r->want_b, r->n_b);
    settle(&g->per_c, &g->owed_c, r->want_c, r->n_c);
    return grower_row(&g->a, g->dictionary, r->a, r->n_a) &&
           grower_row(&g->b, g->dictionary, r->b, r->n_b) &&
           grower_row(&g->k, g->dictionary, r->c, r->n_c);
}

/* Fills A with whatever waits longest to stand in a row. */
static void any_in_a(struct builder *g, struct rows *r)
{
    while (r->n_a < r->want_a) {
        enum class k = ZERO;
        for (enum class i = ONE; i < CLASSES; i++)
            if (uncovered(&g->in_a[i]) > uncovered(&g->in_a[k]) ||
                (uncovered(&g->in_a[k]) == 0 && g->in_a[i].n > g->in_a[k].n))
                k = i;
        if (!put(g, &g->in_a[k], true, any_code(g), r->a, &r->n_a))
            return;
    }
}

static void zeros_in(struct builder *g, struct list *lists, bool cover, size_t want,
                     struct entry *row, size_t *n)
{
    while (*n < want && put(g, &lists[ZERO], cover, any_code(g), row, n))
        continue;
}

/* z = (value of A)(value of B) - (what C holds so far), and stands in C. */
static void define(struct builder *g, struct rows *r)
{
    fr_t x, y, others;
    value_of(g, r->a, r->n_a, &x);
    value_of(g, r->b, r->n_b, &y);
    value_of(g, r->c, r->n_c, &others);
    g->c->fr_mul(&x, &x, &y);
    g->c->fr_sub(&g->w[g->n], &x, &others);
    r->n_c = row_insert(r->c, r->n_c, (struct entry){g->n, 0});
    wire_known(g);
}

static bool full_row(struct builder *g)
{
    struct rows r;
    rows_begin(g, &r);
    put(g, &g->in_a[FULL], true, 0, r.a, &r.n_a);
    any_in_a(g, &r);
    struct list *full = &g->in_b[FULL], *one = &g->in_b[ONE];
    while (r.n_b < r.want_b && (uncovered(full) || uncovered(one)))
        put(g, uncovered(full) >= uncovered(one) ? full : one, true, any_code(g), r.b, &r.n_b);
    if (r.n_b == 0)
        r.b[r.n_b++] = (struct entry){0, 0};
    while (r.n_b < r.want_b && put(g, full, true, any_code(g), r.b, &r.n_b))
        continue;
    while (r.n_c + 1 < r.want_c && put(g, &g->in_c[FULL], false, any_code(g), r.c, &r.n_c))
        continue;
    define(g, &r);
    return rows_end(g, &r);
}

/* B is zero: a wire of value 0, and more of them. False when there is none. */
static bool mask(struct builder *g, struct rows *r)
{
    if (!put(g, &g->in_b[ZERO], true, any_code(g), r->b, &r->n_b))
        return false;
    zeros_in(g, g->in_b, true, r->want_b, r->b, &r->n_b);
    return true;
}

static void masked(struct builder *g, struct rows *r)
{
    any_in_a(g, r);
    if (r->want_c >= 2 && draw(&g->random) & 1) /* z copies a one */
        put(g, &g->in_c[ONE], false, 1, r->c, &r->n_c);
    if (r->want_c)
        zeros_in(g, g->in_c, false, r->want_c - 1, r->c, &r->n_c);
    define(g, r);
}

/* A has the value 0 or 1, B the value 1. */
static void linear(struct builder *g, struct rows *r)
{
    struct list *one = &g->in_a[ONE], *zero = &g->in_a[ZERO];
    if (uncovered(&g->in_b[ONE]))
        put(g, &g->in_b[ONE], true, 0, r->b, &r->n_b);
    else
        r->b[r->n_b++] = (struct entry){0, 0};
    zeros_in(g, g->in_b, true, r->want_b, r->b, &r->n_b);
    while (r->n_a + 2 <= r->want_a && uncovered(one) > uncovered(zero) && uncovered(one) >= 2) {
        put(g, one, true, 0, r->a, &r->n_a);
        put(g, one, true, 1, r->a, &r->n_a);
    }
    if (r->n_a < r->want_a && draw(&g->random) & 1)
        put(g, one, true, 0, r->a, &r->n_a);
    zeros_in(g, g->in_a, true, r->want_a, r->a, &r->n_a);
    if (r->n_a == 0)
        r->a[r->n_a++] = (struct entry){0, 0};
    if (r->want_c)
        zeros_in(g, g->in_c, false, r->want_c - 1, r->c, &r->n_c);
    define(g, r);
}

static bool bit_row(struct builder *g)
{
    struct rows r;
    rows_begin(g, &r);
    bool waits = uncovered(&g->in_b[ZERO]) > uncovered(&g->in_b[ONE]);
    bool full_waits = uncovered(&g->in_a[FULL]) > 0;
    if ((waits || full_waits) && mask(g, &r))
        masked(g, &r);
    else
        linear(g, &r);
    return rows_end(g, &r);
}

static bool check_row(struct builder *g)
{
    struct rows r;
    rows_begin(g, &r);
    if (mask(g, &r)) {
        any_in_a(g, &r);
        zeros_in(g, g->in_c, false, r.want_c, r.c, &r.n_c);
    }
    if (r.n_a == 0 || r.n_b == 0) { /* nothing is zero: wire * one = wire */
        r.n_c = 0;
        put(g, &g->in_a[FULL], true, 0, r.a, &r.n_a);
        r.b[0] = (struct entry){0, 0};
        r.n_b = 1;
        r.c[r.n_c++] = r.a[0];
    }
    return rows_end(g, &r);
}

static bool input_row(struct builder *g)
{
    struct entry a = {g->input++, 0}, b = {0, 0}, c;
    const struct list *full = &g->in_c[FULL];
    uint32_t first = (uint32_t)g->t->inputs;
    c = (struct entry){full->n ? full->wire[below(&g->random, full->n)]
                               : first + below(&g->random, g->n - first),
                       0};
    g->w[a.wire] = g->w[c.wire];
    return grower_row(&g->a, g->dictionary, &a, 1) && grower_row(&g->b, g->dictionary, &b, 1) &&
           grower_row(&g->k, g->dictionary, &c, 1);
}

/* ---- the whole ---- */

static bool build(struct builder *g)
{
    const struct shape_statistics *t = g->t;
    uint64_t bound = t->inputs - 1, others = t->rows - bound;
    uint64_t first = t->aux < 16 ? t->aux : 16; /* something to start from */
    uint64_t defined = others < t->aux - first ? others : t->aux - first;
    struct quota inputs = {bound, t->rows, 0, false}, defines = {defined, others, 0, false},
                 frees = {t->aux - first - defined, t->rows, 0, false};
    g->w[0] = *g->c->fr_one;
    g->n = (uint32_t)t->inputs;
    g->input = 1;
    for (uint64_t i = 0; i < first; i++)
        free_wire(g);
    for (uint64_t i = 0; i < t->rows && !g->no_memory; i++) {
        for (uint32_t k = quota_next(&frees); k > 0; k--)
            free_wire(g);
        bool made = quota_next(&inputs)     ? input_row(g)
                    : !quota_next(&defines) ? check_row(g)
                    : quota_next(&g->bits)  ? bit_row(g)
                                            : full_row(g);
        if (!made)
            return false;
    }
    return !g->no_memory;
}

static void fill_dictionary(struct builder *g)
{
    fr_t zero = {{0}};
    g->dictionary[0] = *g->c->fr_one;
    g->c->fr_sub(&g->dictionary[1], &zero, g->c->fr_one);
    for (int i = 2; i < N_VALUES; i++) { /* powers of two, as packed bits have them */
        fr_t power = {{UINT64_C(1) << (i - 1)}};
        g->c->fr_to_mont(&g->dictionary[i], &power, 1);
    }
}

static void lists_free(struct builder *g)
{
    for (int i = 0; i < CLASSES; i++) {
        free(g->in_a[i].wire);
        free(g->in_b[i].wire);
        free(g->in_c[i].wire);
    }
}

enum err_code generate_shape(const struct shape *shape, unsigned log2, uint64_t seed,
                             struct r1cs *out, fr_t **witness, struct err *e)
{
    struct shape_statistics t;
    if (shape_scale(shape, log2, &t, e))
        return e->code;
    uint64_t bound = t.inputs - 1, others = t.rows - bound, wires = t.inputs + t.aux;
    struct builder g = {
        .t = &t,
        .c = curve_by_name(t.curve),
        .random = seed,
        .bits = {(t.aux * t.zeros_and_ones_ppm + 500000) / 1000000, t.aux, 0, false},
        .dense_a = {t.dense_a, t.aux, 0, true},
        .dense_b = {t.dense_b, t.aux, 0, true},
        .per_a = {t.nonzeros_a - bound, others, 0, false},
        .per_b = {t.nonzeros_b - bound, others, 0, false},
        .per_c = {t.nonzeros_c - bound, others, 0, false},
    };
    if (!g.c)
        return err_set(e, ERR_VALUE, "shape %s: curve '%s' is not known", shape->name, t.curve);
    fill_dictionary(&g);
    g.w = malloc(wires * sizeof *g.w);
    g.of = malloc(wires);
    double rows = (double)t.rows;
    uint32_t n = (uint32_t)t.rows;
    bool made = g.w && g.of && grower_new(&g.a, n, g.dictionary, (double)t.nonzeros_a / rows) &&
                grower_new(&g.b, n, g.dictionary, (double)t.nonzeros_b / rows) &&
                grower_new(&g.k, n, g.dictionary, (double)t.nonzeros_c / rows) && build(&g);
    lists_free(&g);
    free(g.of);
    if (!made) {
        matrix_free(&g.a.m);
        matrix_free(&g.b.m);
        matrix_free(&g.k.m);
        free(g.w);
        return err_set(e, ERR_MEMORY, "no memory for a circuit of %llu rows",
                       (unsigned long long)t.rows);
    }
    INVARIANT(g.n == wires && g.input == t.inputs);
    g.a.m.n_wires = g.b.m.n_wires = g.k.m.n_wires = g.n;
    *out = (struct r1cs){
        .curve = g.c,
        .n_wires = g.n,
        .n_public_outputs = (uint32_t)bound,
        .n_private_inputs = 0,
        .n_constraints = n,
        .n_labels = g.n,
        .a = g.a.m,
        .b = g.b.m,
        .c = g.k.m,
    };
    g.c->fr_from_mont(g.w, g.w, g.n);
    *witness = g.w;
    return ERR_OK;
}

/* ---- statistics ---- */

static uint64_t scaled(uint64_t n, uint64_t from, uint64_t to)
{
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)(((wide)n * to + from / 2) / from);
}

enum err_code shape_scale(const struct shape *shape, unsigned log2, struct shape_statistics *out,
                          struct err *e)
{
    const struct shape_statistics *t = &shape->statistics;
    if (!shape->has_statistics)
        return err_set(e, ERR_USAGE, "shape %s has no [statistics]: it cannot be generated",
                       shape->name);
    if (log2 < 10 || log2 > 28)
        return err_set(e, ERR_USAGE, "scale 2^%u: expected 2^10 to 2^28", log2);
    uint64_t from = UINT64_C(1) << t->domain_log2, to = UINT64_C(1) << log2;
    uint64_t full = scaled(t->rows + t->inputs, from, to);
    *out = *t;
    out->domain_log2 = log2;
    if (shape->publics == SHAPE_ANY_PUBLICS)
        out->inputs = scaled(t->inputs, from, to) < 2 ? 2 : scaled(t->inputs, from, to);
    if (full < 3 * out->inputs)
        return err_set(e, ERR_USAGE, "shape %s: %llu inputs are too many for a domain of 2^%u",
                       shape->name, (unsigned long long)out->inputs, log2);
    out->rows = full - out->inputs;
    out->aux = scaled(t->aux, t->rows, out->rows);
    out->nonzeros_a = scaled(t->nonzeros_a, t->rows, out->rows);
    out->nonzeros_b = scaled(t->nonzeros_b, t->rows, out->rows);
    out->nonzeros_c = scaled(t->nonzeros_c, t->rows, out->rows);
    out->dense_a = scaled(t->dense_a, t->aux, out->aux);
    out->dense_b = scaled(t->dense_b, t->aux, out->aux);
    return ERR_OK;
}

static uint64_t count_dense(const struct matrix *m, uint8_t *seen, uint32_t first)
{
    uint64_t n = 0;
    memset(seen, 0, m->n_wires);
    for (uint64_t i = 0; i < m->n_entries; i++)
        seen[m->wire[i]] = 1;
    for (uint32_t w = first; w < m->n_wires; w++)
        n += seen[w];
    return n;
}

enum err_code shape_measure(const struct r1cs *system, const fr_t *witness,
                            struct shape_statistics *out, struct err *e)
{
    uint32_t inputs = system->n_public_outputs + system->n_public_inputs + 1;
    uint8_t *seen = malloc(system->n_wires);
    if (!seen)
        return err_set(e, ERR_MEMORY, "no memory to count %u wires", system->n_wires);
    *out = (struct shape_statistics){
        .inputs = inputs,
        .aux = system->n_wires - inputs,
        .rows = system->n_constraints,
        .nonzeros_a = system->a.n_entries,
        .nonzeros_b = system->b.n_entries,
        .nonzeros_c = system->c.n_entries,
        .dense_a = count_dense(&system->a, seen, inputs),
        .dense_b = count_dense(&system->b, seen, inputs),
    };
    snprintf(out->curve, sizeof out->curve, "%s", system->curve->name);
    while (UINT64_C(1) << out->domain_log2 < out->rows + inputs)
        out->domain_log2++;
    uint64_t small = 0;
    for (uint32_t w = inputs; w < system->n_wires; w++)
        small += witness[w].limb[0] < 2 && !witness[w].limb[1] && !witness[w].limb[2] &&
                 !witness[w].limb[3];
    out->zeros_and_ones_ppm = out->aux ? small * 1000000 / out->aux : 0;
    free(seen);
    return ERR_OK;
}
