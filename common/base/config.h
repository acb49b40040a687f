/* config: an instance's millrace.conf (ini form), read once, typed on demand.
 *
 *   [desk]
 *   result_days = 7          a comment starts with ; or # at the line's begin, or with " ;"
 *   arena = 16GiB
 *
 * Getters return ERR_OK with the default in *out when the key is absent, and a clear error (file,
 * line, section, key, what was expected, what stands there) when it cannot be read as asked for.
 * Each getter also marks its key as known: after all are read, config_check_unknown names the first
 * key that nobody asked for (a misspelt setting must not be silently ignored).
 *
 * A section or key that occurs twice, a line that is not understood and a line of more than 1000
 * bytes are errors of config_load. Immutable after loading except for the marks; one thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "err.h"

struct config;

/* A missing file is ERR_IO; with optional set it is an empty configuration. */
struct config *config_load(const char *path, bool optional, struct err *e);
void config_free(struct config **c);

/* Borrowed until config_free; the default may be NULL. */
const char *config_string(struct config *c, const char *section, const char *key,
                          const char *otherwise);

/* "on", "off", "yes", "no", "true", "false", "1", "0". */
enum err_code config_bool(struct config *c, const char *section, const char *key, bool otherwise,
                          bool *out, struct err *e);

/* A decimal number in [min, max]. */
enum err_code config_u64(struct config *c, const char *section, const char *key, uint64_t otherwise,
                         uint64_t min, uint64_t max, uint64_t *out, struct err *e);

/* "4096", "64KiB", "16MiB", "2TiB", in bytes; whole numbers only. */
enum err_code config_bytes(struct config *c, const char *section, const char *key,
                           uint64_t otherwise, uint64_t *out, struct err *e);

/* "250ms", "10us", "5s", "10min", "2h", "7d", in nanoseconds; a bare number is refused, since no
 * reader would guess its unit. */
enum err_code config_duration(struct config *c, const char *section, const char *key,
                              uint64_t otherwise_ns, uint64_t *out_ns, struct err *e);

/* The same two readings of any text (command line), *out in bytes or nanoseconds; false when it
 * is not one. */
bool parse_bytes(const char *text, uint64_t *out);
bool parse_duration(const char *text, uint64_t *out_ns);

/* The i-th section that starts with prefix, in file order; NULL past the last. For repeated parts
 * such as [gpu 0], [gpu 1]. */
const char *config_section(const struct config *c, const char *prefix, unsigned i);

/* ERR_FORMAT naming the first setting that no getter has asked for. */
enum err_code config_check_unknown(const struct config *c, struct err *e);
