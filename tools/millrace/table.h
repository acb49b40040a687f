/* table: reports of the desk (JSON) as columns for a person. */
#pragma once
#include <jansson.h>
#include "pipeline.h"

enum column_flags {
    COLUMN_BYTES = 1, /* 1.5 GiB */
    COLUMN_SHORT = 2, /* the first 12 characters */
    COLUMN_MS = 4,    /* milliseconds as seconds */
};

struct column {
    const char *key;   /* member of each row; NULL ends the list */
    const char *title; /* a column whose value no row has is left out */
    unsigned flags;
};

/* Prints an array of objects. */
void table_print(FILE *out, const json_t *rows, const struct column *columns);

/* Gets a report and prints its array `member` as a table, or with --json the report as it is. */
enum err_code table_report(const struct invocation *in, const char *dir, enum millrace_report what,
                           uint64_t number, const char *text, const char *member,
                           const struct column *columns, struct err *e);

/* Gets a report and parses it; the caller decrefs. NULL with e filled. */
json_t *report_get(const char *dir, enum millrace_report what, uint64_t number, const char *text,
                   struct err *e);
/* Prints members of an object as "name: value" lines, nested ones indented; arrays of objects and
 * what `skip` lists (NULL-terminated; may be NULL) are left out. */
void facts_print(FILE *out, const json_t *object, const char *const *skip);
