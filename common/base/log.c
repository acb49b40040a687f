#include "log.h"
#include <ctype.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 4096, VALUE_MAX_BYTES = 2048, WAIT_MS = 20 };

static _Atomic int current_level = LOG_LEVEL_INFO;
static _Atomic bool as_json;
static _Atomic uint64_t dropped, dropped_reported;
static char process_name[32] = "millrace";

static const char *const level_names[] = {"error", "warn", "info", "debug"};

/* A line that is being made; cut is set once something did not fit. */
struct line {
    char text[LINE_MAX_BYTES];
    size_t n;
    bool cut, json;
};

static const size_t tail_room = sizeof ",\"cut\":true}\n";

static void put(struct line *l, const char *s, size_t n)
{
    if (l->cut)
        return;
    if (n > sizeof l->text - tail_room - l->n) {
        l->cut = true;
        return;
    }
    memcpy(l->text + l->n, s, n);
    l->n += n;
}

static void put_str(struct line *l, const char *s)
{
    put(l, s, strlen(s));
}

/* A value in quotes, valid as JSON and readable as text; bytes that are not ASCII pass when they
 * form UTF-8 in a terminal, but in JSON a stray one would spoil the line, so it is escaped. */
static void put_quoted(struct line *l, const char *s)
{
    put_str(l, "\"");
    for (const unsigned char *p = (const unsigned char *)s; *p; p++) {
        char esc[8];
        if (*p == '"' || *p == '\\') {
            esc[0] = '\\';
            esc[1] = (char)*p;
            put(l, esc, 2);
        } else if (*p < 0x20 || *p >= 0x7f) {
            put(l, esc, (size_t)snprintf(esc, sizeof esc, "\\u%04x", *p));
        } else {
            put(l, (const char *)p, 1);
        }
    }
    put_str(l, "\"");
}

static bool needs_quotes(const char *s)
{
    if (!*s)
        return true;
    for (const unsigned char *p = (const unsigned char *)s; *p; p++)
        if (*p <= 0x20 || *p >= 0x7f || *p == '"' || *p == '=' || *p == '\\')
            return true;
    return false;
}

static void put_field(struct line *l, const char *key, size_t key_len, const char *value,
                      bool number)
{
    size_t before = l->n;
    if (l->json) {
        put_str(l, ",\"");
        put(l, key, key_len);
        put_str(l, "\":");
        if (number)
            put_str(l, value);
        else
            put_quoted(l, value);
    } else {
        put_str(l, " ");
        put(l, key, key_len);
        put_str(l, "=");
        if (!number && needs_quotes(value))
            put_quoted(l, value);
        else
            put_str(l, value);
    }
    if (l->cut)
        l->n = before; /* whole fields only: what remains is still valid JSON */
}

/* One conversion of a field's format: spec is its text, from '%' to the letter. Returns the
 * number of bytes that snprintf wanted. */
static int format_one(char *out, size_t cap, const char *spec, const char *length, char conv,
                      const int *stars, int n_stars, va_list *ap)
{
#define EMIT(value)                                                                                \
    (n_stars == 2   ? snprintf(out, cap, spec, stars[0], stars[1], value)                          \
     : n_stars == 1 ? snprintf(out, cap, spec, stars[0], value)                                    \
                    : snprintf(out, cap, spec, value))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    switch (conv) {
    case 'd':
    case 'i':
        if (!strcmp(length, "l"))
            return EMIT(va_arg(*ap, long));
        if (!strcmp(length, "ll"))
            return EMIT(va_arg(*ap, long long));
        if (!strcmp(length, "z"))
            return EMIT(va_arg(*ap, ssize_t));
        if (!strcmp(length, "j"))
            return EMIT(va_arg(*ap, intmax_t));
        if (!strcmp(length, "t"))
            return EMIT(va_arg(*ap, ptrdiff_t));
        return EMIT(va_arg(*ap, int));
    case 'u':
    case 'x':
    case 'X':
        if (!strcmp(length, "l"))
            return EMIT(va_arg(*ap, unsigned long));
        if (!strcmp(length, "ll"))
            return EMIT(va_arg(*ap, unsigned long long));
        if (!strcmp(length, "z"))
            return EMIT(va_arg(*ap, size_t));
        if (!strcmp(length, "j"))
            return EMIT(va_arg(*ap, uintmax_t));
        if (!strcmp(length, "t"))
            return EMIT(va_arg(*ap, ptrdiff_t));
        return EMIT(va_arg(*ap, unsigned));
    case 'c':
        return EMIT(va_arg(*ap, int));
    case 'e':
    case 'f':
    case 'g':
        return EMIT(va_arg(*ap, double));
    case 's': {
        const char *s = va_arg(*ap, const char *);
        return EMIT(s ? s : "(null)");
    }
    case 'p':
        return EMIT(va_arg(*ap, void *));
    default:
        return -1;
    }
#pragma GCC diagnostic pop
#undef EMIT
}

/* Formats one value up to the separating space or the end; *fmt moves there. False when the
 * format holds a conversion that log.h does not name: the arguments behind it are then unknown. */
static bool format_value(char *value, size_t cap, const char **fmt, bool *number, va_list *ap)
{
    size_t n = 0;
    unsigned literals = 0, numeric = 0, other = 0;
    const char *p = *fmt;
    while (*p && *p != ' ') {
        if (*p != '%' || p[1] == '%') {
            if (n + 1 < cap)
                value[n++] = *p;
            p += *p == '%' ? 2 : 1;
            literals++;
            continue;
        }
        char spec[32], length[3] = "";
        int stars[2], n_stars = 0;
        const char *start = p++;
        while (*p && strchr("-+ #0123456789.*", *p)) {
            if (*p++ == '*' && n_stars < 2)
                stars[n_stars++] = va_arg(*ap, int);
        }
        for (size_t k = 0; k < 2 && *p && strchr("hlzjt", *p); k++)
            length[k] = *p++;
        if (!*p || (size_t)(p + 1 - start) >= sizeof spec)
            return false;
        memcpy(spec, start, (size_t)(p + 1 - start));
        spec[p + 1 - start] = 0;
        int want = format_one(value + n, cap - n, spec, length, *p, stars, n_stars, ap);
        if (want < 0)
            return false;
        n = (size_t)want < cap - n ? n + (size_t)want : cap - 1;
        if (strchr("diufeg", *p))
            numeric++;
        else
            other++;
        p++;
    }
    value[n] = 0;
    *fmt = p;
    *number = numeric == 1 && !literals && !other && (isdigit((unsigned char)value[n ? n - 1 : 0]));
    return true;
}

static void put_fields(struct line *l, const char *fmt, va_list *ap)
{
    while (*fmt) {
        if (*fmt == ' ') {
            fmt++;
            continue;
        }
        const char *key = fmt;
        size_t key_len = strcspn(fmt, "= %");
        if (fmt[key_len] != '=') {
            put_field(l, "bad_format", 10, key, false);
            return;
        }
        fmt += key_len + 1;
        char value[VALUE_MAX_BYTES];
        bool number = false;
        if (!format_value(value, sizeof value, &fmt, &number, ap)) {
            put_field(l, "bad_format", 10, key, false);
            return;
        }
        put_field(l, key, key_len, value, number);
    }
}

static void put_head(struct line *l, enum log_level level, const char *event)
{
    struct timespec now;
    struct tm tm;
    char head[160], when[32];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &tm);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &tm);
    const char *form = l->json ? "{\"time\":\"%s.%06ldZ\",\"level\":\"%s\",\"process\":\"%s\","
                                 "\"pid\":%d,\"event\":"
                               : "%s.%06ldZ %s %s[%d] ";
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(head, sizeof head, form, when, now.tv_nsec / 1000, level_names[level], process_name,
             (int)getpid());
#pragma GCC diagnostic pop
    put_str(l, head);
    if (l->json || needs_quotes(event))
        put_quoted(l, event);
    else
        put_str(l, event);
}

static void emit(struct line *l)
{
    if (l->cut) {
        l->cut = false;
        const char *mark = l->json ? ",\"cut\":true" : " cut=true";
        memcpy(l->text + l->n, mark, strlen(mark)); /* tail_room was kept */
        l->n += strlen(mark);
    }
    if (l->json)
        l->text[l->n++] = '}';
    l->text[l->n++] = '\n';
    /* A pipe that polls writable takes PIPE_BUF (4096) bytes whole and at once. */
    struct pollfd fd = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&fd, 1, WAIT_MS) != 1 || !(fd.revents & POLLOUT) ||
        write(STDERR_FILENO, l->text, l->n) < 0)
        atomic_fetch_add(&dropped, 1);
}

void log_event(enum log_level level, const char *event, const struct log_subject *subject,
               const char *fields, ...)
{
    if (!log_enabled(level))
        return;
    struct line l = {.n = 0, .json = atomic_load(&as_json)};
    put_head(&l, level, event);
    char number[24];
    if (subject && subject->job)
        put_field(&l, "job", 3, subject->job, false);
    if (subject && subject->partition >= 0) {
        snprintf(number, sizeof number, "%" PRId64, subject->partition);
        put_field(&l, "partition", 9, number, true);
    }
    va_list ap;
    va_start(ap, fields);
    put_fields(&l, fields, &ap);
    va_end(ap);
    uint64_t lost = atomic_load(&dropped), told = atomic_exchange(&dropped_reported, lost);
    if (lost > told) {
        snprintf(number, sizeof number, "%" PRIu64, lost - told);
        put_field(&l, "lines_lost", 10, number, true);
    }
    emit(&l);
}

bool log_enabled(enum log_level level)
{
    return (int)level <= atomic_load_explicit(&current_level, memory_order_relaxed);
}

uint64_t log_dropped(void)
{
    return atomic_load(&dropped);
}

/* Takes the words of a setting into *level and *json; false when one is not known. */
static bool parse_setting(const char *setting, int *level, bool *json)
{
    for (const char *p = setting; *p;) {
        size_t n = strcspn(p, ",");
        bool known = false;
        for (int i = 0; i < 4 && !known; i++) {
            if (strlen(level_names[i]) == n && !strncmp(p, level_names[i], n)) {
                *level = i;
                known = true;
            }
        }
        if (n == 4 && (!strncmp(p, "json", 4) || !strncmp(p, "text", 4))) {
            *json = *p == 'j';
            known = true;
        }
        if (!known)
            return false;
        p += n + (p[n] == ',');
    }
    return true;
}

bool log_configure(const char *setting)
{
    int level = atomic_load(&current_level);
    bool json = atomic_load(&as_json);
    if (!parse_setting(setting, &level, &json))
        return false;
    atomic_store(&current_level, level);
    atomic_store(&as_json, json);
    return true;
}

bool log_is_setting(const char *setting)
{
    int level;
    bool json;
    return *setting && strlen(setting) < LOG_SETTING_MAX && parse_setting(setting, &level, &json);
}

const char *log_setting(char *out)
{
    snprintf(out, LOG_SETTING_MAX, "%s,%s", level_names[atomic_load(&current_level)],
             atomic_load(&as_json) ? "json" : "text");
    return out;
}

void log_init(const char *process)
{
    snprintf(process_name, sizeof process_name, "%s", process);
    const char *setting = getenv("MILLRACE_LOG");
    if (setting && !log_configure(setting))
        log_warn("bad-log-setting", NULL, "MILLRACE_LOG=%s expected=%s", setting,
                 "error|warn|info|debug[,text|json]");
}
