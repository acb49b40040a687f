/* file: files as the rest of Millrace reads and writes them.
 *
 * Reading: whole small files, bounded (JSON, configuration). Large inputs go through
 * files/binfile.h.
 *
 * Writing: a file_writer makes the new file beside its target and renames it there in
 * file_writer_commit, after fsync, so that a reader sees the old file or the whole new one, and a
 * crash leaves at worst a hidden file ".NAME.XXXXXX.tmp". A target that exists and is not a regular
 * file (/dev/stdout, a pipe) is written straight. A symbolic link is followed: the file that it
 * names is replaced. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "err.h"

/* Reads a file of at most max_bytes; *data is malloc'ed, NUL-terminated behind *n bytes.
 * ERR_IO, ERR_FORMAT when it is longer, ERR_MEMORY. */
enum err_code file_read(const char *path, size_t max_bytes, char **data, size_t *n, struct err *e);

/* Replaces path by these bytes, durably (write beside, fsync, rename, fsync the directory). */
enum err_code file_replace(const char *path, const void *data, size_t n, mode_t mode,
                           struct err *e);

struct file_writer;

/* mode: permissions of the new file, before the umask. */
struct file_writer *file_writer_open(const char *path, mode_t mode, struct err *e);

/* Appends; buffered (1 MiB), larger pieces go straight through. */
enum err_code file_writer_write(struct file_writer *w, const void *data, size_t n, struct err *e);

/* Appends zeros until the offset is a multiple of alignment (a power of two). */
enum err_code file_writer_align(struct file_writer *w, size_t alignment, struct err *e);

/* Overwrites bytes that were appended before (a header that is known last); not for a target that
 * is written straight (ERR_IO). */
enum err_code file_writer_patch(struct file_writer *w, uint64_t offset, const void *data, size_t n,
                                struct err *e);

uint64_t file_writer_offset(const struct file_writer *w); /* bytes appended so far */

/* Flush, fsync, rename, fsync of the directory. *w is freed and NULL afterwards, also on failure:
 * then the target is as it was and the file beside it is gone. */
enum err_code file_writer_commit(struct file_writer **w, struct err *e);

/* Gives up: nothing remains. NULL and pointer to NULL are allowed. */
void file_writer_abort(struct file_writer **w);

/* The last component of a path, for messages. */
const char *file_name(const char *path);
