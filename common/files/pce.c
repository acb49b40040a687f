/* PCE, version 2: 32-byte header, for A, B, C three vectors each (u64 length before each), three
 * densities, each a vector of words with u64 bits and u64 ones behind. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "csr.h"
#include "file.h"
#include "matrix_dictionary.h"

enum { HEADER_BYTES = 32, VALUES_A_PIECE = 1 << 13, DENSITIES = 3 };

struct pce_header {
    char magic[4];
    uint32_t version, n_inputs, n_aux, n_rows;
    uint32_t n_terms[2]; /* u64 that is not aligned */
    uint32_t reserved;
};
_Static_assert(sizeof(struct pce_header) == HEADER_BYTES, "the header as it is in the file");

static const char kind[] = "pre-compiled circuit (PCE)";
static const char magic[4] = {'P', 'C', 'E', 2};

struct density {
    const char *what;
    uint64_t words_at, n_words, bits, ones;
};

struct pce {
    struct bytefile *f;
    struct csr_counts counts;
    uint64_t n_terms;
    struct csr_place place[3];
    uint64_t values_at[3];
    struct density density[DENSITIES]; /* aux in A, inputs in B, aux in B */
};

static enum err_code read_header(struct pce *x, struct err *e)
{
    struct pce_header h;
    enum err_code code = bytefile_expect(x->f, "header", 0, sizeof h, e);
    if (code || (code = bytefile_read(x->f, 0, &h, sizeof h, e)))
        return code;
    if (memcmp(h.magic, magic, sizeof magic) != 0)
        return bytefile_error(x->f, "header", 0, ERR_FORMAT, e,
                              "expected the magic \"PCE\\x02\" of a %s", kind);
    if (h.version != 2)
        return bytefile_error(x->f, "header", 4, ERR_UNSUPPORTED, e,
                              "expected version 2, found %" PRIu32, h.version);
    if (h.reserved)
        return bytefile_error(x->f, "header", 28, ERR_FORMAT, e, "expected 0, found %" PRIu32,
                              h.reserved);
    x->counts = (struct csr_counts){.n_inputs = h.n_inputs, .n_aux = h.n_aux, .n_rows = h.n_rows};
    x->n_terms = (uint64_t)h.n_terms[1] << 32 | h.n_terms[0];
    return ERR_OK;
}

/* A vector of elements of `bytes` bytes at *at; *at moves behind it. */
static enum err_code find_vector(const struct pce *x, const char *what, size_t bytes, uint64_t *at,
                                 uint64_t *n, struct err *e)
{
    enum err_code code = bytefile_expect(x->f, what, *at, sizeof *n, e);
    if (!code)
        code = bytefile_read(x->f, *at, n, sizeof *n, e);
    if (code)
        return code;
    uint64_t left = bytefile_size(x->f) - *at - sizeof *n;
    if (*n > left / bytes)
        return bytefile_error(x->f, what, *at, ERR_FORMAT, e,
                              "%" PRIu64 " elements of %zu bytes, but the file has %" PRIu64
                              " bytes left",
                              *n, bytes, left);
    *at += sizeof *n + *n * bytes;
    return ERR_OK;
}

static enum err_code wrong_length(const struct pce *x, const char *what, uint64_t at, uint64_t want,
                                  uint64_t found, struct err *e)
{
    return bytefile_error(x->f, what, at, ERR_FORMAT, e,
                          "expected %" PRIu64 " elements, found %" PRIu64, want, found);
}

static enum err_code find_matrix(struct pce *x, int m, uint64_t *at, struct err *e)
{
    char name = "ABC"[m];
    uint64_t n_rows, n_columns, n_values, rows = *at, columns, values;
    enum err_code code = find_vector(x, csr_part("rows", name), 4, at, &n_rows, e);
    columns = *at;
    if (!code)
        code = find_vector(x, csr_part("columns", name), 4, at, &n_columns, e);
    values = *at;
    if (!code)
        code = find_vector(x, csr_part("values", name), sizeof(fr_t), at, &n_values, e);
    if (code)
        return code;
    if (n_rows != (uint64_t)x->counts.n_rows + 1)
        return wrong_length(x, csr_part("rows", name), rows, (uint64_t)x->counts.n_rows + 1, n_rows,
                            e);
    if (n_columns > UINT32_MAX)
        return bytefile_error(x->f, csr_part("columns", name), columns, ERR_UNSUPPORTED, e,
                              "%" PRIu64 " terms: a matrix holds fewer than 2^32", n_columns);
    if (n_values != n_columns)
        return wrong_length(x, csr_part("values", name), values, n_columns, n_values, e);
    x->place[m] = (struct csr_place){
        .name = name, .rows_at = rows + 8, .columns_at = columns + 8, .n_entries = n_columns};
    x->values_at[m] = values + 8;
    return ERR_OK;
}

static enum err_code find_density(struct pce *x, int i, uint64_t *at, struct err *e)
{
    static const char *const names[DENSITIES] = {"density of aux in A", "density of inputs in B",
                                                 "density of aux in B"};
    struct density *d = &x->density[i];
    uint64_t begin = *at, bits = i == 1 ? x->counts.n_inputs : x->counts.n_aux;
    d->what = names[i];
    d->words_at = begin + 8;
    enum err_code code = find_vector(x, d->what, 8, at, &d->n_words, e);
    if (!code && d->n_words != (bits + 63) / 64)
        return wrong_length(x, d->what, begin, (bits + 63) / 64, d->n_words, e);
    if (!code)
        code = bytefile_expect(x->f, d->what, *at, 16, e);
    if (!code)
        code = bytefile_read(x->f, *at, &d->bits, sizeof d->bits, e);
    if (!code)
        code = bytefile_read(x->f, *at + 8, &d->ones, sizeof d->ones, e);
    if (!code && d->bits != bits)
        return bytefile_error(x->f, d->what, *at, ERR_FORMAT, e,
                              "expected %" PRIu64 " bits, found %" PRIu64, bits, d->bits);
    *at += 16;
    return code;
}

static enum err_code find_places(struct pce *x, struct err *e)
{
    uint64_t at = HEADER_BYTES, n_terms = 0;
    enum err_code code = ERR_OK;
    for (int m = 0; m < 3 && !code; m++) {
        code = find_matrix(x, m, &at, e);
        n_terms += x->place[m].n_entries;
    }
    if (!code && n_terms != x->n_terms)
        return bytefile_error(x->f, "header", 20, ERR_FORMAT, e,
                              "expected %" PRIu64 " terms (the sum of the matrices'), found "
                              "%" PRIu64,
                              n_terms, x->n_terms);
    for (int i = 0; i < DENSITIES && !code; i++)
        code = find_density(x, i, &at, e);
    return code ? code : bytefile_expect_end(x->f, at, e);
}

/* Values [first, first + n) to codes. */
static enum err_code code_piece(const struct pce *x, int m, uint64_t first, size_t n, fr_t *value,
                                struct matrix_dictionary *d, uint32_t *code, struct err *e)
{
    static const fr_t zero;
    uint64_t at = x->values_at[m] + first * sizeof *value;
    enum err_code rc = bytefile_read(x->f, at, value, n * sizeof *value, e);
    if (rc)
        return rc;
    size_t bad = curve_bls12_381.fr_first_unreduced(value, n);
    for (size_t i = 0; i < n; i++) {
        bool is_zero = !memcmp(&value[i], &zero, sizeof zero);
        if (i == bad || is_zero)
            return bytefile_error(x->f, csr_part("values", "ABC"[m]), at + i * sizeof *value,
                                  ERR_VALUE, e, "term %" PRIu64 ": %s", first + i,
                                  is_zero ? "value is zero"
                                          : "value is not below the scalar field's modulus");
        if (!matrix_dictionary_code(d, &value[i], &code[i]))
            return err_set(e, ERR_MEMORY, "%s: no memory for values", bytefile_name(x->f));
    }
    return ERR_OK;
}

static enum err_code read_codes(const struct pce *x, int m, struct matrix *out, struct err *e)
{
    uint64_t n = out->n_entries;
    uint32_t *code = malloc(n * sizeof *code + 1);
    fr_t *piece = malloc(VALUES_A_PIECE * sizeof *piece);
    struct matrix_dictionary d;
    enum err_code rc = ERR_OK;
    if (!matrix_dictionary_begin(&curve_bls12_381, &d) || !code || !piece)
        rc = err_set(e, ERR_MEMORY, "%s: no memory for %" PRIu64 " terms", bytefile_name(x->f), n);
    for (uint64_t first = 0; first < n && !rc; first += VALUES_A_PIECE) {
        size_t step = n - first < VALUES_A_PIECE ? (size_t)(n - first) : VALUES_A_PIECE;
        rc = code_piece(x, m, first, step, piece, &d, code + first, e);
    }
    free(piece);
    if (!rc) {
        matrix_dictionary_finish(&d, code, out);
        return ERR_OK;
    }
    free(code);
    matrix_dictionary_free(&d);
    return rc;
}

/* One bit a wire that occurs in m, for wires [first, first + bits). */
static uint64_t *occurrences(const struct matrix *m, uint32_t first, uint64_t bits)
{
    uint64_t *word = calloc(bits / 64 + 1, sizeof *word);
    for (uint64_t i = 0; word && i < m->n_entries; i++) {
        uint64_t bit = (uint64_t)m->wire[i] - first;
        if (m->wire[i] >= first && bit < bits)
            word[bit / 64] |= 1ull << bit % 64;
    }
    return word;
}

static enum err_code check_density(const struct pce *x, const struct density *d,
                                   const struct matrix *m, uint32_t first, struct err *e)
{
    uint64_t *want = occurrences(m, first, d->bits), *found = malloc(d->n_words * 8 + 1);
    enum err_code code = ERR_OK;
    if (!want || !found)
        code = err_set(e, ERR_MEMORY, "%s: no memory for %" PRIu64 " bits", bytefile_name(x->f),
                       d->bits);
    if (!code)
        code = bytefile_read(x->f, d->words_at, found, d->n_words * 8, e);
    uint64_t ones = 0;
    for (uint64_t i = 0; i < d->n_words && !code; i++) {
        ones += (uint64_t)__builtin_popcountll(want[i]);
        if (want[i] != found[i])
            code = bytefile_error(x->f, d->what, d->words_at + 8 * i, ERR_MISMATCH, e,
                                  "variable %" PRIu64 ": the density is not that of the matrix",
                                  64 * i + (uint64_t)__builtin_ctzll(want[i] ^ found[i]));
    }
    if (!code && ones != d->ones)
        code = bytefile_error(x->f, d->what, d->words_at + 8 * d->n_words + 8, ERR_MISMATCH, e,
                              "expected %" PRIu64 " ones, found %" PRIu64, ones, d->ones);
    free(want);
    free(found);
    return code;
}

static enum err_code check_densities(const struct pce *x, const struct r1cs *r, struct err *e)
{
    enum err_code code = check_density(x, &x->density[0], &r->a, x->counts.n_inputs, e);
    if (!code)
        code = check_density(x, &x->density[1], &r->b, 0, e);
    return code ? code : check_density(x, &x->density[2], &r->b, x->counts.n_inputs, e);
}

enum err_code pce_read(const char *path, struct r1cs *out, struct err *e)
{
    *out = (struct r1cs){0};
    struct pce x = {.f = bytefile_open(path, kind, e)};
    if (!x.f)
        return e ? e->code : ERR_IO;
    enum err_code code = read_header(&x, e);
    if (!code)
        code = csr_begin(x.f, &x.counts, out, e);
    if (!code)
        code = find_places(&x, e);
    struct matrix *const all[3] = {&out->a, &out->b, &out->c};
    for (int m = 0; m < 3 && !code; m++) {
        code = csr_read_shape(x.f, &x.counts, &x.place[m], all[m], e);
        if (!code)
            code = read_codes(&x, m, all[m], e);
    }
    if (!code)
        code = check_densities(&x, out, e);
    if (!code)
        code = csr_unbind(x.f, &x.counts, out, e);
    bytefile_close(&x.f);
    if (code)
        r1cs_free(out);
    return code;
}

enum err_code pce_read_facts(const char *path, struct bellman_r1cs_facts *out, struct err *e)
{
    struct pce x = {.f = bytefile_open(path, kind, e)};
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
        .n_terms = x.n_terms,
        .file_bytes = bytefile_size(x.f),
    };
    bytefile_close(&x.f);
    return code;
}

/* --- writing --------------------------------------------------------------------------------- */

static enum err_code put(struct file_writer *w, const void *data, uint64_t n, size_t bytes,
                         struct err *e)
{
    enum err_code code = file_writer_write(w, &n, sizeof n, e);
    return code ? code : file_writer_write(w, data, (size_t)n * bytes, e);
}

static enum err_code put_matrix(struct file_writer *w, const struct matrix *m, uint32_t n_rows,
                                struct err *e)
{
    uint64_t rows = (uint64_t)n_rows + 1;
    uint32_t *start = malloc(rows * sizeof *start);
    fr_t *piece = malloc(VALUES_A_PIECE * sizeof *piece);
    enum err_code code =
        start && piece ? ERR_OK : err_set(e, ERR_MEMORY, "no memory for %u rows", n_rows);
    for (uint64_t i = 0; i < rows && !code; i++)
        start[i] = m->row_start[i < m->n_rows ? i : m->n_rows];
    if (!code)
        code = put(w, start, rows, sizeof *start, e);
    if (!code)
        code = put(w, m->wire, m->n_entries, sizeof *m->wire, e);
    if (!code)
        code = file_writer_write(w, &m->n_entries, sizeof m->n_entries, e);
    for (uint64_t first = 0; first < m->n_entries && !code; first += VALUES_A_PIECE) {
        uint64_t n = m->n_entries - first < VALUES_A_PIECE ? m->n_entries - first : VALUES_A_PIECE;
        for (uint64_t i = 0; i < n; i++)
            piece[i] = *matrix_value(m, first + i);
        code = file_writer_write(w, piece, n * sizeof *piece, e);
    }
    free(start);
    free(piece);
    return code;
}

static enum err_code put_density(struct file_writer *w, const struct matrix *m, uint32_t first,
                                 uint64_t bits, struct err *e)
{
    uint64_t *word = occurrences(m, first, bits), tail[2] = {bits, 0};
    if (!word)
        return err_set(e, ERR_MEMORY, "no memory for %" PRIu64 " bits", bits);
    for (uint64_t i = 0; i < (bits + 63) / 64; i++)
        tail[1] += (uint64_t)__builtin_popcountll(word[i]);
    enum err_code code = put(w, word, (bits + 63) / 64, sizeof *word, e);
    free(word);
    return code ? code : file_writer_write(w, tail, sizeof tail, e);
}

enum err_code pce_write(const char *path, const struct r1cs *r, struct err *e)
{
    if (r->curve != &curve_bls12_381)
        return err_set(e, ERR_UNSUPPORTED, "%s: a PCE file is on bls12-381, not %s", path,
                       r->curve->name);
    uint32_t n_inputs = r->n_public_outputs + r->n_public_inputs + 1;
    uint32_t n_aux = r->n_wires - n_inputs, n_rows = r->n_constraints + n_inputs;
    struct matrix a = {0}, b = {0};
    struct file_writer *w = NULL;
    enum err_code code = r1cs_bind_publics(r, &a, &b, e);
    if (!code && !(w = file_writer_open(path, 0644, e)))
        code = e ? e->code : ERR_IO;
    uint64_t n_terms = a.n_entries + b.n_entries + r->c.n_entries;
    const struct pce_header h = {
        .magic = {'P', 'C', 'E', 2},
        .version = 2,
        .n_inputs = n_inputs,
        .n_aux = n_aux,
        .n_rows = n_rows,
        .n_terms = {(uint32_t)n_terms, (uint32_t)(n_terms >> 32)},
    };
    if (code || (code = file_writer_write(w, &h, sizeof h, e)) ||
        (code = put_matrix(w, &a, n_rows, e)) || (code = put_matrix(w, &b, n_rows, e)) ||
        (code = put_matrix(w, &r->c, n_rows, e)) ||
        (code = put_density(w, &a, n_inputs, n_aux, e)) ||
        (code = put_density(w, &b, 0, n_inputs, e)) ||
        (code = put_density(w, &b, n_inputs, n_aux, e)))
        file_writer_abort(&w);
    else
        code = file_writer_commit(&w, e);
    matrix_free(&a);
    matrix_free(&b);
    return code;
}
