/* sim_actor: many simulated synthd or gpud in one process, with nothing behind them: they move
 * lease words and ring the desk.
 *
 *   sim_actor --dir DIR synthd|gpud NODE FIRST COUNT [hold=STATE] [lose=N] [repeat] [fail=CODE]
 *
 * hold: of every partition's first attempt, the lease is left in STATE (written into DIR/held once
 * one is). lose: every N-th message is not sent. repeat: every message is sent twice. fail: the
 * first attempt of every partition ends as FAILED with this code. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "alive.h"
#include "lane.h"
#include "curve.h"
#include "lease.h"
#include "span.h"
#include "stat.h"

enum { ACTORS_MAX = 64, SUMS_BYTES = 960 };

struct sim {
    struct actor self;
    actor_id id;
    int lock;
    struct lanes *lanes;
    struct lane *desk;
    struct stats *stats;
    uint64_t heartbeat_at, epoch;
};

static struct instance instance;
static struct arena arena;
static struct alive_id me;
static struct sim sims[ACTORS_MAX];
static unsigned count, node, first, lose;
static enum actor_kind kind;
static bool repeat, holding;
static enum lease_state hold;
static unsigned fail_code;
static uint64_t sent;

static void ring(struct sim *s, const struct message *m)
{
    if (lose && ++sent % lose == 0)
        return;
    lane_send(s->desk, NULL, m);
    if (repeat)
        lane_send(s->desk, NULL, m);
}

static void introduce(struct sim *s)
{
    struct message m = {.kind = MSG_HELLO};
    m.hello.protocol = PROTOCOL_VERSION;
    actor_name(&s->self, m.hello.name);
    m.hello.incarnation = s->self.incarnation;
    alive_to_hello(&me, &m.hello);
    m.hello.threads = 1;
    m.hello.numa_node = (uint32_t)node;
    if (kind == ACTOR_GPUD) {
        strcpy(m.hello.backend, "none");
        m.hello.max_in_flight = 2;
        m.hello.early_upload = 1;
    }
    lane_send(s->desk, NULL, &m);
    m = (struct message){.kind = MSG_READY};
    m.ready.nodes = UINT64_C(1) << node;
    lane_send(s->desk, NULL, &m);
}

static void start(struct sim *s, unsigned index)
{
    struct err e = {0};
    s->self = (struct actor){.kind = kind, .node = kind == ACTOR_SYNTHD ? node : 0, .index = index};
    if (actor_enter(&s->self, &instance, &s->lock, &e) ||
        !(s->lanes = lanes_new(&instance, &s->self, &e)) ||
        !(s->desk = lane_connect(s->lanes, LANE_DESK, 0, &e))) {
        fprintf(stderr, "sim_actor: %s\n", e.text);
        exit(1);
    }
    s->id = actor_to_id(&s->self);
    s->stats = stats_open(&instance, &s->self, &e);
    introduce(s);
}

static void hear(struct sim *s, uint64_t now)
{
    static struct incoming in;
    lanes_wait(s->lanes, 0);
    while (lane_receive(s->desk, &in)) {
        if (in.m.kind == MSG_WHO)
            introduce(s);
        else if (in.m.kind == MSG_WELCOME)
            s->epoch = in.m.welcome.epoch;
    }
    if (now >= s->heartbeat_at) {
        struct message m = {.kind = MSG_HEARTBEAT};
        m.heartbeat.epoch = s->epoch;
        lane_send(s->desk, NULL, &m);
        s->heartbeat_at = now + 200000000;
    }
}

static void tell(struct sim *s, enum message_kind what, struct lease_ref r,
                 const struct lease_row *row)
{
    struct message m = {.kind = what};
    message_set_lease(&m, r, row->job, row->partition, row->attempt);
    ring(s, &m);
}

/* True when this attempt is to stay in the state that it is in. */
static bool held_in(enum lease_state state, const struct lease_row *row)
{
    if (!holding || hold != state || row->attempt != 1)
        return false;
    int fd = openat(instance.dir_fd, "held", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    return true;
}

static void give_up(struct sim *s, struct lease_ref r, const struct lease_row *row, unsigned code,
                    const char *why)
{
    if (lease_fail(&arena, r, s->id, code, why)) {
        struct message m = {.kind = MSG_FAILED};
        message_set_lease(&m, r, row->job, row->partition, row->attempt);
        m.failed.code = code;
        strcpy(m.failed.reason, why);
        ring(s, &m);
    }
}

static void fill(struct sim *s, struct lease_ref r, enum lease_state state,
                 const struct lease_row *row)
{
    if (state == LEASE_GRANTED) {
        if (held_in(state, row) || !lease_claim(&arena, r, s->id))
            return;
    }
    if (lease_cancelled(&arena, r)) {
        give_up(s, r, row, ERR_CANCELLED, "cancelled");
        return;
    }
    if (held_in(LEASE_FILLING, row))
        return;
    if (fail_code && row->attempt == 1) {
        give_up(s, r, row, fail_code, "failed as asked");
        return;
    }
    fr_t *w = (fr_t *)(void *)(arena.bulk + row->w_offset);
    w[0] = (fr_t){{1}};
    w[1] = (fr_t){{row->job, row->partition}}; /* what the test looks for in the publics */
    if (lease_publish(&arena, r, s->id))
        tell(s, MSG_PUBLISHED, r, row);
}

static void prove(struct sim *s, struct lease_ref r, enum lease_state state,
                  const struct lease_row *row)
{
    if (state == LEASE_READY) {
        if (held_in(state, row) || !lease_take(&arena, r, s->id))
            return;
        tell(s, MSG_TAKEN, r, row);
        state = LEASE_PROVING;
    }
    if (lease_cancelled(&arena, r)) {
        give_up(s, r, row, ERR_CANCELLED, "cancelled");
        return;
    }
    if (held_in(LEASE_PROVING, row))
        return;
    if (state == LEASE_PROVING && lease_uploaded(&arena, r, s->id))
        tell(s, MSG_UPLOADED, r, row);
    if (held_in(LEASE_UPLOADED, row))
        return;
    struct lease_result result = {.sums_bytes = SUMS_BYTES};
    if (lease_proved(&arena, r, s->id, &result))
        tell(s, MSG_PROVED, r, row);
}

/* One pass over the table; true when something was done. */
static bool work(void)
{
    bool did = false;
    for (uint32_t i = 0; i < arena.header->rows; i++) {
        struct lease_view v = lease_look(&arena, i);
        struct actor owner = actor_from_id(v.owner);
        if (v.state == LEASE_FREE || v.state >= LEASE_PROVED || owner.kind != kind ||
            owner.index < first || owner.index >= first + count)
            continue;
        struct sim *s = &sims[owner.index - first];
        if (s->id != v.owner)
            continue;
        const struct lease_row *row = lease_row(&arena, i);
        struct lease_ref r = lease_ref_of(&arena, i);
        if (kind == ACTOR_SYNTHD)
            fill(s, r, v.state, row);
        else
            prove(s, r, v.state, row);
        did = did || lease_look(&arena, i).state != v.state;
    }
    return did;
}

int main(int argc, char **argv)
{
    struct err e = {0};
    if (argc < 7 || strcmp(argv[1], "--dir") != 0)
        return ERR_USAGE;
    kind = strcmp(argv[3], "gpud") == 0 ? ACTOR_GPUD : ACTOR_SYNTHD;
    node = (unsigned)atoi(argv[4]);
    first = (unsigned)atoi(argv[5]);
    count = (unsigned)atoi(argv[6]);
    for (int i = 7; i < argc; i++) {
        if (strncmp(argv[i], "hold=", 5) == 0)
            for (hold = LEASE_GRANTED; hold < LEASE_STATES; hold++)
                if (strcmp(lease_state_name(hold), argv[i] + 5) == 0) {
                    holding = true;
                    break;
                }
        if (strncmp(argv[i], "lose=", 5) == 0)
            lose = (unsigned)atoi(argv[i] + 5);
        if (strncmp(argv[i], "fail=", 5) == 0)
            fail_code = (unsigned)atoi(argv[i] + 5);
        repeat = repeat || strcmp(argv[i], "repeat") == 0;
    }
    if (count == 0 || count > ACTORS_MAX || instance_open(&instance, argv[2], &e) ||
        alive_self(&me, &e))
        return ERR_IO;
    int fd = instance_arena_fd(&instance, &e);
    if (fd < 0 || arena_attach(&arena, fd, node, ARENA_FILL, &e)) {
        fprintf(stderr, "sim_actor: %s\n", e.text);
        return ERR_IO;
    }
    for (unsigned i = 0; i < count; i++)
        start(&sims[i], first + i);
    for (uint64_t heard = 0;;) {
        uint64_t now = span_now_ns();
        bool did = work();
        if (now - heard >
            20000000) { /* lanes are only pumped now and then: the table says it all */
            for (unsigned i = 0; i < count; i++)
                hear(&sims[i], now);
            heard = now;
        }
        if (!did)
            usleep(300);
        if (getppid() == 1)
            return 0; /* the test is gone */
    }
}
