#include "binfile.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bytefile.h"

enum { FILE_HEADER_BYTES = 12, SECTION_HEADER_BYTES = 12 };

struct binfile {
    struct bytefile *bytes;
    const char *name; /* its */
    uint64_t size;
    const struct bin_layout *layout;
    unsigned n;
    struct bin_section sections[BIN_MAX_SECTIONS];
};

static const char *what_is(const struct binfile *f, uint32_t id)
{
    for (const struct bin_known *k = f->layout->known; k->what; k++)
        if (k->id == id)
            return k->what;
    return "unknown";
}

static uint32_t load_u32(const unsigned char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static uint64_t load_u64(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static enum err_code read_section(struct binfile *f, uint64_t *offset, uint32_t i, uint32_t count,
                                  struct err *e)
{
    unsigned char head[SECTION_HEADER_BYTES];
    if (f->size - *offset < sizeof head)
        return err_set(e, ERR_FORMAT,
                       "%s: section table: offset %" PRIu64 ": the file ends here, after %" PRIu32
                       " of %" PRIu32 " sections",
                       f->name, *offset, i, count);
    enum err_code code = bytefile_read(f->bytes, *offset, head, sizeof head, e);
    if (code)
        return code;
    struct bin_section s = {load_u32(head), *offset + sizeof head, load_u64(head + 4)};
    if (s.length > f->size - s.offset)
        return err_set(e, ERR_FORMAT,
                       "%s: section %" PRIu32 " (%s): offset %" PRIu64 ": a length of %" PRIu64
                       " bytes, but the file has %" PRIu64 " left",
                       f->name, s.id, what_is(f, s.id), *offset, s.length, f->size - s.offset);
    if (binfile_find(f, s.id))
        return err_set(e, ERR_FORMAT,
                       "%s: section %" PRIu32 " (%s): offset %" PRIu64
                       ": stands in the file twice, first at offset %" PRIu64,
                       f->name, s.id, what_is(f, s.id), *offset, binfile_find(f, s.id)->offset);
    if (f->n == BIN_MAX_SECTIONS)
        return err_set(e, ERR_FORMAT,
                       "%s: section table: offset %" PRIu64 ": more than %d sections", f->name,
                       *offset, BIN_MAX_SECTIONS);
    f->sections[f->n++] = s;
    *offset = s.offset + s.length;
    return ERR_OK;
}

/* Files are mixed up more often than damaged, so say what this one is. */
static const char *known_magic(const unsigned char *magic)
{
    static const char *const table[][2] = {
        {"zkey", "a proving key (.zkey)"},       {"wtns", "a witness (.wtns)"},
        {"r1cs", "a constraint system (.r1cs)"}, {"ptau", "a powers-of-tau file (.ptau)"},
        {"MRPC", "a prepared circuit"},          {"\0asm", "a WebAssembly module"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!memcmp(magic, table[i][0], 4))
            return table[i][1];
    return NULL;
}

static enum err_code wrong_magic(const struct binfile *f, const unsigned char *head, struct err *e)
{
    const struct bin_layout *l = f->layout;
    const char *known = known_magic(head);
    if (known)
        return err_set(e, ERR_FORMAT, "%s: header: offset 0: expected a %s, found %s", f->name,
                       l->kind, known);
    const char *hint = l->bare_hint && f->size % 32 == 0 ? l->bare_hint : "";
    return err_set(e, ERR_FORMAT,
                   "%s: header: offset 0: expected the magic \"%s\" of a %s, found "
                   "%02x %02x %02x %02x%s",
                   f->name, l->magic, l->kind, head[0], head[1], head[2], head[3], hint);
}

static enum err_code read_table(struct binfile *f, struct err *e)
{
    unsigned char head[FILE_HEADER_BYTES];
    if (f->size < sizeof head)
        return err_set(e, ERR_FORMAT,
                       "%s: header: offset 0: expected at least %d bytes of a %s, found %" PRIu64,
                       f->name, FILE_HEADER_BYTES, f->layout->kind, f->size);
    enum err_code code = bytefile_read(f->bytes, 0, head, sizeof head, e);
    if (code)
        return code;
    if (memcmp(head, f->layout->magic, 4) != 0)
        return wrong_magic(f, head, e);
    if (load_u32(head + 4) != f->layout->version)
        return err_set(e, ERR_FORMAT,
                       "%s: header: offset 4: expected version %" PRIu32 ", found %" PRIu32,
                       f->name, f->layout->version, load_u32(head + 4));
    uint64_t offset = sizeof head;
    uint32_t count = load_u32(head + 8);
    for (uint32_t i = 0; i < count; i++) {
        code = read_section(f, &offset, i, count, e);
        if (code)
            return code;
    }
    if (offset != f->size)
        return err_set(e, ERR_FORMAT,
                       "%s: offset %" PRIu64 ": %" PRIu64 " bytes stand behind the last section",
                       f->name, offset, f->size - offset);
    return ERR_OK;
}

static struct binfile *open_table(struct bytefile *bytes, const struct bin_layout *layout,
                                  struct err *e)
{
    if (!bytes)
        return NULL;
    struct binfile *f = calloc(1, sizeof *f);
    if (!f) {
        err_set(e, ERR_MEMORY, "%s: no memory", bytefile_name(bytes));
        bytefile_close(&bytes);
        return NULL;
    }
    f->bytes = bytes;
    f->name = bytefile_name(bytes);
    f->size = bytefile_size(bytes);
    f->layout = layout;
    if (read_table(f, e))
        binfile_close(&f);
    return f;
}

struct binfile *binfile_open_fd(int fd, const char *name, const struct bin_layout *layout,
                                struct err *e)
{
    return open_table(bytefile_open_fd(fd, name, layout->kind, e), layout, e);
}

struct binfile *binfile_open(const char *path, const struct bin_layout *layout, struct err *e)
{
    return open_table(bytefile_open(path, layout->kind, e), layout, e);
}

void binfile_close(struct binfile **f)
{
    if (!f || !*f)
        return;
    bytefile_close(&(*f)->bytes);
    free(*f);
    *f = NULL;
}

enum err_code binfile_check_sections(const struct binfile *f, struct err *e)
{
    for (const struct bin_known *k = f->layout->known; k->what; k++)
        if (k->required && !binfile_find(f, k->id))
            return err_set(e, ERR_FORMAT, "%s: section %" PRIu32 " (%s) is missing", f->name, k->id,
                           k->what);
    for (unsigned i = 0; i < f->n; i++) {
        const struct bin_known *k = f->layout->known;
        while (k->what && k->id != f->sections[i].id)
            k++;
        if (!k->what)
            return err_set(e, ERR_FORMAT,
                           "%s: section %" PRIu32 ": offset %" PRIu64 ": a %s has no such section",
                           f->name, f->sections[i].id, f->sections[i].offset, f->layout->kind);
    }
    return ERR_OK;
}

const char *binfile_name(const struct binfile *f)
{
    return f->name;
}

uint64_t binfile_size(const struct binfile *f)
{
    return f->size;
}

unsigned binfile_section_count(const struct binfile *f)
{
    return f->n;
}

const struct bin_section *binfile_section_at(const struct binfile *f, unsigned i)
{
    INVARIANT(i < f->n);
    return &f->sections[i];
}

const struct bin_section *binfile_find(const struct binfile *f, uint32_t id)
{
    for (unsigned i = 0; i < f->n; i++)
        if (f->sections[i].id == id)
            return &f->sections[i];
    return NULL;
}

uint64_t binfile_length(const struct binfile *f, uint32_t id)
{
    const struct bin_section *s = binfile_find(f, id);
    return s ? s->length : 0;
}

enum err_code binfile_error(const struct binfile *f, uint32_t id, uint64_t at, enum err_code code,
                            struct err *e, const char *fmt, ...)
{
    const struct bin_section *s = binfile_find(f, id);
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return err_set(e, code, "%s: section %" PRIu32 " (%s): offset %" PRIu64 ": %s", f->name, id,
                   what_is(f, id), s ? s->offset + at : at, text);
}

enum err_code binfile_expect_length(const struct binfile *f, uint32_t id, uint64_t want,
                                    const char *why, struct err *e)
{
    uint64_t length = binfile_length(f, id);
    if (length == want)
        return ERR_OK;
    return binfile_error(f, id, 0, ERR_FORMAT, e,
                         "expected a length of %" PRIu64 " bytes (%s), found %" PRIu64, want, why,
                         length);
}

enum err_code binfile_read(const struct binfile *f, uint32_t id, uint64_t at, void *out, size_t n,
                           struct err *e)
{
    const struct bin_section *s = binfile_find(f, id);
    if (!s)
        return err_set(e, ERR_FORMAT, "%s: section %" PRIu32 " (%s) is missing", f->name, id,
                       what_is(f, id));
    if (at > s->length || n > s->length - at)
        return binfile_error(f, id, at < s->length ? at : s->length, ERR_FORMAT, e,
                             "expected %zu more bytes, but the section ends %" PRIu64
                             " bytes further",
                             n, at < s->length ? s->length - at : 0);
    return bytefile_read(f->bytes, s->offset + at, out, n, e);
}

void bin_cursor_init(struct bin_cursor *c, const struct binfile *f, uint32_t id, void *buffer,
                     size_t room)
{
    *c = (struct bin_cursor){
        .f = f, .id = id, .end = binfile_length(f, id), .buffer = buffer, .room = room};
}

enum err_code bin_bytes(struct bin_cursor *c, void *out, size_t n, struct err *e)
{
    uint64_t in = c->at - c->buffer_at;
    if (in > c->buffered || n > c->buffered - in) {
        if (n > c->room || n > c->end - c->at) { /* too large to buffer, or an error to report */
            enum err_code code = binfile_read(c->f, c->id, c->at, out, n, e);
            if (!code)
                c->at += n;
            return code;
        }
        size_t want = c->end - c->at < c->room ? (size_t)(c->end - c->at) : c->room;
        enum err_code code = binfile_read(c->f, c->id, c->at, c->buffer, want, e);
        if (code)
            return code;
        c->buffer_at = c->at;
        c->buffered = want;
        in = 0;
    }
    memcpy(out, c->buffer + in, n);
    c->at += n;
    return ERR_OK;
}

enum err_code bin_u32(struct bin_cursor *c, uint32_t *out, struct err *e)
{
    return bin_bytes(c, out, sizeof *out, e);
}

enum err_code bin_u64(struct bin_cursor *c, uint64_t *out, struct err *e)
{
    return bin_bytes(c, out, sizeof *out, e);
}

enum err_code bin_skip(struct bin_cursor *c, uint64_t n, struct err *e)
{
    if (n > c->end - c->at)
        return binfile_error(c->f, c->id, c->at, ERR_FORMAT, e,
                             "expected %" PRIu64 " more bytes, but the section ends %" PRIu64
                             " bytes further",
                             n, c->end - c->at);
    c->at += n;
    return ERR_OK;
}

enum err_code bin_at_end(const struct bin_cursor *c, struct err *e)
{
    if (c->at == c->end)
        return ERR_OK;
    return binfile_error(c->f, c->id, c->at, ERR_FORMAT, e,
                         "expected the section's end, but %" PRIu64 " bytes are left",
                         c->end - c->at);
}
