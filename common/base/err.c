#include "err.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text may quote a hostile file or name: it stays one line, and cannot drive a terminal. */
static void make_printable(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

/* The text is formed aside first, so that a caller may pass the old text as an argument. */
enum err_code err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
    if (e) {
        char text[sizeof e->text];
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(text, sizeof text, fmt, ap);
        va_end(ap);
        make_printable(text);
        memcpy(e->text, text, strlen(text) + 1);
        e->code = code;
    }
    return code;
}

enum err_code err_prefix(struct err *e, const char *fmt, ...)
{
    if (!e)
        return ERR_INTERNAL;
    char prefix[sizeof e->text];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(prefix, sizeof prefix - 2, fmt, ap);
    va_end(ap);
    strcat(prefix, ": ");
    size_t n = strlen(prefix), kept = strlen(e->text);
    if (kept > sizeof e->text - 1 - n)
        kept = sizeof e->text - 1 - n;
    memmove(e->text + n, e->text, kept);
    memcpy(e->text, prefix, n);
    e->text[n + kept] = 0;
    make_printable(e->text);
    return e->code;
}

const char *err_word(enum err_code code)
{
    switch (code) {
    case ERR_OK:
        return "ok";
    case ERR_REJECTED:
        return "rejected";
    case ERR_USAGE:
        return "usage";
    case ERR_IO:
        return "io";
    case ERR_FORMAT:
        return "format";
    case ERR_VALUE:
        return "value";
    case ERR_MISMATCH:
        return "mismatch";
    case ERR_UNSATISFIED:
        return "unsatisfied";
    case ERR_MEMORY:
        return "memory";
    case ERR_UNSUPPORTED:
        return "unsupported";
    case ERR_UNAVAILABLE:
        return "unavailable";
    case ERR_REFUSED:
        return "refused";
    case ERR_CANCELLED:
        return "cancelled";
    case ERR_DEADLINE:
        return "deadline";
    case ERR_FAILED:
        return "failed";
    case ERR_INTERNAL:
        return "internal";
    }
    return "unknown";
}

void die_at(const char *file, int line, const char *fmt, ...)
{
    va_list ap;
    fprintf(stderr, "%s:%d: ", file, line);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    abort();
}
