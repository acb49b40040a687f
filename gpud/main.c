/* gpud: proves on one device (see gpud.h for the life of a partition here).
 *
 *   gpud --dir INSTANCE --index N [--backend cpu|cuda] [--device D] [--node M]
 *
 * SIGTERM, SIGINT or DRAIN: takes nothing new, finishes what is in flight, says BYE and ends with
 * 0; a second signal ends it now. A lost device ends it with ERR_UNAVAILABLE. Exit codes are those
 * of err.h. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpud.h"
#include "log.h"
#include "node.h"
#include "notify.h"

enum watched { WATCH_SIGNAL = 1, WATCH_NOTES = 2 };
enum { TURN_MS = 100, STUCK_S = 10 };

static struct gpud gpud;

static void bind_to_node(int node)
{
    enum node_policy policy;
    struct err e;
    if (node < 0)
        return;
    if (node_bind_self((unsigned)node, &policy, &e) != ERR_OK)
        log_warn("numa", NULL, "reason=%s", e.text); /* a preference, no condition */
    else
        log_info("numa", NULL, "node=%d what=%s", node, node_policy_words(policy));
}

static enum err_code open_signals(int *signals, struct err *e)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &set, NULL); /* in every thread from here on */
    *signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return *signals >= 0 ? ERR_OK : err_set(e, ERR_IO, "signalfd: %s", strerror(errno));
}

static void evidence(struct gpud *g)
{
    struct err e;
    g->stats = stats_open(&g->instance, &g->self, &e);
    g->main_ring = span_ring_open(&g->instance, &g->self, "main", &e);
    g->take_ring = span_ring_open(&g->instance, &g->self, "take", &e);
    g->finish_ring = span_ring_open(&g->instance, &g->self, "finish", &e);
    if (g->stats == NULL || g->main_ring == NULL || g->take_ring == NULL || g->finish_ring == NULL)
        log_warn("no-evidence", NULL, "reason=%s", e.text); /* work goes on without */
}

static enum err_code join(struct gpud *g, struct err *e)
{
    struct msg_hello facts = {
        .threads = g->settings.threads,
        .max_in_flight = g->caps.max_in_flight,
        .evaluates = g->caps.evaluates,
        .early_upload = g->caps.early_upload,
        .memory_bytes = g->caps.memory_bytes,
        .numa_node = g->options.node >= 0     ? (uint32_t)g->options.node
                     : g->caps.numa_node >= 0 ? (uint32_t)g->caps.numa_node
                                              : 255,
    };
    snprintf(facts.backend, sizeof facts.backend, "%s", g->caps.name);
    snprintf(facts.device, sizeof facts.device, "%s", g->caps.device);
    if ((g->lanes = lanes_new(&g->instance, &g->self, e)) == NULL)
        return e->code;
    if ((g->own = lane_bind(g->lanes, LANE_GPUD, g->self.index, e)) == NULL)
        return e->code;
    return member_join(&g->member, g->lanes, &g->self, &facts, e);
}

static enum err_code start(struct gpud *g, int *signals, struct err *e)
{
    char dir[4096], name[ACTOR_NAME_MAX];
    g->self = (struct actor){.kind = ACTOR_GPUD, .index = g->options.index};
    log_init(actor_name(&g->self, name));
    enum err_code rc =
        instance_open(&g->instance, instance_default_dir(g->options.dir, dir, sizeof dir), e);
    if (rc == ERR_OK)
        rc = actor_enter(&g->self, &g->instance, &g->lock_fd, e);
    if (rc == ERR_OK)
        rc = settings_read(&g->instance, &g->settings, e);
    if (rc == ERR_OK)
        rc = open_signals(signals, e);
    if (rc != ERR_OK)
        return rc;
    g->id = actor_to_id(&g->self);
    bind_to_node(g->options.node); /* before any thread: they inherit it */
    evidence(g);
    g->note_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (g->note_fd < 0)
        return err_set(e, ERR_IO, "eventfd: %s", strerror(errno));
    if ((g->circuits = circuit_cache_new(g->instance.dir_fd, e)) == NULL)
        return e->code;
    rc = choose_backend(g, e);
    /* Registering can take a minute: the desk knows us before, and waits for READY. */
    if (rc == ERR_OK)
        rc = join(g, e);
    if (rc == ERR_OK)
        rc = register_arenas(g, e);
    if (rc == ERR_OK)
        rc = finish_begin(g, e);
    if (rc == ERR_OK)
        rc = take_begin(g, e);
    if (rc == ERR_OK)
        member_ready(&g->member, g->nodes, g->register_ns);
    return rc;
}

static void ask(struct gpud *g, bool evict, const uint8_t digest[32])
{
    pthread_mutex_lock(&g->lock);
    if (g->n_asked < ASKED_MAX) {
        g->asked[g->n_asked].evict = evict;
        memcpy(g->asked[g->n_asked++].circuit, digest, 32);
    }
    pthread_mutex_unlock(&g->lock);
    take_ring_bell(g);
}

static void hear(struct gpud *g)
{
    static struct incoming in;
    while (lane_receive(g->own, &in))
        take_ring_bell(g); /* SYNTHESIZED: the table says which */
    while (lane_receive(g->member.desk, &in)) {
        if (member_hear(&g->member, &in.m) != MEMBER_OTHER)
            continue;
        if (in.m.kind == MSG_CIRCUIT_LOAD)
            ask(g, false, in.m.circuit_load.circuit);
        else if (in.m.kind == MSG_CIRCUIT_EVICT)
            ask(g, true, in.m.circuit_evict.circuit);
        else
            take_ring_bell(g); /* CANCEL, CIRCUIT_ADDED: the table and the store say it */
    }
}

/* The take thread's turns are what a heartbeat vouches for. */
static bool work_turns(struct gpud *g, uint64_t now)
{
    pthread_mutex_lock(&g->lock);
    bool turns = g->long_step != NULL || now < g->take_turn_ns + STUCK_S * UINT64_C(1000000000);
    pthread_mutex_unlock(&g->lock);
    return turns;
}

static bool drained(struct gpud *g)
{
    pthread_mutex_lock(&g->lock);
    g->draining = g->member.draining;
    bool done = g->draining && !g->taking && g->n_flights == g->n_finished;
    pthread_mutex_unlock(&g->lock);
    return done;
}

static void hear_signals(struct gpud *g)
{
    int fd;
    uint64_t tag;
    while (lanes_ready(g->lanes, &fd, &tag)) {
        struct signalfd_siginfo si;
        if (tag != WATCH_SIGNAL || read(fd, &si, sizeof si) != (ssize_t)sizeof si)
            continue;
        if (g->member.draining)
            _exit(ERR_CANCELLED); /* asked twice: now */
        g->member.draining = true;
        notify_stopping();
        log_info("draining", NULL, "signal=%u in_flight=%u", si.ssi_signo, take_in_flight(g));
    }
}

/* Returns when drained, with ERR_OK, or when the device is lost. */
static enum err_code serve(struct gpud *g, int signals)
{
    uint64_t done_before = 0;
    lanes_watch(g->lanes, signals, WATCH_SIGNAL);
    lanes_watch(g->lanes, g->note_fd, WATCH_NOTES);
    notify_ready();
    log_info("ready", NULL, "backend=%s nodes=%llx register_s=%.3f", g->caps.name,
             (unsigned long long)g->nodes, (double)g->register_ns / 1e9);
    for (;;) {
        lanes_wait(g->lanes, TURN_MS);
        uint64_t now = span_now_ns();
        hear(g);
        hear_signals(g);
        notes_send(g);
        holdings_tell(g);
        pthread_mutex_lock(&g->lock);
        uint64_t done = g->done;
        bool lost = g->lost;
        pthread_mutex_unlock(&g->lock);
        if (lost)
            return ERR_UNAVAILABLE;
        if (done_before == 0 && done > 0)
            notify_worked();
        done_before = done;
        unsigned in_flight = take_in_flight(g);
        stat_set(g->stats, STAT_IN_FLIGHT, in_flight);
        if (work_turns(g, now)) {
            stat_heartbeat(g->stats);
            member_turn(&g->member, now,
                        &(struct msg_heartbeat){
                            .in_flight = in_flight,
                            .done = done,
                            .charged_bytes = circuit_cache_bytes(g->circuits),
                        });
            notify_heartbeat();
        }
        if (drained(g))
            return ERR_OK;
    }
}

int main(int argc, char **argv)
{
    struct gpud *g = &gpud;
    struct err e = {0};
    int signals = -1;
    umask(0077);
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->started, NULL);
    enum err_code rc = options_parse(argc, argv, &g->options, &e);
    if (rc == ERR_OK)
        rc = start(g, &signals, &e);
    if (rc != ERR_OK) {
        if (rc == ERR_USAGE)
            fprintf(stderr, "gpud: %s\n", e.text);
        else
            log_error("cannot-start", NULL, "code=%s reason=%s", err_word(rc), e.text);
        return (int)rc;
    }
    rc = serve(g, signals);
    if (rc != ERR_OK) {
        log_error("device-lost", NULL, "reason=%s", g->lost_why);
        _exit((int)rc); /* nothing of a lost device can be closed in order */
    }
    take_end(g);
    finish_end(g);
    notes_send(g);
    member_bye(&g->member, "drained");
    unregister_arenas(g);
    g->ops->close(&g->backend);
    lanes_free(&g->lanes);
    circuit_cache_free(&g->circuits);
    span_ring_close(&g->main_ring);
    span_ring_close(&g->take_ring);
    span_ring_close(&g->finish_ring);
    stats_close(&g->stats);
    log_info("ended", NULL, "done=%llu", (unsigned long long)g->done);
    return 0;
}
