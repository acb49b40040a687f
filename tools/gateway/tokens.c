#include "tokens.h"
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "file.h"

#define FILE_NAME "gateway.tokens"
enum { FILE_BYTES_MAX = 1 << 20 };

static const char *const roles[] = {"none", "observer", "client", "operator"};

const char *role_name(enum role r)
{
    return roles[r];
}

static bool name_fits(const char *s)
{
    size_t n = strlen(s);
    return n > 0 && n <= TOKEN_NAME_MAX &&
           strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == n;
}

static enum err_code take_line(struct tokens *t, char *line, const char *file, unsigned number,
                               struct err *e)
{
    char *rest = line, *word[4];
    size_t n = 0;
    for (char *w; n < 4 && (w = strsep(&rest, " \t\r"));)
        if (*w)
            word[n++] = w;
    if (n == 0 || word[0][0] == '#')
        return ERR_OK;
    struct token one = {.role = ROLE_NONE};
    if (n != 3)
        return err_set(e, ERR_FORMAT, "%s: line %u: expected NAME ROLE HASH", file, number);
    if (!name_fits(word[0]))
        return err_set(e, ERR_FORMAT,
                       "%s: line %u: name: 1 to %d letters, digits, '.', '_' and '-'", file, number,
                       TOKEN_NAME_MAX);
    strcpy(one.name, word[0]);
    for (unsigned r = ROLE_OBSERVER; r <= ROLE_OPERATOR; r++)
        if (strcmp(word[1], roles[r]) == 0)
            one.role = (enum role)r;
    if (one.role == ROLE_NONE)
        return err_set(e, ERR_FORMAT, "%s: line %u: role: expected observer, client or operator",
                       file, number);
    size_t bytes = 0;
    if (strlen(word[2]) != TOKEN_HEX ||
        sodium_hex2bin(one.hash, sizeof one.hash, word[2], TOKEN_HEX, NULL, &bytes, NULL) != 0 ||
        bytes != sizeof one.hash)
        return err_set(e, ERR_FORMAT, "%s: line %u: hash: expected %d hexadecimal digits", file,
                       number, TOKEN_HEX);
    if (t->n == TOKENS_MAX)
        return err_set(e, ERR_FORMAT, "%s: line %u: more than %d tokens", file, number, TOKENS_MAX);
    struct token *more = realloc(t->at, (t->n + 1) * sizeof *more);
    if (!more)
        return err_set(e, ERR_MEMORY, "%s: no memory", file);
    t->at = more;
    t->at[t->n++] = one;
    return ERR_OK;
}

enum err_code tokens_parse(struct tokens *t, const char *text, size_t n, const char *name,
                           struct err *e)
{
    *t = (struct tokens){0};
    if (memchr(text, 0, n))
        return err_set(e, ERR_FORMAT, "%s: holds a NUL byte", name);
    char *copy = strndup(text, n), *rest = copy;
    enum err_code rc = copy ? ERR_OK : err_set(e, ERR_MEMORY, "%s: no memory", name);
    unsigned number = 0;
    for (char *line; !rc && (line = strsep(&rest, "\n"));)
        rc = take_line(t, line, name, ++number, e);
    free(copy);
    if (rc)
        tokens_free(t);
    return rc;
}

enum err_code tokens_load(struct tokens *t, const struct instance *in, struct err *e)
{
    char path[sizeof in->dir + 32], *text;
    struct stat st;
    size_t n;
    *t = (struct tokens){0};
    snprintf(path, sizeof path, "%s/" FILE_NAME, in->dir);
    if (stat(path, &st) != 0)
        return errno == ENOENT ? ERR_OK : err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
    if (st.st_mode & 077)
        return err_set(e, ERR_REFUSED, "%s: mode is %03o, others can reach it: chmod 600 it", path,
                       (unsigned)(st.st_mode & 0777));
    if (file_read(path, FILE_BYTES_MAX, &text, &n, e) != ERR_OK)
        return e->code;
    enum err_code rc = tokens_parse(t, text, n, path, e);
    free(text);
    return rc;
}

void tokens_free(struct tokens *t)
{
    free(t->at);
    *t = (struct tokens){0};
}

static void hash_of(const char *token, size_t n, unsigned char hash[32])
{
    crypto_generichash(hash, 32, (const unsigned char *)token, n, NULL, 0);
}

const struct token *tokens_find(const struct tokens *t, const char *token, size_t n)
{
    unsigned char hash[32];
    const struct token *found = NULL;
    hash_of(token, n, hash);
    for (size_t i = 0; i < t->n; i++)
        if (sodium_memcmp(hash, t->at[i].hash, sizeof hash) == 0)
            found = &t->at[i];
    return found;
}

enum err_code tokens_add(const struct instance *in, const char *name, enum role role,
                         char secret[TOKEN_HEX + 1], struct err *e)
{
    struct tokens t;
    unsigned char random[TOKEN_HEX / 2], hash[32];
    char hex[TOKEN_HEX + 1], line[256];
    if (!name_fits(name))
        return err_set(e, ERR_USAGE, "name '%.60s': 1 to %d letters, digits, '.', '_' and '-'",
                       name, TOKEN_NAME_MAX);
    if (tokens_load(&t, in, e) != ERR_OK)
        return e->code;
    for (size_t i = 0; i < t.n; i++)
        if (strcmp(t.at[i].name, name) == 0) {
            tokens_free(&t);
            return err_set(e, ERR_REFUSED, "%s/" FILE_NAME ": there is a token '%s' already",
                           in->dir, name);
        }
    tokens_free(&t);
    randombytes_buf(random, sizeof random);
    sodium_bin2hex(secret, TOKEN_HEX + 1, random, sizeof random);
    hash_of(secret, TOKEN_HEX, hash);
    sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
    int n = snprintf(line, sizeof line, "%s %s %s\n", name, roles[role], hex);
    int fd =
        openat(in->dir_fd, FILE_NAME, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, line, (size_t)n) != n || fsync(fd) != 0) {
        err_set(e, ERR_IO, "%s/" FILE_NAME ": %s", in->dir, strerror(errno));
        if (fd >= 0)
            close(fd);
        return e->code;
    }
    close(fd);
    return ERR_OK;
}
