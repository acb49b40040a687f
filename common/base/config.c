#include "config.h"
#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 1000 };

struct setting {
    char *section, *key, *value;
    unsigned line;
    bool known;
};

struct config {
    char *path;
    struct setting *settings;
    size_t n, room;
};

/* What one parse carries between our line reader and inih's call for each setting. */
struct loading {
    FILE *file;
    struct config *config;
    struct err *e;
    unsigned line;
    bool failed;
};

/* inih's reader of lines. It is ours, so that the line number is known (inih can be built without
 * it) and a line longer than inih's buffer is refused, not read as two. */
static char *read_line(char *buf, int room, void *arg)
{
    struct loading *l = arg;
    if (l->failed || !fgets(buf, room, l->file))
        return NULL;
    l->line++;
    size_t n = strlen(buf);
    if ((n + 1 == (size_t)room || n > LINE_MAX_BYTES) && buf[n - 1] != '\n') {
        err_set(l->e, ERR_FORMAT, "%s: line %u: longer than %d bytes", l->config->path, l->line,
                room - 2);
        l->failed = true;
        return NULL;
    }
    /* inih would take an indented line for a continuation of the value before it. */
    size_t indent = strspn(buf, " \t");
    if (indent)
        memmove(buf, buf + indent, n - indent + 1);
    return buf;
}

static const struct setting *find(const struct config *c, const char *section, const char *key)
{
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->settings[i].section, section) && !strcmp(c->settings[i].key, key))
            return &c->settings[i];
    return NULL;
}

static bool add(struct config *c, const char *section, const char *key, const char *value,
                unsigned line)
{
    if (c->n == c->room) {
        size_t room = c->room ? 2 * c->room : 32;
        struct setting *bigger = realloc(c->settings, room * sizeof *bigger);
        if (!bigger)
            return false;
        c->settings = bigger;
        c->room = room;
    }
    struct setting *s = &c->settings[c->n];
    *s = (struct setting){strdup(section), strdup(key), strdup(value), line, false};
    c->n++;
    return s->section && s->key && s->value;
}

static int take_setting(void *arg, const char *section, const char *key, const char *value)
{
    struct loading *l = arg;
    if (l->failed)
        return 0;
    const struct setting *before = find(l->config, section, key);
    if (before) {
        err_set(l->e, ERR_FORMAT, "%s: line %u: [%s] %s stands already in line %u", l->config->path,
                l->line, section, key, before->line);
        l->failed = true;
    } else if (!add(l->config, section, key, value, l->line)) {
        err_set(l->e, ERR_MEMORY, "%s: no memory", l->config->path);
        l->failed = true;
    }
    return !l->failed;
}

struct config *config_load(const char *path, bool optional, struct err *e)
{
    struct config *c = calloc(1, sizeof *c);
    if (!c || !(c->path = strdup(path))) {
        err_set(e, ERR_MEMORY, "%s: no memory", path);
        config_free(&c);
        return NULL;
    }
    FILE *f = fopen(path, "re");
    if (!f && optional && errno == ENOENT)
        return c;
    if (!f) {
        err_set(e, ERR_IO, "%s: cannot open: %s", path, strerror(errno));
        config_free(&c);
        return NULL;
    }
    struct loading l = {.file = f, .config = c, .e = e};
    int bad_line = ini_parse_stream(read_line, &l, take_setting, &l);
    if (!l.failed && ferror(f)) {
        err_set(e, ERR_IO, "%s: cannot read: %s", path, strerror(errno));
        l.failed = true;
    } else if (!l.failed && bad_line) {
        err_set(e, ERR_FORMAT, "%s: line %d: expected \"key = value\", \"[section]\" or a comment",
                path, bad_line);
        l.failed = true;
    }
    fclose(f);
    if (l.failed)
        config_free(&c);
    return c;
}

void config_free(struct config **cp)
{
    struct config *c = cp ? *cp : NULL;
    if (!c)
        return;
    for (size_t i = 0; i < c->n; i++) {
        free(c->settings[i].section);
        free(c->settings[i].key);
        free(c->settings[i].value);
    }
    free(c->settings);
    free(c->path);
    free(c);
    *cp = NULL;
}

/* Like find, but the asking makes the key known. */
static const struct setting *ask(struct config *c, const char *section, const char *key)
{
    struct setting *s = (struct setting *)find(c, section, key);
    if (s)
        s->known = true;
    return s;
}

static enum err_code bad_value(const struct config *c, const struct setting *s,
                               const char *expected, struct err *e)
{
    return err_set(e, ERR_VALUE, "%s: line %u: [%s] %s: expected %s, found \"%s\"", c->path,
                   s->line, s->section, s->key, expected, s->value);
}

const char *config_string(struct config *c, const char *section, const char *key,
                          const char *otherwise)
{
    const struct setting *s = ask(c, section, key);
    return s ? s->value : otherwise;
}

enum err_code config_bool(struct config *c, const char *section, const char *key, bool otherwise,
                          bool *out, struct err *e)
{
    static const char *const words[] = {"off", "on", "no", "yes", "false", "true", "0", "1"};
    const struct setting *s = ask(c, section, key);
    *out = otherwise;
    if (!s)
        return ERR_OK;
    for (unsigned i = 0; i < 8; i++) {
        if (!strcmp(s->value, words[i])) {
            *out = i & 1;
            return ERR_OK;
        }
    }
    return bad_value(c, s, "on or off", e);
}

/* The leading digits of text; *end behind them. False without digits or above 2^64 - 1. */
static bool leading_number(const char *text, uint64_t *out, const char **end)
{
    if (!isdigit((unsigned char)*text))
        return false;
    char *stop;
    errno = 0;
    *out = strtoull(text, &stop, 10);
    *end = stop;
    return errno == 0;
}

enum err_code config_u64(struct config *c, const char *section, const char *key, uint64_t otherwise,
                         uint64_t min, uint64_t max, uint64_t *out, struct err *e)
{
    const struct setting *s = ask(c, section, key);
    *out = otherwise;
    if (!s)
        return ERR_OK;
    const char *end;
    uint64_t v;
    if (!leading_number(s->value, &v, &end) || *end || v < min || v > max) {
        char expected[96];
        snprintf(expected, sizeof expected, "a whole number from %llu to %llu",
                 (unsigned long long)min, (unsigned long long)max);
        return bad_value(c, s, expected, e);
    }
    *out = v;
    return ERR_OK;
}

struct unit {
    const char *name;
    uint64_t factor;
};

static bool parse_with_units(const char *text, const struct unit *units, uint64_t *out)
{
    const char *end;
    uint64_t v;
    if (!leading_number(text, &v, &end))
        return false;
    while (*end == ' ')
        end++;
    for (const struct unit *u = units; u->name; u++)
        if (!strcmp(end, u->name))
            return !__builtin_mul_overflow(v, u->factor, out);
    return false;
}

bool parse_bytes(const char *text, uint64_t *out)
{
    static const struct unit units[] = {{"", 1},
                                        {"B", 1},
                                        {"KiB", 1ull << 10},
                                        {"MiB", 1ull << 20},
                                        {"GiB", 1ull << 30},
                                        {"TiB", 1ull << 40},
                                        {NULL, 0}};
    return parse_with_units(text, units, out);
}

bool parse_duration(const char *text, uint64_t *out_ns)
{
    static const struct unit units[] = {{"ns", 1},
                                        {"us", 1000},
                                        {"ms", 1000000},
                                        {"s", 1000000000},
                                        {"min", 60000000000},
                                        {"h", 3600000000000},
                                        {"d", 86400000000000},
                                        {NULL, 0}};
    return parse_with_units(text, units, out_ns);
}

enum err_code config_bytes(struct config *c, const char *section, const char *key,
                           uint64_t otherwise, uint64_t *out, struct err *e)
{
    const struct setting *s = ask(c, section, key);
    *out = otherwise;
    if (s && !parse_bytes(s->value, out))
        return bad_value(c, s, "a size such as 512MiB or 16GiB", e);
    return ERR_OK;
}

enum err_code config_duration(struct config *c, const char *section, const char *key,
                              uint64_t otherwise_ns, uint64_t *out_ns, struct err *e)
{
    const struct setting *s = ask(c, section, key);
    *out_ns = otherwise_ns;
    if (s && !parse_duration(s->value, out_ns))
        return bad_value(c, s, "a duration with its unit, such as 250ms, 5s, 10min or 7d", e);
    return ERR_OK;
}

const char *config_section(const struct config *c, const char *prefix, unsigned i)
{
    const char *last = NULL;
    for (size_t k = 0; k < c->n; k++) {
        const char *section = c->settings[k].section;
        if (strncmp(section, prefix, strlen(prefix)) || (last && !strcmp(last, section)))
            continue;
        if (i-- == 0)
            return section;
        last = section;
    }
    return NULL;
}

enum err_code config_check_unknown(const struct config *c, struct err *e)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct setting *s = &c->settings[i];
        if (!s->known)
            return err_set(e, ERR_FORMAT, "%s: line %u: unknown setting \"%s\" in [%s]", c->path,
                           s->line, s->key, s->section);
    }
    return ERR_OK;
}
