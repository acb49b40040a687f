/* marks: counts the boundaries of a multipart form as its bytes go by. microhttpd's reader of forms
 * does not tell an empty part, followed by another, from one part that came in two pieces; with the
 * number of parts known from here, none can be lost without a word. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { MARK_MAX = 80 };
struct marks {
    char mark[MARK_MAX]; /* "\n--BOUNDARY" */
    unsigned char back[MARK_MAX];
    size_t n, matched;
    size_t count;
};
/* The boundary out of a Content-Type (RFC 2046, 5.1.1: at most 70 characters, maybe in quotes);
 * false when there is none. */
bool marks_begin(struct marks *m, const char *content_type);
void marks_take(struct marks *m, const char *data, size_t n);
