#include "command.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The options that every command has, parsed into `common`. */
struct common {
    bool json, quiet, help;
};
static const struct option common_options[] = {
    {"json", 0, OPTION_FLAG, NULL, offsetof(struct common, json), NULL},
    {"quiet", 'q', OPTION_FLAG, NULL, offsetof(struct common, quiet), NULL},
    {"help", 'h', OPTION_FLAG, NULL, offsetof(struct common, help), NULL},
    {0},
};

/* One block that owns all that an invocation points to: args, then operands, then list items. */
struct parsed {
    char *args;
    const char **operand;
    const char **items; /* of OPTION_LIST, one after the other; room for argc each */
    size_t n_operands;
};

static bool number(const char *text, uint64_t *out, const char **rest)
{
    if (!isdigit((unsigned char)text[0]))
        return false;
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (errno)
        return false;
    *out = v;
    *rest = end;
    return true;
}

static bool size_value(const char *text, uint64_t *out)
{
    static const char units[] = "KMGT";
    const char *rest;
    if (!number(text, out, &rest))
        return false;
    if (*rest) {
        const char *unit = strchr(units, toupper((unsigned char)*rest));
        if (!unit || (rest[1] && strcmp(rest + 1, "iB") != 0 && strcmp(rest + 1, "B") != 0))
            return false;
        unsigned shift = 10 * (unsigned)(unit - units + 1);
        if (*out > UINT64_MAX >> shift)
            return false;
        *out <<= shift;
    }
    return true;
}

static bool real_value(const char *text, double *out, const char **rest)
{
    if (!isdigit((unsigned char)text[0]) && text[0] != '.')
        return false;
    char *end;
    *out = strtod(text, &end);
    *rest = end;
    return end != text && isfinite(*out);
}

static bool seconds_value(const char *text, double *out)
{
    static const struct {
        char letter;
        double seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    const char *rest;
    if (!real_value(text, out, &rest))
        return false;
    if (!*rest)
        return true;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (rest[0] == units[i].letter && !rest[1]) {
            *out *= units[i].seconds;
            return true;
        }
    return false;
}

static bool share_value(const char *text, double *out)
{
    const char *rest;
    if (!real_value(text, out, &rest))
        return false;
    if (strcmp(rest, "%") == 0)
        *out /= 100;
    else if (*rest)
        return false;
    return *out >= 0 && *out <= 1;
}

static const char *wanted(enum option_kind kind)
{
    switch (kind) {
    case OPTION_COUNT:
        return "a whole number";
    case OPTION_REAL:
        return "a number";
    case OPTION_SIZE:
        return "a size in bytes (K, M, G, T)";
    case OPTION_SECONDS:
        return "a time in seconds (s, m, h, d)";
    case OPTION_SHARE:
        return "a share between 0 and 1, or a percentage";
    default:
        return "a text";
    }
}

/* Stores a value at its field; false when the text is not of the option's kind. */
static bool store(const struct option *o, void *field, const char *text)
{
    const char *rest;
    switch (o->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return true;
    case OPTION_TEXT:
        *(const char **)field = text;
        return true;
    case OPTION_COUNT:
        return number(text, field, &rest) && !*rest;
    case OPTION_REAL:
        return real_value(text, field, &rest) && !*rest;
    case OPTION_SIZE:
        return size_value(text, field);
    case OPTION_SECONDS:
        return seconds_value(text, field);
    case OPTION_SHARE:
        return share_value(text, field);
    case OPTION_LIST: {
        struct text_list *list = field;
        ((const char **)list->item)[list->n++] = text;
        return true;
    }
    }
    return false;
}

static const struct option *by_name(const struct option *o, const char *name, size_t length)
{
    for (; o && o->name; o++)
        if (strlen(o->name) == length && memcmp(o->name, name, length) == 0)
            return o;
    return NULL;
}

static const struct option *by_letter(const struct option *o, char letter)
{
    for (; o && o->name; o++)
        if (o->letter == letter)
            return o;
    return NULL;
}

/* One option word; *i is moved past a value that stands in the next word. */
static enum err_code take_option(const struct command *c, int argc, char **argv, int *i,
                                 struct parsed *p, struct common *common, struct err *e)
{
    const char *word = argv[*i], *value = NULL;
    const struct option *o;
    void *base = p->args;
    if (word[1] == '-') {
        const char *name = word + 2, *equals = strchr(name, '=');
        size_t length = equals ? (size_t)(equals - name) : strlen(name);
        o = by_name(c->options, name, length);
        if (!o && (o = by_name(common_options, name, length)))
            base = common;
        value = equals ? equals + 1 : NULL;
    } else {
        o = by_letter(c->options, word[1]);
        if (!o && (o = by_letter(common_options, word[1])))
            base = common;
        value = word[2] ? word + 2 : NULL;
    }
    if (!o)
        return err_set(e, ERR_USAGE, "unknown option %s", word);
    if (o->kind == OPTION_FLAG) {
        if (value)
            return err_set(e, ERR_USAGE, "option --%s takes no value", o->name);
    } else if (!value) {
        if (*i + 1 == argc)
            return err_set(e, ERR_USAGE, "option --%s needs a value (%s)", o->name, o->value);
        value = argv[++*i];
    }
    if (!store(o, (char *)base + o->offset, value))
        return err_set(e, ERR_USAGE, "option --%s: \"%s\" is not %s", o->name, value,
                       wanted(o->kind));
    return ERR_OK;
}

static enum err_code check_operands(const struct command *c, size_t n, struct err *e)
{
    if (n < c->min_operands)
        return err_set(e, ERR_USAGE, "%zu operand%s given, expected %s", n, n == 1 ? "" : "s",
                       c->operands);
    if (n > c->max_operands)
        return err_set(e, ERR_USAGE, "%zu operand%s given, expected %s", n, n == 1 ? "" : "s",
                       c->operands ? c->operands : "none");
    return ERR_OK;
}

static size_t count_lists(const struct command *c)
{
    size_t n = 0;
    for (const struct option *o = c->options; o && o->name; o++)
        n += o->kind == OPTION_LIST;
    return n;
}

static bool parsed_new(struct parsed *p, const struct command *c, int argc, void **buffer)
{
    size_t words = (size_t)argc + 1, args = (c->args_bytes + 15) & ~(size_t)15;
    char *block = calloc(1, args + words * (1 + count_lists(c)) * sizeof(char *));
    *buffer = block;
    if (!block)
        return false;
    p->args = block;
    p->operand = (const char **)(void *)(block + args);
    p->items = p->operand + words;
    if (c->defaults)
        memcpy(p->args, c->defaults, c->args_bytes);
    const char **items = p->items;
    for (const struct option *o = c->options; o && o->name; o++)
        if (o->kind == OPTION_LIST) {
            *(struct text_list *)(void *)(p->args + o->offset) = (struct text_list){items, 0};
            items += words;
        }
    return true;
}

enum err_code command_parse(const struct command *c, int argc, char **argv, struct invocation *in,
                            void **buffer, bool *help, struct err *e)
{
    struct parsed p = {0};
    struct common common = {0};
    if (!parsed_new(&p, c, argc, buffer))
        return err_set(e, ERR_MEMORY, "no memory for the command line");
    bool options_end = false;
    enum err_code rc = ERR_OK;
    for (int i = 0; i < argc && !rc && !common.help; i++) {
        const char *word = argv[i];
        if (!options_end && strcmp(word, "--") == 0)
            options_end = true;
        else if (!options_end && word[0] == '-' && word[1])
            rc = take_option(c, argc, argv, &i, &p, &common, e);
        else
            p.operand[p.n_operands++] = word;
    }
    *in = (struct invocation){
        .command = c,
        .args = p.args,
        .operand = p.operand,
        .n_operands = p.n_operands,
        .json = common.json,
        .quiet = common.quiet,
    };
    *help = common.help;
    if (!rc && !*help && c->run)
        rc = check_operands(c, p.n_operands, e);
    return rc;
}
