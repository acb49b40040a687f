#include "peers.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "budget.h"
#include "circuits.h"
#include "death.h"
#include "log.h"
#include "outage.h"

enum { LATE_HEARTBEATS = 5 }; /* so many periods without a word are reported */

struct peer *peer_of_id(const struct desk *d, actor_id id)
{
    if (id == 0)
        return NULL;
    for (struct peer *p = d->peers; p; p = p->next)
        if (p->id == id)
            return p;
    return NULL;
}

static struct peer *peer_of_actor(const struct desk *d, const struct actor *a)
{
    for (struct peer *p = d->peers; p; p = p->next)
        if (actor_equal(&p->actor, a))
            return p;
    return NULL;
}

struct peer *peer_of_name(const struct desk *d, const char *name)
{
    struct actor wanted;
    struct peer *newest = NULL;
    if (!actor_parse(&wanted, name, strlen(name)))
        return NULL;
    for (struct peer *p = d->peers; p; p = p->next)
        if (p->actor.kind == wanted.kind && p->actor.node == wanted.node &&
            p->actor.index == wanted.index &&
            (!newest || p->actor.incarnation > newest->actor.incarnation))
            newest = p;
    return newest;
}

bool peer_send(struct desk *d, struct peer *p, const struct message *m)
{
    return !p->dead && lane_send(d->peer_lane, p->route, m) == LANE_SENT;
}

void peers_send_all(struct desk *d, const struct message *m)
{
    for (struct peer *p = d->peers; p; p = p->next)
        if (p->actor.kind == ACTOR_SYNTHD || p->actor.kind == ACTOR_GPUD)
            peer_send(d, p, m);
}

static struct peer *add_peer(struct desk *d, const struct actor *a)
{
    struct peer *p = calloc(1, sizeof *p);
    INVARIANT(p != NULL);
    p->actor = *a;
    if (a->kind == ACTOR_SYNTHD || a->kind == ACTOR_GPUD)
        p->id = actor_to_id(a);
    p->pidfd = -1;
    p->numa_node = 255;
    p->max_in_flight = 1;
    p->heard_ns = d->now_ns;
    actor_routing_id(a, p->route);
    p->next = d->peers;
    d->peers = p;
    return p;
}

/* ---- who it is, and whether it lives ---- */

static void watch(struct desk *d, struct peer *p)
{
    struct err e = {.code = ERR_OK};
    if (p->pidfd >= 0)
        return;
    switch (alive_open(&p->who, &p->pidfd, &e)) {
    case ALIVE_YES:
        lanes_watch(d->lanes, p->pidfd, TAG_PEER_DIED);
        break;
    case ALIVE_DEAD:
        death_of(d, p);
        break;
    case ALIVE_UNKNOWN:
        p->pidfd = -1;
        log_warn("peer-unwatched", NULL, "actor=%s pid=%u reason=%s", p->route, p->who.pid, e.text);
        break;
    }
}

static void hello(struct desk *d, const struct incoming *in)
{
    const struct msg_hello *h = &in->m.hello;
    if (h->protocol != PROTOCOL_VERSION) {
        log_warn("peer-refused", NULL, "actor=%s protocol=%u expected=%d", in->peer, h->protocol,
                 PROTOCOL_VERSION);
        return;
    }
    struct peer *p = peer_of_actor(d, &in->from);
    if (!p)
        p = add_peer(d, &in->from);
    memcpy(p->route, in->peer, sizeof p->route);
    alive_from_hello(&p->who, h);
    p->introduced = true;
    p->heard_ns = d->now_ns;
    p->numa_node = h->numa_node;
    p->max_in_flight = h->max_in_flight ? h->max_in_flight : 1;
    p->evaluates = h->evaluates;
    p->early_upload = h->early_upload;
    p->memory_bytes = p->keys.limit = h->memory_bytes;
    memcpy(p->backend, h->backend, sizeof p->backend);
    memcpy(p->device, h->device, sizeof p->device);
    watch(d, p);
    struct message m = {.kind = MSG_WELCOME};
    struct alive_id me;
    if (alive_self(&me, NULL) == ERR_OK) {
        m.welcome.pid = me.pid;
        m.welcome.start_ticks = me.start_ticks;
    }
    m.welcome.epoch = ledger_epoch(d->ledger);
    m.welcome.heartbeat_ms = (uint32_t)(d->set.heartbeat_ns / 1000000);
    peer_send(d, p, &m);
    log_info("peer-joined", NULL, "actor=%s pid=%u backend=%s device=%s", p->route, p->who.pid,
             p->backend, p->device);
}

static void ready(struct desk *d, struct peer *p, const struct msg_ready *r)
{
    p->nodes = r->nodes;
    p->ready = true;
    d->grant_due = true;
    outage_end(d, &p->actor);
    log_info("peer-ready", NULL, "actor=%s nodes=%llx register_ns=%llu", p->route,
             (unsigned long long)r->nodes, (unsigned long long)r->register_ns);
}

static void heartbeat(struct desk *d, struct peer *p, const struct msg_heartbeat *h)
{
    p->late = false;
    p->done = h->done;
    p->charged_bytes = h->charged_bytes;
    if (p->draining && !h->draining)
        d->grant_due = true;
    p->draining = h->draining;
}

static void bye(struct desk *d, struct peer *p, const struct msg_bye *b)
{
    p->ready = false;
    p->innocent = p->said_bye = true;
    log_info("peer-leaves", NULL, "actor=%s reason=%s", p->route, b->reason);
    d->grant_due = true;
}

static void circuit_state(struct desk *d, struct peer *p, const struct msg_circuit_state *s)
{
    struct circuit_entry *c = circuit_by_digest(d, s->circuit);
    if (!c)
        return;
    if (s->code)
        log_warn("circuit-load-failed", NULL, "actor=%s circuit=%s code=%u reason=%s", p->route,
                 c->alias, s->code, s->reason);
    budget_key_report(d, p, c, s->resident != 0, s->bytes);
}

static void ask_who(struct desk *d, const char *route)
{
    struct message m = {.kind = MSG_WHO};
    m.who.epoch = ledger_epoch(d->ledger);
    lane_send(d->peer_lane, route, &m);
}

bool peers_message(struct desk *d, const struct incoming *in)
{
    if (in->m.kind == MSG_HELLO) {
        hello(d, in);
        return true;
    }
    struct peer *p = peer_of_actor(d, &in->from);
    if (p)
        p->heard_ns = d->now_ns;
    switch (in->m.kind) {
    case MSG_READY:
    case MSG_HEARTBEAT:
    case MSG_BYE:
    case MSG_CIRCUIT_STATE:
        break;
    default:
        return false;
    }
    if (!p || !p->introduced)
        ask_who(d, in->peer);
    else if (p->dead)
        log_warn("peer-undead", NULL, "actor=%s", p->route);
    else if (in->m.kind == MSG_READY)
        ready(d, p, &in->m.ready);
    else if (in->m.kind == MSG_HEARTBEAT)
        heartbeat(d, p, &in->m.heartbeat);
    else if (in->m.kind == MSG_BYE)
        bye(d, p, &in->m.bye);
    else
        circuit_state(d, p, &in->m.circuit_state);
    return true;
}

void peers_died(struct desk *d, int pidfd)
{
    for (struct peer *p = d->peers; p; p = p->next)
        if (p->pidfd == pidfd) {
            if (!p->dead && alive_is_dead(pidfd))
                death_of(d, p);
            return;
        }
    lanes_unwatch(d->lanes, pidfd);
}

/* ---- after a restart of the desk ---- */

struct peer *peer_adopt(struct desk *d, actor_id id)
{
    struct peer *p = peer_of_id(d, id);
    if (p)
        return p;
    struct actor a = actor_from_id(id);
    p = add_peer(d, &a);
    switch (actor_last_seen(&a, &d->instance, &p->who)) {
    case ACTOR_LAST:
        break;
    case ACTOR_SUCCEEDED:
        p->succeeded = true;
        break;
    case ACTOR_UNKNOWN:
        log_warn("peer-unknown", NULL, "actor=%s reason=%s", p->route,
                 "it holds a lease and left no lock file: waiting for its HELLO");
        break;
    }
    return p;
}

void peers_watch_adopted(struct desk *d)
{
    for (struct peer *p = d->peers; p; p = p->next) {
        if (p->introduced || p->dead)
            continue;
        if (p->succeeded)
            death_of(d, p);
        else if (p->who.pid)
            watch(d, p);
    }
}

/* ---- once a second ---- */

void peers_tick(struct desk *d)
{
    d->has_dead = false;
    for (struct peer **at = &d->peers, *p; (p = *at);) {
        d->has_dead = d->has_dead || (p->dead && p->refs);
        uint64_t silent = d->now_ns - p->heard_ns;
        if (!p->dead && !p->late && p->who.pid && silent > LATE_HEARTBEATS * d->set.heartbeat_ns) {
            p->late = true;
            stat_add(d->stats, STAT_LATE_HEARTBEATS, 1);
            log_warn("peer-late", NULL, "actor=%s silent_ms=%llu", p->route,
                     (unsigned long long)(silent / 1000000));
        }
        if (p->dead && p->refs == 0 && d->now_ns - p->died_ns > 10000000000u) {
            *at = p->next;
            keys_free(&p->keys);
            free(p);
            continue;
        }
        at = &p->next;
    }
}

unsigned peers_ready(const struct desk *d, enum actor_kind kind)
{
    unsigned n = 0;
    for (const struct peer *p = d->peers; p; p = p->next)
        n += p->actor.kind == kind && p->ready && !p->dead;
    return n;
}
