#include "desk.h"
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "answer.h"
#include "budget.h"
#include "circuits.h"
#include "death.h"
#include "flight.h"
#include "grant.h"
#include "inputs.h"
#include "intake.h"
#include "jobs.h"
#include "log.h"
#include "notify.h"
#include "outage.h"
#include "peers.h"
#include "recover.h"
#include "report.h"

enum { MESSAGES_A_TURN = 256, REPLIES_A_TURN = 512, PRUNE_A_TURN = 256 };
#define SCAN_NS      UINT64_C(100000000)
#define SECOND_NS    UINT64_C(1000000000)
#define LONG_TURN_NS UINT64_C(1000000)

/* ---- draining ---- */

static void begin_drain(struct desk *d, uint64_t grace_ns)
{
    if (!d->draining) {
        log_info("draining", NULL, "in_flight=%" PRIu64 " waiting=%" PRIu64, d->n_flights,
                 d->n_waiting);
        notify_stopping();
    }
    d->draining = true;
    d->drain_until_ns = d->now_ns + grace_ns;
}

static void drain_asked(struct desk *d, const char *route, const struct msg_drain_ask *m)
{
    uint64_t grace_ns = (uint64_t)m->grace_ms * 1000000;
    struct awaiter *a;
    if (m->name[0] && strcmp(m->name, "finalizd") != 0) {
        struct peer *p = peer_of_name(d, m->name);
        struct err e;
        if (!p || p->dead) {
            err_set(&e, ERR_REFUSED, "no daemon called '%s' is running", m->name);
            answer_refused(d, route, m->tag, &e);
            return;
        }
        struct message drain = {.kind = MSG_DRAIN};
        drain.drain.grace_ms = m->grace_ms;
        p->draining = true;
        p->innocent = true;
        peer_send(d, p, &drain);
        answer_ok(d, route, m->tag, "%s finishes what it holds and ends", m->name);
        return;
    }
    begin_drain(d, grace_ns);
    a = calloc(1, sizeof *a);
    INVARIANT(a != NULL);
    memcpy(a->route, route, strlen(route) + 1);
    a->tag = m->tag;
    a->next = d->drain_askers;
    d->drain_askers = a;
}

static void drain_turn(struct desk *d)
{
    bool over = d->now_ns >= d->drain_until_ns;
    if (!d->draining || (d->n_flights > 0 && !over))
        return;
    for (struct awaiter *a; (a = d->drain_askers);) {
        d->drain_askers = a->next;
        if (d->n_flights == 0)
            answer_ok(d, a->route, a->tag, "drained");
        else
            answer_ok(d, a->route, a->tag, "%" PRIu64 " partitions are still under way",
                      d->n_flights);
        free(a);
    }
}

/* ---- hearing ---- */

static unsigned hear_peers(struct desk *d)
{
    static struct incoming in;
    unsigned i;
    for (i = 0; i < MESSAGES_A_TURN && lane_receive(d->peer_lane, &in); i++) {
        if (peers_message(d, &in))
            continue;
        struct flight *f = flight_of_message(d, &in.m);
        if (f)
            flight_look(f, true);
    }
    return i;
}

static void hear_ping(struct desk *d, const char *route, const struct msg_ping *m)
{
    struct message pong = {.kind = MSG_PONG};
    pong.pong.tag = m->tag;
    pong.pong.epoch = ledger_epoch(d->ledger);
    pong.pong.protocol = PROTOCOL_VERSION;
    pong.pong.draining = d->draining;
    pong.pong.synthds = peers_ready(d, ACTOR_SYNTHD);
    pong.pong.gpuds = peers_ready(d, ACTOR_GPUD);
    lane_send(d->client_lane, route, &pong);
}

static unsigned hear_clients(struct desk *d)
{
    static struct incoming in;
    unsigned i;
    for (i = 0; i < MESSAGES_A_TURN && lane_receive(d->client_lane, &in); i++) {
        const char *route = in.peer;
        switch (in.m.kind) {
        case MSG_SUBMIT:
            intake_submit(d, route, &in.m.submit);
            break;
        case MSG_AWAIT:
            intake_await(d, route, &in.m.await);
            break;
        case MSG_CANCEL_JOB:
            intake_cancel(d, route, &in.m.cancel_job);
            break;
        case MSG_STATUS:
            report_status(d, route, &in.m.status);
            break;
        case MSG_JOBS:
            report_jobs(d, route, &in.m.jobs);
            break;
        case MSG_SHOW:
            report_show(d, route, &in.m.show);
            break;
        case MSG_CIRCUITS:
            report_circuits(d, route, &in.m.circuits);
            break;
        case MSG_CIRCUIT_ADD:
            circuit_add(d, route, &in.m.circuit_add);
            break;
        case MSG_CIRCUIT_REMOVE:
            circuit_remove(d, route, &in.m.circuit_remove);
            break;
        case MSG_PRELOAD:
            circuit_preload(d, route, &in.m.preload);
            break;
        case MSG_EVICT:
            circuit_evict(d, route, &in.m.evict);
            break;
        case MSG_DRAIN_ASK:
            drain_asked(d, route, &in.m.drain_ask);
            break;
        case MSG_PING:
            hear_ping(d, route, &in.m.ping);
            break;
        default:
            break; /* the lane hands over only what the table allows */
        }
    }
    return i;
}

static void hear_signal(struct desk *d)
{
    struct signalfd_siginfo si;
    while (read(d->signal_fd, &si, sizeof si) == (ssize_t)sizeof si) {
        if (d->stopping)
            _exit(ERR_CANCELLED); /* asked twice: now; the next start recovers */
        d->stopping = true;
        begin_drain(d, UINT64_MAX / 2); /* the supervisor has the bound */
    }
}

/* What was done on other threads comes back through descriptors. */
static void take_back(struct desk *d)
{
    int fd;
    uint64_t tag;
    while (lanes_ready(d->lanes, &fd, &tag)) {
        switch (tag) {
        case TAG_LEDGER:
            ledger_drain(d->ledger, REPLIES_A_TURN);
            break;
        case TAG_FINISHER:
            if (finisher_drain(d->finisher))
                notify_worked();
            break;
        case TAG_SWEEPERS:
            workers_drain(d->sweepers);
            break;
        case TAG_INTAKE:
            workers_drain(d->intake);
            break;
        case TAG_TRIMMER:
            workers_drain(d->trimmer);
            break;
        case TAG_SIGNAL:
            hear_signal(d);
            break;
        case TAG_PEER_DIED:
            peers_died(d, fd);
            break;
        default:
            break;
        }
    }
}

/* ---- what time brings ---- */

static void tell_progress(struct desk *d)
{
    for (struct job *j = d->jobs; j; j = j->next)
        if (j->state == JOB_OPEN && j->awaiters)
            answer_progress(j);
}

static void each_second(struct desk *d)
{
    peers_tick(d);
    budget_look_evidence(d);
    tell_progress(d);
    notify_heartbeat();
    notify_status("%s: %" PRIu64 " jobs open, %" PRIu64 " partitions wait, %" PRIu64
                  " are in flight",
                  d->draining ? "draining" : "serving", d->n_jobs, d->n_waiting, d->n_flights);
    uint64_t now = wall_now_ns();
    if (d->set.results_ns && now > d->set.results_ns)
        ledger_prune(d->ledger, now - d->set.results_ns, PRUNE_A_TURN, NULL, NULL);
}

static void pass_time(struct desk *d)
{
    if (d->now_ns >= d->next_scan_ns) {
        flights_scan(d);
        death_tick(d);
        outage_turn(d);
        jobs_deadlines(d);
        d->grant_due = true;
        d->next_scan_ns = d->now_ns + SCAN_NS;
    }
    if (d->now_ns >= d->next_second_ns) {
        each_second(d);
        d->next_second_ns = d->now_ns + SECOND_NS;
    }
    if (d->now_ns >= d->next_sweep_ns) {
        inputs_sweep(d);
        d->next_sweep_ns =
            d->now_ns +
            (d->set.orphan_input_ns > 2 * SECOND_NS ? d->set.orphan_input_ns / 2 : SECOND_NS);
    }
}

static void grant_turn(struct desk *d)
{
    if (!d->grant_due)
        return;
    if (!d->draining) {
        grant_run(d);
        return;
    }
    d->grant_due = false;
    death_parked(d); /* what is under way still needs an owner */
}

/* A drained desk that was told to stop has nothing left but what is queued in the ledger. */
static bool is_over(const struct desk *d)
{
    return d->stopping && d->n_flights == 0 && !d->sendings;
}

/* A long turn keeps everybody waiting: it is told, a short one is not. */
static void note_turn(struct desk *d, unsigned heard)
{
    uint64_t end = span_now_ns();
    if (end - d->now_ns > LONG_TURN_NS)
        span_write(d->spans, SPAN_DESK_TURN, SPAN_NOBODY, d->now_ns, end, heard);
}

void desk_serve(struct desk *d)
{
    notify_ready();
    log_info("ready", NULL, "dir=%s nodes=%u finishers=%" PRIu64, d->instance.dir, d->n_nodes,
             d->set.finishers);
    outage_of_predecessor(d);
    d->grant_due = true;
    while (!is_over(d)) {
        int wait_ms = d->grant_due ? 0 : d->sendings ? 1 : 100;
        lanes_wait(d->lanes, wait_ms);
        d->now_ns = span_now_ns();
        unsigned heard = hear_peers(d) + hear_clients(d);
        take_back(d);
        pass_time(d);
        grant_turn(d);
        answers_pump(d);
        drain_turn(d);
        flights_reap(d);
        stat_set(d->stats, STAT_IN_FLIGHT, d->n_flights);
        stat_set(d->stats, STAT_QUEUED, d->n_waiting);
        stat_heartbeat(d->stats);
        note_turn(d, heard);
    }
    log_info("drained", NULL, "waiting=%" PRIu64, d->n_waiting);
}
