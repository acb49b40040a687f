/* harness: what a fuzz target is made of.
 *
 * A target defines LLVMFuzzerTestOneInput (libFuzzer's entry) and is built twice: with clang's
 * libFuzzer (-Dfuzz=true, tests/fuzz/run) and, in every build, with replay.c, which feeds it the
 * kept inputs of tests/fuzz/regress/TARGET and all malformed files of its kind. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* A path whose file holds these bytes until the next call: readers take paths. */
const char *input_file(const uint8_t *data, size_t n);

/* An accepted input must have a property; a refused one must say why in one line. */
#define PROPERTY(cond) INVARIANT(cond)
void refused_in_one_line(enum err_code code, const struct err *e);
