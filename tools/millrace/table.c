#include "table.h"
#include <stdlib.h>
#include <string.h>

enum { CELL = 80, COLUMNS_MAX = 16 };

static void put_bytes(char out[CELL], double n)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t u = 0;
    for (; n >= 1024 && u + 1 < sizeof unit / sizeof unit[0]; u++)
        n /= 1024;
    snprintf(out, CELL, u ? "%.1f %s" : "%.0f %s", n, unit[u]);
}

static void put_cell(char out[CELL], const json_t *v, unsigned flags)
{
    out[0] = '\0';
    if (json_is_string(v))
        snprintf(out, CELL, "%.*s", flags & COLUMN_SHORT ? 12 : CELL - 1, json_string_value(v));
    else if (json_is_number(v) && flags & COLUMN_BYTES)
        put_bytes(out, json_number_value(v));
    else if (json_is_number(v) && flags & COLUMN_MS)
        snprintf(out, CELL, "%.3f s", json_number_value(v) / 1000.0);
    else if (json_is_integer(v))
        snprintf(out, CELL, "%lld", (long long)json_integer_value(v));
    else if (json_is_real(v))
        snprintf(out, CELL, "%.2f", json_real_value(v));
    else if (json_is_boolean(v))
        snprintf(out, CELL, "%s", json_is_true(v) ? "yes" : "no");
    else if (json_is_array(v))
        snprintf(out, CELL, "%zu", json_array_size(v));
}

static bool is_number(const json_t *v)
{
    return json_is_number(v);
}

void table_print(FILE *out, const json_t *rows, const struct column *columns)
{
    size_t width[COLUMNS_MAX] = {0}, n = 0, i;
    bool used[COLUMNS_MAX] = {false}, right[COLUMNS_MAX] = {false};
    json_t *row;
    char cell[CELL];
    for (; columns[n].key && n < COLUMNS_MAX; n++) {
        width[n] = strlen(columns[n].title);
        json_array_foreach((json_t *)(uintptr_t)rows, i, row)
        {
            const json_t *v = json_object_get(row, columns[n].key);
            put_cell(cell, v, columns[n].flags);
            used[n] |= cell[0] != '\0';
            right[n] |= is_number(v);
            width[n] = strlen(cell) > width[n] ? strlen(cell) : width[n];
        }
    }
    size_t last = 0;
    for (size_t c = 0; c < n; c++)
        if (used[c])
            last = c;
    for (size_t c = 0; c < n; c++)
        if (used[c])
            fprintf(out, c == last ? "%*s\n" : "%*s  ",
                    c == last && !right[c] ? 0
                    : right[c]             ? (int)width[c]
                                           : -(int)width[c],
                    columns[c].title);
    json_array_foreach((json_t *)(uintptr_t)rows, i, row)
    {
        for (size_t c = 0; c < n; c++) {
            if (!used[c])
                continue;
            put_cell(cell, json_object_get(row, columns[c].key), columns[c].flags);
            fprintf(out, c == last ? "%*s\n" : "%*s  ",
                    c == last && !right[c] ? 0
                    : right[c]             ? (int)width[c]
                                           : -(int)width[c],
                    cell);
        }
    }
}

json_t *report_get(const char *dir, enum millrace_report what, uint64_t number, const char *text,
                   struct err *e)
{
    struct millrace_error why;
    struct millrace *m = millrace_open(dir, &why);
    if (!m) {
        pipeline_error(e, &why);
        return NULL;
    }
    char *json = NULL;
    int failed = millrace_report(m, what, number, text, &json, &why);
    millrace_close(&m);
    if (failed) {
        pipeline_error(e, &why);
        return NULL;
    }
    json_error_t at;
    json_t *report = json_loads(json, JSON_REJECT_DUPLICATES, &at);
    free(json);
    if (!report)
        err_set(e, ERR_FORMAT, "the desk's report, line %d: %s", at.line, at.text);
    return report;
}

enum err_code table_report(const struct invocation *in, const char *dir, enum millrace_report what,
                           uint64_t number, const char *text, const char *member,
                           const struct column *columns, struct err *e)
{
    json_t *report = report_get(dir, what, number, text, e);
    if (!report)
        return e->code;
    if (in->json) {
        json_dumpf(report, stdout, JSON_INDENT(1));
        putchar('\n');
    } else {
        const json_t *rows = json_is_array(report) ? report : json_object_get(report, member);
        if (json_array_size(rows))
            table_print(stdout, rows, columns);
        else
            printf("no %s\n", member);
    }
    json_decref(report);
    return ERR_OK;
}

static void facts_at(FILE *out, const json_t *object, const char *const *skip, int indent)
{
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)(uintptr_t)object, key, v)
    {
        bool left_out = json_is_null(v);
        for (const char *const *s = skip; s && *s; s++)
            left_out |= !strcmp(*s, key);
        if (json_is_array(v) && json_is_object(json_array_get(v, 0)))
            left_out = true;
        if (left_out)
            continue;
        char cell[CELL];
        size_t n = strlen(key);
        bool bytes = n > 6 && !strcmp(key + n - 6, "_bytes");
        bool ms = n > 3 && !strcmp(key + n - 3, "_ms");
        int shown = (int)(bytes ? n - 6 : ms ? n - 3 : n);
        if (json_is_object(v)) {
            fprintf(out, "%*s%s:\n", indent, "", key);
            facts_at(out, v, skip, indent + 2);
            continue;
        }
        if (json_is_array(v) && json_array_size(v) == 0)
            continue;
        if (json_is_string(v)) {
            fprintf(out, "%*s%s: %s\n", indent, "", key, json_string_value(v));
            continue;
        }
        put_cell(cell, v, bytes ? COLUMN_BYTES : ms ? COLUMN_MS : 0);
        fprintf(out, "%*s%.*s: %s\n", indent, "", shown, key, cell);
    }
}

void facts_print(FILE *out, const json_t *object, const char *const *skip)
{
    facts_at(out, object, skip, 0);
}
