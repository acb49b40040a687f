#include "upload.h"
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "gateway.h"
#include "marks.h"
#include "request.h"

struct upload {
    struct gateway *gateway;
    int spool_fd;  /* DIR/spool */
    int fd;        /* of the file being written; -1: none */
    char name[40]; /* drawn at random; the files are name.0, name.1, ... */
    size_t n;
    uint64_t bytes; /* of the file being written */
    char magic[4];  /* its first bytes */
    bool json, wtns;
    struct MHD_PostProcessor *form;
    struct marks marks;      /* of the form */
    struct request *request; /* while upload_take runs */
};

static void file_name_of(const struct upload *u, size_t i, char out[UPLOAD_NAME_MAX])
{
    snprintf(out, UPLOAD_NAME_MAX, "%s.%zu", u->name, i);
}

static void fail_io(struct request *r)
{
    int why = errno;
    reply_error(r, why == ENOSPC || why == EDQUOT ? 507 : 500, "spool", "body",
                "the upload cannot be stored: %s", strerror(why));
}

static bool open_file(struct upload *u, struct request *r)
{
    char name[UPLOAD_NAME_MAX];
    if (u->n == UPLOAD_FILES_MAX) {
        reply_error(r, 413, "too-many", "input", "a job has at most %d inputs", UPLOAD_FILES_MAX);
        return false;
    }
    file_name_of(u, u->n, name);
    u->fd = openat(u->spool_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (u->fd < 0) {
        fail_io(r);
        return false;
    }
    u->n++;
    u->bytes = 0;
    return true;
}

static bool close_file(struct upload *u, struct request *r)
{
    if (u->fd < 0)
        return true;
    close(u->fd);
    u->fd = -1;
    if (u->bytes == 0) {
        reply_error(r, 400, "empty", "body", "input %zu is empty", u->n - 1);
        return false;
    }
    if (u->bytes >= 4 && memcmp(u->magic, "wtns", 4) == 0)
        u->wtns = true;
    else
        u->json = true;
    return true;
}

static bool write_piece(struct upload *u, struct request *r, const char *data, size_t n)
{
    for (size_t at = 0; at < n && u->bytes + at < 4; at++)
        u->magic[u->bytes + at] = data[at];
    for (size_t at = 0; at < n;) {
        ssize_t put = write(u->fd, data + at, n - at);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            fail_io(r);
            return false;
        }
        at += (size_t)put;
    }
    u->bytes += n;
    return true;
}

/* microhttpd's call for each piece of each part; off 0 begins a part. */
static enum MHD_Result take_part(void *arg, enum MHD_ValueKind kind, const char *key,
                                 const char *filename, const char *type, const char *encoding,
                                 const char *data, uint64_t off, size_t n)
{
    struct upload *u = arg;
    struct request *r = u->request;
    (void)kind;
    (void)filename;
    (void)type;
    (void)encoding;
    if (r->status)
        return MHD_NO;
    if (!key || strcmp(key, "input") != 0) {
        reply_error(r, 400, "unknown-part", "form",
                    "a part of the form has another name than 'input'");
        return MHD_NO;
    }
    /* A part may begin with a piece of no bytes: then its second piece is at 0 as well. */
    bool begun = u->fd >= 0 && u->bytes == 0;
    if (off == 0 && !begun && (!close_file(u, r) || !open_file(u, r)))
        return MHD_NO;
    return write_piece(u, r, data, n) ? MHD_YES : MHD_NO;
}

struct upload *upload_new(struct request *r)
{
    static const char form[] = "multipart/form-data";
    const char *type = request_header(r, MHD_HTTP_HEADER_CONTENT_TYPE);
    struct upload *u = calloc(1, sizeof *u);
    unsigned char random[12];
    INVARIANT(u != NULL);
    u->gateway = r->gateway;
    u->fd = -1;
    strcpy(u->name, "http-");
    randombytes_buf(random, sizeof random);
    sodium_bin2hex(u->name + 5, sizeof u->name - 5, random, sizeof random);
    u->spool_fd = openat(r->gateway->instance.dir_fd, "spool", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (u->spool_fd < 0) {
        fail_io(r);
        upload_free(&u);
        return NULL;
    }
    if (type && strncasecmp(type, form, sizeof form - 1) == 0) {
        u->form = MHD_create_post_processor(r->connection, 64 << 10, take_part, u);
        if (!u->form || !marks_begin(&u->marks, type)) {
            reply_error(r, 400, "form", "Content-Type", "expected %s with its boundary", form);
            upload_free(&u);
        }
    }
    return u;
}

void upload_take(struct upload *u, struct request *r, const char *data, size_t n)
{
    u->request = r;
    if (u->form) {
        marks_take(&u->marks, data, n);
        if (MHD_post_process(u->form, data, n) != MHD_YES && !r->status)
            reply_error(r, 400, "form", "body", "not as multipart/form-data has it");
    } else if (u->fd >= 0 || open_file(u, r)) {
        write_piece(u, r, data, n);
    }
}

bool upload_end(struct upload *u, struct request *r)
{
    u->request = r;
    if (u->form) {
        bool whole = MHD_destroy_post_processor(u->form) == MHD_YES;
        u->form = NULL;
        if (!whole && !r->status)
            reply_error(r, 400, "form", "body", "the form ends before its last boundary");
    }
    if (r->status || !close_file(u, r))
        return false;
    if (u->marks.n && u->marks.count != u->n + 1) {
        reply_error(r, 400, "empty", "input", "%zu parts in the form, %zu of them are empty",
                    u->marks.count - 1, u->marks.count - 1 - u->n);
        return false;
    }
    if (u->n == 0) {
        reply_error(r, 400, "empty", "body", "expected a witness or an input.json");
        return false;
    }
    if (u->json && u->wtns) {
        reply_error(r, 400, "mixed", "input", "some inputs are witnesses, some are not");
        return false;
    }
    return true;
}

/* The inputs are secret: overwritten before they go, as the desk does with its own. */
static void wipe(void *arg, struct work_thread *t)
{
    static const char zeros[1 << 16];
    struct upload *u = arg;
    (void)t;
    for (size_t i = 0; i < u->n; i++) {
        char name[UPLOAD_NAME_MAX];
        struct stat st;
        file_name_of(u, i, name);
        int fd = openat(u->spool_fd, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && fstat(fd, &st) == 0)
            for (off_t left = st.st_size; left > 0;) {
                ssize_t put = write(fd, zeros, left < 65536 ? (size_t)left : sizeof zeros);
                if (put <= 0)
                    break;
                left -= put;
            }
        if (fd >= 0)
            close(fd);
        unlinkat(u->spool_fd, name, 0);
    }
    close(u->spool_fd);
    free(u);
}

void upload_free(struct upload **upload)
{
    struct upload *u = *upload;
    if (!u)
        return;
    *upload = NULL;
    if (u->form)
        MHD_destroy_post_processor(u->form);
    if (u->fd >= 0)
        close(u->fd);
    if (u->spool_fd < 0)
        free(u);
    else
        work_put(u->gateway->work, wipe, u);
}

size_t upload_files(const struct upload *u)
{
    return u->n;
}

bool upload_is_json(const struct upload *u)
{
    return u->json;
}

void upload_path(const struct upload *u, size_t i, char out[UPLOAD_NAME_MAX])
{
    char name[UPLOAD_NAME_MAX];
    file_name_of(u, i, name);
    snprintf(out, UPLOAD_NAME_MAX, "/proc/self/fd/%d/%.40s", u->spool_fd, name);
}
