/* upload: the body of a proving request on its way into files of the instance's spool (0600), which
 * are wiped when the job has them or the request ends.
 *
 * A body is one input: a witness (.wtns, known by its first four bytes) or an input.json. With
 * multipart/form-data each part called "input" is one, in order: one partition each. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UPLOAD_FILES_MAX = 4096, UPLOAD_NAME_MAX = 64 };

struct request;
struct upload;
/* NULL with a reply when it cannot be received. */
struct upload *upload_new(struct request *r);
/* Server threads, piece by piece; on a failure the request gets its reply. */
void upload_take(struct upload *u, struct request *r, const char *data, size_t n);
/* The body is complete. false with a reply: there is nothing in it, or not all of one kind. */
bool upload_end(struct upload *u, struct request *r);
/* Its files are wiped by a worker. */
void upload_free(struct upload **u);

size_t upload_files(const struct upload *u);
bool upload_is_json(const struct upload *u); /* all of them; else all are witnesses */
/* A path that opens the i-th file, valid while the upload lives. */
void upload_path(const struct upload *u, size_t i, char out[UPLOAD_NAME_MAX]);
