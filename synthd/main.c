/* synthd: fills extents of one NUMA node (see synthd.h for the life of a partition here).
 *
 *   synthd --dir INSTANCE --node N --index K
 *
 * SIGTERM, SIGINT or DRAIN: takes nothing new, finishes what it holds, says BYE and ends with 0; a
 * second signal ends it now. Exit codes are those of err.h. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "node.h"
#include "notify.h"
#include "sibling.h"
#include "synthd.h"

enum watched { WATCH_SIGNAL = 1, WATCH_ENDED = 2 };
enum { SCAN_MS = 100 };

static struct synthd synthd;

static enum err_code bind_to_node(struct synthd *s, unsigned *cpus, struct err *e)
{
    enum node_policy policy;
    int list[NODE_CPUS_MAX];
    enum err_code rc = node_bind_self(s->self.node, &policy, e);
    if (rc != ERR_OK)
        return rc;
    size_t n = node_cpus(s->self.node, list);
    *cpus = n > 0 ? (unsigned)n : 1;
    if (policy == NODE_REFUSED)
        log_warn("numa-refused", NULL, "node=%u what=%s", s->self.node, node_policy_words(policy));
    else
        log_info("numa", NULL, "node=%u what=%s cpus=%u", s->self.node, node_policy_words(policy),
                 *cpus);
    return ERR_OK;
}

static enum err_code attach(struct synthd *s, uint64_t *took_ns, struct err *e)
{
    uint64_t begin = span_now_ns();
    int fd = instance_arena_fd(&s->instance, e);
    if (fd < 0)
        return e->code;
    enum err_code rc = arena_attach(&s->arena, fd, s->self.node, ARENA_FILL, e);
    close(fd);
    *took_ns = span_now_ns() - begin;
    return rc;
}

static enum err_code evidence(struct synthd *s)
{
    struct err e;
    s->stats = stats_open(&s->instance, &s->self, &e);
    s->take_ring = span_ring_open(&s->instance, &s->self, "take", &e);
    if (s->take_ring != NULL)
        s->fill_ring = span_ring_open(&s->instance, &s->self, "fill", &e);
    if (s->stats == NULL || s->take_ring == NULL || s->fill_ring == NULL)
        log_warn("no-evidence", NULL, "reason=%s", e.text); /* work goes on without */
    return ERR_OK;
}

static enum err_code start(struct synthd *s, const struct synthd_options *o, int *signals,
                           struct err *e)
{
    char dir[4096], name[ACTOR_NAME_MAX];
    unsigned cpus = 1;
    struct err none;
    uint64_t attach_ns = 0;
    sigset_t set;
    s->self = (struct actor){.kind = ACTOR_SYNTHD, .node = o->node, .index = o->index};
    log_init(actor_name(&s->self, name));
    enum err_code rc =
        instance_open(&s->instance, instance_default_dir(o->dir, dir, sizeof dir), e);
    if (rc == ERR_OK)
        rc = actor_enter(&s->self, &s->instance, &s->lock_fd, e);
    if (rc == ERR_OK)
        rc = bind_to_node(s, &cpus, e); /* before any thread: they inherit it */
    if (rc == ERR_OK)
        rc = settings_read(&s->instance, cpus, &s->settings, e);
    if (rc != ERR_OK)
        return rc;
    s->id = actor_to_id(&s->self);
    if (sibling_path("millrace-wasm", "tools/witness", s->runner, &none) != ERR_OK) {
        s->runner[0] = 0;
        snprintf(s->runner_why, sizeof s->runner_why, "%.250s", none.text);
        log_warn("no-program-runner", NULL, "reason=%s", none.text);
    }
    /* Blocked in every thread from here on; read from the descriptor by the loop. */
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &set, NULL);
    *signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (*signals < 0)
        return err_set(e, ERR_IO, "signalfd: %s", strerror(errno));
    rc = attach(s, &attach_ns, e);
    if (rc == ERR_OK)
        rc = evidence(s);
    if (rc == ERR_OK && (s->circuits = circuit_cache_new(s->instance.dir_fd, e)) == NULL)
        rc = e->code;
    if (rc == ERR_OK && (s->pool = pool_new(s->settings.threads != 0 ? s->settings.threads : cpus,
                                            NULL, e)) == NULL)
        rc = e->code;
    if (rc == ERR_OK && (s->lanes = lanes_new(&s->instance, &s->self, e)) == NULL)
        rc = e->code;
    if (rc != ERR_OK)
        return rc;
    struct msg_hello facts = {.threads = pool_threads(s->pool), .numa_node = s->self.node};
    rc = member_join(&s->member, s->lanes, &s->self, &facts, e);
    if (rc == ERR_OK)
        rc = fill_begin(s, e);
    if (rc == ERR_OK)
        member_ready(&s->member, UINT64_C(1) << s->self.node, attach_ns);
    return rc;
}

/* The mapping is shared with whoever else has it: beside it a circuit takes nothing here. */
static void tell_circuits(struct synthd *s)
{
    static struct circuit_mapped mapped[MEMBER_CIRCUITS_MAX];
    static struct member_circuit now[MEMBER_CIRCUITS_MAX];
    unsigned n = circuit_cache_list(s->circuits, mapped, MEMBER_CIRCUITS_MAX);
    n = n < MEMBER_CIRCUITS_MAX ? n : MEMBER_CIRCUITS_MAX;
    for (unsigned i = 0; i < n; i++)
        memcpy(now[i].digest, mapped[i].digest, sizeof now[i].digest);
    member_tell_circuits(&s->member, now, n);
    stat_set(s->stats, STAT_CHARGED_BYTES, circuit_cache_bytes(s->circuits));
}

static bool hear(struct synthd *s)
{
    static struct incoming in;
    bool rung = false;
    while (lane_receive(s->member.desk, &in)) {
        if (member_hear(&s->member, &in.m) != MEMBER_OTHER)
            continue;
        switch (in.m.kind) {
        case MSG_GRANT:
            if (in.m.grant.arena_epoch == s->arena.header->epoch && in.m.grant.node == s->self.node)
                take_row(s, in.m.grant.row);
            else
                stat_add(s->stats, STAT_STALE_MESSAGES, 1);
            break;
        case MSG_CANCEL:
            rung = true; /* take_watch and the fill thread read the word */
            break;
        case MSG_CIRCUIT_EVICT: {
            circuit_cache_evict(s->circuits, in.m.circuit_evict.circuit);
            break; /* tell_circuits says when it is gone */
        }
        case MSG_CIRCUIT_LOAD: {
            struct err e;
            const struct circuit *c =
                circuit_cache_borrow(s->circuits, in.m.circuit_load.circuit, &e);
            if (c == NULL)
                member_tell_circuit(&s->member, in.m.circuit_load.circuit, false, 0,
                                    (uint32_t)e.code, e.text);
            circuit_cache_return(s->circuits, c);
            break;
        }
        default:
            break; /* CIRCUIT_ADDED: mapped when it is first needed */
        }
    }
    return rung;
}

/* A number of turns of the same loop: wait, hear, take, watch, tell. Returns when drained. */
static void serve(struct synthd *s, int signals)
{
    uint64_t next_scan = 0;
    bool look_again = false;
    lanes_watch(s->lanes, signals, WATCH_SIGNAL);
    lanes_watch(s->lanes, s->ended_fd, WATCH_ENDED);
    notify_ready();
    log_info("ready", NULL, "node=%u threads=%u bulk_bytes=%llu", s->self.node,
             pool_threads(s->pool), (unsigned long long)s->arena.bulk_bytes);
    for (;;) {
        int fd;
        uint64_t tag;
        lanes_wait(s->lanes, SCAN_MS);
        uint64_t now = span_now_ns();
        hear(s);
        while (lanes_ready(s->lanes, &fd, &tag)) {
            struct signalfd_siginfo si;
            if (tag != WATCH_SIGNAL || read(fd, &si, sizeof si) != (ssize_t)sizeof si)
                continue;
            if (s->member.draining)
                exit(ERR_CANCELLED); /* asked twice: now */
            s->member.draining = true;
            notify_stopping();
            log_info("draining", NULL, "signal=%u in_hand=%u", si.ssi_signo, take_in_hand(s));
        }
        look_again = take_watch(s);
        look_again = publish_ended(s) || look_again;
        tell_circuits(s);
        if (look_again || now >= next_scan) {
            take_scan(s, !look_again);
            next_scan = now + SCAN_MS * UINT64_C(1000000);
        }
        unsigned in_hand = take_in_hand(s);
        stat_set(s->stats, STAT_IN_FLIGHT, in_hand);
        stat_heartbeat(s->stats);
        member_turn(&s->member, now,
                    &(struct msg_heartbeat){.in_flight = in_hand,
                                            .done = s->done,
                                            .charged_bytes = circuit_cache_bytes(s->circuits)});
        notify_heartbeat();
        if (s->member.draining && in_hand == 0)
            return;
    }
}

int main(int argc, char **argv)
{
    struct synthd *s = &synthd;
    struct synthd_options o;
    struct err e = {0};
    int signals = -1;
    umask(0077);
    for (size_t i = 0; i < WORK_MAX; i++)
        s->work[i].input_fd = -1;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->wake, NULL);
    enum err_code rc = options_parse(argc, argv, &o, &e);
    if (rc == ERR_OK)
        rc = start(s, &o, &signals, &e);
    if (rc != ERR_OK) {
        if (rc == ERR_USAGE)
            fprintf(stderr, "synthd: %s\n", e.text);
        else
            log_error("cannot-start", NULL, "code=%s reason=%s", err_word(rc), e.text);
        return (int)rc;
    }
    serve(s, signals);
    fill_end(s);
    publish_ended(s);
    member_bye(&s->member, "drained");
    lanes_free(&s->lanes);
    pool_free(&s->pool);
    circuit_cache_free(&s->circuits);
    span_ring_close(&s->take_ring);
    span_ring_close(&s->fill_ring);
    stats_close(&s->stats);
    arena_detach(&s->arena);
    log_info("ended", NULL, "done=%llu", (unsigned long long)s->done);
    return 0;
}
