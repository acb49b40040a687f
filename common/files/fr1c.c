/* r1cs.bin: "FR1C", u32 version 1, inputs, aux, rows, rows without those that bind the inputs; u32
 * n, n plain coefficients; for A, B, C: u32 terms, where each row begins, columns (bit 31: aux),
 * coefficient numbers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "csr.h"
#include "matrix_dictionary.h"

enum { HEADER_BYTES = 24 };

struct fr1c {
    struct bytefile *f;
    struct csr_counts counts;
    uint32_t n_circuit_rows, n_coefficients;
    fr_t *coefficient; /* mont */
    struct csr_place place[3];
    uint64_t codes_at[3];
};

static const char kind[] = "constraint system (r1cs.bin)";

static enum err_code read_u32(const struct bytefile *f, const char *what, uint64_t at,
                              uint32_t *out, struct err *e)
{
    enum err_code code = bytefile_expect(f, what, at, sizeof *out, e);
    return code ? code : bytefile_read(f, at, out, sizeof *out, e);
}

static enum err_code read_header(struct fr1c *x, struct err *e)
{
    struct {
        char magic[4];
        uint32_t version, n_inputs, n_aux, n_rows, n_circuit_rows;
    } h;
    _Static_assert(sizeof h == HEADER_BYTES, "the header as it is in the file");
    enum err_code code = bytefile_expect(x->f, "header", 0, sizeof h, e);
    if (code || (code = bytefile_read(x->f, 0, &h, sizeof h, e)))
        return code;
    if (memcmp(h.magic, "FR1C", 4) != 0)
        return bytefile_error(x->f, "header", 0, ERR_FORMAT, e,
                              "expected the magic \"FR1C\" of a %s", kind);
    if (h.version != 1)
        return bytefile_error(x->f, "header", 4, ERR_UNSUPPORTED, e,
                              "expected version 1, found %" PRIu32, h.version);
    if ((uint64_t)h.n_circuit_rows + h.n_inputs != h.n_rows)
        return bytefile_error(x->f, "header", 16, ERR_FORMAT, e,
                              "expected %" PRIu64 " rows (%" PRIu32 " of the circuit and one for "
                              "each input), found %" PRIu32,
                              (uint64_t)h.n_circuit_rows + h.n_inputs, h.n_circuit_rows, h.n_rows);
    x->counts = (struct csr_counts){
        .n_inputs = h.n_inputs, .n_aux = h.n_aux, .n_rows = h.n_rows, .aux_flag = true};
    x->n_circuit_rows = h.n_circuit_rows;
    return ERR_OK;
}

/* Where everything stands: all lengths are known before anything is allocated. */
static enum err_code find_places(struct fr1c *x, struct err *e)
{
    uint64_t at = HEADER_BYTES;
    enum err_code code = read_u32(x->f, "coefficients", at, &x->n_coefficients, e);
    at += 4;
    if (!code)
        code = bytefile_expect(x->f, "coefficients", at, 32ull * x->n_coefficients, e);
    at += 32ull * x->n_coefficients;
    for (int m = 0; m < 3 && !code; m++) {
        uint32_t n;
        uint64_t rows = 4 * ((uint64_t)x->counts.n_rows + 1);
        code = read_u32(x->f, csr_part("rows", "ABC"[m]), at, &n, e);
        if (!code)
            code = bytefile_expect(x->f, csr_part("rows", "ABC"[m]), at + 4, rows + 8ull * n, e);
        x->place[m] = (struct csr_place){
            .name = "ABC"[m], .rows_at = at + 4, .columns_at = at + 4 + rows, .n_entries = n};
        x->codes_at[m] = x->place[m].columns_at + 4ull * n;
        at = x->codes_at[m] + 4ull * n;
    }
    return code ? code : bytefile_expect_end(x->f, at, e);
}

static enum err_code read_coefficients(struct fr1c *x, struct err *e)
{
    static const fr_t zero;
    uint64_t at = HEADER_BYTES + 4;
    x->coefficient = malloc(x->n_coefficients * sizeof *x->coefficient + 1);
    if (!x->coefficient)
        return err_set(e, ERR_MEMORY, "%s: no memory for %" PRIu32 " coefficients",
                       bytefile_name(x->f), x->n_coefficients);
    enum err_code code = bytefile_read(x->f, at, x->coefficient, 32ull * x->n_coefficients, e);
    for (uint32_t i = 0; i < x->n_coefficients && !code; i++) {
        if (curve_bls12_381.fr_first_unreduced(&x->coefficient[i], 1) == 0)
            code = bytefile_error(x->f, "coefficients", at + 32ull * i, ERR_VALUE, e,
                                  "coefficient %" PRIu32 " is not below the scalar field's modulus",
                                  i);
        else if (!memcmp(&x->coefficient[i], &zero, sizeof zero))
            code = bytefile_error(x->f, "coefficients", at + 32ull * i, ERR_VALUE, e,
                                  "coefficient %" PRIu32 " is zero", i);
    }
    if (!code)
        curve_bls12_381.fr_to_mont(x->coefficient, x->coefficient, x->n_coefficients);
    return code;
}

/* Coefficient numbers to codes, in the order in which values come in this matrix, so that the same
 * matrix gets the same dictionary from any file. */
static enum err_code read_codes(const struct fr1c *x, int m, struct matrix *out, struct err *e)
{
    uint64_t n = out->n_entries;
    uint32_t *code = malloc(n * sizeof *code + 1);
    uint32_t *known = calloc((size_t)x->n_coefficients + 1, sizeof *known); /* code + 1 */
    struct matrix_dictionary d;
    bool memory = matrix_dictionary_begin(&curve_bls12_381, &d) && code && known;
    enum err_code rc =
        memory ? bytefile_read(x->f, x->codes_at[m], code, n * sizeof *code, e) : ERR_OK;
    for (uint64_t i = 0; memory && !rc && i < n; i++) {
        uint32_t which = code[i];
        if (which >= x->n_coefficients) {
            rc = bytefile_error(x->f, csr_part("values", "ABC"[m]), x->codes_at[m] + 4 * i,
                                ERR_FORMAT, e,
                                "expected a coefficient's number below %" PRIu32 ", found %" PRIu32,
                                x->n_coefficients, which);
            break;
        }
        if (!known[which]) {
            memory = matrix_dictionary_code(&d, &x->coefficient[which], &known[which]);
            known[which]++;
        }
        code[i] = known[which] - 1;
    }
    free(known);
    if (!memory)
        rc = err_set(e, ERR_MEMORY, "%s: no memory for %" PRIu64 " terms", bytefile_name(x->f), n);
    if (!rc) {
        matrix_dictionary_finish(&d, code, out);
        return ERR_OK;
    }
    free(code);
    matrix_dictionary_free(&d);
    return rc;
}

enum err_code fr1c_read(const char *path, struct r1cs *out, struct err *e)
{
    *out = (struct r1cs){0};
    struct fr1c x = {.f = bytefile_open(path, kind, e)};
    if (!x.f)
        return e ? e->code : ERR_IO;
    enum err_code code = read_header(&x, e);
    if (!code)
        code = csr_begin(x.f, &x.counts, out, e);
    if (!code)
        code = find_places(&x, e);
    if (!code)
        code = read_coefficients(&x, e);
    struct matrix *const all[3] = {&out->a, &out->b, &out->c};
    for (int m = 0; m < 3 && !code; m++) {
        code = csr_read_shape(x.f, &x.counts, &x.place[m], all[m], e);
        if (!code)
            code = read_codes(&x, m, all[m], e);
    }
    if (!code)
        code = csr_unbind(x.f, &x.counts, out, e);
    free(x.coefficient);
    bytefile_close(&x.f);
    if (code)
        r1cs_free(out);
    return code;
}

enum err_code fr1c_read_facts(const char *path, struct bellman_r1cs_facts *out, struct err *e)
{
    struct fr1c x = {.f = bytefile_open(path, kind, e)};
    struct r1cs r;
    if (!x.f)
        return e ? e->code : ERR_IO;
    enum err_code code = read_header(&x, e);
    if (!code)
        code = csr_begin(x.f, &x.counts, &r, e);
    if (!code)
        code = find_places(&x, e);
    *out = (struct bellman_r1cs_facts){
        .n_inputs = x.counts.n_inputs,
        .n_aux = x.counts.n_aux,
        .n_rows = x.counts.n_rows,
        .n_terms = x.place[0].n_entries + x.place[1].n_entries + x.place[2].n_entries,
        .file_bytes = bytefile_size(x.f),
    };
    bytefile_close(&x.f);
    return code;
}
