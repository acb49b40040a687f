/* What the desk stands on: opened in order, closed in the opposite one. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>
#include "answer.h"
#include "ballast.h"
#include "budget.h"
#include "circuits.h"
#include "config.h"
#include "desk.h"
#include "flight.h"
#include "jobs.h"
#include "log.h"
#include "outage.h"
#include "peers.h"
#include "recover.h"
#include "timing.h"

static enum err_code read_settings(struct desk *d, struct err *e)
{
    char path[sizeof d->instance.dir + 16];
    snprintf(path, sizeof path, "%s/millrace.conf", d->instance.dir);
    struct config *c = config_load(path, true, e);
    if (!c)
        return e->code;
    enum err_code rc = settings_read(&d->set, c, e);
    config_free(&c);
    return rc;
}

static enum err_code block_signals(struct desk *d, struct err *e)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &set, NULL); /* inherited by every thread made later */
    d->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return d->signal_fd < 0 ? err_set(e, ERR_IO, "signalfd: %s", strerror(errno)) : ERR_OK;
}

static enum err_code open_ledger(struct desk *d, struct err *e)
{
    char path[sizeof d->instance.dir + 32];
    if (mkdirat(d->instance.dir_fd, "ledger", 0700) != 0 && errno != EEXIST)
        return err_set(e, ERR_IO, "%s/ledger: %s", d->instance.dir, strerror(errno));
    snprintf(path, sizeof path, "%s/ledger/ledger.sqlite", d->instance.dir);
    return ledger_open(&d->ledger, path, NULL, e);
}

static enum err_code attach_arenas(struct desk *d, struct err *e)
{
    int fd = instance_arena_fd(&d->instance, e);
    if (fd < 0)
        return e->code;
    uint64_t mask = arena_nodes(fd);
    enum err_code rc = mask ? ERR_OK : err_set(e, ERR_UNAVAILABLE, "there is no arena");
    for (unsigned i = 0; i < ARENA_NODES_MAX && !rc; i++) {
        struct node *n = &d->nodes[i];
        if (!(mask >> i & 1))
            continue;
        rc = arena_attach(&n->arena, fd, i, ARENA_DESK, e);
        if (rc)
            break;
        n->present = true;
        n->n_rows = (uint32_t)n->arena.header->rows;
        n->row = calloc(n->n_rows, sizeof(struct flight *));
        n->free_rows = calloc(n->n_rows, sizeof *n->free_rows);
        if (!n->row || !n->free_rows)
            rc = err_set(e, ERR_MEMORY, "no memory for a table of %u rows", n->n_rows);
        d->node_mask |= UINT64_C(1) << i;
        d->n_nodes++;
    }
    close(fd);
    budget_look_evidence(d);
    return rc;
}

static enum err_code start_threads(struct desk *d, const struct finisher_ops *ops, struct err *e)
{
    struct err none;
    d->stats = stats_open(&d->instance, &d->self, &none);
    d->spans = span_ring_open(&d->instance, &d->self, "desk", &none);
    d->sweepers = workers_new(2, "sweep", e);
    if (!d->sweepers)
        return e->code;
    d->intake = workers_new(1, "intake", e); /* its own: a wipe before it would be waited for */
    if (!d->intake)
        return e->code;
    if ((d->set.malloc_trim || d->set.ballast_bytes) && !(d->trimmer = workers_new(1, "trim", e)))
        return e->code;
    d->finisher = finisher_new((unsigned)d->set.finishers, ops, &d->instance, &d->self, e);
    return d->finisher ? ERR_OK : e->code;
}

static enum err_code open_lanes(struct desk *d, struct err *e)
{
    d->lanes = lanes_new(&d->instance, &d->self, e);
    if (!d->lanes || !(d->peer_lane = lane_bind(d->lanes, LANE_DESK, 0, e)) ||
        !(d->client_lane = lane_bind(d->lanes, LANE_CLIENT, 0, e)))
        return e->code;
    lanes_watch(d->lanes, ledger_fd(d->ledger), TAG_LEDGER);
    lanes_watch(d->lanes, finisher_fd(d->finisher), TAG_FINISHER);
    lanes_watch(d->lanes, workers_fd(d->sweepers), TAG_SWEEPERS);
    lanes_watch(d->lanes, workers_fd(d->intake), TAG_INTAKE);
    if (d->trimmer)
        lanes_watch(d->lanes, workers_fd(d->trimmer), TAG_TRIMMER);
    lanes_watch(d->lanes, d->signal_fd, TAG_SIGNAL);
    return ERR_OK;
}

struct desk *desk_open(const char *dir, const struct finisher_ops *ops, struct err *e)
{
    char path[4096];
    struct desk *d = calloc(1, sizeof *d);
    if (!d) {
        err_set(e, ERR_MEMORY, "no memory for the desk");
        return NULL;
    }
    d->jobs_tail = &d->jobs;
    d->lock_fd = d->signal_fd = -1;
    d->self = (struct actor){.kind = ACTOR_FINALIZD};
    d->now_ns = span_now_ns();
    if (instance_open(&d->instance, instance_default_dir(dir, path, sizeof path), e) ||
        actor_enter(&d->self, &d->instance, &d->lock_fd, e) || read_settings(d, e) ||
        block_signals(d, e) || open_ledger(d, e) || attach_arenas(d, e) ||
        start_threads(d, ops, e) || open_lanes(d, e) ||
        (d->set.ballast_bytes && ballast_make(d->set.ballast_bytes, d->trimmer, e))) {
        desk_close(&d);
        return NULL;
    }
    d->self_id = actor_to_id(&d->self);
    d->order = order_new(d->set.age_step_ns);
    if (recover(d, e)) {
        desk_close(&d);
        return NULL;
    }
    return d;
}

void desk_close(struct desk **dp)
{
    struct desk *d = *dp;
    if (!d)
        return;
    *dp = NULL;
    /* What the threads still hold comes back first; then nothing refers to a job any more. */
    if (d->ledger)
        ledger_close(&d->ledger);
    workers_free(&d->intake);
    workers_free(&d->sweepers);
    workers_free(&d->trimmer);
    finisher_free(&d->finisher);
    timing_flush(d);
    outages_free(d);
    answers_free(d);
    lanes_free(&d->lanes);
    span_ring_close(&d->spans);
    stats_close(&d->stats);
    for (unsigned i = 0; i < ARENA_NODES_MAX; i++)
        if (d->nodes[i].present)
            arena_detach(&d->nodes[i].arena);
    if (d->signal_fd >= 0)
        close(d->signal_fd);
    if (d->lock_fd >= 0)
        close(d->lock_fd);
    instance_close(&d->instance);
    /* The process ends here: tables that only point into what is gone are left to the system. */
}
