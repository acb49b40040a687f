#include "r1cs.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "binfile.h"

enum { R1CS_HEADER = 1, R1CS_CONSTRAINTS = 2, R1CS_LABELS = 3, R1CS_GATES = 4, R1CS_GATE_USES = 5 };
enum { R1CS_HEADER_BYTES = 64, ENTRY_BYTES = 36, BUFFER_BYTES = 1 << 18 };

static const struct bin_layout layout = {
    .magic = "r1cs",
    .kind = "constraint system (.r1cs)",
    .version = 1,
    .known =
        (const struct bin_known[]){
            {R1CS_HEADER, true, "header"},
            {R1CS_CONSTRAINTS, true, "constraints"},
            {R1CS_LABELS, true, "labels"},
            {R1CS_GATES, false, "custom gates"},
            {R1CS_GATE_USES, false, "uses of custom gates"},
            {0, false, NULL},
        },
};

static enum err_code check_counts(const struct binfile *f, const struct r1cs *r, struct err *e)
{
    /* Private inputs are counted as the source declares them: circom drops wires of those that no
     * constraint is left for, so their number is no bound on anything. */
    if (1ull + r->n_public_outputs + r->n_public_inputs > r->n_wires)
        return binfile_error(f, R1CS_HEADER, 36, ERR_FORMAT, e,
                             "%" PRIu32 " wires are too few for the constant one, %" PRIu32
                             " outputs and %" PRIu32 " public inputs",
                             r->n_wires, r->n_public_outputs, r->n_public_inputs);
    /* Three empty linear combinations are the least that a constraint takes. */
    if (12ull * r->n_constraints > binfile_length(f, R1CS_CONSTRAINTS))
        return binfile_error(
            f, R1CS_HEADER, 60, ERR_FORMAT, e,
            "%" PRIu32 " constraints do not fit the %" PRIu64 " bytes of section %d",
            r->n_constraints, binfile_length(f, R1CS_CONSTRAINTS), R1CS_CONSTRAINTS);
    char why[64];
    snprintf(why, sizeof why, "%" PRIu32 " labels of 8 bytes", r->n_wires);
    return binfile_expect_length(f, R1CS_LABELS, 8ull * r->n_wires, why, e);
}

static enum err_code read_header(const struct binfile *f, struct r1cs *r, struct err *e)
{
    struct bin_cursor c;
    uint32_t n_r;
    uint8_t prime[sizeof(fr_t)];
    bin_cursor_init(&c, f, R1CS_HEADER, NULL, 0);
    enum err_code code = bin_u32(&c, &n_r, e);
    if (code)
        return code;
    if (n_r != sizeof prime)
        return binfile_error(f, R1CS_HEADER, 0, n_r % 8 || !n_r ? ERR_FORMAT : ERR_UNSUPPORTED, e,
                             "expected field elements of 32 bytes, found %" PRIu32, n_r);
    if ((code =
             binfile_expect_length(f, R1CS_HEADER, R1CS_HEADER_BYTES, "modulus and counts", e)) ||
        (code = bin_bytes(&c, prime, sizeof prime, e)) || (code = bin_u32(&c, &r->n_wires, e)) ||
        (code = bin_u32(&c, &r->n_public_outputs, e)) ||
        (code = bin_u32(&c, &r->n_public_inputs, e)) ||
        (code = bin_u32(&c, &r->n_private_inputs, e)) || (code = bin_u64(&c, &r->n_labels, e)) ||
        (code = bin_u32(&c, &r->n_constraints, e)))
        return code;
    r->curve = curve_by_r(prime, sizeof prime);
    if (!r->curve)
        return binfile_error(f, R1CS_HEADER, 4, ERR_UNSUPPORTED, e,
                             "a scalar field that is neither that of bn254 nor that of bls12-381");
    return check_counts(f, r, e);
}

/* One walk over all constraints; entries of matrix `wanted` (0 A, 1 B, 2 C) go to `out`, all are
 * checked and counted. */
struct walk {
    const struct binfile *f;
    const struct r1cs *r;
    unsigned char *buffer;
    uint64_t n[3];
    int wanted; /* -1: count only */
    struct matrix_entry *out;
    uint64_t room, placed;
};

static enum err_code walk_combination(struct walk *w, struct bin_cursor *c, uint32_t row, int m,
                                      struct err *e)
{
    uint32_t n;
    uint64_t at = c->at;
    enum err_code code = bin_u32(c, &n, e);
    if (code)
        return code;
    if (n > (c->end - c->at) / ENTRY_BYTES)
        return binfile_error(w->f, R1CS_CONSTRAINTS, at, ERR_FORMAT, e,
                             "constraint %" PRIu32 ", %c: %" PRIu32 " terms do not fit the %" PRIu64
                             " bytes left",
                             row, "ABC"[m], n, c -> end - c -> at);
    for (uint32_t i = 0; i < n; i++) {
        struct matrix_entry entry = {.row = row};
        at = c->at;
        if ((code = bin_u32(c, &entry.wire, e)) ||
            (code = bin_bytes(c, &entry.value, sizeof entry.value, e)))
            return code;
        if (entry.wire >= w->r->n_wires)
            return binfile_error(w->f, R1CS_CONSTRAINTS, at, ERR_FORMAT, e,
                                 "constraint %" PRIu32 ", %c: expected a wire below %" PRIu32
                                 ", found %" PRIu32,
                                 row, "ABC"[m], w -> r -> n_wires, entry.wire);
        if (w->r->curve->fr_first_unreduced(&entry.value, 1) == 0)
            return binfile_error(w->f, R1CS_CONSTRAINTS, at + 4, ERR_VALUE, e,
                                 "constraint %" PRIu32
                                 ", %c: value is not below the scalar field's modulus",
                                 row, "ABC"[m]);
        if (m == w->wanted) {
            if (w->placed == w->room)
                return err_set(e, ERR_IO, "%s: changed while it was read", binfile_name(w->f));
            w->r->curve->fr_to_mont(&entry.value, &entry.value, 1);
            w->out[w->placed++] = entry;
        }
    }
    w->n[m] += n;
    return ERR_OK;
}

static enum err_code walk_all(struct walk *w, struct err *e)
{
    struct bin_cursor c;
    bin_cursor_init(&c, w->f, R1CS_CONSTRAINTS, w->buffer, BUFFER_BYTES);
    memset(w->n, 0, sizeof w->n);
    for (uint32_t row = 0; row < w->r->n_constraints; row++) {
        for (int m = 0; m < 3; m++) {
            enum err_code code = walk_combination(w, &c, row, m, e);
            if (code)
                return code;
        }
    }
    return bin_at_end(&c, e);
}

static enum err_code build(struct walk *w, int m, struct matrix *out, struct err *e)
{
    w->room = w->n[m];
    w->wanted = m;
    w->placed = 0;
    w->out = malloc((w->room + 1) * sizeof *w->out);
    if (!w->out)
        return err_set(e, ERR_MEMORY, "%s: no memory for %" PRIu64 " terms of matrix %c",
                       binfile_name(w->f), w->room, "ABC"[m]);
    enum err_code code = walk_all(w, e);
    if (!code)
        code = matrix_build(w->r->curve, w->out, w->placed, w->r->n_constraints, w->r->n_wires, out,
                            e);
    free(w->out);
    return code;
}

static enum err_code read_matrices(const struct binfile *f, enum r1cs_parts parts, struct r1cs *r,
                                   struct err *e)
{
    struct walk w = {.f = f, .r = r, .wanted = -1, .buffer = malloc(BUFFER_BYTES)};
    if (!w.buffer)
        return err_set(e, ERR_MEMORY, "%s: no memory", binfile_name(f));
    enum err_code code = walk_all(&w, e);
    if (!code && parts == R1CS_ALL)
        code = build(&w, 0, &r->a, e);
    if (!code && parts == R1CS_ALL)
        code = build(&w, 1, &r->b, e);
    if (!code)
        code = build(&w, 2, &r->c, e);
    free(w.buffer);
    return code;
}

enum err_code r1cs_read(const char *path, enum r1cs_parts parts, struct r1cs *out,
                        struct pool *pool, struct err *e)
{
    (void)pool; /* the constraints are one stream of records of varying length */
    *out = (struct r1cs){0};
    struct binfile *f = binfile_open(path, &layout, e);
    if (!f)
        return e ? e->code : ERR_FORMAT;
    enum err_code code = ERR_OK;
    const struct bin_section *gates = binfile_find(f, R1CS_GATES);
    if (gates && gates->length > 4) /* 4: a list of none */
        code = binfile_error(f, R1CS_GATES, 0, ERR_UNSUPPORTED, e,
                             "the circuit uses custom gates, which Groth16 does not have");
    if (!code)
        code = binfile_check_sections(f, e);
    if (!code)
        code = read_header(f, out, e);
    if (!code && parts != R1CS_COUNTS)
        code = read_matrices(f, parts, out, e);
    binfile_close(&f);
    if (code)
        r1cs_free(out);
    return code;
}

void r1cs_free(struct r1cs *r)
{
    matrix_free(&r->a);
    matrix_free(&r->b);
    matrix_free(&r->c);
    *r = (struct r1cs){0};
}
