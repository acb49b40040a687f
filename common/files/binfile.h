/* binfile: the checked reader under every binary format of snarkjs and circom.
 *
 *   magic[4] | u32 version | u32 n | n times { u32 id | u64 length | bytes }       little-endian
 *
 * A file is read with pread, never mapped: one that shrinks meanwhile gives ERR_IO, no signal.
 * binfile_open walks the whole section table: every section inside the file (64 bits, no wrap), no
 * id twice, nothing behind the last section. Sections may come in any order.
 *
 * Every message has the form "FILE: section ID (WHAT): offset X: ...", where X counts from the
 * file's begin, as a hex dump does. Reading is thread-safe; opening and closing are not. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "err.h"
#include "pool.h"

struct bin_known { /* a section that a format knows */
    uint32_t id;
    bool required;
    const char *what; /* "A points" */
};

struct bin_layout {
    const char *magic; /* 4 characters */
    const char *kind;  /* "proving key (.zkey)" */
    uint32_t version;
    const struct bin_known *known; /* ends with what = NULL */
    const char
        *bare_hint; /* added when the magic is wrong and the size a multiple of 32; or NULL */
};

enum { BIN_MAX_SECTIONS = 32 };

struct bin_section {
    uint32_t id;
    uint64_t offset, length; /* of the bytes, in the file */
};

struct binfile;

struct binfile *binfile_open(const char *path, const struct bin_layout *layout, struct err *e);
/* Takes over fd, also on failure. */
struct binfile *binfile_open_fd(int fd, const char *name, const struct bin_layout *layout,
                                struct err *e);
void binfile_close(struct binfile **f);

/* Required sections are there, and none that the layout does not know. Not part of opening, since
 * a format may have to look at a section first to tell which layout it is. */
enum err_code binfile_check_sections(const struct binfile *f, struct err *e);

const char *binfile_name(const struct binfile *f);
uint64_t binfile_size(const struct binfile *f);
unsigned binfile_section_count(const struct binfile *f);
const struct bin_section *binfile_section_at(const struct binfile *f, unsigned i); /* file order */
const struct bin_section *binfile_find(const struct binfile *f, uint32_t id);      /* or NULL */
uint64_t binfile_length(const struct binfile *f, uint32_t id); /* 0 when it is not there */

/* ERR_FORMAT unless the section has exactly `want` bytes; `why` says how that came about
 * ("5 wires of 64 bytes"). */
enum err_code binfile_expect_length(const struct binfile *f, uint32_t id, uint64_t want,
                                    const char *why, struct err *e);

/* n bytes from `at` in the section. ERR_FORMAT past the section's end, ERR_IO when the file does
 * not give them. */
enum err_code binfile_read(const struct binfile *f, uint32_t id, uint64_t at, void *out, size_t n,
                           struct err *e);

/* Fills e with the place before the text. */
enum err_code binfile_error(const struct binfile *f, uint32_t id, uint64_t at, enum err_code code,
                            struct err *e, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/* --- one after the other ---------------------------------------------------------------------- */

/* A reading position in a section, with a buffer for many small reads. */
struct bin_cursor {
    const struct binfile *f;
    uint32_t id;
    uint64_t at, end;      /* in the section */
    uint64_t buffer_at;    /* where buffer[0] lies in the section */
    size_t buffered, room; /* room 0: unbuffered */
    unsigned char *buffer;
};

/* buffer: `room` bytes of the caller, or NULL and 0. The section must be there. */
void bin_cursor_init(struct bin_cursor *c, const struct binfile *f, uint32_t id, void *buffer,
                     size_t room);
enum err_code bin_bytes(struct bin_cursor *c, void *out, size_t n, struct err *e);
enum err_code bin_u32(struct bin_cursor *c, uint32_t *out, struct err *e);
enum err_code bin_u64(struct bin_cursor *c, uint64_t *out, struct err *e);
enum err_code bin_skip(struct bin_cursor *c, uint64_t n, struct err *e);
enum err_code bin_at_end(const struct bin_cursor *c,
                         struct err *e); /* ERR_FORMAT with bytes left */
