#include "model.h"
#include <sys/stat.h>
#include <unistd.h>
#include "answer.h"
#include "inputs.h"
#include "outage.h"
#include "peers.h"
#include "quota.h"
#include "scratch.h"
#include "timing.h"

/* ---- memory that can be copied: what the desk's code allocates lies in one pool ---- */

enum { POOL_BYTES = 192 << 10, POOL_CLASSES = 128 };

struct pool_state {
    size_t used;
    void *freed[POOL_CLASSES]; /* by multiples of 64 bytes */
    uint8_t bytes[POOL_BYTES];
};
static _Alignas(64) struct pool_state pool;
static bool pool_open;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);

static bool in_pool(const void *p)
{
    return (const uint8_t *)p >= pool.bytes && (const uint8_t *)p < pool.bytes + POOL_BYTES;
}

void *__wrap_malloc(size_t n)
{
    if (!pool_open)
        return __real_malloc(n);
    size_t class = (n + 63) / 64;
    assert_true(class > 0 && class < POOL_CLASSES);
    void *p = pool.freed[class];
    if (p) {
        memcpy(&pool.freed[class], p, sizeof p);
        return p;
    }
    assert_true(pool.used + 64 + class * 64 <= POOL_BYTES);
    uint8_t *at = pool.bytes + pool.used;
    memcpy(at, &class, sizeof class);
    pool.used += 64 + class * 64;
    return at + 64;
}

static size_t class_of(const void *p)
{
    size_t class;
    memcpy(&class, (const uint8_t *)p - 64, sizeof class);
    return class;
}

void __wrap_free(void *p)
{
    if (!in_pool(p)) {
        __real_free(p);
        return;
    }
    size_t class = class_of(p);
    memcpy(p, &pool.freed[class], sizeof(void *));
    pool.freed[class] = p;
}

void *__wrap_calloc(size_t n, size_t size)
{
    if (!pool_open)
        return __real_calloc(n, size);
    return memset(__wrap_malloc(n * size), 0, n * size);
}

void *__wrap_realloc(void *p, size_t n)
{
    if (p && !in_pool(p))
        return __real_realloc(p, n);
    if (!pool_open && !p)
        return __real_malloc(n);
    void *q = __wrap_malloc(n);
    if (p) {
        size_t had = class_of(p) * 64;
        memcpy(q, p, had < n ? had : n);
        __wrap_free(p);
    }
    return q;
}

/* ---- the world ---- */

/* Something that comes back to the desk later. */
struct pending {
    enum { NOTHING, REPLY, WORK, VERDICT } kind;
    ledger_done *done;
    void *arg;
    struct work *work;
    struct flight *flight;
};

static struct world {
    struct peer gpud[GPUDS_MAX], synthd[SYNTHDS_MAX];
    unsigned n_gpuds;
    struct circuit_entry circuit[CIRCUITS_MAX];
    struct circuit_entry *circuits[CIRCUITS_MAX];
    struct circuit map[CIRCUITS_MAX];
    struct flight *row[16];
    uint32_t free_rows[16];
    struct pending pending[PENDING_MAX];
    bool evict[GPUDS_MAX + SYNTHDS_MAX][CIRCUITS_MAX]; /* asked of a daemon, not yet done */
    bool holds[GPUDS_MAX + SYNTHDS_MAX][CIRCUITS_MAX]; /* mapped or resident there, in truth */
    unsigned cancels, deaths, failures;
    unsigned ended, arrived;
} world;

static struct desk desk;
static const struct model_config *config;
static struct scratch scratch;
static struct order *the_order;
bool model_hold_gpuds, model_hold_synthds, model_hold_clients;
unsigned model_n_granted;
struct model_grant model_granted[64];

static void later(struct pending p)
{
    for (unsigned i = 0; i < PENDING_MAX; i++)
        if (world.pending[i].kind == NOTHING) {
            world.pending[i] = p;
            return;
        }
    fail_msg("too much is pending");
}

/* ---- what stands around the desk's code ---- */

void ledger_attempt(struct ledger *l, uint64_t job, uint32_t index, uint32_t attempt,
                    ledger_done *done, void *arg)
{
    const struct flight *f = arg;
    (void)l, (void)attempt;
    if (model_n_granted < 64)
        model_granted[model_n_granted++] = (struct model_grant){job, index, f->evaluate_gpu};
    later((struct pending){.kind = REPLY, .done = done, .arg = arg});
}

void ledger_end(struct ledger *l, uint64_t job, enum ledger_job_state state, enum err_code code,
                const char *reason, uint64_t end_ns, ledger_done *done, void *arg)
{
    (void)l, (void)job, (void)state, (void)code, (void)reason, (void)end_ns;
    later((struct pending){.kind = REPLY, .done = done, .arg = arg});
}

void ledger_death(struct ledger *l, const struct ledger_partition *p, const char *how,
                  const char *actor, ledger_done *done, void *arg)
{
    (void)l, (void)p, (void)how, (void)actor, (void)done, (void)arg;
}

void workers_put(struct workers *w, struct work *task)
{
    (void)w;
    later((struct pending){.kind = WORK, .work = task});
}

void settle_begin(struct flight *f)
{
    f->part->state = PART_FINISHING;
    f->with_finisher = true;
    later((struct pending){.kind = VERDICT, .flight = f});
}

/* An attempt that failed for no fault of its own is made again; cancelled ones have no partition.
 */
void settle_failed(struct flight *f)
{
    struct partition *p = f->part;
    p->flight = NULL;
    f->part = NULL;
    flight_settle(f);
    partition_wait(p);
}

void settle_trim(struct desk *d)
{
    (void)d;
}

void timing_before_settle(const struct flight *f, struct fin_begin *out)
{
    (void)f;
    memset(out, 0, sizeof *out);
}
void timing_settled(const struct flight *f, const struct fin_begin *b)
{
    (void)f, (void)b;
}
void outage_begin(struct desk *d, const struct peer *p)
{
    (void)d, (void)p;
}
void spool_wipe(struct desk *d, const char *spool, uint32_t first, uint32_t n)
{
    (void)d, (void)spool, (void)first, (void)n;
}
const char *spool_name(const char *spool, uint32_t index, char out[LEASE_SPOOL_MAX + 1])
{
    snprintf(out, LEASE_SPOOL_MAX + 1, "%s.%u", spool, index);
    return out;
}

static unsigned place_of(const struct peer *p)
{
    return p->actor.kind == ACTOR_GPUD ? (unsigned)(p - world.gpud)
                                       : GPUDS_MAX + (unsigned)(p - world.synthd);
}

bool peer_send(struct desk *d, struct peer *p, const struct message *m)
{
    (void)d;
    if (!p->dead && m->kind == MSG_CIRCUIT_EVICT)
        world.evict[place_of(p)][m->circuit_evict.circuit[0]] = true;
    return !p->dead;
}

void answer_ended(struct job *j)
{
    (void)j;
    world.ended++;
}
void answer_progress(struct job *j)
{
    (void)j;
}
void quota_charge(struct desk *d, const char *client, uint32_t n)
{
    (void)d, (void)client, (void)n;
}
void quota_release(struct desk *d, const char *client, uint32_t n)
{
    (void)d, (void)client, (void)n;
}

/* ---- the first state ---- */

static void add_peer(struct peer *p, enum actor_kind kind, unsigned index, uint64_t incarnation)
{
    *p = (struct peer){.actor = {kind, 0, index, incarnation}, .pidfd = -1, .introduced = true};
    p->id = actor_to_id(&p->actor);
    snprintf(p->route, sizeof p->route, "%u.%u", kind, index);
    p->ready = true;
    p->nodes = 1;
    p->max_in_flight = config->in_flight;
    p->evaluates = true;
    p->early_upload = config->early_upload;
    if (kind == ACTOR_GPUD)
        p->memory_bytes = p->keys.limit = config->device_limit;
    p->next = desk.peers;
    desk.peers = p;
}

static void add_circuits(void)
{
    for (unsigned i = 0; i < CIRCUITS_MAX && config->circuit[i].granules; i++) {
        const struct model_circuit *from = &config->circuit[i];
        struct circuit_entry *c = &world.circuit[i];
        /* Small ones are wiped by the desk's thread, large ones by a worker. */
        world.map[i] = (struct circuit){.n_wires = 8, .domain_log2 = from->granules > 1 ? 12 : 2};
        *c = (struct circuit_entry){.index = i,
                                    .digest = {(uint8_t)i},
                                    .urgent = from->urgent,
                                    .map = &world.map[i],
                                    .key_bytes = from->key_bytes,
                                    .extent_bytes = from->granules * ARENA_GRANULE_BYTES,
                                    .witness_bytes = from->witness_granules * ARENA_GRANULE_BYTES,
                                    .a_offset = 4096,
                                    .b_offset = 4096 + (32u << 12)};
        world.circuits[desk.n_circuits++] = c;
    }
    desk.circuits = world.circuits;
}

static unsigned jobs_in_all(void)
{
    unsigned n = 0;
    while (n < JOBS_MAX && config->job[n].partitions)
        n++;
    return n;
}

static void job_arrives(void)
{
    unsigned i = world.arrived++;
    const struct model_job *from = &config->job[i];
    struct job *j = job_new(&desk, i + 1, &world.circuit[from->circuit], from->partitions, "test");
    j->order.submit_ns = i + 1;
    j->order.urgent = from->urgent;
    struct err e = {0};
    assert_int_equal(budget_can_ever(&desk, j->circuit, from->urgent, &e), ERR_OK);
    job_open(j);
}

void model_open(const struct model_config *c)
{
    struct node *n = &desk.nodes[0];
    config = c;
    pool_open = false;
    memset(&pool, 0, sizeof pool);
    memset(&world, 0, sizeof world);
    memset(&desk, 0, sizeof desk);
    model_n_granted = 0;
    model_hold_gpuds = model_hold_synthds = model_hold_clients = false;
    scratch_open(&scratch);
    scratch_arena(&scratch, &n->arena, 0, c->granules, c->rows, 0);
    pool_open = true;
    desk.jobs_tail = &desk.jobs;
    desk.now_ns = 1;
    desk.set = (struct settings){.ready_bound = c->ready_bound,
                                 .synthd_credit = c->synthd_credit,
                                 .room_passes = c->room_passes,
                                 .key_passes = c->key_passes,
                                 .evaluate = c->evaluate,
                                 .memory_limit = UINT64_C(1) << 60,
                                 .deaths_alone_max = 1000};
    desk.host_keys.limit = c->host_limit;
    desk.node_mask = 1;
    desk.n_nodes = 1;
    n->present = true;
    n->n_rows = n->n_free_rows = c->rows;
    n->row = world.row;
    n->free_rows = world.free_rows;
    for (uint32_t i = 0; i < c->rows; i++)
        n->free_rows[i] = i;
    desk.order = the_order = order_new(0);
    for (unsigned i = 0; i < c->synthds; i++)
        add_peer(&world.synthd[i], ACTOR_SYNTHD, i, 1);
    for (unsigned i = 0; i < c->gpuds; i++)
        add_peer(&world.gpud[world.n_gpuds++], ACTOR_GPUD, i, 1);
    world.cancels = c->cancels;
    world.deaths = c->deaths;
    world.failures = c->failures;
    add_circuits();
    budget_keep_reserve(&desk);
    while (world.arrived + c->late < jobs_in_all())
        job_arrives();
}

void model_close(void)
{
    pool_open = false;
    arena_detach(&desk.nodes[0].arena);
    scratch_close(&scratch);
}

/* ---- steps ---- */

struct chooser {
    unsigned wanted, at;
    bool adversary;
    char *what;
};

static bool chosen(struct chooser *c, const char *what, unsigned a, unsigned b)
{
    if (c->at++ != c->wanted)
        return false;
    snprintf(c->what, 64, "%s %u %u", what, a, b);
    return true;
}

static void turn_ends(void)
{
    flights_reap(&desk);
}

static void report(struct peer *p, unsigned circuit, bool held)
{
    const struct model_circuit *c = &config->circuit[circuit];
    world.holds[place_of(p)][circuit] = held;
    uint64_t bytes = held && p->memory_bytes ? c->key_bytes : 0;
    budget_key_report(&desk, p, &world.circuit[circuit], held, bytes);
}

static unsigned circuit_of_row(const struct lease_row *r)
{
    return r->circuit[0];
}

static bool uses(const struct peer *p, unsigned circuit)
{
    const struct arena *a = &desk.nodes[0].arena;
    for (uint32_t i = 0; i < config->rows; i++) {
        struct lease_view v = lease_look(a, i);
        bool busy = p->actor.kind == ACTOR_GPUD
                        ? v.state == LEASE_PROVING || v.state == LEASE_UPLOADED
                        : v.state == LEASE_FILLING;
        if (busy && v.owner == p->id && circuit_of_row(lease_row(a, i)) == circuit)
            return true;
    }
    return false;
}

/* What the owner of a row does next. */
static bool owner_steps(struct chooser *c, uint32_t i)
{
    struct arena *a = &desk.nodes[0].arena;
    struct lease_view v = lease_look(a, i);
    struct lease_ref r = lease_ref_of(a, i);
    const struct lease_row *row = lease_row(a, i);
    struct peer *p = NULL;
    for (struct peer *q = desk.peers; q; q = q->next)
        if (q->id == v.owner && !q->dead)
            p = q;
    if (!p || (p->actor.kind == ACTOR_GPUD ? model_hold_gpuds : model_hold_synthds))
        return false;
    bool stop = lease_cancelled(a, r) != CANCEL_NONE;
    static const struct lease_result sums = {.sums_bytes = LEASE_SUMS_MAX};
    switch (v.state) {
    case LEASE_GRANTED:
        if (!stop && chosen(c, "claim", i, 0)) {
            report(p, circuit_of_row(row), true); /* it maps the matrices */
            return lease_claim(a, r, p->id);
        }
        break;
    case LEASE_FILLING:
        if (chosen(c, "publish", i, stop))
            return stop ? lease_fail(a, r, p->id, ERR_CANCELLED, "") : lease_publish(a, r, p->id);
        break;
    case LEASE_READY:
        if (lease_count(a, 1u << LEASE_PROVING | 1u << LEASE_UPLOADED, p->id) < p->max_in_flight &&
            chosen(c, "take", i, 0)) {
            report(p, circuit_of_row(row), true);
            return lease_take(a, r, p->id);
        }
        break;
    case LEASE_PROVING:
        if (p->early_upload && !stop && chosen(c, "uploaded", i, 0))
            return lease_uploaded(a, r, p->id);
        if (p->early_upload && !stop)
            break;
        __attribute__((fallthrough));
    case LEASE_UPLOADED:
        if (c->adversary && world.failures && !stop && chosen(c, "fail", i, 0)) {
            world.failures--;
            return lease_fail(a, r, p->id, ERR_MEMORY, "as asked");
        }
        if (chosen(c, "proved", i, stop))
            return stop ? lease_fail(a, r, p->id, ERR_CANCELLED, "")
                        : lease_proved(a, r, p->id, &sums);
        break;
    default:
        break;
    }
    return false;
}

static void verdict(struct flight *f)
{
    f->with_finisher = false;
    if (f->part) {
        struct job *j = f->part->job;
        f->part->state = PART_DONE;
        j->n_done++;
        flight_settle(f);
        job_end_if_complete(j);
    } else {
        flight_settle(f);
    }
}

static bool pending_step(struct chooser *c, unsigned i)
{
    struct pending p = world.pending[i];
    if (p.kind == NOTHING || !chosen(c, "pending", i, p.kind))
        return false;
    world.pending[i].kind = NOTHING;
    if (p.kind == REPLY) {
        struct ledger_reply r = {.won = true};
        p.done(p.arg, &r);
    } else if (p.kind == WORK) {
        void (*done)(struct work * w) = p.work->done;
        p.work->run(p.work);
        if (done)
            done(p.work);
    } else {
        verdict(p.flight);
    }
    turn_ends();
    return true;
}

static bool message_step(struct chooser *c, uint32_t i)
{
    const struct flight *f = desk.nodes[0].row[i];
    if (!f || f->settled || f->seen == LEASE_FREE ||
        lease_look(&desk.nodes[0].arena, i).state == f->seen || !chosen(c, "desk sees", i, 0))
        return false;
    flight_look(desk.nodes[0].row[i], true);
    turn_ends();
    return true;
}

static bool evict_step(struct chooser *c, struct peer *p, unsigned circuit)
{
    if (p->dead || !world.evict[place_of(p)][circuit] || uses(p, circuit) ||
        !chosen(c, "evict", place_of(p), circuit))
        return false;
    world.evict[place_of(p)][circuit] = false;
    report(p, circuit, false);
    turn_ends();
    return true;
}

static bool adversary_steps(struct chooser *c)
{
    if (world.cancels)
        for (struct job *j = desk.jobs; j; j = j->next)
            if (j->state == JOB_OPEN && chosen(c, "cancel", (unsigned)j->id, 0)) {
                world.cancels--;
                job_end(j, LEDGER_JOB_CANCELLED, ERR_CANCELLED, "cancelled");
                turn_ends();
                return true;
            }
    for (unsigned g = 0; world.deaths && g < world.n_gpuds; g++)
        if (!world.gpud[g].dead && world.n_gpuds < GPUDS_MAX && chosen(c, "gpud dies", g, 0)) {
            world.deaths--;
            world.gpud[g].innocent = true;
            memset(world.holds[g], 0, sizeof world.holds[g]);
            memset(world.evict[g], 0, sizeof world.evict[g]);
            death_of(&desk, &world.gpud[g]);
            struct peer *next = &world.gpud[world.n_gpuds++];
            add_peer(next, ACTOR_GPUD, g, world.n_gpuds + 1);
            desk.grant_due = true; /* as READY of a daemon does */
            turn_ends();
            return true;
        }
    return false;
}

bool model_step(unsigned i, bool adversary, char what[64])
{
    struct chooser c = {.wanted = i, .adversary = adversary, .what = what};
    what[0] = 0;
    if (desk.grant_due && chosen(&c, "grant", 0, 0)) {
        grant_run(&desk);
        turn_ends();
        return true;
    }
    if (world.arrived < jobs_in_all() && !model_hold_clients &&
        chosen(&c, "job arrives", world.arrived + 1, 0)) {
        job_arrives();
        return true;
    }
    for (uint32_t r = 0; r < config->rows; r++)
        if (message_step(&c, r))
            return true;
    for (unsigned p = 0; p < PENDING_MAX; p++)
        if (pending_step(&c, p))
            return true;
    for (uint32_t r = 0; r < config->rows; r++) {
        if (owner_steps(&c, r))
            return true;
        assert_true(what[0] == 0); /* a step that is offered can be taken */
    }
    for (struct peer *p = desk.peers; p; p = p->next)
        for (unsigned k = 0; k < desk.n_circuits; k++)
            if (evict_step(&c, p, k))
                return true;
    return adversary && adversary_steps(&c);
}

void model_settle(void)
{
    char what[64];
    for (unsigned i = 0; model_step(0, false, what); i++) {
        model_check();
        assert_true(i < 10000);
    }
}

struct desk *model_desk(void)
{
    return &desk;
}

/* ---- what must hold ---- */

void model_check(void)
{
    const struct node *n = &desk.nodes[0];
    uint64_t held = n->reserve.bytes && !n->reserve_lent ? n->reserve.bytes : 0;
    uint64_t cut = 0;
    for (const struct flight *f = desk.flights; f; f = f->next) {
        if (!f->extent_gone)
            cut += f->extent.bytes;
        for (const struct flight *o = f->next; o; o = o->next)
            if (!f->extent_gone && !o->extent_gone)
                assert_true(f->extent.offset + f->extent.bytes <= o->extent.offset ||
                            o->extent.offset + o->extent.bytes <= f->extent.offset);
    }
    /* Every granule that is used belongs to one flight or to the reserve, and no other is used. */
    assert_int_equal(n->arena.bulk_bytes - extent_free_bytes(&n->arena), cut + held);
    for (const struct peer *p = desk.peers; p; p = p->next) {
        if (p->dead)
            continue;
        if (p->keys.limit)
            assert_true(p->keys.used <= p->keys.limit);
        if (p->actor.kind == ACTOR_GPUD) {
            /* The ready queue is bounded: filled ones that wait, whatever was in the making. */
            assert_true(p->count[LEASE_READY] <=
                        config->ready_bound + 1 + config->synthds * config->synthd_credit);
        }
        for (unsigned k = 0; k < desk.n_circuits; k++) {
            const struct key *key = keys_find(&p->keys, k);
            if (world.holds[place_of(p)][k]) /* what is held is charged, there and in the host */
                assert_true(key && keys_find(&desk.host_keys, k));
            if (key && key->users)
                assert_true(keys_find(&desk.host_keys, k) != NULL);
        }
    }
    if (desk.host_keys.limit)
        assert_true(desk.host_keys.used <= desk.host_keys.limit);
}

bool model_ended(void)
{
    if (desk.jobs || desk.flights || world.arrived < jobs_in_all())
        return false;
    const struct node *n = &desk.nodes[0];
    for (unsigned i = 0; i < PENDING_MAX; i++)
        if (world.pending[i].kind != NOTHING)
            return false;
    assert_int_equal(desk.n_waiting, 0);
    assert_int_equal(desk.n_open_partitions, 0);
    assert_int_equal(order_count(desk.order), 0);
    assert_int_equal(n->n_free_rows, n->n_rows);
    assert_int_equal(extent_free_bytes(&n->arena) + n->reserve.bytes, n->arena.bulk_bytes);
    assert_false(n->reserve_lent);
    for (uint32_t i = 0; i < config->rows; i++)
        assert_true(lease_look(&n->arena, i).state == LEASE_FREE &&
                    lease_row(&n->arena, i)->extent_held == 0);
    for (const struct peer *p = desk.peers; p; p = p->next) {
        assert_int_equal(p->refs, 0);
        assert_null(p->suspect);
        for (unsigned s = 0; s < LEASE_STATES; s++)
            assert_int_equal(p->count[s], 0);
        for (unsigned k = 0; k < p->keys.n; k++)
            assert_int_equal(p->keys.at[k].users, 0);
    }
    for (unsigned k = 0; k < desk.host_keys.n; k++)
        assert_int_equal(desk.host_keys.at[k].users, 0);
    return true;
}

/* ---- states ---- */

static uint64_t hash_bytes(uint64_t h, const void *p, size_t n)
{
    const uint8_t *b = p;
    for (size_t i = 0; i < n; i++)
        h = (h ^ b[i]) * UINT64_C(0x100000001b3);
    return h ^ h >> 29;
}

static uint64_t hash_number(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 31;
}

static uint64_t hash_keys(uint64_t h, const struct key_set *s)
{
    h = hash_number(h, s->n);
    for (unsigned i = 0; i < s->n; i++) {
        const struct key *k = &s->at[i];
        h = hash_number(h, k->circuit | (uint64_t)k->users << 8 | (uint64_t)k->resident << 16 |
                               (uint64_t)k->leaving << 17);
    }
    return h;
}

uint64_t model_hash(void)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    const struct node *n = &desk.nodes[0];
    for (uint32_t i = 0; i < config->rows; i++) {
        struct lease_view v = lease_look(&n->arena, i);
        const struct flight *f = n->row[i];
        h = hash_number(h, v.state | v.owner << 4);
        h = hash_number(h, n->free_rows[i]);
        if (v.state != LEASE_FREE)
            h = hash_number(h, (uint64_t)lease_cancelled(&n->arena, lease_ref_of(&n->arena, i)));
        if (f)
            h = hash_number(h, f->job | (uint64_t)f->index << 8 | (uint64_t)f->seen << 16 |
                                   (uint64_t)f->settled << 24 | (uint64_t)f->extent_gone << 25 |
                                   (uint64_t)f->sweeping << 26 | (uint64_t)f->with_finisher << 27 |
                                   (uint64_t)(f->part != NULL) << 28 |
                                   (uint64_t)f->from_reserve << 29 | f->extent.offset << 10 |
                                   (uint64_t)f->evaluate_gpu << 30 | (uint64_t)f->cancelled << 31);
    }
    h = hash_number(h, n->n_free_rows | (uint64_t)n->reserve_lent << 8 | n->reserve.bytes);
    h = hash_number(h, n->reserve.offset);
    for (const struct job *j = desk.jobs; j; j = j->next) {
        h = hash_number(h, j->id | (uint64_t)j->state << 8 | (uint64_t)j->order.room_passes << 16 |
                               (uint64_t)j->order.key_passes << 24);
        for (uint32_t p = 0; p < j->n; p++)
            h = hash_number(h, j->part[p].state | (uint64_t)j->part[p].suspect << 4);
    }
    for (const struct peer *p = desk.peers; p; p = p->next) {
        h = hash_number(h, (uint64_t)p->dead | p->id << 1);
        h = hash_number(h, p->suspect ? p->suspect->job->id << 8 | p->suspect->index : 0);
        h = hash_keys(h, &p->keys);
    }
    h = hash_keys(h, &desk.host_keys);
    for (unsigned i = 0; i < PENDING_MAX; i++) {
        const struct pending *p = &world.pending[i];
        h = hash_number(h, p->kind);
        if (p->kind == VERDICT)
            h = hash_number(h, p->flight->row);
    }
    h = hash_bytes(h, world.evict, sizeof world.evict);
    h = hash_bytes(h, world.holds, sizeof world.holds);
    h = hash_number(h,
                    world.cancels | world.deaths << 4 | world.failures << 8 | world.arrived << 12);
    h = hash_number(h, (uint64_t)desk.grant_due | (desk.kept_for ? desk.kept_for->id : 0) << 1);
    return h ? h : 1;
}

/* The table by id holds only small ids here. */
enum { HASH_USED = JOBS_MAX + 2 };

struct snapshot {
    struct world world;
    struct pool_state pool;
    uint8_t before[offsetof(struct desk, hash)];
    struct job *hash[HASH_USED];
    uint8_t after[sizeof(struct desk) - offsetof(struct desk, hash) - sizeof desk.hash];
    uint8_t control[65536];
};

struct snapshot *model_save(struct snapshot *s)
{
    const struct arena *a = &desk.nodes[0].arena;
    const uint8_t *d = (const uint8_t *)&desk;
    if (!s)
        s = __real_calloc(1, sizeof *s);
    assert_true(s && a->ctl_bytes <= sizeof s->control);
    s->world = world;
    s->pool.used = pool.used;
    memcpy(s->pool.freed, pool.freed, sizeof pool.freed);
    memcpy(s->pool.bytes, pool.bytes, pool.used);
    memcpy(s->before, d, sizeof s->before);
    memcpy(s->hash, desk.hash, sizeof s->hash);
    memcpy(s->after, d + sizeof desk - sizeof s->after, sizeof s->after);
    memcpy(s->control, a->header, a->ctl_bytes);
    return s;
}

void model_restore(const struct snapshot *s)
{
    const struct arena *a = &desk.nodes[0].arena;
    uint8_t *d = (uint8_t *)&desk;
    world = s->world;
    pool.used = s->pool.used;
    memcpy(pool.freed, s->pool.freed, sizeof pool.freed);
    memcpy(pool.bytes, s->pool.bytes, pool.used);
    memcpy(d, s->before, sizeof s->before);
    memcpy(desk.hash, s->hash, sizeof s->hash);
    memcpy(d + sizeof desk - sizeof s->after, s->after, sizeof s->after);
    memcpy(a->header, s->control, a->ctl_bytes);
}
