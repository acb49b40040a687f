/* output: what several subcommands print and write. */
#pragma once
#include "command.h"
#include "json.h"

/* Writes both files or neither: each is made beside its target, and the first is taken back when
 * the second cannot be put in place. bytes: the proof in 192 bytes (proof_bytes.h), whatever
 * `form` says. */
enum err_code write_proof_files(const char *proof_path, const struct proof *proof,
                                const char *public_path, const fr_t *publics, size_t n_public,
                                enum json_form form, bool bytes, struct err *e);

/* Prints a JSON value on one line and drops the reference. ERR_MEMORY for NULL. */
enum err_code print_json(json_t *value, struct err *e);

/* A line of progress on standard error that is written over by the next: "[3/9] what". */
struct progress {
    bool shown;
    const char *title;
};
void progress_stage(void *arg, const char *what, unsigned number, unsigned count);
void progress_end(struct progress *p);
