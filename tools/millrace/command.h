/* command: the contract between the frame of the `millrace` program and its subcommands.
 *
 * A subcommand is one file cmd_NAME.c that defines `const struct command command_NAME`, and one
 * line in commands.h. It declares its options in a table, each bound to a field of a struct of its
 * own; the frame parses them, prints the help, and calls run() with the struct filled in:
 *
 *   struct args { bool local; uint64_t threads; };
 *   static const struct option options[] = {
 *       {"local", 0, OPTION_FLAG, NULL, offsetof(struct args, local), "prove in this process"},
 *       {"threads", 't', OPTION_COUNT, "N", offsetof(struct args, threads), "use N threads"},
 *       {0}};
 *
 * Conventions for all subcommands, kept by the frame:
 *   - --help, --json and --quiet (-q) are understood everywhere; options may stand before, between
 *     and after operands; `--opt value` and `--opt=value` are the same; `--` ends options.
 *   - results go to standard output: for people, or with --json one JSON value; what is said on the
 *     way (progress) goes to standard error, and only when that is a terminal and not with --quiet;
 *   - a failure is one line "millrace: ..." on standard error, and the exit code is the err's code.
 *     With --json, standard output then holds {"error": {"code", "kind", "message"}}. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "err.h"

enum option_kind {
    OPTION_FLAG,    /* bool: there or not */
    OPTION_TEXT,    /* const char *: any text, borrowed from argv; NULL when not given */
    OPTION_COUNT,   /* uint64_t: a decimal number */
    OPTION_REAL,    /* double: a decimal number, not negative */
    OPTION_SIZE,    /* uint64_t: bytes; K, M, G, T multiply by powers of 1024 */
    OPTION_SECONDS, /* double: a length of time; s, m, h, d; a bare number is seconds */
    OPTION_SHARE,   /* double: 0 to 1, or a percentage ("40%") */
    OPTION_LIST,    /* struct text_list: may be given more than once */
};

struct text_list {
    const char *const *item; /* borrowed */
    size_t n;
};

struct option {
    const char *name; /* without the dashes; NULL ends the table */
    char letter;      /* short form, or 0 */
    enum option_kind kind;
    const char *value; /* what the help calls its value; NULL for a flag */
    size_t offset;     /* of the field in the args struct */
    const char *help;  /* one sentence */
};

struct command;

struct invocation {
    const struct command *command;
    const void *args; /* the command's args struct: zero, then `defaults`, then the options */
    const char *const *operand;
    size_t n_operands;
    bool json, quiet;
};

struct command {
    const char *name;             /* "prove" */
    const char *summary;          /* one line, lower case, for the list in `millrace --help` */
    const char *operands;         /* "KEY WITNESS PROOF PUBLIC" */
    const char *text;             /* paragraphs of help, wrapped at 80 columns; may be NULL */
    const struct option *options; /* may be NULL */
    size_t args_bytes;
    const void *defaults; /* an args struct to start from; NULL: all zero */
    size_t min_operands, max_operands;
    enum err_code (*run)(const struct invocation *in, struct err *e);
    /* A command with subcommands of its own ("testkit setup") has them here, ends with NULL, and
     * no run. */
    const struct command *const *subcommands;
};

/* Runs the command that argv[1..] names, out of `commands` (ends with NULL). Prints what there is
 * to print; returns the exit code. */
int command_main(const struct command *const *commands, int argc, char **argv);

/* Fills `in` from the words after a command's name. *buffer owns what `in` points to (free it).
 * ERR_USAGE with what is wrong. `help` is set when --help is among them, and nothing else is then
 * checked. */
enum err_code command_parse(const struct command *c, int argc, char **argv, struct invocation *in,
                            void **buffer, bool *help, struct err *e);

/* The help of one command (path: "testkit setup"). */
void command_help(FILE *out, const char *path, const struct command *c);

/* The manual page, in roff: every command with its options (millrace help --man). */
void command_man(FILE *out, const struct command *const *commands);
extern const struct option command_common_options[]; /* what every command has */

/* For progress: standard error is a terminal, and neither --quiet nor --json was given. */
bool command_shows_progress(const struct invocation *in);
