#include "circuits.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "answer.h"
#include "budget.h"
#include "log.h"
#include "peers.h"
#include "prepared.h"
#include "store.h"

enum { VECTOR_ALIGN = 4096 };

struct circuit_entry *circuit_by_digest(const struct desk *d, const uint8_t digest[32])
{
    for (unsigned i = 0; i < d->n_circuits; i++)
        if (memcmp(d->circuits[i]->digest, digest, 32) == 0)
            return d->circuits[i];
    return NULL;
}

struct circuit_entry *circuit_by_name(const struct desk *d, const char *name)
{
    uint8_t digest[32];
    for (unsigned i = 0; i < d->n_circuits; i++)
        if (!d->circuits[i]->removed && d->circuits[i]->alias[0] &&
            strcmp(d->circuits[i]->alias, name) == 0)
            return d->circuits[i];
    if (!digest_from_hex(digest, name))
        return NULL;
    struct circuit_entry *c = circuit_by_digest(d, digest);
    return c && !c->removed ? c : NULL;
}

const char *circuit_label(const struct circuit_entry *c, char out[80])
{
    char hex[DIGEST_HEX + 1];
    digest_to_hex(c->digest, hex);
    if (c->alias[0])
        snprintf(out, 80, "%s", c->alias);
    else
        snprintf(out, 80, "%.16s", hex);
    return out;
}

static uint64_t whole_granules(uint64_t bytes)
{
    return (bytes + ARENA_GRANULE_BYTES - 1) / ARENA_GRANULE_BYTES * ARENA_GRANULE_BYTES;
}

/* Where w, a and b lie in an extent: one behind the other, each on a page of its own. */
static void lay_out(struct circuit_entry *c)
{
    uint64_t w = (uint64_t)c->map->n_wires * sizeof(fr_t);
    uint64_t ab = sizeof(fr_t) << c->map->domain_log2;
    c->w_offset = 0;
    c->a_offset = (w + VECTOR_ALIGN - 1) / VECTOR_ALIGN * VECTOR_ALIGN;
    c->b_offset = c->a_offset + (ab + VECTOR_ALIGN - 1) / VECTOR_ALIGN * VECTOR_ALIGN;
    c->extent_bytes = whole_granules(c->b_offset + ab);
    c->witness_bytes = whole_granules(w);
}

/* The desk keeps what it needs to lay out extents and to verify proofs. It does not map the key:
 * the budget counts what is mapped. */
static struct circuit *read_head(const struct desk *d, const uint8_t digest[32],
                                 uint64_t *file_bytes, struct err *e)
{
    char name[STORE_NAME_MAX], path[sizeof d->instance.dir + STORE_NAME_MAX];
    snprintf(path, sizeof path, "%s/%s", d->instance.dir, store_circuit_name(digest, name));
    struct circuit *map = circuit_head(path, file_bytes, e);
    if (map && memcmp(map->digest, digest, 32) != 0) {
        circuit_free(&map);
        err_set(e, ERR_MISMATCH, "%s: its content has another digest than its name", path);
    }
    return map;
}

struct circuit_entry *circuit_entry_of(struct desk *d, const uint8_t digest[32])
{
    struct circuit_entry *c = circuit_by_digest(d, digest);
    if (c)
        return c;
    c = calloc(1, sizeof *c);
    d->circuits = realloc(d->circuits, (d->n_circuits + 1) * sizeof(struct circuit_entry *));
    INVARIANT(c && d->circuits);
    memcpy(c->digest, digest, 32);
    c->index = d->n_circuits;
    c->removed = true; /* until it is said to be in use */
    d->circuits[d->n_circuits++] = c;
    return c;
}

/* The newest circuit of a name has it. */
static void take_alias(struct desk *d, struct circuit_entry *c, const char *alias)
{
    for (unsigned i = 0; i < d->n_circuits; i++)
        if (alias[0] && d->circuits[i] != c && strcmp(d->circuits[i]->alias, alias) == 0)
            d->circuits[i]->alias[0] = 0;
    snprintf(c->alias, sizeof c->alias, "%s", alias);
}

static void adopt_head(struct circuit_entry *c, struct circuit *map, uint64_t file_bytes)
{
    if (c->map) { /* added again: finishers may be using the first one */
        circuit_free(&map);
        return;
    }
    c->map = map;
    c->key_bytes = file_bytes;
    lay_out(c);
}

void circuit_load(struct desk *d, const struct ledger_circuit *lc)
{
    struct err e = {.code = ERR_OK};
    struct circuit_entry *c = circuit_entry_of(d, lc->digest);
    take_alias(d, c, lc->alias);
    c->urgent = lc->urgent;
    c->removed = false;
    uint64_t file_bytes = 0;
    struct circuit *map = read_head(d, lc->digest, &file_bytes, &e);
    if (map)
        adopt_head(c, map, file_bytes);
    else
        log_error("circuit-lost", NULL, "alias=%s reason=%s", c->alias, e.text);
}

/* ---- CIRCUIT_ADD: map on a worker, ledger, answer ---- */

struct adding {
    struct work work;
    struct desk *desk;
    char route[ROUTING_ID_MAX];
    struct msg_circuit_add m;
    struct circuit *map;
    uint64_t file_bytes;
    struct err err;
};

static void map_added(struct work *w)
{
    struct adding *a = (struct adding *)w;
    a->map = read_head(a->desk, a->m.circuit, &a->file_bytes, &a->err);
}

static void added(void *arg, const struct ledger_reply *r)
{
    struct adding *a = arg;
    struct desk *d = a->desk;
    if (r->err.code) {
        answer_refused(d, a->route, a->m.tag, &r->err);
        circuit_free(&a->map);
        free(a);
        return;
    }
    struct circuit_entry *c = circuit_entry_of(d, a->m.circuit);
    adopt_head(c, a->map, a->file_bytes);
    take_alias(d, c, a->m.alias);
    c->urgent = a->m.urgent;
    c->removed = false;
    budget_keep_reserve(d);
    struct message m = {.kind = MSG_CIRCUIT_ADDED};
    memcpy(m.circuit_added.circuit, c->digest, 32);
    snprintf(m.circuit_added.alias, sizeof m.circuit_added.alias, "%s", c->alias);
    peers_send_all(d, &m);
    char label[80];
    answer_ok(d, a->route, a->m.tag, "circuit %s added", circuit_label(c, label));
    free(a);
}

static void mapped(struct work *w)
{
    struct adding *a = (struct adding *)w;
    struct desk *d = a->desk;
    if (!a->map) {
        answer_refused(d, a->route, a->m.tag, &a->err);
        free(a);
        return;
    }
    const struct circuit_entry *known = circuit_by_digest(d, a->m.circuit);
    if (a->m.keep && known && !known->removed) {
        memcpy(a->m.alias, known->alias, sizeof a->m.alias);
        a->m.urgent = known->urgent;
    }
    struct ledger_circuit c = {.alias = a->m.alias, .urgent = a->m.urgent};
    memcpy(c.digest, a->m.circuit, 32);
    ledger_circuit_put(d->ledger, &c, added, a);
}

void circuit_add(struct desk *d, const char *route, const struct msg_circuit_add *m)
{
    const struct circuit_entry *known = circuit_by_digest(d, m->circuit);
    if (known && known->removing) {
        struct err e;
        err_set(&e, ERR_REFUSED, "the circuit is being removed: add it again in a moment");
        answer_refused(d, route, m->tag, &e);
        return;
    }
    struct adding *a = calloc(1, sizeof *a);
    INVARIANT(a != NULL);
    a->work.run = map_added;
    a->work.done = mapped;
    a->desk = d;
    a->m = *m;
    snprintf(a->route, sizeof a->route, "%s", route);
    workers_put(d->sweepers, &a->work);
}

/* ---- the others ---- */

struct removing {
    struct work work;
    struct desk *desk;
    struct circuit_entry *circuit;
    uint8_t digest[32];
    char route[ROUTING_ID_MAX];
    uint64_t tag;
    struct err err;
};

static void unlink_run(struct work *w)
{
    struct removing *x = (struct removing *)w;
    store_remove(x->desk->instance.dir_fd, x->digest, &x->err);
}

static void unlink_done(struct work *w)
{
    struct removing *x = (struct removing *)w;
    x->circuit->removing = false;
    if (x->err.code)
        answer_refused(x->desk, x->route, x->tag, &x->err);
    else
        answer_ok(x->desk, x->route, x->tag, "circuit removed");
    free(x);
}

/* The ledger has forgotten it: now its file goes. Who has it mapped keeps it until the eviction. */
static void removed(void *arg, const struct ledger_reply *r)
{
    struct removing *x = arg;
    if (r->err.code) {
        x->circuit->removed = x->circuit->removing = false;
        answer_refused(x->desk, x->route, x->tag, &r->err);
        free(x);
        return;
    }
    x->work.run = unlink_run;
    x->work.done = unlink_done;
    workers_put(x->desk->sweepers, &x->work);
}

static struct circuit_entry *named(struct desk *d, const char *route, uint64_t tag,
                                   const char *name)
{
    struct circuit_entry *c = circuit_by_name(d, name);
    if (!c) {
        struct err e;
        err_set(&e, ERR_REFUSED, "there is no circuit '%s' in this instance", name);
        answer_refused(d, route, tag, &e);
    }
    return c;
}

void circuit_remove(struct desk *d, const char *route, const struct msg_circuit_remove *m)
{
    struct circuit_entry *c = named(d, route, m->tag, m->circuit);
    if (!c)
        return;
    if (c->open_jobs) {
        struct err e;
        err_set(&e, ERR_REFUSED, "circuit '%s' is used by %u open jobs", m->circuit, c->open_jobs);
        answer_refused(d, route, m->tag, &e);
        return;
    }
    struct removing *x = calloc(1, sizeof *x);
    INVARIANT(x != NULL);
    *x = (struct removing){.desk = d, .circuit = c, .tag = m->tag};
    snprintf(x->route, sizeof x->route, "%s", route);
    memcpy(x->digest, c->digest, 32);
    c->removed = c->removing = true;
    budget_keep_reserve(d);
    struct message evict = {.kind = MSG_CIRCUIT_EVICT};
    memcpy(evict.circuit_evict.circuit, c->digest, 32);
    peers_send_all(d, &evict);
    ledger_circuit_drop(d->ledger, c->digest, removed, x);
}

void circuit_preload(struct desk *d, const char *route, const struct msg_preload *m)
{
    struct circuit_entry *c = named(d, route, m->tag, m->circuit);
    if (!c)
        return;
    struct message load = {.kind = MSG_CIRCUIT_LOAD};
    memcpy(load.circuit_load.circuit, c->digest, 32);
    unsigned asked = 0;
    for (struct peer *p = d->peers; p; p = p->next)
        if ((p->actor.kind == ACTOR_SYNTHD || p->actor.kind == ACTOR_GPUD) && p->ready &&
            (p->actor.kind == ACTOR_SYNTHD || budget_key_room(d, p, c)))
            asked += peer_send(d, p, &load);
    answer_ok(d, route, m->tag, "%u daemons were asked to load it", asked);
}

void circuit_evict(struct desk *d, const char *route, const struct msg_evict *m)
{
    struct circuit_entry *c = named(d, route, m->tag, m->circuit);
    if (!c)
        return;
    if (c->flights) {
        struct err e;
        err_set(&e, ERR_REFUSED, "circuit '%s' is in use by %u partitions", m->circuit, c->flights);
        answer_refused(d, route, m->tag, &e);
        return;
    }
    struct message evict = {.kind = MSG_CIRCUIT_EVICT};
    memcpy(evict.circuit_evict.circuit, c->digest, 32);
    peers_send_all(d, &evict);
    answer_ok(d, route, m->tag, "every daemon was asked to give its memory back");
}

void circuits_free(struct desk *d)
{
    for (unsigned i = 0; i < d->n_circuits; i++) {
        if (d->circuits[i]->map)
            circuit_free(&d->circuits[i]->map);
        free(d->circuits[i]);
    }
    free(d->circuits);
    d->circuits = NULL;
    d->n_circuits = 0;
}
