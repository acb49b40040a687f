/* pipeline: what the subcommands that talk to an instance share. */
#pragma once
#include "command.h"
#include "key_options.h"
#include "millrace.h"

/* Copies the library's error to ours; returns its code. */
enum err_code pipeline_error(struct err *e, const struct millrace_error *from);

/* A job's number from an operand. */
enum err_code pipeline_job(const char *text, uint64_t *job, struct err *e);

/* Prints how far a job is, one line that is overwritten; pass to millrace_await with an in. */
void pipeline_progress(void *invocation, const struct millrace_progress *p);
void pipeline_progress_end(const struct invocation *in);

struct pipeline_prove {
    const char *dir; /* NULL: MILLRACE_DIR, else the user's own */
    const char *key, *alias;
    struct key_options files;    /* what belongs to the key */
    const char *witness;         /* .wtns, or NULL: */
    const char *input, *program; /* input.json with the circuit's witness program */
    const char *proof, *publics; /* where to */
    unsigned priority, threads;
    uint64_t limit_ms;
    bool bytes; /* the proof as 192 bytes, not JSON */
};
/* Adds the circuit when it is new, submits, waits, writes. */
enum err_code pipeline_prove(const struct invocation *in, const struct pipeline_prove *p,
                             struct err *e);
/* Adds the key of `key` when it is a file; else takes `key` for a name. digest has 65 bytes. */
enum err_code pipeline_circuit(struct millrace *m, const char *key, const struct key_options *files,
                               const char *program, const char *alias, unsigned threads, bool say,
                               char *digest, struct err *e);
