/* A key on its way into the store: prepared here, by the operator's process, never in a daemon. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "build.h"
#include "connection.h"
#include "file.h"
#include "params.h"
#include "prepare.h"
#include "store.h"

/* The file's name without folder and ending, cut to what an alias may have. */
static void alias_of(const char *path, char out[64])
{
    const char *name = file_name(path);
    size_t n = strlen(name);
    const char *dot = strrchr(name, '.');
    if (dot && dot != name)
        n = (size_t)(dot - name);
    snprintf(out, 64, "%.*s", (int)(n < 63 ? n : 63), name);
}

/* Prepares the key beside its place in the store; there the file gets its digest for a name. */
static enum err_code prepare(struct millrace *m, const struct millrace_circuit *c,
                             uint8_t digest[DIGEST_BYTES], struct err *e)
{
    char before[STORE_NAME_MAX], after[STORE_NAME_MAX], name[STORE_NAME_MAX];
    if (store_source_id(c->key, c->r1cs, before, e))
        return e->code;
    struct pool *pool = pool_new(c->threads, NULL, e);
    if (!pool)
        return e->code;
    char beside[PATH_MAX], *slash;
    if (snprintf(beside, sizeof beside, "%s/store/prepare-%ld.new", m->in.dir, (long)getpid()) >=
        (int)sizeof beside) {
        pool_free(&pool);
        return err_set(e, ERR_USAGE, "%s: the path is too long", m->in.dir);
    }
    const struct key_files files = {
        .key = c->key, .is_params = c->is_params, .constraints = c->r1cs, .digests = c->digests};
    enum err_code rc = prepare_key(&files, beside, digest, pool, e);
    pool_free(&pool);
    if (rc)
        return rc;
    slash = strrchr(beside, '/');
    char inside[64];
    snprintf(inside, sizeof inside, "store/%s", slash + 1);
    if (renameat(m->in.dir_fd, inside, m->in.dir_fd, store_circuit_name(digest, name)) != 0) {
        rc = err_set(e, ERR_IO, "%s/%s: %s", m->in.dir, name, strerror(errno));
        unlinkat(m->in.dir_fd, inside, 0);
        return rc;
    }
    /* A key that was written to while it was read must not be taken for known next time. */
    if (store_source_id(c->key, c->r1cs, after, e))
        return e->code;
    return strcmp(before, after) ? ERR_OK : store_add_source(m->in.dir_fd, before, digest, e);
}

static enum err_code add_program(struct millrace *m, const struct millrace_circuit *c,
                                 const uint8_t digest[DIGEST_BYTES], struct err *e)
{
    char dir[PATH_MAX];
    struct program_info info;
    if (snprintf(dir, sizeof dir, "%s/store/programs", m->in.dir) >= (int)sizeof dir)
        return err_set(e, ERR_USAGE, "%s: the path is too long", m->in.dir);
    if (program_build(c->program, dir, &info, e))
        return e->code;
    return store_set_program(m->in.dir_fd, digest, info.path, e);
}

static enum err_code check_publics(struct millrace *m, const struct millrace_circuit *c,
                                   const uint8_t digest[DIGEST_BYTES], struct err *e)
{
    char path[PATH_MAX], name[STORE_NAME_MAX];
    if (snprintf(path, sizeof path, "%s/%s", m->in.dir, store_circuit_name(digest, name)) >=
        (int)sizeof path)
        return err_set(e, ERR_USAGE, "%s: the path is too long", m->in.dir);
    struct circuit *map = circuit_map(path, e);
    if (!map)
        return e->code;
    uint32_t n = map->n_public;
    circuit_free(&map);
    return n == c->publics ? ERR_OK
                           : err_set(e, ERR_MISMATCH, "%s: has %u public values, expected %u",
                                     c->key, n, c->publics);
}

static int add(struct millrace *m, const struct millrace_circuit *c, char *digest_hex,
               struct millrace_error *out)
{
    struct err e = {0};
    uint8_t digest[DIGEST_BYTES];
    if (!c->key)
        return client_error(out, ERR_USAGE, "no key named");
    bool known = store_find_source(m->in.dir_fd, c->key, c->r1cs, digest);
    if (known && c->digests && params_check_digest(c->key, c->digests, &e))
        return client_fail(out, &e);
    if (!known && prepare(m, c, digest, &e))
        return client_fail(out, &e);
    if (c->has_publics && check_publics(m, c, digest, &e))
        return client_fail(out, &e);
    if (c->program && add_program(m, c, digest, &e))
        return client_fail(out, &e);

    struct message q = {.kind = MSG_CIRCUIT_ADD};
    memcpy(q.circuit_add.circuit, digest, sizeof digest);
    if (c->alias) {
        if (!c->alias[0] || strlen(c->alias) >= sizeof q.circuit_add.alias)
            return client_error(out, ERR_USAGE, "alias '%.40s': 1 to %zu bytes", c->alias,
                                sizeof q.circuit_add.alias - 1);
        strcpy(q.circuit_add.alias, c->alias);
    } else {
        alias_of(c->key, q.circuit_add.alias);
    }
    q.circuit_add.urgent = c->urgent ? 1 : 0;
    q.circuit_add.keep = c->keep ? 1 : 0;
    int rc = client_ask_ok(m, &q, -1, out);
    if (!rc && digest_hex)
        digest_to_hex(digest, digest_hex);
    return rc;
}

int millrace_circuit_add(struct millrace *m, const struct millrace_circuit *c, char *digest_hex,
                         struct millrace_error *e)
{
    uint8_t digest[DIGEST_BYTES];
    bool known = c->key && store_find_source(m->in.dir_fd, c->key, c->r1cs, digest);
    int rc = add(m, c, digest_hex, e);
    if (rc && known && !store_find_source(m->in.dir_fd, c->key, c->r1cs, digest))
        rc = add(m, c, digest_hex, e); /* its file was removed between the look and the question */
    return rc;
}
