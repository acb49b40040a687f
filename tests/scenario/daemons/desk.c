#include "desk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "build.h"
#include "file.h"
#include "ntt.h"
#include "prepared.h"
#include "sibling.h"
#include "span.h"
#include "store.h"
#include "wtns.h"

extern char **environ;

static void must(enum err_code rc, const struct err *e)
{
    if (rc != ERR_OK)
        fail_msg("%s", e->text);
}

static void fixture_path(const char *fixture, const char *ending, char out[PATH_MAX])
{
    snprintf(out, PATH_MAX, "%s/%s/%s%s", getenv("FIXTURES"), fixture, strrchr(fixture, '/') + 1,
             ending);
}

void desk_open(struct desk *d, uint64_t bulk_bytes)
{
    struct err e = {0};
    *d = (struct desk){.next_job = 1, .rings = 1, .lock_fd = -1};
    strcpy(d->dir, "/tmp/millrace-daemons.XXXXXX");
    assert_non_null(mkdtemp(d->dir));
    must(instance_create(d->dir, &e), &e);
    must(instance_open(&d->in, d->dir, &e), &e);
    /* Arenas beside the other instances' in /dev/shm; the link says where. */
    mkdir(d->in.arena_dir, 0700);
    assert_int_equal(symlinkat(d->in.arena_dir, d->in.run_fd, "arena"), 0);
    int fd = instance_arena_fd(&d->in, &e);
    must(fd >= 0 ? ERR_OK : e.code, &e);
    struct arena_request rq = {.node = 0, .bulk_bytes = bulk_bytes, .rows = 64, .n_threads = 1};
    struct arena_header report;
    must(arena_create(fd, &rq, &report, &e), &e);
    must(arena_attach(&d->arena, fd, 0, ARENA_DESK, &e), &e);
    close(fd);
    d->self = (struct actor){.kind = ACTOR_FINALIZD};
    must(actor_enter(&d->self, &d->in, &d->lock_fd, &e), &e);
    d->lanes = lanes_new(&d->in, &d->self, &e);
    assert_non_null(d->lanes);
    d->lane = lane_bind(d->lanes, LANE_DESK, 0, &e);
    assert_non_null(d->lane);
}

void desk_close(struct desk *d)
{
    for (int i = 0; i < CHILDREN; i++)
        if (d->child[i].pid != 0 && !d->child[i].ended) {
            kill(d->child[i].pid, SIGKILL);
            waitpid(d->child[i].pid, NULL, 0);
        }
    lanes_free(&d->lanes);
    arena_detach(&d->arena);
    char command[400];
    snprintf(command, sizeof command, "rm -rf %s %s", d->dir, d->in.arena_dir);
    instance_close(&d->in);
    close(d->lock_fd);
    assert_int_equal(system(command), 0);
}

struct circuit *desk_add_circuit(struct desk *d, const char *fixture)
{
    struct err e = {0};
    char key[PATH_MAX], made[PATH_MAX], named[PATH_MAX], name[STORE_NAME_MAX];
    uint8_t digest[32];
    fixture_path(fixture, ".zkey", key);
    snprintf(made, sizeof made, "%s/store/new", d->dir);
    must(prepare_zkey(key, NULL, made, digest, NULL, &e), &e);
    snprintf(named, sizeof named, "%s/%s", d->dir, store_circuit_name(digest, name));
    assert_int_equal(rename(made, named), 0);
    struct circuit *c = circuit_map(named, &e);
    assert_non_null(c);
    return c;
}

void desk_add_program(struct desk *d, const struct circuit *c, const char *program)
{
    struct err e = {0};
    char programs[PATH_MAX];
    struct program_info info;
    snprintf(programs, sizeof programs, "%s/store/programs", d->dir);
    must(program_build(program, programs, &info, &e), &e);
    must(store_set_program(d->in.dir_fd, c->digest, info.path, &e), &e);
}

void desk_spool_bytes(struct desk *d, const char *name, const void *data, size_t n)
{
    struct err e = {0};
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/spool/%s", d->dir, name);
    must(file_replace(path, data, n, 0600, &e), &e);
}

void desk_spool(struct desk *d, const char *name, const char *source_path)
{
    struct err e = {0};
    char *data;
    size_t n;
    must(file_read(source_path, 1 << 30, &data, &n, &e), &e);
    desk_spool_bytes(d, name, data, n);
    free(data);
}

struct child *desk_start(struct desk *d, enum actor_kind kind, unsigned index, const char *kill_at)
{
    struct err e = {0};
    char program[PATH_MAX], number[8], kill_env[200];
    struct child *c = NULL;
    for (int i = 0; i < CHILDREN && c == NULL; i++)
        if (d->child[i].pid == 0 || d->child[i].ended)
            c = &d->child[i];
    assert_non_null(c);
    *c = (struct child){.actor = {.kind = kind, .index = index}};
    bool synthd = kind == ACTOR_SYNTHD;
    must(sibling_path(synthd ? "synthd" : "gpud", synthd ? "synthd" : "gpud", program, &e), &e);
    snprintf(number, sizeof number, "%u", index);
    char log[PATH_MAX];
    snprintf(log, sizeof log, "%s/log/%s.%u.log", d->dir, synthd ? "synthd" : "gpud", index);
    snprintf(c->log, sizeof c->log, "%.*s", (int)sizeof c->log - 1, log);
    char *const synthd_argv[] = {program, "--dir", d->dir, "--node", "0", "--index", number, NULL};
    char *const gpud_argv[] = {program, "--dir",     d->dir, "--index",
                               number,  "--backend", "cpu",  NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 2, c->log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    snprintf(kill_env, sizeof kill_env, "%s", kill_at != NULL ? kill_at : "");
    setenv("MILLRACE_KILL_AT", kill_env, 1);
    int failed =
        posix_spawn(&c->pid, program, &actions, NULL, synthd ? synthd_argv : gpud_argv, environ);
    unsetenv("MILLRACE_KILL_AT");
    posix_spawn_file_actions_destroy(&actions);
    assert_int_equal(failed, 0);
    uint64_t until = span_now_ns() + UINT64_C(30000000000);
    while (!c->ready && !c->ended && span_now_ns() < until)
        desk_turn(d, 20);
    if (!c->ready && kill_at == NULL)
        fail_msg("%s is not ready: see %s", program, c->log);
    return c;
}

void desk_signal(struct child *c, int number)
{
    assert_int_equal(kill(c->pid, number), 0);
}

static void reap(struct desk *d)
{
    for (int i = 0; i < CHILDREN; i++) {
        struct child *c = &d->child[i];
        if (c->pid != 0 && !c->ended && waitpid(c->pid, &c->status, WNOHANG) == c->pid)
            c->ended = true;
    }
}

bool desk_wait_end(struct desk *d, struct child *c, int timeout_ms)
{
    uint64_t until = span_now_ns() + (uint64_t)timeout_ms * 1000000u;
    while (!c->ended && span_now_ns() < until)
        desk_turn(d, 10);
    return c->ended;
}

static struct child *child_of(struct desk *d, const struct actor *a)
{
    for (int i = 0; i < CHILDREN; i++) {
        struct child *c = &d->child[i];
        if (c->pid != 0 && !c->ended && c->actor.kind == a->kind && c->actor.node == a->node &&
            c->actor.index == a->index)
            return c;
    }
    return NULL;
}

static void hear(struct desk *d, const struct incoming *in)
{
    struct child *c = child_of(d, &in->from);
    d->heard[in->m.kind]++;
    if (c == NULL)
        return;
    switch (in->m.kind) {
    case MSG_HELLO: {
        struct message w = {.kind = MSG_WELCOME};
        c->hello = in->m.hello;
        c->actor = in->from;
        snprintf(c->peer, sizeof c->peer, "%s", in->peer);
        w.welcome.epoch = d->self.incarnation;
        w.welcome.heartbeat_ms = 100;
        w.welcome.pid = (uint32_t)getpid();
        lane_send(d->lane, in->peer, &w);
        break;
    }
    case MSG_READY:
        c->ready = true;
        break;
    case MSG_HEARTBEAT:
        c->beat = in->m.heartbeat;
        break;
    case MSG_FAILED:
        d->failed = in->m.failed;
        break;
    case MSG_CIRCUIT_STATE:
        d->circuit_state = in->m.circuit_state;
        break;
    default:
        break;
    }
}

void desk_turn(struct desk *d, int timeout_ms)
{
    static struct incoming in;
    lanes_wait(d->lanes, timeout_ms);
    while (lane_receive(d->lane, &in))
        hear(d, &in);
    reap(d);
}

void desk_send(struct desk *d, const struct child *c, const struct message *m)
{
    lane_send(d->lane, c->peer, m);
}

void desk_ring(struct desk *d, const struct child *synthd, struct lease_ref r)
{
    struct lease_row *row = lease_row(&d->arena, r.row);
    struct message m = {.kind = MSG_GRANT};
    message_set_lease(&m, r, row->job, row->partition, row->attempt);
    desk_send(d, synthd, &m);
}

struct lease_ref desk_grant(struct desk *d, const struct child *synthd, const struct child *gpud,
                            const struct want *w)
{
    uint64_t n = UINT64_C(1) << w->facts->domain_log2, rows = w->without_ab ? 0 : n;
    uint64_t w_bytes = ((uint64_t)w->facts->n_wires * 32 + 63) / 64 * 64;
    struct lease_terms t = {
        .job = d->next_job++,
        .partition = w->partition,
        .n_partitions = 1,
        .attempt = 1,
        .priority = w->priority,
        .submitted_ns = w->submitted_ns,
        .step_limit_ns = w->step_limit_ns,
        .flags = w->flags,
        .domain_log2 = w->facts->domain_log2,
        .target = actor_to_id(&gpud->actor),
        .w_count = w->facts->n_wires,
        .ab_count = rows,
    };
    memcpy(t.circuit, w->circuit, 32);
    snprintf(t.spool, sizeof t.spool, "%s", w->spool);
    uint64_t bytes = w_bytes + 2 * (rows * 32 + 64);
    bytes = (bytes + ARENA_GRANULE_BYTES - 1) / ARENA_GRANULE_BYTES * ARENA_GRANULE_BYTES;
    assert_true(extent_cut(&d->arena, bytes, &t.extent));
    t.w_offset = t.extent.offset;
    t.a_offset = t.w_offset + w_bytes;
    t.b_offset = t.a_offset + (rows * 32 + 63) / 64 * 64;
    uint32_t row = 0;
    assert_true(lease_next(&d->arena, LEASE_FREE, 0, &row));
    struct lease_ref ref;
    assert_true(lease_grant(&d->arena, row, &t, actor_to_id(&synthd->actor), &ref));
    for (unsigned i = 0; i < d->rings; i++)
        desk_ring(d, synthd, ref);
    return ref;
}

bool desk_wait(struct desk *d, struct lease_ref r, unsigned states, int timeout_ms)
{
    uint64_t until = span_now_ns() + (uint64_t)timeout_ms * 1000000u;
    for (;;) {
        struct lease_view v = lease_look(&d->arena, r.row);
        if (v.generation == r.generation && (states >> v.state & 1) != 0)
            return true;
        if (span_now_ns() >= until)
            return false;
        desk_turn(d, 2);
    }
}

bool desk_wait_heard(struct desk *d, enum message_kind kind, unsigned count, int timeout_ms)
{
    uint64_t until = span_now_ns() + (uint64_t)timeout_ms * 1000000u;
    while (d->heard[kind] < count && span_now_ns() < until)
        desk_turn(d, 2);
    return d->heard[kind] >= count;
}

void desk_settle(struct desk *d, struct lease_ref r, struct lease_result *out)
{
    struct extent x;
    assert_true(lease_result_read(&d->arena, r, out));
    assert_true(lease_settle(&d->arena, r));
    if (lease_extent_due(&d->arena, r.row, &x)) {
        arena_wipe(&d->arena, x.offset, x.bytes);
        lease_extent_returned(&d->arena, r.row);
    }
}

bool desk_all_free(struct desk *d)
{
    for (uint32_t row = 0; row < d->arena.header->rows; row++)
        if (lease_look(&d->arena, row).state != LEASE_FREE ||
            atomic_load(&lease_row(&d->arena, row)->extent_held) != 0)
            return false;
    return extent_free_bytes(&d->arena) == d->arena.bulk_bytes;
}

void desk_expected(const struct circuit *c, const char *wtns_path, struct groth16_sums *out)
{
    struct err e = {0};
    size_t n = (size_t)1 << c->domain_log2;
    struct wtns *f = wtns_open(wtns_path, &e);
    assert_non_null(f);
    fr_t *w = malloc(c->n_wires * sizeof *w), *a = malloc(n * sizeof *a),
         *b = malloc(n * sizeof *b);
    assert_true(w != NULL && a != NULL && b != NULL);
    must(wtns_read(f, w, NULL, &e), &e);
    wtns_close(&f);
    matrix_evaluate(c->curve, &c->a, w, a, n, NULL);
    matrix_evaluate(c->curve, &c->b, w, b, n, NULL);
    struct ntt_domain *dom = ntt_domain_new(c->curve, c->roots, c->domain_log2, NULL, &e);
    assert_non_null(dom);
    memset(out, 0, sizeof *out);
    must(groth16_sums(c, dom, w, a, b, out, NULL, NULL, &e), &e);
    ntt_domain_free(&dom);
    free(w);
    free(a);
    free(b);
}
