/* spool: a job's inputs on their way into the instance. Private to the client library.
 *
 * Files NAME.0 .. NAME.(n-1) in DIR/spool, mode 0600, NAME drawn at random. Until the desk has
 * accepted the job they belong to the client, which removes them on any failure; from then on to
 * the desk, which wipes them when the job ends. */
#pragma once
#include "connection.h"

enum { SPOOL_NAME_MAX = 33 };

struct spool {
    int fd; /* DIR/spool */
    char name[SPOOL_NAME_MAX];
    size_t n;            /* files written */
    uint8_t content[32]; /* BLAKE2b-256 over sizes and bytes of all */
};

/* Copies the inputs, hashing as it goes; durable: fsync of files and folder. wtns: check that each
 * is a witness file first, so that a wrong one is named at once. */
enum err_code spool_inputs(struct spool *s, const struct instance *in, const char *const *inputs,
                           size_t n, bool wtns, bool durable, struct err *e);
void spool_remove(struct spool *s);
void spool_close(struct spool *s);
