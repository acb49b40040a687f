#include "grant.h"
#include <stdlib.h>
#include "budget.h"
#include "death.h"
#include "flight.h"
#include "jobs.h"
#include "log.h"
#include "peers.h"

enum { GRANTS_A_TURN = 64, CANDIDATES = 16 };
#define WAIT_PIECE_NS UINT64_C(250000000)

static unsigned queue_of(const struct peer *gpud)
{
    return gpud->count[LEASE_GRANTED] + gpud->count[LEASE_FILLING] + gpud->count[LEASE_READY] +
           gpud->count[LEASE_PROVING];
}

static unsigned held_by(const struct peer *p)
{
    unsigned n = 0;
    for (unsigned s = LEASE_GRANTED; s <= LEASE_UPLOADED; s++)
        n += p->count[s];
    return n;
}

/* ---- which GPU ---- */

/* Its ready queue is full. The urgent class has a bound of its own: what others have filled for
 * this GPU, however much, does not keep an urgent partition from being filled meanwhile. */
static bool is_full(const struct desk *d, const struct peer *g, bool urgent)
{
    if (!urgent)
        return g->count[LEASE_READY] >= d->set.ready_bound;
    uint64_t ready = 0;
    for (const struct flight *f = d->flights; f && ready < d->set.ready_bound; f = f->next)
        ready += f->gpud == g && f->urgent && f->counted == LEASE_READY;
    return ready >= d->set.ready_bound;
}

struct peer *grant_pick_gpud(struct desk *d, const struct partition *p,
                             const struct circuit_entry *c, uint64_t nodes, bool alone,
                             bool evaluates)
{
    struct peer *best = NULL, *emptiest = NULL;
    unsigned best_score = ~0u;
    bool urgent = p->job->order.urgent;
    for (struct peer *g = d->peers; g; g = g->next) {
        if (g->actor.kind != ACTOR_GPUD || !g->ready || g->dead || g->draining ||
            (g->nodes & nodes) == 0 || (evaluates && !g->evaluates))
            continue;
        if (g->suspect == p && held_by(g) == 0)
            return g;
        if (g->suspect)
            continue;
        if (!emptiest || held_by(g) < held_by(emptiest))
            emptiest = g;
        if (alone) {
            if (held_by(g) == 0)
                return g;
            continue;
        }
        if (is_full(d, g, urgent))
            continue;
        unsigned queue = queue_of(g);
        unsigned score = (budget_key_resident(g, c) ? 0u : 1u << 20) +
                         (g->id == p->avoid ? 1u << 21 : 0u) + (queue < 4096 ? queue : 4096u);
        if (score < best_score) {
            best_score = score;
            best = g;
        }
    }
    bool kept = false;
    for (struct peer *g = d->peers; alone && g; g = g->next)
        kept = kept || (g->actor.kind == ACTOR_GPUD && g->suspect == p && !g->dead);
    if (alone && !kept && emptiest)
        emptiest->suspect = p; /* nothing more goes there: it will be empty */
    return best;
}

/* ---- which synthd ---- */

static struct peer *pick_synthd(struct desk *d, const struct partition *p, unsigned node,
                                bool alone)
{
    struct peer *best = NULL, *emptiest = NULL;
    uint64_t credit = d->set.synthd_credit + p->job->order.urgent;
    for (struct peer *s = d->peers; s; s = s->next) {
        if (s->actor.kind != ACTOR_SYNTHD || s->actor.node != node || !s->ready || s->dead ||
            s->draining || !(s->nodes >> node & 1))
            continue;
        unsigned held = s->count[LEASE_GRANTED] + s->count[LEASE_FILLING];
        if (s->suspect == p && held == 0)
            return s;
        if (s->suspect)
            continue;
        if (!emptiest || held < emptiest->count[LEASE_GRANTED] + emptiest->count[LEASE_FILLING])
            emptiest = s;
        if (alone) {
            if (held == 0)
                return s;
        } else if (held < credit &&
                   (!best || held < best->count[LEASE_GRANTED] + best->count[LEASE_FILLING])) {
            best = s;
        }
    }
    bool kept = false;
    for (struct peer *s = d->peers; alone && s; s = s->next)
        kept = kept || (s->actor.kind == ACTOR_SYNTHD && s->suspect == p && !s->dead);
    if (alone && !kept && emptiest)
        emptiest->suspect = p;
    return best;
}

/* ---- a place ---- */

enum verdict { PLACED, NO_GPUD, NO_SYNTHD, NO_ROOM };

struct place {
    struct peer *gpud, *synthd;
    unsigned node;
    struct extent extent;
    bool from_reserve, resident, evaluate_gpu;
};

/* ---- who evaluates the matrices ---- */

/* Nothing that is filled waits for it: it waits for synthd. */
static bool is_waited_by(const struct peer *gpud)
{
    return gpud->count[LEASE_READY] == 0;
}

/* Cuts an extent for w, a and b where synthd evaluates, for w alone where gpud does. With auto the
 * latter is also the way out where a and b find no room. */
static bool cut(const struct desk *d, struct node *n, const struct circuit_entry *c, bool urgent,
                struct place *at)
{
    enum evaluate how = d->set.evaluate;
    bool can = at->gpud->evaluates && how != EVALUATE_SYNTHD;
    at->evaluate_gpu = can && (how == EVALUATE_GPU || is_waited_by(at->gpud));
    if (budget_cut(n, budget_extent(c, at->evaluate_gpu), urgent, &at->extent, &at->from_reserve))
        return true;
    if (!can || at->evaluate_gpu)
        return false;
    at->evaluate_gpu = true;
    return budget_cut(n, budget_extent(c, true), urgent, &at->extent, &at->from_reserve);
}

/* Nodes that a GPU can read, its own first, then by distance in number. */
static unsigned nodes_near(const struct desk *d, const struct peer *gpud, unsigned out[])
{
    unsigned n = 0;
    if (gpud->numa_node < ARENA_NODES_MAX && d->nodes[gpud->numa_node].present &&
        (gpud->nodes >> gpud->numa_node & 1))
        out[n++] = gpud->numa_node;
    for (unsigned i = 0; i < ARENA_NODES_MAX; i++)
        if (d->nodes[i].present && (gpud->nodes >> i & 1) && i != gpud->numa_node)
            out[n++] = i;
    return n;
}

/* Room is kept for a job: for it, and for whoever goes before it by order, which may be an older
 * one of its circuit that waits again. */
static bool goes_after_kept(const struct desk *d, const struct job *j)
{
    return d->kept_for && d->kept_for != j &&
           order_before(d->order, &d->kept_for->order, &j->order);
}

static enum verdict find_place(struct desk *d, const struct partition *p, struct place *out)
{
    struct circuit_entry *c = p->job->circuit;
    bool urgent = p->job->order.urgent, alone = p->suspect;
    *out = (struct place){0};
    out->gpud = grant_pick_gpud(d, p, c, d->node_mask, alone, d->set.evaluate == EVALUATE_GPU);
    if (!out->gpud)
        return NO_GPUD;
    out->resident = budget_key_resident(out->gpud, c);
    unsigned near[ARENA_NODES_MAX], n = nodes_near(d, out->gpud, near);
    enum verdict v = NO_SYNTHD;
    for (unsigned i = 0; i < n; i++) {
        struct node *node = &d->nodes[near[i]];
        out->synthd = pick_synthd(d, p, near[i], alone);
        if (!out->synthd)
            continue;
        v = NO_ROOM;
        if (near[i] == d->kept_node && goes_after_kept(d, p->job) && !urgent)
            continue; /* room gathers there for the head */
        if (node->n_free_rows == 0 || !budget_key_room(d, out->gpud, c))
            continue;
        if (cut(d, node, c, urgent, out)) {
            out->node = near[i];
            return PLACED;
        }
    }
    return v;
}

static void give_back(struct desk *d, const struct place *at)
{
    budget_return(&d->nodes[at->node], at->extent, at->from_reserve);
}

/* ---- the waits, as spans ---- */

static void note_wait(struct job *j, uint64_t now, enum verdict v)
{
    struct desk *d = j->desk;
    enum span_kind kind = v == NO_ROOM     ? SPAN_ROOM_WAIT
                          : v == NO_SYNTHD ? SPAN_SYNTHD_WAIT
                                           : SPAN_QUEUE_WAIT;
    /* In pieces, so that a reader sees a wait while it lasts. */
    if (v != PLACED && j->wait_kind == (int)kind && now - j->wait_since_ns < WAIT_PIECE_NS)
        return;
    struct partition *p = job_next_waiting(j);
    struct span_who who = {
        .job = j->id, .partition = p->index, .attempt = p->attempts + 1, .row = UINT32_MAX};
    uint64_t since = j->wait_kind ? j->wait_since_ns : p->wait_ns;
    span_write(d->spans, j->wait_kind ? (enum span_kind)j->wait_kind : SPAN_QUEUE_WAIT, &who, since,
               now, j->circuit->extent_bytes);
    j->wait_kind = kind;
    j->wait_since_ns = now;
}

/* ---- granting ---- */

static void attempt_committed(void *arg, const struct ledger_reply *r)
{
    struct flight *f = arg;
    (void)r; /* attempts are kept until they commit */
    if (f->part && !f->synthd->dead && !f->gpud->dead && f->synthd->ready)
        flight_launch(f);
    else
        flight_abort(f);
}

static void grant(struct desk *d, struct partition *p, const struct place *at)
{
    struct job *j = p->job;
    note_wait(j, d->now_ns, PLACED);
    j->wait_kind = 0;
    partition_leaves_order(p, PART_STARTING);
    p->attempts++;
    struct node *n = &d->nodes[at->node];
    uint32_t row = n->free_rows[--n->n_free_rows];
    struct flight *f =
        flight_new(d, p, at->node, row, at->extent, at->from_reserve, at->synthd, at->gpud);
    f->urgent = j->order.urgent;
    f->evaluate_gpu = at->evaluate_gpu;
    if (p->suspect) {
        f->alone_for = p;
        at->synthd->suspect = at->gpud->suspect = p;
    }
    if (d->kept_for == j)
        d->kept_for = NULL;
    f->attempt_ns = d->now_ns;
    ledger_attempt(d->ledger, j->id, p->index, p->attempts, attempt_committed, f);
}

static struct job *job_of(struct order_entry *e)
{
    return (struct job *)e; /* its first member */
}

/* The node where room is kept for a head that was passed often enough: the one with most room. */
static void keep_room(struct desk *d, struct job *head)
{
    uint64_t most = 0;
    if (d->kept_for == head)
        return;
    for (unsigned i = 0; i < ARENA_NODES_MAX; i++) {
        struct node *n = &d->nodes[i];
        uint64_t room = n->present ? extent_free_bytes(&n->arena) + 1 : 0;
        if (room > most && n->arena.bulk_bytes >= budget_least_extent(d, head->circuit)) {
            most = room;
            d->kept_node = i;
        }
    }
    if (most)
        d->kept_for = head;
}

/* One grant, of the first in order that may have it; false when nobody can be granted anything. */
static bool grant_one(struct desk *d)
{
    struct order_entry *passed[CANDIDATES];
    unsigned n_passed = 0;
    struct place first_place; /* of a head that would have to load its key */
    struct job *first = NULL;
    for (struct order_entry *e = order_first(d->order); e && n_passed < CANDIDATES;
         e = order_next(d->order, e)) {
        struct job *j = job_of(e);
        struct partition *p = job_next_waiting(j);
        struct place at;
        enum verdict v = find_place(d, p, &at);
        if (e == order_first(d->order))
            note_wait(j, d->now_ns, v);
        if (v == PLACED && (at.resident || first == NULL)) {
            bool may_pass = !at.resident && e->key_passes < d->set.key_passes && !p->suspect &&
                            !e->urgent && order_next(d->order, e) != NULL;
            if (may_pass) { /* is there another whose key is resident? */
                first = j;
                first_place = at;
                continue;
            }
            if (first) {
                give_back(d, &first_place);
                first->order.key_passes++;
            }
            for (unsigned i = 0; i < n_passed; i++)
                passed[i]->room_passes++;
            grant(d, p, &at);
            return true;
        }
        if (v == PLACED)
            give_back(d, &at);
        else if (v == NO_ROOM && !first) {
            if (e->room_passes >= d->set.room_passes)
                keep_room(d, j);
            passed[n_passed++] = e;
        }
    }
    if (!first)
        return false;
    for (unsigned i = 0; i < n_passed; i++)
        passed[i]->room_passes++;
    grant(d, job_next_waiting(first), &first_place);
    return true;
}

void grant_run(struct desk *d)
{
    d->grant_due = false;
    death_parked(d);
    for (unsigned i = 0; order_count(d->order) > 0; i++) {
        if (i == GRANTS_A_TURN) {
            d->grant_due = true;
            return;
        }
        if (!grant_one(d))
            return;
    }
}
