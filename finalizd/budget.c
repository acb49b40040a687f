#include "budget.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "evidence.h"
#include "peers.h"

/* ---- extents ---- */

uint64_t budget_extent(const struct circuit_entry *c, bool evaluate_gpu)
{
    return evaluate_gpu ? c->witness_bytes : c->extent_bytes;
}

/* A gpud that is there, or is expected where none is yet: every backend evaluates. */
static bool some_gpud_evaluates(const struct desk *d)
{
    bool any = false;
    for (const struct peer *p = d->peers; p; p = p->next) {
        if (p->actor.kind != ACTOR_GPUD || p->dead || !p->introduced)
            continue;
        if (p->evaluates)
            return true;
        any = true;
    }
    return !any;
}

uint64_t budget_least_extent(const struct desk *d, const struct circuit_entry *c)
{
    bool gpu = d->set.evaluate == EVALUATE_GPU ||
               (d->set.evaluate == EVALUATE_AUTO && some_gpud_evaluates(d));
    return budget_extent(c, gpu);
}

bool budget_cut(struct node *n, uint64_t bytes, bool urgent, struct extent *out, bool *from_reserve)
{
    *from_reserve = false;
    if (extent_cut(&n->arena, bytes, out))
        return true;
    if (!urgent || n->reserve_lent || n->reserve.bytes < bytes)
        return false;
    *out = n->reserve;
    n->reserve_lent = *from_reserve = true;
    return true;
}

void budget_return(struct node *n, struct extent x, bool from_reserve)
{
    if (from_reserve)
        n->reserve_lent = false;
    else
        extent_return(&n->arena, x);
}

static uint64_t largest_extent(const struct desk *d, bool urgent)
{
    uint64_t most = 0;
    for (unsigned i = 0; i < d->n_circuits; i++) {
        const struct circuit_entry *c = d->circuits[i];
        uint64_t bytes = budget_extent(c, d->set.evaluate == EVALUATE_GPU);
        if (!c->removed && c->map && c->urgent == urgent && bytes > most)
            most = bytes;
    }
    return most;
}

void budget_keep_reserve(struct desk *d)
{
    uint64_t urgent = largest_extent(d, true), other = largest_extent(d, false);
    for (unsigned i = 0; i < ARENA_NODES_MAX; i++) {
        struct node *n = &d->nodes[i];
        if (!n->present || n->reserve_lent)
            continue;
        bool wanted = urgent && urgent + other <= n->arena.bulk_bytes;
        if (n->reserve.bytes && (!wanted || n->reserve.bytes < urgent)) {
            extent_return(&n->arena, n->reserve);
            n->reserve.bytes = 0;
        }
        if (wanted && n->reserve.bytes == 0 && !extent_cut(&n->arena, urgent, &n->reserve))
            n->reserve.bytes = 0; /* no room now: tried again when an extent comes back */
    }
}

uint64_t budget_arena_bytes(const struct desk *d)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < ARENA_NODES_MAX; i++)
        if (d->nodes[i].present)
            sum += d->nodes[i].arena.header->bulk_bytes + d->nodes[i].arena.header->ctl_bytes;
    return sum;
}

static void ask_evict(struct desk *d, struct peer *p, unsigned circuit)
{
    struct message m = {.kind = MSG_CIRCUIT_EVICT};
    memcpy(m.circuit_evict.circuit, d->circuits[circuit]->digest, 32);
    peer_send(d, p, &m);
}

static void evict_everywhere(struct desk *d, unsigned circuit)
{
    for (struct peer *p = d->peers; p; p = p->next)
        if (!p->dead && keys_find(&p->keys, circuit))
            ask_evict(d, p, circuit);
}

static bool is_arena(const char *name)
{
    const char *end = strrchr(name, '.');
    return strncmp(name, "node", 4) == 0 && end &&
           (strcmp(end, ".ctl") == 0 || strcmp(end, ".bulk") == 0);
}

/* What one daemon's name has there: of its newest run, and of all; as the files will be when they
 * are full. */
struct evidence_of {
    char name[ACTOR_NAME_MAX];
    unsigned long run;
    uint64_t newest_bytes, bytes;
};
enum { EVIDENCE_NAMES = 256 };

static uint64_t whole_pages(uint64_t bytes)
{
    return (bytes + 4095) / 4096 * 4096;
}

static void count_evidence(struct evidence_of *list, unsigned *n, const char *file, uint64_t bytes)
{
    const char *mark = strchr(file, '#');
    size_t length = mark ? (size_t)(mark - file) : 0;
    unsigned long run = mark ? strtoul(mark + 1, NULL, 10) : 0;
    unsigned i = 0;
    if (length >= sizeof list->name)
        length = sizeof list->name - 1;
    while (i < *n && (strncmp(list[i].name, file, length) != 0 || list[i].name[length]))
        i++;
    if (i == EVIDENCE_NAMES)
        i--; /* the last stands for all further ones */
    else if (i == *n)
        snprintf(list[(*n)++].name, sizeof list->name, "%.*s", (int)length, file);
    list[i].bytes += bytes;
    if (run > list[i].run) {
        list[i].run = run;
        list[i].newest_bytes = 0;
    }
    if (run == list[i].run)
        list[i].newest_bytes += bytes;
}

/* Room is kept for as much as there will be: of each name a run and some before it are kept. */
void budget_look_evidence(struct desk *d)
{
    static struct evidence_of list[EVIDENCE_NAMES];
    struct err e;
    int fd = instance_arena_fd(&d->instance, &e);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    unsigned n = 0, victim;
    memset(list, 0, sizeof list);
    d->evidence_bytes = 0;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        struct stat st;
        if (!is_arena(entry->d_name) && fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(st.st_mode)) {
            count_evidence(list, &n, entry->d_name, whole_pages((uint64_t)st.st_size));
            d->evidence_bytes += (uint64_t)st.st_blocks * 512;
        }
    }
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
    uint64_t beside = budget_arena_bytes(d);
    d->evidence_room = 0;
    for (unsigned i = 0; i < n; i++) {
        uint64_t full = (EVIDENCE_KEPT + 1) * list[i].newest_bytes;
        d->evidence_room += list[i].bytes > full ? list[i].bytes : full;
    }
    beside += d->evidence_room;
    d->host_keys.limit = d->set.memory_limit > beside ? d->set.memory_limit - beside : 1;
    while (keys_victim(&d->host_keys, 0, &victim)) /* there is more of it than there was */
        evict_everywhere(d, victim);
}

uint64_t budget_charged_bytes(const struct desk *d)
{
    return budget_arena_bytes(d) + d->evidence_bytes + d->host_keys.used;
}

enum err_code budget_can_ever(const struct desk *d, const struct circuit_entry *c, bool urgent,
                              struct err *e)
{
    uint64_t best = 0;
    for (unsigned i = 0; i < ARENA_NODES_MAX; i++) {
        const struct node *n = &d->nodes[i];
        if (!n->present)
            continue;
        uint64_t room = n->arena.bulk_bytes < n->arena.header->border_bytes
                            ? n->arena.bulk_bytes
                            : n->arena.header->border_bytes; /* no extent crosses a border */
        if (!urgent && n->reserve.bytes && room > n->reserve.bytes)
            room -= n->reserve.bytes;
        if (room > best)
            best = room;
    }
    uint64_t least = budget_least_extent(d, c);
    if (least > best)
        return err_set(e, ERR_MEMORY,
                       "a partition of this circuit needs an extent of %llu bytes, the largest "
                       "arena has %llu for it: set [memory] arena larger",
                       (unsigned long long)least, (unsigned long long)best);
    if (d->host_keys.limit && c->key_bytes > d->host_keys.limit)
        return err_set(
            e, ERR_MEMORY,
            "the circuit's key and matrices take %llu bytes, arenas and rings leave %llu "
            "of the memory limit of %llu for them",
            (unsigned long long)c->key_bytes, (unsigned long long)d->host_keys.limit,
            (unsigned long long)d->set.memory_limit);
    return ERR_OK;
}

/* ---- keys ---- */

static uint64_t charge_at(const struct peer *gpud, const struct circuit_entry *c);

bool budget_key_resident(const struct peer *gpud, const struct circuit_entry *c)
{
    const struct key *k = keys_find(&gpud->keys, c->index);
    return k && k->resident && !k->leaving;
}

/* Room in the host: an idle circuit is let go by every daemon that maps it. */
static bool host_room(struct desk *d, struct circuit_entry *c)
{
    switch (keys_room(&d->host_keys, c->index, c->key_bytes)) {
    case KEY_RESIDENT:
    case KEY_FITS:
        return true;
    case KEY_EVICTS:
        for (unsigned victim; keys_victim(&d->host_keys, c->key_bytes, &victim);)
            evict_everywhere(d, victim);
        return false;
    case KEY_BUSY:
        break;
    }
    return false;
}

bool budget_key_room(struct desk *d, struct peer *gpud, struct circuit_entry *c)
{
    if (!host_room(d, c))
        return false;
    switch (keys_room(&gpud->keys, c->index, charge_at(gpud, c))) {
    case KEY_RESIDENT:
    case KEY_FITS:
        return true;
    case KEY_EVICTS:
        for (unsigned victim; keys_victim(&gpud->keys, charge_at(gpud, c), &victim);)
            ask_evict(d, gpud, victim);
        return false;
    case KEY_BUSY:
        break;
    }
    return false;
}

/* What a gpud is charged for a circuit until it says better: on a device the key, else the tables
 * that it makes in the host. */
static uint64_t charge_at(const struct peer *gpud, const struct circuit_entry *c)
{
    if (gpud->memory_bytes)
        return c->key_bytes;
    return c->map ? sizeof(fr_t) << c->map->domain_log2 : 0;
}

static uint64_t tables_of(const struct peer *p, const struct circuit_entry *c)
{
    const struct key *k = keys_find(&p->keys, c->index);
    bool on_host = p->actor.kind == ACTOR_GPUD && !p->memory_bytes && !p->dead;
    return on_host && k ? k->bytes : 0;
}

/* The host's charge follows what the daemons hold; `held`: some daemon says that it maps it. */
static void update_host(struct desk *d, struct circuit_entry *c)
{
    bool held = false;
    uint64_t bytes = c->key_bytes;
    for (struct peer *p = d->peers; p; p = p->next) {
        const struct key *k = keys_find(&p->keys, c->index);
        held = held || (!p->dead && k && k->resident);
        bytes += tables_of(p, c);
    }
    keys_report(&d->host_keys, c->index, held, bytes, d->now_ns);
}

void budget_key_use(struct desk *d, struct peer *gpud, struct circuit_entry *c)
{
    keys_use(&gpud->keys, c->index, charge_at(gpud, c), d->now_ns);
    keys_use(&d->host_keys, c->index, c->key_bytes, d->now_ns);
    update_host(d, c);
}

void budget_key_done(struct desk *d, struct peer *gpud, struct circuit_entry *c)
{
    keys_done(&gpud->keys, c->index, d->now_ns);
    keys_done(&d->host_keys, c->index, d->now_ns);
    update_host(d, c);
}

void budget_map_use(struct desk *d, struct circuit_entry *c)
{
    keys_use(&d->host_keys, c->index, c->key_bytes, d->now_ns);
}

void budget_map_done(struct desk *d, struct circuit_entry *c)
{
    keys_done(&d->host_keys, c->index, d->now_ns);
    d->grant_due = true;
}

uint64_t budget_mapped_bytes(const struct desk *d)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < d->host_keys.n; i++)
        sum += d->circuits[d->host_keys.at[i].circuit]->key_bytes;
    return sum;
}

uint64_t budget_table_bytes(const struct desk *d)
{
    uint64_t mapped = budget_mapped_bytes(d);
    return d->host_keys.used > mapped ? d->host_keys.used - mapped : 0;
}

void budget_key_report(struct desk *d, struct peer *p, struct circuit_entry *c, bool resident,
                       uint64_t bytes)
{
    keys_report(&p->keys, c->index, resident, bytes, d->now_ns);
    update_host(d, c);
    d->grant_due = true;
}

void budget_peer_gone(struct desk *d, struct peer *p)
{
    for (unsigned i = p->keys.n; i-- > 0;) {
        unsigned circuit = p->keys.at[i].circuit;
        keys_report(&p->keys, circuit, false, 0, d->now_ns);
        update_host(d, d->circuits[circuit]);
    }
    d->grant_due = true;
}
