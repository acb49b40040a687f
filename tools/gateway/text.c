#include "text.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool room(struct text *t, size_t more)
{
    if (t->failed)
        return false;
    if (t->n + more + 1 <= t->cap)
        return true;
    size_t cap = t->cap ? t->cap : 1024;
    while (cap < t->n + more + 1)
        cap *= 2;
    char *grown = realloc(t->at, cap);
    t->failed = !grown;
    if (grown) {
        t->at = grown;
        t->cap = cap;
    }
    return grown != NULL;
}

void text_put(struct text *t, const char *bytes, size_t n)
{
    if (!room(t, n))
        return;
    memcpy(t->at + t->n, bytes, n);
    t->n += n;
    t->at[t->n] = '\0';
}

void text_add(struct text *t, const char *fmt, ...)
{
    va_list ap;
    if (!room(t, 128))
        return;
    for (;;) {
        va_start(ap, fmt);
        int n = vsnprintf(t->at + t->n, t->cap - t->n, fmt, ap);
        va_end(ap);
        if (n < 0)
            return;
        if ((size_t)n < t->cap - t->n) {
            t->n += (size_t)n;
            return;
        }
        if (!room(t, (size_t)n))
            return;
    }
}

void text_json(struct text *t, const char *s)
{
    text_put(t, "\"", 1);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            text_add(t, "\\%c", c);
        else if (c < 0x20)
            text_add(t, "\\u%04x", c);
        else
            text_put(t, c < 0x7f ? s : "?", 1);
    }
    text_put(t, "\"", 1);
}

void text_free(struct text *t)
{
    free(t->at);
    *t = (struct text){0};
}
