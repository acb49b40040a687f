/* tokens: who may do what over HTTP, out of DIR/gateway.tokens.
 *
 *   # name  role      BLAKE2b-256 of the token, in hexadecimal
 *   ci      client    5f1d...
 *
 * A token is 32 random bytes in hexadecimal, shown once when `millrace-gateway token NAME` makes
 * it; only its hash is kept. observer: metrics, status and the page; client: also proves, and sees
 * and cancels its own jobs; operator: every job. With tokens, each request but GET / needs one. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "err.h"
#include "instance.h"

enum role { ROLE_NONE, ROLE_OBSERVER, ROLE_CLIENT, ROLE_OPERATOR };
const char *role_name(enum role r);

enum { TOKEN_NAME_MAX = 48, TOKENS_MAX = 1024, TOKEN_HEX = 64 };

struct token {
    char name[TOKEN_NAME_MAX + 1];
    enum role role;
    unsigned char hash[32];
};
struct tokens {
    struct token *at;
    size_t n;
};

/* A missing file is no tokens. ERR_REFUSED when others can read it, ERR_FORMAT with the line. */
enum err_code tokens_load(struct tokens *t, const struct instance *in, struct err *e);
/* The same from text (a fuzzer's door); name stands in messages. */
enum err_code tokens_parse(struct tokens *t, const char *text, size_t n, const char *name,
                           struct err *e);
void tokens_free(struct tokens *t);
/* The one with this token; compares in constant time. NULL: none. */
const struct token *tokens_find(const struct tokens *t, const char *token, size_t n);
/* Makes one and adds it to the file; secret gets the token. ERR_REFUSED when the name is taken. */
enum err_code tokens_add(const struct instance *in, const char *name, enum role role,
                         char secret[TOKEN_HEX + 1], struct err *e);
