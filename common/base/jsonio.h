/* jsonio: JSON files in and out over jansson, with errors that name file, line and path.
 *
 * Objects with a repeated key and bytes behind the value are refused. Nesting is bounded by
 * jansson (2048). */
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "err.h"

enum json_read_flags {
    /* A bare integer of more than 18 digits becomes a string of its digits (an input.json may hold
     * field elements so; jansson would refuse them). */
    JSON_KEEP_BIG_INTEGERS = 1,
};

/* A new reference, or NULL: ERR_IO, ERR_FORMAT ("name: line 3, column 7: ..."), ERR_MEMORY. */
json_t *json_read(const char *path, size_t max_bytes, unsigned flags, struct err *e);

/* The same from memory; name stands in messages. */
json_t *json_parse(const char *text, size_t n, const char *name, unsigned flags, struct err *e);

/* Writes value to path (file_replace) with a final newline. one_line: no white space at all; else
 * indented by one space as snarkjs does. Does not take the reference. */
enum err_code json_save(const char *path, const json_t *value, bool one_line, mode_t mode,
                        struct err *e);

/* A member of an object; ERR_FORMAT with "name: field missing: expected a string" and the like.
 * Borrowed. name is the file's name or what else tells a person where to look. */
const char *json_need_string(const json_t *object, const char *name, const char *field,
                             struct err *e);
json_t *json_need_array(const json_t *object, const char *name, const char *field, struct err *e);
json_t *json_need_object(const json_t *object, const char *name, const char *field, struct err *e);
enum err_code json_need_u64(const json_t *object, const char *name, const char *field, uint64_t max,
                            uint64_t *out, struct err *e);
