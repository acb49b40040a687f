/* bytefile: a file that is read in any order and never mapped, under every reader of a binary
 * format. One that shrinks while it is read gives ERR_IO, no signal. Reading is thread-safe;
 * opening and closing are not. */
#pragma once
#include <stdint.h>
#include "err.h"

struct bytefile;

/* kind: "witness (.wtns)", for messages; it and `what` below are borrowed. ERR_IO when it cannot be
 * opened or is neither a regular file nor a block device. */
struct bytefile *bytefile_open(const char *path, const char *kind, struct err *e);
/* Takes over fd, also on failure. */
struct bytefile *bytefile_open_fd(int fd, const char *name, const char *kind, struct err *e);
void bytefile_close(struct bytefile **f);

const char *bytefile_name(const struct bytefile *f);
uint64_t bytefile_size(const struct bytefile *f); /* when it was opened */

/* Exactly n bytes at offset. ERR_IO when the file does not give them (any more). */
enum err_code bytefile_read(const struct bytefile *f, uint64_t offset, void *out, size_t n,
                            struct err *e);

/* Fills e with "FILE: WHAT: offset X: text", where what names the part of the file. */
enum err_code bytefile_error(const struct bytefile *f, const char *what, uint64_t offset,
                             enum err_code code, struct err *e, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/* ERR_FORMAT, naming the part, unless `bytes` bytes lie between offset and the file's end. */
enum err_code bytefile_expect(const struct bytefile *f, const char *what, uint64_t offset,
                              uint64_t bytes, struct err *e);
/* ERR_FORMAT unless the file ends at offset. */
enum err_code bytefile_expect_end(const struct bytefile *f, uint64_t offset, struct err *e);
