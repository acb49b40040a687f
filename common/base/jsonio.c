#include "jsonio.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "file.h"

enum { PLAIN_DIGITS = 18 }; /* a bare integer of so many digits always fits jansson's 64 bits */

/* Puts quotes around long bare integers. A JSON text holds digits outside strings in numbers
 * alone, so tracking strings is enough; a number with a fraction or an exponent is left. */
static char *quote_big_integers(const char *text, size_t n, size_t *out_n)
{
    size_t longs = n / PLAIN_DIGITS + 1;
    char *out = malloc(n + 2 * longs + 1);
    if (!out)
        return NULL;
    size_t w = 0;
    bool in_string = false;
    for (size_t i = 0; i < n;) {
        char ch = text[i];
        if (in_string && ch == '\\' && i + 1 < n) {
            out[w++] = text[i++];
            out[w++] = text[i++];
            continue;
        }
        if (ch == '"')
            in_string = !in_string;
        if (in_string || !(isdigit((unsigned char)ch) || ch == '-')) {
            out[w++] = text[i++];
            continue;
        }
        size_t end = i + 1, digits = isdigit((unsigned char)ch) ? 1 : 0;
        while (end < n && isdigit((unsigned char)text[end])) {
            end++;
            digits++;
        }
        bool integer = end == n || !strchr(".eE+-", text[end]) || text[end] == 0;
        while (end < n && text[end] && strchr(".eE+-0123456789", text[end]))
            end++;
        bool quote = integer && digits > PLAIN_DIGITS;
        if (quote)
            out[w++] = '"';
        memcpy(out + w, text + i, end - i);
        w += end - i;
        if (quote)
            out[w++] = '"';
        i = end;
    }
    out[w] = 0;
    *out_n = w;
    return out;
}

json_t *json_parse(const char *text, size_t n, const char *name, unsigned flags, struct err *e)
{
    char *quoted = NULL;
    if (flags & JSON_KEEP_BIG_INTEGERS) {
        quoted = quote_big_integers(text, n, &n);
        if (!quoted) {
            err_set(e, ERR_MEMORY, "%s: no memory", name);
            return NULL;
        }
        text = quoted;
    }
    json_error_t why;
    json_t *value = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);
    free(quoted);
    if (!value) {
        bool memory = json_error_code(&why) == json_error_out_of_memory;
        err_set(e, memory ? ERR_MEMORY : ERR_FORMAT, "%s: line %d, column %d: %s", name, why.line,
                why.column, why.text);
    }
    return value;
}

json_t *json_read(const char *path, size_t max_bytes, unsigned flags, struct err *e)
{
    char *text;
    size_t n;
    if (file_read(path, max_bytes, &text, &n, e))
        return NULL;
    json_t *value = json_parse(text, n, path, flags, e);
    free(text);
    return value;
}

enum err_code json_save(const char *path, const json_t *value, bool one_line, mode_t mode,
                        struct err *e)
{
    size_t flags = JSON_ENCODE_ANY | (one_line ? JSON_COMPACT : JSON_INDENT(1));
    char *text = json_dumps(value, flags);
    size_t n = text ? strlen(text) : 0;
    char *line = text ? realloc(text, n + 2) : NULL;
    if (!line) {
        free(text);
        return err_set(e, ERR_MEMORY, "%s: no memory to encode JSON", path);
    }
    line[n++] = '\n';
    enum err_code code = file_replace(path, line, n, mode, e);
    free(line);
    return code;
}

static json_t *need(const json_t *object, const char *name, const char *field, json_type type,
                    const char *expected, struct err *e)
{
    json_t *v = json_is_object(object) ? json_object_get(object, field) : NULL;
    if (v && json_typeof(v) == type)
        return v;
    err_set(e, ERR_FORMAT, "%s: %s: expected %s, %s", name, field, expected,
            !json_is_object(object) ? "but this is no object"
            : v                     ? "found another kind of value"
                                    : "but the field is missing");
    return NULL;
}

const char *json_need_string(const json_t *object, const char *name, const char *field,
                             struct err *e)
{
    return json_string_value(need(object, name, field, JSON_STRING, "a string", e));
}

json_t *json_need_array(const json_t *object, const char *name, const char *field, struct err *e)
{
    return need(object, name, field, JSON_ARRAY, "an array", e);
}

json_t *json_need_object(const json_t *object, const char *name, const char *field, struct err *e)
{
    return need(object, name, field, JSON_OBJECT, "an object", e);
}

enum err_code json_need_u64(const json_t *object, const char *name, const char *field, uint64_t max,
                            uint64_t *out, struct err *e)
{
    json_t *v = need(object, name, field, JSON_INTEGER, "a whole number", e);
    if (!v)
        return ERR_FORMAT;
    json_int_t i = json_integer_value(v);
    if (i < 0 || (uint64_t)i > max)
        return err_set(e, ERR_FORMAT, "%s: %s: expected a number from 0 to %" PRIu64, name, field,
                       max);
    *out = (uint64_t)i;
    return ERR_OK;
}
