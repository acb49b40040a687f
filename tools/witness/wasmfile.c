#include "wasmfile.h"

#include <stdbool.h>
#include <string.h>

struct cursor {
    const char *name;
    const uint8_t *data;
    size_t at, end;
    struct err *err;
};

static enum err_code cut(struct cursor *c, const char *what)
{
    return err_set(c->err, ERR_FORMAT, "%s: offset %zu: %s is cut short or malformed", c->name,
                   c->at, what);
}

/* Unsigned LEB128 of at most 32 bits. */
static enum err_code take_u32(struct cursor *c, const char *what, uint32_t *out)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
        if (c->at == c->end)
            return cut(c, what);
        uint8_t b = c->data[c->at++];
        v |= (uint64_t)(b & 0x7f) << shift;
        if ((b & 0x80) == 0) {
            if (v > UINT32_MAX)
                return cut(c, what);
            *out = (uint32_t)v;
            return ERR_OK;
        }
    }
    return cut(c, what);
}

static enum err_code take_byte(struct cursor *c, const char *what, uint8_t *out)
{
    if (c->at == c->end)
        return cut(c, what);
    *out = c->data[c->at++];
    return ERR_OK;
}

struct text {
    const char *s;
    uint32_t n;
};

static enum err_code take_text(struct cursor *c, const char *what, struct text *out)
{
    enum err_code rc = take_u32(c, what, &out->n);
    if (rc != ERR_OK)
        return rc;
    if (out->n > c->end - c->at)
        return cut(c, what);
    out->s = (const char *)c->data + c->at;
    c->at += out->n;
    return ERR_OK;
}

static bool is(struct text t, const char *s)
{
    return strlen(s) == t.n && memcmp(t.s, s, t.n) == 0;
}

/* For messages: bytes of a hostile file are not printed raw. */
static const char *printable(struct text t, char out[64])
{
    uint32_t n = t.n < 63 ? t.n : 63;
    for (uint32_t i = 0; i < n; i++)
        out[i] = t.s[i] >= '!' && t.s[i] <= '~' ? t.s[i] : '?';
    out[n] = 0;
    return out;
}

static enum err_code take_limits(struct cursor *c)
{
    uint8_t flags = 0;
    uint32_t v;
    enum err_code rc = take_byte(c, "memory limits", &flags);
    if (rc == ERR_OK)
        rc = take_u32(c, "memory limits", &v);
    if (rc == ERR_OK && (flags & 1) != 0)
        rc = take_u32(c, "memory limits", &v);
    return rc;
}

/* Everything that a circom module may ask of its host; anything else could not be linked. */
static const char *const known_imports[] = {"exceptionHandler", "printErrorMessage",
                                            "writeBufferMessage", "showSharedRWMemory"};

static enum err_code check_import(struct cursor *c)
{
    struct text module, field;
    uint8_t kind = 0;
    uint32_t type;
    char m[64], f[64];
    enum err_code rc = take_text(c, "an import", &module);
    if (rc == ERR_OK)
        rc = take_text(c, "an import", &field);
    if (rc == ERR_OK)
        rc = take_byte(c, "an import", &kind);
    if (rc != ERR_OK)
        return rc;
    bool known = false;
    for (size_t i = 0; i < sizeof known_imports / sizeof *known_imports; i++)
        known = known || is(field, known_imports[i]);
    if (!is(module, "runtime") || !known || kind != 0)
        return err_set(c->err, ERR_UNSUPPORTED,
                       "%s: imports %s.%s, which a circom 2 witness program does not", c->name,
                       printable(module, m), printable(field, f));
    return take_u32(c, "an import", &type);
}

static const char *const needed_exports[] = {
    "memory",
    "getVersion",
    "getMinorVersion",
    "getPatchVersion",
    "init",
    "setInputSignal",
    "getInputSignalSize",
    "getInputSize",
    "getWitnessSize",
    "getWitness",
    "getFieldNumLen32",
    "getRawPrime",
    "getMessageChar",
    "getSharedRWMemoryStart",
};
enum { N_NEEDED = sizeof needed_exports / sizeof *needed_exports };

static enum err_code check_exports(struct cursor *c, bool found[N_NEEDED])
{
    uint32_t n, index;
    enum err_code rc = take_u32(c, "the export section", &n);
    for (uint32_t i = 0; rc == ERR_OK && i < n; i++) {
        struct text t;
        uint8_t kind = 0;
        rc = take_text(c, "an export", &t);
        if (rc == ERR_OK)
            rc = take_byte(c, "an export", &kind);
        if (rc == ERR_OK)
            rc = take_u32(c, "an export", &index);
        for (size_t k = 0; rc == ERR_OK && k < N_NEEDED; k++)
            if (is(t, needed_exports[k]) && kind == (k == 0 ? 2 : 0))
                found[k] = true;
    }
    return rc;
}

static enum err_code check_section(struct cursor *c, uint8_t id, bool found[N_NEEDED])
{
    uint32_t n = 0;
    enum err_code rc = ERR_OK;
    switch (id) {
    case 2:
        rc = take_u32(c, "the import section", &n);
        for (uint32_t i = 0; rc == ERR_OK && i < n; i++)
            rc = check_import(c);
        break;
    case 5:
        rc = take_u32(c, "the memory section", &n);
        for (uint32_t i = 0; rc == ERR_OK && i < n; i++)
            rc = take_limits(c);
        break;
    case 7:
        rc = check_exports(c, found);
        break;
    default:
        c->at = c->end;
    }
    if (rc == ERR_OK && c->at != c->end)
        rc = cut(c, "a section");
    return rc;
}

enum err_code wasmfile_check(const char *name, const uint8_t *data, size_t n, struct err *e)
{
    static const uint8_t magic[8] = {0, 'a', 's', 'm', 1, 0, 0, 0};
    if (n < sizeof magic || memcmp(data, magic, sizeof magic) != 0)
        return err_set(e, ERR_FORMAT,
                       "%s: offset 0: not a WebAssembly 1.0 file (\\0asm and version 1 expected)",
                       name);
    bool found[N_NEEDED] = {false};
    struct cursor c = {.name = name, .data = data, .at = sizeof magic, .end = n, .err = e};
    while (c.at < n) {
        uint8_t id;
        uint32_t len;
        c.end = n;
        enum err_code rc = take_byte(&c, "a section", &id);
        if (rc == ERR_OK)
            rc = take_u32(&c, "a section", &len);
        if (rc != ERR_OK)
            return rc;
        if (len > n - c.at)
            return cut(&c, "a section");
        c.end = c.at + len;
        rc = check_section(&c, id, found);
        if (rc != ERR_OK)
            return rc;
    }
    for (size_t k = 0; k < N_NEEDED; k++)
        if (!found[k])
            return err_set(e, ERR_UNSUPPORTED,
                           "%s: does not export %s: not a witness program of circom 2.0.7 or later",
                           name, needed_exports[k]);
    return ERR_OK;
}
