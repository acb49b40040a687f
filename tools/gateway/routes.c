#include "routes.h"
#include <stdio.h>
#include <string.h>

static const struct route table[ROUTE_IDS] = {
#define R(id, method, path, role, body, handler, doc)                                              \
    [ROUTE_##id] = {ROUTE_##id, method, path, ROLE_##role, BODY_##body, handler, doc},
    ROUTES(R)
#undef R
        [ROUTE_NOWHERE] = {ROUTE_NOWHERE, "", "none", ROLE_NONE, BODY_NONE, NULL, ""},
};

const struct route *route_by_id(enum route_id id)
{
    return &table[id];
}

/* The pattern's '*' takes one non-empty part of the path of letters, digits, '.', '_' and '-'
 * alone; nothing that could be taken for another path or a file elsewhere. */
static bool fits(const char *pattern, const char *path, char param[PARAM_MAX])
{
    while (*pattern) {
        if (*pattern != '*') {
            if (*pattern++ != *path++)
                return false;
            continue;
        }
        size_t n =
            strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
        if (n == 0 || n >= PARAM_MAX)
            return false;
        memcpy(param, path, n);
        param[n] = '\0';
        path += n;
        pattern++;
    }
    return *path == '\0';
}

const struct route *route_find(const char *method, const char *path, char param[PARAM_MAX],
                               char allowed[64])
{
    const char *asked = strcmp(method, "HEAD") == 0 ? "GET" : method;
    size_t n = 0;
    param[0] = allowed[0] = '\0';
    for (unsigned i = 0; i < ROUTE_NOWHERE; i++) {
        if (!fits(table[i].path, path, param))
            continue;
        if (strcmp(table[i].method, asked) == 0)
            return &table[i];
        n += (size_t)snprintf(allowed + n, 64 - n, "%s%s", n ? ", " : "", table[i].method);
    }
    return NULL;
}
