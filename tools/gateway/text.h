/* text: a growing text. A text that ran out of memory stays failed and takes nothing more. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct text {
    char *at; /* NUL behind n bytes; NULL while empty */
    size_t n, cap;
    bool failed;
};
void text_add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_put(struct text *t, const char *bytes, size_t n);
/* As a JSON string, with its quotes; bytes that are not UTF-8 become '?'. */
void text_json(struct text *t, const char *s);
void text_free(struct text *t);
