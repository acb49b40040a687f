#include "wtns.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "binfile.h"
#include "file.h"
#include "first_error.h"

enum { WTNS_HEADER = 1, WTNS_VALUES = 2 };
enum { WTNS_VERSION = 2, WTNS_HEADER_BYTES = 40, VALUES_PER_PIECE = 1 << 15 };

struct wtns {
    struct binfile *file;
    struct wtns_facts facts;
};

static const struct bin_layout layout = {
    .magic = "wtns",
    .kind = "witness (.wtns)",
    .version = WTNS_VERSION,
    .known =
        (const struct bin_known[]){
            {WTNS_HEADER, true, "witness header"},
            {WTNS_VALUES, true, "values"},
            {0, false, NULL},
        },
    .bare_hint = " (its size is a multiple of 32: perhaps bare values, without the container)",
};

static enum err_code read_header(struct wtns *f, struct err *e)
{
    struct bin_cursor c;
    uint32_t n_r, n;
    uint8_t r[sizeof(fr_t)];
    bin_cursor_init(&c, f->file, WTNS_HEADER, NULL, 0);
    enum err_code code = bin_u32(&c, &n_r, e);
    if (code)
        return code;
    if (n_r != sizeof r)
        return binfile_error(f->file, WTNS_HEADER, 0,
                             n_r % 8 || !n_r ? ERR_FORMAT : ERR_UNSUPPORTED, e,
                             "expected field elements of 32 bytes, found %" PRIu32, n_r);
    code = binfile_expect_length(f->file, WTNS_HEADER, WTNS_HEADER_BYTES,
                                 "size, modulus and number of values", e);
    if (code || (code = bin_bytes(&c, r, sizeof r, e)) || (code = bin_u32(&c, &n, e)))
        return code;
    f->facts.curve = curve_by_r(r, sizeof r);
    if (!f->facts.curve)
        return binfile_error(f->file, WTNS_HEADER, 4, ERR_UNSUPPORTED, e,
                             "a scalar field that is neither that of bn254 nor that of bls12-381");
    if (n == 0)
        return binfile_error(f->file, WTNS_HEADER, 36, ERR_FORMAT, e,
                             "expected at least one value (the constant one), found none");
    f->facts.n = n;
    char why[96];
    snprintf(why, sizeof why, "%" PRIu32 " values of 32 bytes", n);
    return binfile_expect_length(f->file, WTNS_VALUES, (uint64_t)n * sizeof(fr_t), why, e);
}

static struct wtns *open_checked(struct binfile *file, const char *name, struct err *e)
{
    if (!file)
        return NULL;
    struct wtns *f = calloc(1, sizeof *f);
    if (!f) {
        err_set(e, ERR_MEMORY, "%s: no memory", name);
        binfile_close(&file);
        return NULL;
    }
    f->file = file;
    f->facts.file_bytes = binfile_size(file);
    if (binfile_check_sections(file, e) || read_header(f, e))
        wtns_close(&f);
    return f;
}

struct wtns *wtns_open(const char *path, struct err *e)
{
    return open_checked(binfile_open(path, &layout, e), path, e);
}

struct wtns *wtns_open_fd(int fd, const char *name, struct err *e)
{
    return open_checked(binfile_open_fd(fd, name, &layout, e), name, e);
}

void wtns_close(struct wtns **f)
{
    if (!f || !*f)
        return;
    binfile_close(&(*f)->file);
    free(*f);
    *f = NULL;
}

const struct wtns_facts *wtns_facts(const struct wtns *f)
{
    return &f->facts;
}

enum err_code wtns_expect(const struct wtns *f, const struct curve *c, uint64_t n_wires,
                          struct err *e)
{
    const struct wtns_facts *k = &f->facts;
    if (k->curve != c)
        return err_set(e, ERR_MISMATCH, "%s: a witness on %s, but the circuit is on %s",
                       binfile_name(f->file), k->curve->name, c->name);
    if (k->n != n_wires)
        return err_set(e, ERR_MISMATCH,
                       "%s: a witness of %" PRIu64 " values, but the circuit has %" PRIu64 " wires",
                       binfile_name(f->file), k->n, n_wires);
    return ERR_OK;
}

struct values_loop {
    const struct wtns *f;
    fr_t *out;
    struct first_error error;
};

static void read_piece(void *arg, size_t begin, size_t end, unsigned worker)
{
    (void)worker;
    struct values_loop *l = arg;
    if (!first_error_still_wanted(&l->error, begin))
        return;
    const struct binfile *file = l->f->file;
    fr_t *out = l->out + begin;
    struct err e;
    if (binfile_read(file, WTNS_VALUES, begin * sizeof *out, out, (end - begin) * sizeof *out,
                     &e)) {
        first_error_put(&l->error, begin, &e);
        return;
    }
    size_t bad = l->f->facts.curve->fr_first_unreduced(out, end - begin);
    if (bad < end - begin) {
        binfile_error(file, WTNS_VALUES, (begin + bad) * sizeof *out, ERR_VALUE, &e,
                      "value %zu is not below the scalar field's modulus", begin + bad);
        first_error_put(&l->error, begin + bad, &e);
    }
}

enum err_code wtns_read(struct wtns *f, fr_t *out, struct pool *pool, struct err *e)
{
    struct values_loop l = {.f = f, .out = out, .error = FIRST_ERROR_INIT};
    pool_range(pool, read_piece, &l, f->facts.n, VALUES_PER_PIECE);
    enum err_code code = first_error_take(&l.error, e);
    static const fr_t one = {{1, 0, 0, 0}};
    if (!code && memcmp(out, &one, sizeof one) != 0)
        code = binfile_error(f->file, WTNS_VALUES, 0, ERR_VALUE, e,
                             "value 0 is the constant wire: expected 1");
    if (code)
        explicit_bzero(out, f->facts.n * sizeof *out);
    return code;
}

enum err_code wtns_write(const char *path, const struct curve *c, const fr_t *plain, uint64_t n,
                         struct err *e)
{
    if (n == 0 || n > UINT32_MAX)
        return err_set(e, ERR_UNSUPPORTED,
                       "%s: a .wtns holds 1 to %" PRIu32 " values, not %" PRIu64, path, UINT32_MAX,
                       n);
    struct {
        char magic[4];
        uint32_t version, n_sections, header_id;
        uint64_t header_length;
        uint32_t n_r;
        uint32_t r[8];
        uint32_t n, values_id;
        uint64_t values_length;
    } __attribute__((packed))
    head = {{'w', 't', 'n', 's'}, WTNS_VERSION, 2,           WTNS_HEADER, WTNS_HEADER_BYTES,
            sizeof(fr_t),         {0},          (uint32_t)n, WTNS_VALUES, n * sizeof(fr_t)};
    _Static_assert(sizeof head == 12 + 12 + 40 + 12, "the bytes before a witness's values");
    memcpy(head.r, c->r, sizeof head.r);
    struct file_writer *w = file_writer_open(path, 0600, e);
    if (!w)
        return e ? e->code : ERR_IO;
    enum err_code code = file_writer_write(w, &head, sizeof head, e);
    if (!code)
        code = file_writer_write(w, plain, n * sizeof *plain, e);
    if (!code)
        return file_writer_commit(&w, e);
    file_writer_abort(&w);
    return code;
}
