#include "guard.h"
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "log.h"
#include "span.h"

enum { BUCKETS = 1024 };

struct bucket {
    char key[CALLER_MAX];
    double left;
    uint64_t at_ns;
};

struct guard {
    pthread_mutex_t lock;
    struct tokens tokens;
    bool loopback;
    char hosts[512], user[CALLER_MAX];
    double rate;
    struct bucket bucket[BUCKETS]; /* by a hash of the key; a collision takes the place over */
};

struct guard *guard_new(const struct instance *in, bool loopback, const char *hosts, uint64_t rate,
                        struct tokens *take, struct err *e)
{
    if (!loopback && take->n == 0) {
        err_set(e, ERR_REFUSED,
                "%s/gateway.tokens: no tokens: beyond the loopback interface the gateway serves "
                "only callers with one; make one with: millrace-gateway token NAME --dir %s",
                in->dir, in->dir);
        return NULL;
    }
    struct guard *g = calloc(1, sizeof *g);
    if (!g) {
        err_set(e, ERR_MEMORY, "no memory for the gateway");
        return NULL;
    }
    pthread_mutex_init(&g->lock, NULL);
    g->tokens = *take;
    *take = (struct tokens){0};
    g->loopback = loopback;
    g->rate = (double)rate;
    snprintf(g->hosts, sizeof g->hosts, "%s", hosts);
    const struct passwd *pw = getpwuid(geteuid());
    if (pw)
        snprintf(g->user, sizeof g->user, "%s", pw->pw_name);
    else
        snprintf(g->user, sizeof g->user, "uid-%ld", (long)geteuid());
    return g;
}

void guard_free(struct guard **g)
{
    if (!*g)
        return;
    tokens_free(&(*g)->tokens);
    pthread_mutex_destroy(&(*g)->lock);
    free(*g);
    *g = NULL;
}

enum err_code guard_reload(struct guard *g, const struct instance *in, struct err *e)
{
    struct tokens t;
    if (tokens_load(&t, in, e) != ERR_OK)
        return e->code;
    if (!g->loopback && t.n == 0)
        return err_set(e, ERR_REFUSED, "%s/gateway.tokens: no tokens left: the old ones stay valid",
                       in->dir);
    pthread_mutex_lock(&g->lock);
    struct tokens old = g->tokens;
    g->tokens = t;
    pthread_mutex_unlock(&g->lock);
    tokens_free(&old);
    return ERR_OK;
}

/* Takes one request out of the key's bucket, which fills at the rate and holds two seconds. */
static bool take_one(struct guard *g, const char *key)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325), now = span_now_ns();
    for (const char *p = key; *p; p++)
        h = (h ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    struct bucket *b = &g->bucket[h % BUCKETS];
    pthread_mutex_lock(&g->lock);
    if (strcmp(b->key, key) != 0) {
        snprintf(b->key, sizeof b->key, "%s", key);
        b->left = 2 * g->rate;
        b->at_ns = now;
    }
    b->left += (double)(now - b->at_ns) / 1e9 * g->rate;
    b->at_ns = now;
    if (b->left > 2 * g->rate)
        b->left = 2 * g->rate;
    bool may = b->left >= 1;
    if (may)
        b->left -= 1;
    pthread_mutex_unlock(&g->lock);
    return may;
}

static bool within_rate(struct guard *g, struct request *r, const char *key)
{
    if (take_one(g, key))
        return true;
    reply_error(r, 429, "too-many-requests", NULL, "more than %.0f requests a second from %s",
                g->rate, key);
    reply_header(r, "Retry-After", "1");
    return false;
}

/* --- without tokens: a browser must not be turned against us -------------------------------- */

static bool named(const char *list, const char *host, size_t n)
{
    for (const char *p = list; *p;) {
        size_t m = strcspn(p, " ,");
        if (m == n && strncasecmp(p, host, n) == 0)
            return true;
        p += m + strspn(p + m, " ,");
    }
    return false;
}

static bool is_ours(const struct guard *g, const char *host)
{
    size_t n = strlen(host);
    const char *colon = strrchr(host, ':'), *bracket = strrchr(host, ']');
    if (colon && (!bracket || colon > bracket))
        n = (size_t)(colon - host);
    return named("localhost 127.0.0.1 [::1]", host, n) || named(g->hosts, host, n);
}

static bool from_here(struct guard *g, struct request *r)
{
    const char *host = request_header(r, "Host"), *origin = request_header(r, "Origin");
    if (host && !is_ours(g, host)) {
        reply_error(r, 403, "foreign-host", "Host",
                    "'%.60s' is no name of this gateway; [gateway] hosts can add it", host);
        return false;
    }
    if (!origin)
        return true;
    const char *from = strstr(origin, "://");
    if (!from || !host || strcasecmp(from + 3, host) != 0) {
        reply_error(r, 403, "foreign-origin", "Origin",
                    "a page of '%.60s' may not use this gateway", origin);
        return false;
    }
    return true;
}

/* --- with tokens ----------------------------------------------------------------------------- */

static bool identify(struct guard *g, struct request *r, enum role need)
{
    const char *said = request_header(r, "Authorization");
    bool bearer = said && strncasecmp(said, "Bearer ", 7) == 0;
    bool known = false;
    pthread_mutex_lock(&g->lock);
    const struct token *t = bearer ? tokens_find(&g->tokens, said + 7, strlen(said + 7)) : NULL;
    if (t) {
        snprintf(r->caller.name, sizeof r->caller.name, "%s", t->name);
        r->caller.role = t->role;
        known = true;
    }
    pthread_mutex_unlock(&g->lock);
    if (!known) {
        if (!within_rate(g, r, r->caller.address))
            return false;
        reply_error(r, 401, bearer ? "bad-token" : "no-token", "Authorization",
                    bearer ? "nobody has this token" : "expected: Bearer TOKEN");
        reply_header(r, "WWW-Authenticate", "Bearer realm=\"millrace\"");
        return false;
    }
    if (r->caller.role < need) {
        reply_error(r, 403, "role", "Authorization", "'%s' is %s here; this needs %s",
                    r->caller.name, role_name(r->caller.role), role_name(need));
        return false;
    }
    return true;
}

bool guard_admit(struct guard *g, struct request *r, enum role need)
{
    pthread_mutex_lock(&g->lock);
    bool tokens = g->tokens.n > 0;
    pthread_mutex_unlock(&g->lock);
    if (need == ROLE_NONE)
        return within_rate(g, r, r->caller.address);
    if (tokens)
        return identify(g, r, need) && within_rate(g, r, r->caller.name);
    snprintf(r->caller.name, sizeof r->caller.name, "%s", g->user);
    r->caller.role = ROLE_OPERATOR;
    return from_here(g, r) && within_rate(g, r, r->caller.address);
}
