#include "output.h"
#include "file.h"
#include "proof_bytes.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RESULT_MODE = 0644 };

/* A file beside its target that holds this value, ready to be renamed. */
static struct file_writer *written(const char *path, json_t *value, enum json_form form,
                                   struct err *e)
{
    size_t flags = form == JSON_SNARKJS ? JSON_INDENT(1) : JSON_COMPACT;
    char *text = value ? json_dumps(value, flags) : NULL;
    json_decref(value);
    if (!text) {
        err_set(e, ERR_MEMORY, "%s: no memory", path);
        return NULL;
    }
    struct file_writer *w = file_writer_open(path, RESULT_MODE, e);
    if (w && (file_writer_write(w, text, strlen(text), e) || file_writer_write(w, "\n", 1, e)))
        file_writer_abort(&w);
    free(text);
    return w;
}

/* The same, with a proof in 192 bytes. */
static struct file_writer *written_bytes(const char *path, const struct proof *proof, struct err *e)
{
    uint8_t bytes[PROOF_BYTES];
    if (proof_to_bytes(proof, bytes, e))
        return NULL;
    struct file_writer *w = file_writer_open(path, RESULT_MODE, e);
    if (w && file_writer_write(w, bytes, sizeof bytes, e))
        file_writer_abort(&w);
    return w;
}

static bool exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

enum err_code write_proof_files(const char *proof_path, const struct proof *proof,
                                const char *public_path, const fr_t *publics, size_t n_public,
                                enum json_form form, bool bytes, struct err *e)
{
    bool was_there = exists(proof_path);
    struct file_writer *p = bytes ? written_bytes(proof_path, proof, e)
                                  : written(proof_path, proof_to_json(proof, form), form, e);
    if (!p)
        return e->code;
    struct file_writer *q = written(public_path, public_to_json(publics, n_public), form, e);
    if (!q) {
        file_writer_abort(&p);
        return e->code;
    }
    enum err_code rc = file_writer_commit(&p, e);
    if (rc) {
        file_writer_abort(&q);
        return rc;
    }
    rc = file_writer_commit(&q, e);
    if (rc && !was_there)
        unlink(proof_path);
    return rc;
}

enum err_code print_json(json_t *value, struct err *e)
{
    if (!value)
        return err_set(e, ERR_MEMORY, "no memory for the result");
    json_dumpf(value, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(value);
    return ERR_OK;
}

void progress_stage(void *arg, const char *what, unsigned number, unsigned count)
{
    struct progress *p = arg;
    p->shown = true;
    fprintf(stderr, "\r\033[K%s: [%u/%u] %s", p->title, number, count, what);
    fflush(stderr);
}

void progress_end(struct progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}
