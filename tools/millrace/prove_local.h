/* prove_local: a proof in this process, from files to two files (millrace prove --local). */
#pragma once
#include "command.h"
#include "json.h"

struct prove_local {
    const char *key, *witness, *proof, *publics;
    const char *r1cs; /* may be NULL */
    unsigned threads; /* 0: one per CPU */
    enum json_form form;
    bool bytes; /* the proof as 192 bytes, not JSON */
};

/* Shows progress where the invocation allows; with --json prints the result and what each stage
 * took. */
enum err_code prove_local(const struct invocation *in, const struct prove_local *p, struct err *e);
