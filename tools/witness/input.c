#include "input.h"

#include <gmp.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 512, DEPTH_MAX = 64, EXPONENT_MAX = 4096 };

/* Bare numbers reach jansson as strings that begin with this, because its integers end at 2^63. */
static const char bare_mark[] = "\\u0001";
enum { BARE = 1 };

struct reader {
    const char *file;
    mpz_t r;
    struct input *out;
    struct err *err;
    size_t capacity;
    /* The signal being collected. */
    struct input_signal now;
    size_t now_capacity;
};

uint64_t input_hash(const char *s)
{
    uint64_t h = 0xCBF29CE484222325u;
    for (; *s != 0; s++)
        h = (h ^ (uint8_t)*s) * 0x100000001B3u;
    return h;
}

void input_init(void)
{
    json_object_seed(0);
}

/* ---- numbers to strings ------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Length of the JSON number that begins at s, or 0. */
static size_t number_length(const char *s, const char *end)
{
    const char *p = s;
    if (p < end && *p == '-')
        p++;
    if (p == end || !is_digit(*p))
        return 0;
    if (*p == '0')
        p++;
    else
        while (p < end && is_digit(*p))
            p++;
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        while (p < end && is_digit(*p))
            p++;
        if (p == fraction)
            return 0;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-'))
            p++;
        const char *exponent = p;
        while (p < end && is_digit(*p))
            p++;
        if (p == exponent)
            return 0;
    }
    if (p < end && (is_digit(*p) || *p == '.'))
        return 0; /* 012, 1.2.3: left as it is, jansson names the place */
    return (size_t)(p - s);
}

/* Copies src to dst (NULL: only counts) with every bare number quoted and marked. *source_at, when
 * asked for, receives the offset in src that stands at `converted` bytes of the result. */
static size_t quote_numbers(const char *src, size_t len, char *dst, size_t converted,
                            size_t *source_at)
{
    size_t out = 0, i = 0;
    bool in_string = false;
    const size_t mark = sizeof bare_mark - 1;
    while (i < len) {
        if (source_at != NULL && out <= converted)
            *source_at = i;
        size_t n = in_string ? 0 : number_length(src + i, src + len);
        if (n > 0) {
            if (dst != NULL) {
                dst[out] = '"';
                memcpy(dst + out + 1, bare_mark, mark);
                memcpy(dst + out + 1 + mark, src + i, n);
                dst[out + 1 + mark + n] = '"';
            }
            out += n + mark + 2;
            i += n;
            continue;
        }
        size_t step = in_string && src[i] == '\\' && i + 1 < len ? 2 : 1;
        if (src[i] == '"')
            in_string = !in_string;
        if (dst != NULL)
            memcpy(dst + out, src + i, step);
        out += step;
        i += step;
    }
    return out;
}

/* ---- values ------------------------------------------------------------------------------- */

static bool all_digits(const char *s, size_t n, int base)
{
    for (size_t i = 0; i < n; i++) {
        char c = s[i];
        int d = is_digit(c)            ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : 99;
        if (d >= base)
            return false;
    }
    return n > 0;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* A string as JavaScript's BigInt() takes it, but for "", which is an oversight in a file. */
static bool string_value(mpz_t v, const char *s, size_t n)
{
    while (n > 0 && is_space(s[0]))
        s++, n--;
    while (n > 0 && is_space(s[n - 1]))
        n--;
    int base = 10;
    bool negative = false;
    if (n > 2 && s[0] == '0' && strchr("xXoObB", s[1]) != NULL) {
        base = s[1] == 'x' || s[1] == 'X' ? 16 : s[1] == 'o' || s[1] == 'O' ? 8 : 2;
        s += 2, n -= 2;
    } else if (n > 1 && (s[0] == '-' || s[0] == '+')) {
        negative = s[0] == '-';
        s++, n--;
    }
    if (!all_digits(s, n, base))
        return false;
    char *z = strndup(s, n);
    bool ok = z != NULL && mpz_set_str(v, z, base) == 0;
    if (z != NULL)
        explicit_bzero(z, n);
    free(z);
    if (ok && negative)
        mpz_neg(v, v);
    return ok;
}

/* A bare JSON number; its grammar was checked by number_length. */
static bool number_value(mpz_t v, const char *s, size_t n)
{
    size_t digits = s[0] == '-' ? 1 : 0, p = digits;
    while (p < n && is_digit(s[p]))
        p++;
    size_t fraction = p, fraction_end = p;
    if (p < n && s[p] == '.') {
        fraction = ++p;
        while (p < n && is_digit(s[p]))
            p++;
        fraction_end = p;
    }
    long exponent = 0;
    if (p < n) {
        exponent = strtol(s + p + 1, NULL, 10);
        if (exponent > EXPONENT_MAX || exponent < -EXPONENT_MAX)
            return false;
    }
    size_t whole = (fraction == fraction_end ? fraction : fraction - 1) - digits;
    size_t n_fraction = fraction_end - fraction;
    char *z = malloc(whole + n_fraction + 1);
    if (z == NULL)
        return false;
    memcpy(z, s + digits, whole);
    memcpy(z + whole, s + fraction, n_fraction);
    z[whole + n_fraction] = 0;
    bool ok = mpz_set_str(v, z, 10) == 0;
    explicit_bzero(z, whole + n_fraction);
    free(z);
    exponent -= (long)n_fraction;
    if (ok && exponent != 0) {
        mpz_t power;
        mpz_init(power);
        mpz_ui_pow_ui(power, 10, (unsigned long)(exponent < 0 ? -exponent : exponent));
        if (exponent > 0)
            mpz_mul(v, v, power);
        else if (mpz_divisible_p(v, power))
            mpz_divexact(v, v, power);
        else
            ok = false;
        mpz_clear(power);
    }
    if (ok && s[0] == '-')
        mpz_neg(v, v);
    return ok;
}

static enum err_code add_value(struct reader *rd, const char *name, const json_t *j)
{
    mpz_t v;
    mpz_init(v);
    bool ok = true;
    const char *what = NULL;
    switch (json_typeof(j)) {
    case JSON_TRUE:
        mpz_set_ui(v, 1);
        break;
    case JSON_FALSE:
        break;
    case JSON_STRING: {
        const char *s = json_string_value(j);
        size_t n = json_string_length(j);
        ok = n > 0 && s[0] == BARE ? number_value(v, s + 1, n - 1) : string_value(v, s, n);
        what = n == 0 ? "an empty string is no integer" : "a value that is no integer";
        break;
    }
    default:
        ok = false;
        what = "null is no value";
    }
    if (!ok) {
        mpz_clear(v);
        return err_set(rd->err, ERR_VALUE,
                       "%s: signal %s: value %zu: %s (an integer, decimal or 0x..., was expected)",
                       rd->file, name, rd->now.n, what);
    }
    mpz_mod(v, v, rd->r);
    struct input_signal *now = &rd->now;
    if (now->n == rd->now_capacity) {
        size_t more = rd->now_capacity == 0 ? 4 : rd->now_capacity * 2;
        void *bigger = realloc(now->value, more * 32);
        if (bigger == NULL) {
            mpz_clear(v);
            return err_set(rd->err, ERR_MEMORY, "%s: no memory for the values of signal %s",
                           rd->file, name);
        }
        now->value = bigger;
        rd->now_capacity = more;
    }
    memset(now->value[now->n], 0, 32);
    mpz_export(now->value[now->n], NULL, -1, 1, 0, 0, v);
    now->n++;
    mpz_clear(v);
    return ERR_OK;
}

/* ---- structure ---------------------------------------------------------------------------- */

/* True when an array holds, at any depth, objects instead of values. */
static bool holds_objects(const json_t *j, int depth)
{
    while (json_is_array(j) && json_array_size(j) > 0 && depth++ < DEPTH_MAX)
        j = json_array_get(j, 0);
    return json_is_object(j);
}

static enum err_code flatten(struct reader *rd, const char *name, const json_t *j, int depth)
{
    if (depth > DEPTH_MAX)
        return err_set(rd->err, ERR_FORMAT, "%s: signal %s: arrays nested deeper than %d", rd->file,
                       name, DEPTH_MAX);
    if (json_is_object(j))
        return err_set(rd->err, ERR_FORMAT, "%s: signal %s: objects and values in one array",
                       rd->file, name);
    if (!json_is_array(j))
        return add_value(rd, name, j);
    for (size_t i = 0; i < json_array_size(j); i++) {
        enum err_code rc = flatten(rd, name, json_array_get(j, i), depth + 1);
        if (rc != ERR_OK)
            return rc;
    }
    return ERR_OK;
}

static enum err_code close_signal(struct reader *rd, const char *name)
{
    struct input *in = rd->out;
    if (rd->now.n == 0)
        return ERR_OK; /* an empty array sets nothing */
    if (in->n_signals == rd->capacity) {
        size_t more = rd->capacity == 0 ? 16 : rd->capacity * 2;
        void *bigger = realloc(in->signal, more * sizeof *in->signal);
        if (bigger == NULL)
            return err_set(rd->err, ERR_MEMORY, "%s: no memory for %zu signals", rd->file, more);
        in->signal = bigger;
        rd->capacity = more;
    }
    rd->now.name = strdup(name);
    if (rd->now.name == NULL)
        return err_set(rd->err, ERR_MEMORY, "%s: no memory for the name of a signal", rd->file);
    rd->now.hash = input_hash(name);
    in->signal[in->n_signals++] = rd->now;
    rd->now = (struct input_signal){0};
    rd->now_capacity = 0;
    return ERR_OK;
}

static enum err_code walk(struct reader *rd, const char *name, const json_t *j, int depth)
{
    char longer[NAME_MAX_BYTES];
    enum err_code rc = ERR_OK;
    if (depth > DEPTH_MAX)
        return err_set(rd->err, ERR_FORMAT, "%s: signal %s: nested deeper than %d", rd->file, name,
                       DEPTH_MAX);
    if (json_is_object(j)) {
        const char *key;
        json_t *child;
        json_object_foreach((json_t *)j, key, child)
        {
            int n = snprintf(longer, sizeof longer, "%s%s%s", name, name[0] != 0 ? "." : "", key);
            if (n < 0 || (size_t)n >= sizeof longer)
                return err_set(rd->err, ERR_FORMAT, "%s: a signal's name is longer than %d bytes",
                               rd->file, NAME_MAX_BYTES - 1);
            rc = walk(rd, longer, child, depth + 1);
            if (rc != ERR_OK)
                return rc;
        }
        return ERR_OK;
    }
    if (json_is_array(j) && holds_objects(j, 0)) {
        for (size_t i = 0; i < json_array_size(j); i++) {
            int n = snprintf(longer, sizeof longer, "%s[%zu]", name, i);
            if (n < 0 || (size_t)n >= sizeof longer)
                return err_set(rd->err, ERR_FORMAT, "%s: a signal's name is longer than %d bytes",
                               rd->file, NAME_MAX_BYTES - 1);
            rc = walk(rd, longer, json_array_get(j, i), depth + 1);
            if (rc != ERR_OK)
                return rc;
        }
        return ERR_OK;
    }
    rc = flatten(rd, name, j, depth);
    return rc == ERR_OK ? close_signal(rd, name) : rc;
}

enum err_code input_parse(const char *name, const char *text, size_t len, const uint8_t prime[32],
                          struct input *out, struct err *e)
{
    *out = (struct input){0};
    size_t quoted_len = quote_numbers(text, len, NULL, 0, NULL);
    char *quoted = malloc(quoted_len + 1);
    if (quoted == NULL)
        return err_set(e, ERR_MEMORY, "%s: no memory to read %zu bytes of JSON", name, len);
    quote_numbers(text, len, quoted, 0, NULL);

    json_error_t je;
    json_t *root = json_loadb(quoted, quoted_len, JSON_REJECT_DUPLICATES, &je);
    explicit_bzero(quoted, quoted_len);
    free(quoted);
    if (root == NULL) {
        size_t at = 0;
        quote_numbers(text, len, NULL, je.position > 0 ? (size_t)je.position : 0, &at);
        /* jansson quotes the text near the fault, which may be a secret value: kept out. */
        const char *what = json_error_code(&je) == json_error_duplicate_key
                               ? "a signal is given twice"
                               : "this is not JSON";
        return err_set(e, ERR_FORMAT, "%s: line %d, near offset %zu: %s", name, je.line, at, what);
    }
    struct reader rd = {.file = name, .out = out, .err = e};
    mpz_init(rd.r);
    mpz_import(rd.r, 32, -1, 1, 0, 0, prime);
    enum err_code rc =
        json_is_object(root)
            ? walk(&rd, "", root, 0)
            : err_set(e, ERR_FORMAT, "%s: an object {\"signal\": value, ...} was expected", name);
    mpz_clear(rd.r);
    json_decref(root);
    if (rd.now.value != NULL) {
        explicit_bzero(rd.now.value, rd.now_capacity * 32);
        free(rd.now.value);
    }
    if (rc != ERR_OK)
        input_wipe(out);
    return rc;
}

void input_wipe(struct input *in)
{
    for (size_t i = 0; i < in->n_signals; i++) {
        explicit_bzero(in->signal[i].value, in->signal[i].n * 32);
        free(in->signal[i].value);
        free(in->signal[i].name);
    }
    free(in->signal);
    *in = (struct input){0};
}
