/* testkit: what the subcommands of `millrace testkit` share. */
#pragma once
#include "command.h"
#include "setup.h"

#define TESTKIT_UNSAFE                                                                             \
    "UNSAFE: the secrets of these keys are known to everyone who knows the seed. Whoever has\n"    \
    "them can prove anything. Use them for tests and benchmarks and for nothing else.\n"

extern const struct command testkit_setup, testkit_generate;

/* Writes the key as a .zkey, or as a prepared circuit when `prepared` is set. */
enum err_code testkit_write_key(const struct invocation *in, const struct setup *s, bool prepared,
                                const char *path, struct pool *pool, struct err *e);
