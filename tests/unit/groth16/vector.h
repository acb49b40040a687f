/* vector: the files of a directory of tests/fixtures/filecoin, for tests. */
#pragma once
#include "fixture.h"
#include "setup.h"

struct vector {
    const char *directory;
    char name[32];
    struct setup_secrets secrets;
    char rs[200]; /* "r,s" as MILLRACE_TEST_RS has them */
    fr_t *w;      /* n_wires plain: inputs, then aux */
    uint64_t n_inputs, n_aux;
};

/* Fails the test when a file is not as it should be. */
void vector_load(struct vector *v, const char *directory);
void vector_free(struct vector *v);

/* "FIXTURES/filecoin/DIRECTORY/FILE", or with an ending, as ".params", NAME before it. The text
 * lives until the fourth call after. */
const char *vector_path(const struct vector *v, const char *file);

/* The whole file; malloc'ed. */
uint8_t *vector_read(const struct vector *v, const char *file, size_t *n);

/* Fails unless both files hold the same bytes. */
void same_bytes(const char *path, const char *expected);
