#include "rig.h"
#include <errno.h>
#include <fcntl.h>
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
#include "curve.h"
#include "prepared.h"
#include "store.h"

extern char **environ;

uint64_t rig_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000u + (uint64_t)t.tv_nsec / 1000000u;
}

static void must(enum err_code rc, const struct err *e)
{
    if (rc != ERR_OK)
        fail_msg("%s", e->text);
}

/* ---- processes ---- */

static pid_t spawn(struct rig *r, char *const argv[], const char *environment)
{
    char *env[256];
    size_t n = 0;
    pid_t pid;
    for (; environ[n] && n < 250; n++)
        env[n] = environ[n];
    if (environment)
        env[n++] = (char *)environment;
    env[n] = NULL;
    posix_spawn_file_actions_t files;
    char path[128];
    snprintf(path, sizeof path, "%s/log/%s.log", r->dir, strrchr(argv[0], '/') + 1);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 2, path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    assert_int_equal(posix_spawn(&pid, argv[0], &files, NULL, argv, env), 0);
    posix_spawn_file_actions_destroy(&files);
    return pid;
}

static void end(pid_t *pid)
{
    if (*pid > 0) {
        kill(*pid, SIGKILL);
        waitpid(*pid, NULL, 0);
    }
    *pid = 0;
}

void rig_start_desk(struct rig *r, const char *environment)
{
    char *argv[] = {getenv("SIM_DESK"), "--dir", r->dir, NULL};
    r->desk = spawn(r, argv, environment);
    struct message ping = {.kind = MSG_PING}, pong;
    if (!rig_ask(r, &ping, &pong, 10000))
        fail_msg("the desk does not answer: see %s/log", r->dir);
}

void rig_kill_desk(struct rig *r)
{
    end(&r->desk);
}

int rig_spawn(struct rig *r, const char *kind, unsigned first, unsigned count, const char *options)
{
    char begin[16], n[16], words[128],
        *argv[16] = {getenv("SIM_ACTOR"), "--dir", r->dir, (char *)kind, "0", begin, n};
    int at = 7, child = 0;
    snprintf(begin, sizeof begin, "%u", first);
    snprintf(n, sizeof n, "%u", count);
    snprintf(words, sizeof words, "%s", options ? options : "");
    for (char *w = strtok(words, " "); w && at < 15; w = strtok(NULL, " "))
        argv[at++] = w;
    while (r->child[child])
        child++;
    assert_true(child < RIG_CHILDREN);
    r->child[child] = spawn(r, argv, NULL);
    return child;
}

void rig_kill(struct rig *r, int child)
{
    end(&r->child[child]);
}

/* ---- the instance ---- */

static void add_circuit(struct rig *r)
{
    char name[STORE_NAME_MAX], path[256], key[512];
    struct err e = {0};
    snprintf(key, sizeof key, "%s/bn128/mul/mul.zkey", getenv("FIXTURES"));
    snprintf(path, sizeof path, "%s/store/new", r->dir);
    must(prepare_zkey(key, NULL, path, r->circuit, NULL, &e), &e);
    char final[STORE_NAME_MAX + 80];
    snprintf(final, sizeof final, "%s/%s", r->dir, store_circuit_name(r->circuit, name));
    assert_int_equal(rename(path, final), 0);
}

void rig_open(struct rig *r, uint64_t granules, uint32_t rows, const char *config)
{
    struct err e = {0};
    memset(r, 0, sizeof *r);
    strcpy(r->dir, "/tmp/millrace-desk-XXXXXX");
    assert_non_null(mkdtemp(r->dir));
    must(instance_create(r->dir, &e), &e);
    must(instance_open(&r->in, r->dir, &e), &e);
    mkdir(r->in.arena_dir, 0700);
    assert_int_equal(symlinkat(r->in.arena_dir, r->in.run_fd, "arena"), 0);
    int fd = instance_arena_fd(&r->in, &e);
    must(fd >= 0 ? ERR_OK : e.code, &e);
    struct arena_request rq = {
        .bulk_bytes = granules * ARENA_GRANULE_BYTES, .rows = rows, .n_threads = 1};
    must(arena_create(fd, &rq, NULL, &e), &e);
    must(arena_attach(&r->arena, fd, 0, ARENA_OBSERVE, &e), &e);
    close(fd);
    int conf = openat(r->in.dir_fd, "millrace.conf", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_int_equal(write(conf, config, strlen(config)), (ssize_t)strlen(config));
    close(conf);
    add_circuit(r);
    actor_enter_anonymous(&r->self, ACTOR_CLIENT);
    r->lanes = lanes_new(&r->in, &r->self, &e);
    assert_non_null(r->lanes);
    r->lane = lane_connect(r->lanes, LANE_CLIENT, 0, &e);
    assert_non_null(r->lane);
    rig_start_desk(r, NULL);
    struct message add = {.kind = MSG_CIRCUIT_ADD}, answer;
    memcpy(add.circuit_add.circuit, r->circuit, 32);
    strcpy(add.circuit_add.alias, "mul");
    assert_true(rig_ask(r, &add, &answer, 10000));
    assert_int_equal(answer.kind, MSG_OK);
}

void rig_close(struct rig *r)
{
    char command[400];
    end(&r->desk);
    for (int i = 0; i < RIG_CHILDREN; i++)
        end(&r->child[i]);
    lanes_free(&r->lanes);
    arena_detach(&r->arena);
    snprintf(command, sizeof command, "rm -rf %s %s", r->dir, r->in.arena_dir);
    instance_close(&r->in);
    assert_int_equal(system(command), 0);
}

/* ---- the client ---- */

static uint64_t tag_of(const struct message *m)
{
    switch (m->kind) { /* every message of this lane begins with its tag */
    case MSG_ACCEPTED:
        return m->accepted.tag;
    default:
        return m->ok.tag;
    }
}

bool rig_ask(struct rig *r, struct message *m, struct message *answer, int timeout_ms)
{
    static struct incoming in;
    uint64_t until = rig_now_ms() + (uint64_t)timeout_ms, again = 0;
    m->ping.tag = ++r->tag; /* the first field of every question */
    while (rig_now_ms() < until) {
        if (rig_now_ms() >= again) {
            lane_send(r->lane, NULL, m);
            again = rig_now_ms() + 1000;
        }
        lanes_wait(r->lanes, 20);
        while (lane_receive(r->lane, &in))
            if (tag_of(&in.m) == m->ping.tag) {
                *answer = in.m;
                return true;
            }
    }
    return false;
}

uint64_t rig_submit(struct rig *r, const char *request, uint32_t partitions, uint32_t priority,
                    uint64_t limit_ms, struct message *answer)
{
    struct message m = {.kind = MSG_SUBMIT}, own;
    static unsigned serial;
    answer = answer ? answer : &own;
    strcpy(m.submit.client, "test");
    strcpy(m.submit.request, request);
    strcpy(m.submit.circuit, "mul");
    m.submit.partitions = partitions;
    snprintf(m.submit.spool, sizeof m.submit.spool, "s%d-%u", getpid(), serial++);
    m.submit.priority = priority;
    m.submit.limit_ms = limit_ms;
    m.submit.content[0] = (uint8_t)partitions;
    for (uint32_t i = 0; i < partitions; i++) {
        char path[128];
        snprintf(path, sizeof path, "spool/%s.%u", m.submit.spool, i);
        int fd = openat(r->in.dir_fd, path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        assert_int_equal(write(fd, "witness", 7), 7);
        close(fd);
    }
    if (!rig_ask(r, &m, answer, 10000))
        fail_msg("SUBMIT is not answered");
    return answer->kind == MSG_ACCEPTED ? answer->accepted.job : 0;
}

int rig_await(struct rig *r, uint64_t job, int timeout_ms, unsigned *proofs, char reason[512])
{
    static struct incoming in;
    struct message m = {.kind = MSG_AWAIT};
    uint64_t until = rig_now_ms() + (uint64_t)timeout_ms, again = 0, tag = ++r->tag;
    unsigned seen = 0, own;
    proofs = proofs ? proofs : &own;
    m.await.tag = tag;
    m.await.job = job;
    strcpy(m.await.client, "test");
    while (rig_now_ms() < until) {
        if (rig_now_ms() >= again) {
            lane_send(r->lane, NULL, &m);
            again = rig_now_ms() + 1000;
        }
        lanes_wait(r->lanes, 20);
        while (lane_receive(r->lane, &in)) {
            if (tag_of(&in.m) != tag)
                continue;
            if (in.m.kind == MSG_PROOF && in.m.proof.partition == 0)
                seen = 0; /* an answer begins (again) */
            if (in.m.kind == MSG_PUBLICS) {
                const fr_t *w = (const fr_t *)(const void *)in.m.publics.values.data;
                fr_t first;
                memcpy(&first, w, sizeof first);
                seen += in.m.publics.partition == seen && first.limb[0] == job &&
                        first.limb[1] == in.m.publics.partition;
            }
            if (in.m.kind == MSG_REFUSED && reason)
                snprintf(reason, 512, "%s", in.m.refused.reason);
            if (in.m.kind == MSG_REFUSED)
                return in.m.refused.code;
            if (in.m.kind == MSG_DONE) {
                *proofs = seen;
                if (reason)
                    snprintf(reason, 512, "%s", in.m.done.reason);
                return in.m.done.code;
            }
        }
    }
    return -1;
}

/* ---- looking ---- */

void rig_wait_held(struct rig *r)
{
    uint64_t until = rig_now_ms() + 10000;
    while (faccessat(r->in.dir_fd, "held", F_OK, 0) != 0) {
        if (rig_now_ms() > until)
            fail_msg("no lease came to be held: see %s/log", r->dir);
        usleep(2000);
    }
    unlinkat(r->in.dir_fd, "held", 0);
}

bool rig_wait_all_free(struct rig *r, int timeout_ms)
{
    uint64_t until = rig_now_ms() + (uint64_t)timeout_ms;
    for (;;) {
        unsigned used = 0;
        for (uint32_t i = 0; i < r->arena.header->rows; i++)
            used += lease_look(&r->arena, i).state != LEASE_FREE ||
                    atomic_load(&lease_row(&r->arena, i)->extent_held) != 0;
        if (used == 0 && atomic_load(&r->arena.header->granules_used) == 0)
            return true;
        if (rig_now_ms() > until) {
            fprintf(stderr, "%u rows used, %lu granules\n", used,
                    (unsigned long)atomic_load(&r->arena.header->granules_used));
            return false;
        }
        usleep(2000);
    }
}
