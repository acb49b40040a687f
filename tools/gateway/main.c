/* millrace-gateway: HTTP in front of an instance (see gateway.h and docs/gateway.md).
 *
 *   millrace-gateway --dir DIR [--listen ADDRESS:PORT]
 *   millrace-gateway token NAME [--role observer|client|operator] --dir DIR
 *
 * SIGTERM, SIGINT: takes no more requests, answers those it has, ends with 0. SIGHUP: reads the
 * tokens again. Exit codes are those of err.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "gateway.h"
#include "log.h"
#include "notify.h"
#include "rapidsnark.h"
#include "server.h"
#include "span.h"

enum { WORKERS = 3, LAST_ANSWERS_S = 10 };

struct arguments {
    const char *dir, *listen, *token;
    enum role role;
};

static void usage(FILE *out)
{
    fputs(
        "usage: millrace-gateway --dir DIR [--listen ADDRESS:PORT]\n"
        "       millrace-gateway token NAME [--role observer|client|operator] --dir DIR\n"
        "\n"
        "Serves HTTP in front of a Millrace instance: proving, /metrics, /status and a page at /.\n"
        "Without --listen and [gateway] listen in DIR/millrace.conf: 127.0.0.1:9480. Beyond the\n"
        "loopback interface it needs tokens; `token` makes one and prints it once.\n",
        out);
}

static enum err_code read_arguments(struct arguments *a, int argc, char **argv, struct err *e)
{
    static const struct option options[] = {{"dir", required_argument, NULL, 'd'},
                                            {"listen", required_argument, NULL, 'l'},
                                            {"role", required_argument, NULL, 'r'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    *a = (struct arguments){.role = ROLE_CLIENT};
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, "d:l:r:h", options, NULL)) != -1;) {
        if (c == 'd') {
            a->dir = optarg;
        } else if (c == 'l') {
            a->listen = optarg;
        } else if (c == 'r') {
            a->role = ROLE_NONE;
            for (unsigned r = ROLE_OBSERVER; r <= ROLE_OPERATOR; r++)
                if (strcmp(optarg, role_name((enum role)r)) == 0)
                    a->role = (enum role)r;
            if (a->role == ROLE_NONE)
                return err_set(e, ERR_USAGE, "--role '%.40s': expected observer, client, operator",
                               optarg);
        } else if (c == 'h') {
            usage(stdout);
            exit(0);
        } else {
            return err_set(e, ERR_USAGE, "%s: see --help", argv[optind - 1]);
        }
    }
    if (optind + 2 == argc && strcmp(argv[optind], "token") == 0)
        a->token = argv[optind + 1];
    else if (optind != argc)
        return err_set(e, ERR_USAGE, "'%.60s' is not expected here: see --help", argv[optind]);
    return ERR_OK;
}

static enum err_code make_token(const struct arguments *a, const struct instance *in, struct err *e)
{
    char secret[TOKEN_HEX + 1];
    if (tokens_add(in, a->token, a->role, secret, e) != ERR_OK)
        return e->code;
    puts(secret);
    fprintf(stderr, "%s may use it as %s; it is not kept anywhere and not shown again\n", a->token,
            role_name(a->role));
    return ERR_OK;
}

/* DIR/run/gateway.json: where it listens, for scripts and for `up`. */
static enum err_code announce(struct gateway *g, struct err *e)
{
    char address[48], text[256];
    bool v6 = g->set.listen.any.sa_family == AF_INET6;
    inet_ntop(g->set.listen.any.sa_family,
              v6 ? (void *)&g->set.listen.v6.sin6_addr : (void *)&g->set.listen.v4.sin_addr,
              address, sizeof address);
    unsigned port = server_port(g->server);
    int n = snprintf(text, sizeof text, "{\"url\": \"http://%s%s%s:%u/\", \"pid\": %d}\n",
                     v6 ? "[" : "", address, v6 ? "]" : "", port, (int)getpid());
    int fd = openat(g->instance.run_fd, "gateway.json.new",
                    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool written = fd >= 0 && write(fd, text, (size_t)n) == n;
    if (fd >= 0)
        close(fd);
    if (!written ||
        renameat(g->instance.run_fd, "gateway.json.new", g->instance.run_fd, "gateway.json") != 0)
        return err_set(e, ERR_IO, "%s/run/gateway.json: %s", g->instance.dir, strerror(errno));
    g->announced = true;
    log_info("listening", NULL, "address=%s port=%u", address, port);
    return ERR_OK;
}

static enum err_code start(struct gateway *g, const struct arguments *a, struct err *e)
{
    struct tokens tokens;
    if (settings_read(&g->set, &g->instance, a->listen, e) != ERR_OK ||
        instance_lock(&g->instance, "gateway.lock", "a gateway runs", e) < 0 ||
        tokens_load(&tokens, &g->instance, e) != ERR_OK)
        return e->code;
    g->guard = guard_new(&g->instance, g->set.loopback, g->set.hosts, g->set.rate, &tokens, e);
    tokens_free(&tokens);
    if (!g->guard)
        return e->code;
    g->conns = conns_new(g->set.body_rate);
    g->tally = tally_new();
    g->events = events_new(g);
    g->rapidsnark = rapidsnark_new();
    if (!(g->work = work_new(g->instance.dir, WORKERS, e)) || !(g->talk = talk_new(g, e)) ||
        !(g->watch = watch_new(g, e)) || !(g->server = server_start(g, e)))
        return e->code;
    return announce(g, e);
}

/* Until a signal says so. */
static void serve(struct gateway *g, const sigset_t *signals)
{
    notify_ready();
    for (;;) {
        struct err e;
        int number = sigtimedwait(signals, NULL, &(struct timespec){1, 0});
        notify_heartbeat();
        if (number == SIGTERM || number == SIGINT)
            return;
        if (number == SIGHUP && guard_reload(g->guard, &g->instance, &e) != ERR_OK)
            log_error("tokens-kept", NULL, "reason=%s", e.text);
        else if (number == SIGHUP)
            log_info("tokens-read", NULL, "file=%s", "gateway.tokens");
    }
}

/* Requests under way get their answer, from the desk or from us; then all ends in the order in
 * which one part may still call another. */
static void stop(struct gateway *g)
{
    uint64_t n[CONN_PHASES] = {0}, reaped;
    notify_stopping();
    if (g->server)
        server_quiesce(g->server);
    uint64_t until = span_now_ns() + LAST_ANSWERS_S * UINT64_C(1000000000);
    bool told = false;
    do {
        if (g->talk && !told && span_now_ns() > until - LAST_ANSWERS_S * UINT64_C(900000000))
            talk_end(g->talk), told = true;
        if (g->conns)
            conns_count(g->conns, n, &reaped);
        if (n[CONN_WORK])
            nanosleep(&(struct timespec){0, 20000000}, NULL);
    } while (n[CONN_WORK]);
    if (g->events)
        events_end(g->events);
    server_stop(&g->server);
    watch_free(&g->watch);
    if (g->talk)
        talk_end(g->talk);
    work_free(&g->work);
    talk_free(&g->talk);
    events_free(&g->events);
    rapidsnark_free(&g->rapidsnark);
    conns_free(&g->conns);
    tally_free(&g->tally);
    guard_free(&g->guard);
    if (g->announced) /* else it is of the gateway that was here first */
        unlinkat(g->instance.run_fd, "gateway.json", 0);
}

static enum err_code run(struct arguments *a, struct err *e)
{
    static struct gateway g;
    char dir[4096];
    sigset_t signals;
    if (sodium_init() < 0)
        return err_set(e, ERR_INTERNAL, "libsodium does not start");
    if (instance_open(&g.instance, instance_default_dir(a->dir, dir, sizeof dir), e) != ERR_OK)
        return e->code;
    if (a->token)
        return make_token(a, &g.instance, e);
    /* Blocked in every thread from here on. */
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    enum err_code rc = start(&g, a, e);
    if (rc == ERR_OK)
        serve(&g, &signals);
    stop(&g);
    instance_close(&g.instance);
    return rc;
}

int main(int argc, char **argv)
{
    struct arguments a;
    struct err e = {0};
    log_init("gateway");
    enum err_code rc = read_arguments(&a, argc, argv, &e);
    if (rc == ERR_OK)
        rc = run(&a, &e);
    if (rc != ERR_OK)
        fprintf(stderr, "millrace-gateway: %s\n", e.text);
    return (int)rc;
}
