#include "generate.h"
#include "generate_rows.h"
#include <stdlib.h>
#include <string.h>

enum {
    NEAR_WIRES = 1024,
    MAX_ROW = 64,       /* entries of a row of A or B */
    N_INPUTS = 8,       /* private full-size inputs to start from */
    OTHER_PERCENT = 10, /* of the entries have a value other than +-1 */
};

struct generator {
    const struct generate_options *o;
    const struct curve *c;
    uint64_t random;
    struct grower a, b, k; /* k: matrix C */
    fr_t dictionary[N_VALUES];
    fr_t *w;        /* mont while it grows */
    uint32_t n;     /* wires so far */
    uint32_t *bits; /* wires that hold a bit */
    uint32_t n_bits;
    uint32_t *full; /* private wires of full size */
    uint32_t n_full;
    uint32_t next_output; /* publics not yet given a constraint stand at the front */
};

static void random_scalar(struct generator *g, fr_t *mont)
{
    uint8_t bytes[64];
    for (size_t i = 0; i < sizeof bytes; i += 8) {
        uint64_t x = draw(&g->random);
        memcpy(bytes + i, &x, 8);
    }
    g->c->fr_reduce_512(mont, bytes);
    g->c->fr_to_mont(mont, mont, 1);
}

/* A wire whose value is known: publics get theirs late, so the front is left out but for wire 0. */
static uint32_t known_wire(struct generator *g)
{
    if (below(&g->random, 16) == 0)
        return 0;
    uint32_t first = g->o->n_public + 1, n = g->n - first;
    if (draw(&g->random) & 1 && n > NEAR_WIRES)
        return g->n - 1 - below(&g->random, NEAR_WIRES);
    return first + below(&g->random, n);
}

/* One of a list, half of the time among its last. */
static uint32_t one_of(struct generator *g, const uint32_t *list, uint32_t n)
{
    if (draw(&g->random) & 1 && n > NEAR_WIRES)
        return list[n - 1 - below(&g->random, NEAR_WIRES)];
    return list[below(&g->random, n)];
}

/* The first wire is one of full size, so that the row's value is. */
static size_t random_row(struct generator *g, struct entry *row)
{
    double density = g->o->density;
    size_t want = (size_t)density, n = 0;
    want += share(&g->random) < density - (double)want;
    for (size_t i = 0; i < want; i++) {
        struct entry x = {i ? known_wire(g) : one_of(g, g->full, g->n_full), 0};
        if (below(&g->random, 100) < OTHER_PERCENT)
            x.code = (uint8_t)(2 + below(&g->random, N_VALUES - 2));
        else
            x.code = (uint8_t)(draw(&g->random) & 1);
        n = row_insert(row, n, x);
    }
    return n;
}

static void row_value(const struct generator *g, const struct entry *row, size_t n, fr_t *out)
{
    *out = (fr_t){{0}};
    for (size_t i = 0; i < n; i++) {
        fr_t term;
        g->c->fr_mul(&term, &g->w[row[i].wire], &g->dictionary[row[i].code]);
        g->c->fr_add(out, out, &term);
    }
}

/* The wire that the next constraint defines: publics first, then new private ones. */
static uint32_t defined_wire(struct generator *g)
{
    return g->next_output <= g->o->n_public ? g->next_output++ : g->n++;
}

static bool full_constraint(struct generator *g)
{
    struct entry a[MAX_ROW], b[MAX_ROW], out;
    size_t n_a = random_row(g, a), n_b = random_row(g, b);
    fr_t x, y;
    row_value(g, a, n_a, &x);
    row_value(g, b, n_b, &y);
    out = (struct entry){defined_wire(g), 0};
    g->c->fr_mul(&g->w[out.wire], &x, &y);
    if (out.wire > g->o->n_public)
        g->full[g->n_full++] = out.wire;
    return grower_row(&g->a, g->dictionary, a, n_a) && grower_row(&g->b, g->dictionary, b, n_b) &&
           grower_row(&g->k, g->dictionary, &out, 1);
}

static bool is_one(const struct generator *g, uint32_t wire)
{
    return memcmp(&g->w[wire], g->c->fr_one, sizeof(fr_t)) == 0;
}

/* Code 2 of the dictionary is the value 2 (XOR: 2 x y = x + y - z). */
static bool bit_constraint(struct generator *g)
{
    enum { FRESH, AND, XOR } kind = g->n_bits < 2 ? FRESH : below(&g->random, 3);
    uint32_t z = g->n++;
    bool value;
    if (kind == FRESH) {
        value = draw(&g->random) & 1;
    } else {
        uint32_t x = one_of(g, g->bits, g->n_bits), y = one_of(g, g->bits, g->n_bits);
        if (x == y)
            y = g->bits[g->bits[0] == x ? 1 : 0];
        value = kind == AND ? is_one(g, x) && is_one(g, y) : is_one(g, x) != is_one(g, y);
        struct entry a = {x, kind == XOR ? 2 : 0}, b = {y, 0}, c[3] = {{z, kind == XOR ? 1 : 0}};
        size_t n_c = 1;
        if (kind == XOR) {
            n_c = row_insert(c, n_c, (struct entry){x, 0});
            n_c = row_insert(c, n_c, (struct entry){y, 0});
        }
        if (!grower_row(&g->a, g->dictionary, &a, 1) || !grower_row(&g->b, g->dictionary, &b, 1) ||
            !grower_row(&g->k, g->dictionary, c, n_c))
            return false;
    }
    g->w[z] = value ? *g->c->fr_one : (fr_t){{0}};
    g->bits[g->n_bits++] = z;
    struct entry itself = {z, 0};
    return kind != FRESH || (grower_row(&g->a, g->dictionary, &itself, 1) &&
                             grower_row(&g->b, g->dictionary, &itself, 1) &&
                             grower_row(&g->k, g->dictionary, &itself, 1));
}

static void fill_dictionary(struct generator *g)
{
    fr_t zero = {{0}}, two = {{2}};
    g->dictionary[0] = *g->c->fr_one;
    g->c->fr_sub(&g->dictionary[1], &zero, g->c->fr_one);
    g->c->fr_to_mont(&g->dictionary[2], &two, 1);
    for (int i = 3; i < N_VALUES; i++)
        random_scalar(g, &g->dictionary[i]);
}

static bool build(struct generator *g)
{
    const struct generate_options *o = g->o;
    g->w[0] = *g->c->fr_one;
    g->next_output = 1;
    g->n = o->n_public + 1;
    for (int i = 0; i < N_INPUTS; i++) {
        random_scalar(g, &g->w[g->n]);
        g->full[g->n_full++] = g->n++;
    }
    for (uint32_t i = 0; i < o->n_constraints; i++) {
        /* The last constraints define what publics are left. */
        bool must = o->n_constraints - i <= o->n_public + 1 - g->next_output;
        bool bit = !must && share(&g->random) < o->bits;
        if (!(bit ? bit_constraint(g) : full_constraint(g)))
            return false;
    }
    return true;
}

static void finish(struct generator *g, struct r1cs *out)
{
    struct grower *const all[] = {&g->a, &g->b, &g->k};
    for (size_t i = 0; i < 3; i++)
        all[i]->m.n_wires = g->n;
    *out = (struct r1cs){
        .curve = g->c,
        .n_wires = g->n,
        .n_public_outputs = g->o->n_public,
        .n_private_inputs = N_INPUTS,
        .n_constraints = g->o->n_constraints,
        .n_labels = g->n,
        .a = g->a.m,
        .b = g->b.m,
        .c = g->k.m,
    };
    g->c->fr_from_mont(g->w, g->w, g->n);
}

enum err_code generate_circuit(const struct generate_options *o, struct r1cs *out, fr_t **witness,
                               struct err *e)
{
    if (o->n_constraints < 1 || o->n_public > o->n_constraints)
        return err_set(e, ERR_USAGE,
                       "%u constraints with %u public values: expected 1 and more, and "
                       "not fewer than the public values",
                       o->n_constraints, o->n_public);
    if (!(o->density >= 1 && o->density <= MAX_ROW - 1))
        return err_set(e, ERR_USAGE, "density %g: expected 1 to %d", o->density, MAX_ROW - 1);
    if (!(o->bits >= 0 && o->bits <= 1))
        return err_set(e, ERR_USAGE, "share of bits %g: expected 0 to 1", o->bits);
    double per_row = o->density * (1 - o->bits) + o->bits;
    if (o->n_constraints > UINT32_MAX - o->n_public - N_INPUTS - 1 ||
        per_row * o->n_constraints > 4.0e9)
        return err_set(e, ERR_USAGE, "%u constraints of density %g: too many entries for a matrix",
                       o->n_constraints, o->density);
    struct generator g = {.o = o, .c = o->curve, .random = o->seed};
    size_t most = (size_t)o->n_constraints + o->n_public + N_INPUTS + 1;
    g.w = malloc(most * sizeof *g.w);
    g.bits = malloc(most * sizeof *g.bits);
    g.full = malloc(most * sizeof *g.full);
    fill_dictionary(&g);
    bool made = g.w && g.bits && g.full &&
                grower_new(&g.a, o->n_constraints, g.dictionary, per_row) &&
                grower_new(&g.b, o->n_constraints, g.dictionary, per_row) &&
                grower_new(&g.k, o->n_constraints, g.dictionary, 1 + 2 * o->bits / 3) && build(&g);
    free(g.bits);
    free(g.full);
    if (!made) {
        matrix_free(&g.a.m);
        matrix_free(&g.b.m);
        matrix_free(&g.k.m);
        free(g.w);
        return err_set(e, ERR_MEMORY, "no memory for a circuit of %u constraints",
                       o->n_constraints);
    }
    finish(&g, out);
    *witness = g.w;
    return ERR_OK;
}
