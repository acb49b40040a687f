#include "server.h"
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "gateway.h"
#include "log.h"
#include "routes.h"
#include "span.h"
#include "upload.h"

enum { THREADS = 2, HEAD_BYTES = 32 << 10, SILENT_S = 60 };

struct server {
    struct gateway *gateway;
    struct MHD_Daemon *daemon;
    int quiesced_fd;
};

static void name_address(const struct sockaddr *a, char out[48])
{
    const void *at = a && a->sa_family == AF_INET6
                         ? (const void *)&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr
                         : (const void *)&((const struct sockaddr_in *)(const void *)a)->sin_addr;
    if (!a || !inet_ntop(a->sa_family, at, out, 48))
        strcpy(out, "unknown");
}

static struct conn *conn_of(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static void connection_changed(void *arg, struct MHD_Connection *c, void **context,
                               enum MHD_ConnectionNotificationCode what)
{
    struct gateway *g = ((struct server *)arg)->gateway;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
        *context = conns_add(g->conns, info->connect_fd);
        tally_add(g->tally, TALLY_CONNECTIONS, 1);
    } else if (*context) {
        conns_remove(g->conns, *context);
        *context = NULL;
    }
}

/* Called with the request line, before the rest of the head. */
static void *head_began(void *arg, const char *uri, struct MHD_Connection *c)
{
    struct gateway *g = ((struct server *)arg)->gateway;
    (void)uri;
    if (conn_of(c))
        conns_phase(g->conns, conn_of(c), CONN_HEAD, 0);
    return NULL;
}

static void completed(void *arg, struct MHD_Connection *c, void **context,
                      enum MHD_RequestTerminationCode why)
{
    struct gateway *g = ((struct server *)arg)->gateway;
    struct request *r = *context;
    (void)why;
    if (conn_of(c))
        conns_phase(g->conns, conn_of(c), CONN_IDLE, 0);
    if (!r)
        return;
    *context = NULL;
    tally_request(g->tally, r->route->id, r->status, span_now_ns() - r->began_ns);
    if (r->response)
        MHD_destroy_response(r->response);
    upload_free(&r->upload);
    free(r);
}

static enum MHD_Result send_reply(struct request *r)
{
    struct gateway *g = r->gateway;
    bool events = r->route->id == ROUTE_EVENTS && r->status == 200;
    conns_phase(g->conns, r->conn, events ? CONN_EVENTS : CONN_ANSWER, r->answer_bytes);
    enum MHD_Result rc = MHD_queue_response(r->connection, r->status, r->response);
    MHD_destroy_response(r->response);
    r->response = NULL;
    return rc;
}

/* How long the body is said to be; false with a reply when it may not come. */
static bool body_fits(struct request *r)
{
    const char *said = request_header(r, MHD_HTTP_HEADER_CONTENT_LENGTH);
    uint64_t limit = r->route->body == BODY_INPUT ? r->gateway->set.body_bytes : 0;
    unsigned long long n = said ? strtoull(said, NULL, 10) : 0;
    if (n <= limit)
        return true;
    if (limit == 0)
        reply_error(r, 413, "unwanted-body", "Content-Length", "%s %s takes no body",
                    r->route->method, r->route->path);
    else
        reply_error(r, 413, "too-large", "Content-Length", "%llu bytes: at most %llu are taken", n,
                    (unsigned long long)limit);
    return false;
}

/* The head is there. */
static struct request *begin(struct gateway *g, struct MHD_Connection *c, const char *url,
                             const char *method)
{
    char allowed[64];
    struct request *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    *r = (struct request){.gateway = g,
                          .connection = c,
                          .conn = conn_of(c),
                          .began_ns = span_now_ns(),
                          .head = strcmp(method, "HEAD") == 0};
    name_address(info ? info->client_addr : NULL, r->caller.address);
    r->route = route_find(method, url, r->param, allowed);
    bool found = r->route != NULL;
    if (!found)
        r->route = route_by_id(ROUTE_NOWHERE);
    /* Who is nobody here learns nothing, not even which paths there are. */
    if (!guard_admit(g->guard, r, found ? r->route->role : ROLE_OBSERVER))
        return r;
    if (!found && allowed[0]) {
        reply_error(r, 405, "method", NULL, "%.20s is not for this path: %s", method, allowed);
        reply_header(r, "Allow", allowed);
    } else if (!found) {
        reply_error(r, 404, "no-such-path", NULL, "there is nothing at '%.100s'", url);
    } else if (body_fits(r) && r->route->body == BODY_INPUT) {
        r->upload = upload_new(r);
        conns_phase(g->conns, r->conn, CONN_BODY, 0);
    }
    return r;
}

static void take_body(struct request *r, const char *data, size_t n)
{
    struct gateway *g = r->gateway;
    r->body_bytes += n;
    conns_received(g->conns, r->conn, n);
    tally_add(g->tally, TALLY_UPLOAD_BYTES, n);
    if (r->status)
        return; /* the rest of a body that is refused already is passed over */
    if (!r->upload || r->body_bytes > g->set.body_bytes)
        reply_error(r, 413, "too-large", "body", "more than %llu bytes",
                    r->upload ? (unsigned long long)g->set.body_bytes : 0ull);
    else
        upload_take(r->upload, r, data, n);
}

static enum MHD_Result access_handler(void *arg, struct MHD_Connection *c, const char *url,
                                      const char *method, const char *version, const char *data,
                                      size_t *n, void **context)
{
    struct server *s = arg;
    struct request *r = *context;
    (void)version;
    if (!r) {
        r = begin(s->gateway, c, url, method);
        *context = r;
        if (!r)
            return MHD_NO;
        /* An answer now spares the body; microhttpd closes the connection after it then. */
        return r->status ? send_reply(r) : MHD_YES;
    }
    if (*n) {
        take_body(r, data, *n);
        *n = 0;
        return MHD_YES;
    }
    if (!r->status && !r->suspended) {
        conns_phase(s->gateway->conns, r->conn, CONN_WORK, 0);
        if (!r->upload || upload_end(r->upload, r))
            r->route->handler(r);
        if (r->suspended)
            return MHD_YES;
    }
    INVARIANT(r->status != 0);
    return send_reply(r);
}

/* microhttpd's own complaints (a broken head, a client that went away) are of no interest to an
 * operator unless asked for. */
static void complain(void *arg, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
static void complain(void *arg, const char *fmt, va_list ap)
{
    char text[256];
    (void)arg;
    vsnprintf(text, sizeof text, fmt, ap);
    text[strcspn(text, "\r\n")] = '\0';
    log_debug("http", NULL, "reason=%s", text);
}

struct server *server_start(struct gateway *g, struct err *e)
{
    struct server *s = calloc(1, sizeof *s);
    INVARIANT(s != NULL);
    s->gateway = g;
    s->quiesced_fd = -1;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    if (g->set.listen.any.sa_family == AF_INET6)
        flags |= MHD_USE_IPv6;
    errno = 0;
    s->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, access_handler, s, MHD_OPTION_EXTERNAL_LOGGER, complain, NULL,
        MHD_OPTION_SOCK_ADDR, &g->set.listen.any, MHD_OPTION_NOTIFY_CONNECTION, connection_changed,
        s, MHD_OPTION_NOTIFY_COMPLETED, completed, s, MHD_OPTION_URI_LOG_CALLBACK, head_began, s,
        MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)g->set.connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        (unsigned)g->set.per_address, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENT_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEAD_BYTES, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_END);
    if (!s->daemon) {
        char at[48];
        name_address(&g->set.listen.any, at);
        uint16_t port = ntohs(g->set.listen.v4.sin_port); /* at the same place in both forms */
        err_set(e, ERR_IO, "cannot listen on %s port %u: %s", at, port,
                errno ? strerror(errno) : "microhttpd did not start");
        free(s);
        return NULL;
    }
    return s;
}

uint16_t server_port(const struct server *s)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info ? info->port : 0;
}

void server_quiesce(struct server *s)
{
    s->quiesced_fd = MHD_quiesce_daemon(s->daemon);
}

void server_stop(struct server **s)
{
    if (!*s)
        return;
    MHD_stop_daemon((*s)->daemon);
    if ((*s)->quiesced_fd >= 0)
        close((*s)->quiesced_fd);
    free(*s);
    *s = NULL;
}
