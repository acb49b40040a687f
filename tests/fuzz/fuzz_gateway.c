/* The gateway's own parsers: the file of tokens, the path of a request, an address to listen at.
 * The first byte says which. (HTTP itself and multipart forms are microhttpd's, JSON is jansson's.)
 */
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "marks.h"
#include "routes.h"
#include "settings.h"
#include "tokens.h"

#define R(id, method, path, role, body, handler, doc)                                              \
    void handler(struct request *r)                                                                \
    {                                                                                              \
        (void)r;                                                                                   \
    }
ROUTES(R)
#undef R

static void tokens(const char *text, size_t n)
{
    struct tokens t;
    struct err e = {0};
    enum err_code rc = tokens_parse(&t, text, n, "gateway.tokens", &e);
    if (rc != ERR_OK) {
        refused_in_one_line(rc, &e);
        PROPERTY(t.n == 0);
    }
    for (size_t i = 0; i < t.n; i++) {
        PROPERTY(t.at[i].name[0] && strlen(t.at[i].name) <= TOKEN_NAME_MAX);
        PROPERTY(t.at[i].role >= ROLE_OBSERVER && t.at[i].role <= ROLE_OPERATOR);
    }
    PROPERTY(rc != ERR_OK || tokens_find(&t, text, n) == NULL); /* no line holds its own token */
    tokens_free(&t);
}

static void path(const char *text)
{
    static const char *const methods[] = {"GET", "POST", "DELETE", "HEAD", "PUT"};
    char param[PARAM_MAX], allowed[64];
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        const struct route *r = route_find(methods[i], text, param, allowed);
        if (!r)
            continue;
        PROPERTY(r->id < ROUTE_NOWHERE);
        PROPERTY(strchr(param, '/') == NULL && strlen(param) < PARAM_MAX);
        /* The parameter is what the path has, byte for byte. */
        PROPERTY(strchr(r->path, '*') ? strstr(text, param) != NULL : strcmp(r->path, text) == 0);
    }
}

static void address(const char *text)
{
    struct settings s = {0};
    struct err e = {0};
    enum err_code rc = settings_listen(&s, text, &e);
    if (rc != ERR_OK)
        refused_in_one_line(rc, &e);
    else
        PROPERTY(s.listen.any.sa_family == AF_INET || s.listen.any.sa_family == AF_INET6);
}

/* The first line is a Content-Type, the rest a body: counted in one piece and byte by byte. */
static void form(char *text, size_t n)
{
    struct marks whole, single;
    char *end = memchr(text, '\n', n);
    if (!end)
        return;
    *end++ = '\0';
    if (!marks_begin(&whole, text))
        return;
    single = whole;
    marks_take(&whole, end, n - (size_t)(end - text));
    for (char *at = end; at < text + n; at++)
        marks_take(&single, at, 1);
    PROPERTY(whole.count == single.count && whole.matched == single.matched);
    PROPERTY(whole.matched < whole.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 1)
        return 0;
    char *text = strndup((const char *)data + 1, n - 1);
    if (data[0] == 't')
        tokens((const char *)data + 1, n - 1);
    else if (data[0] == 'p')
        path(text);
    else if (data[0] == 'f')
        form(text, strlen(text));
    else
        address(text);
    free(text);
    return 0;
}
