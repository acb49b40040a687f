/* err: what went wrong, as one line for a person and one code for a program.
 *
 * Every function that can fail on its input takes a `struct err *` last and returns an
 * `enum err_code` (0 is success) or NULL/false. On failure it fills the err exactly once, at the
 * place where the fact is known: the text names the file or field, the section, the offset and what
 * was expected ("key.zkey: section 5 (A points): offset 1284: x is not below the field's modulus").
 * No trailing newline, no secret value in it. Callers pass it up unchanged.
 *
 * The codes are also the exit codes of every program of ours. */
#pragma once
#include <stdarg.h>
#include <stddef.h>

enum err_code {
    ERR_OK = 0,
    ERR_REJECTED = 1,     /* a proof that does not verify (also rapidsnark's general failure) */
    ERR_USAGE = 2,        /* the command line is wrong */
    ERR_IO = 3,           /* a file cannot be opened, read or written; it shrank while read */
    ERR_FORMAT = 4,       /* a file is malformed: magic, version, sections, bounds, counts */
    ERR_VALUE = 5,        /* a value is out of range: element >= modulus, point off its curve */
    ERR_MISMATCH = 6,     /* files that do not belong together: curve, counts, domain */
    ERR_UNSATISFIED = 7,  /* the witness does not satisfy the circuit */
    ERR_MEMORY = 8,       /* no memory, or a budget that can never hold the request */
    ERR_UNSUPPORTED = 9,  /* valid, but not something that this build does (plonk key, ...) */
    ERR_UNAVAILABLE = 10, /* no instance is running, or it does not answer */
    ERR_REFUSED = 11,     /* the desk said no: queue full, quota, same id with other content */
    ERR_CANCELLED = 12,   /* the job was cancelled */
    ERR_DEADLINE = 13,    /* the job ran past its time limit */
    ERR_FAILED = 14,      /* the job failed for a stated reason */
    ERR_INTERNAL = 70,    /* our own invariant is broken */
};

struct err {
    enum err_code code;
    char text[1024];
};

/* Fills e (which may be NULL: the text is then dropped) and returns code. A text longer than the
 * buffer is cut. */
enum err_code err_set(struct err *e, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "prefix: " before the text that e holds already; returns e's code. */
enum err_code err_prefix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "format", "value", ...: the word that stands in JSON output for a code. */
const char *err_word(enum err_code code);

/* Our own invariant is broken: prints the place and the text to standard error and aborts. */
_Noreturn void die_at(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
#define DIE(...) die_at(__FILE__, __LINE__, __VA_ARGS__)
#define INVARIANT(cond)                                                                            \
    do {                                                                                           \
        if (__builtin_expect(!(cond), 0))                                                          \
            DIE("broken invariant: %s", #cond);                                                    \
    } while (0)
