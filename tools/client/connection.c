#include "connection.h"
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t client_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

int client_fail(struct millrace_error *out, const struct err *e)
{
    if (out) {
        out->code = (int)e->code;
        snprintf(out->text, sizeof out->text, "%s", e->text);
    }
    return (int)e->code;
}

int client_error(struct millrace_error *out, enum err_code code, const char *fmt, ...)
{
    if (out) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(out->text, sizeof out->text, fmt, ap);
        va_end(ap);
        out->code = (int)code;
    }
    return (int)code;
}

/* The tag of an answer, or 0 for kinds that carry none. */
static uint64_t tag_of(const struct message *m)
{
    switch (m->kind) {
    case MSG_ACCEPTED:
        return m->accepted.tag;
    case MSG_REFUSED:
        return m->refused.tag;
    case MSG_PROGRESS:
        return m->progress.tag;
    case MSG_PROOF:
        return m->proof.tag;
    case MSG_PUBLICS:
        return m->publics.tag;
    case MSG_DONE:
        return m->done.tag;
    case MSG_REPORT:
        return m->report.tag;
    case MSG_OK:
        return m->ok.tag;
    case MSG_PONG:
        return m->pong.tag;
    default:
        return 0;
    }
}

static void send_ping(struct millrace *m, uint64_t tag)
{
    struct message ping = {.kind = MSG_PING};
    ping.ping.tag = tag;
    (void)lane_send(m->lane, NULL, &ping);
}

/* The tag stands first in every question. */
static uint64_t *tag_in(struct message *question)
{
#define M(KIND, kind, ...) _Static_assert(offsetof(struct msg_##kind, tag) == 0, "tag first");
    M(SUBMIT, submit)
    M(AWAIT, await)
    M(CANCEL_JOB, cancel_job)
    M(STATUS, status)
    M(JOBS, jobs)
    M(SHOW, show)
    M(CIRCUITS, circuits)
    M(PRELOAD, preload)
    M(EVICT, evict)
    M(CIRCUIT_ADD, circuit_add)
    M(CIRCUIT_REMOVE, circuit_remove)
    M(DRAIN_ASK, drain_ask)
    M(PING, ping)
#undef M
    return &question->ping.tag;
}

int client_ask(struct millrace *m, struct message *question, int64_t timeout_ms,
               uint64_t patience_ms, client_take *take, void *arg, struct millrace_error *e)
{
    /* An AWAIT waits by nature and its answers may come twice: it keeps its tag, so that the desk
     * knows it for the same, and is repeated seldom. Any other question that is repeated gets a new
     * tag, so that pieces of two answers never mix. */
    bool waits = question->kind == MSG_AWAIT;
    uint64_t again_ms = waits ? AWAIT_AGAIN_MS : AGAIN_MS;
    uint64_t *tag = tag_in(question);
    *tag = m->next_tag++;
    uint64_t began = client_now_ms(), heard = began, asked = began, pinged = began;
    (void)lane_send(m->lane, NULL, question);
    for (;;) {
        uint64_t now = client_now_ms();
        if (timeout_ms >= 0 && now - began >= (uint64_t)timeout_ms)
            return client_error(e, (enum err_code)MILLRACE_PENDING,
                                "no answer within %lld ms; the work goes on",
                                (long long)timeout_ms);
        if (now - heard >= patience_ms)
            return client_error(e, ERR_UNAVAILABLE, "%s: the desk does not answer", m->in.dir);
        if (now - pinged >= AGAIN_MS) {
            send_ping(m, m->next_tag++);
            pinged = now;
        }
        struct incoming in;
        int wait = 200;
        if (timeout_ms >= 0 && began + (uint64_t)timeout_ms - now < 200)
            wait = (int)(began + (uint64_t)timeout_ms - now) + 1;
        lanes_wait(m->lanes, wait);
        bool again = false;
        while (lane_receive(m->lane, &in)) {
            heard = client_now_ms();
            if (in.m.kind == MSG_PONG) {
                /* Another incarnation has never heard the question; and one whose answer was
                 * lost is asked again, a question costing nothing twice. */
                again = in.m.pong.epoch != m->epoch || heard - asked >= again_ms;
                m->epoch = in.m.pong.epoch;
                m->heard = true;
                if (question->kind != MSG_PING)
                    continue;
            }
            if (tag_of(&in.m) == *tag && take(arg, &in.m))
                return 0;
        }
        if (again) {
            if (!waits) {
                *tag = m->next_tag++;
                take(arg, NULL);
            }
            (void)lane_send(m->lane, NULL, question);
            asked = client_now_ms();
        }
    }
}

struct ok_answer {
    enum err_code code;
    char reason[512];
};

static bool take_ok(void *arg, const struct message *answer)
{
    struct ok_answer *a = arg;
    if (!answer)
        return false;
    if (answer->kind == MSG_OK) {
        a->code = ERR_OK;
        return true;
    }
    if (answer->kind != MSG_REFUSED)
        return false;
    a->code = answer->refused.code ? (enum err_code)answer->refused.code : ERR_REFUSED;
    snprintf(a->reason, sizeof a->reason, "%s", answer->refused.reason);
    return true;
}

int client_ask_ok(struct millrace *m, struct message *question, int64_t timeout_ms,
                  struct millrace_error *e)
{
    struct ok_answer a = {0};
    int rc = client_ask(m, question, timeout_ms, PATIENCE_MS, take_ok, &a, e);
    if (rc)
        return rc;
    return a.code ? client_error(e, a.code, "%s", a.reason) : 0;
}

static bool take_pong(void *arg, const struct message *answer)
{
    uint32_t *protocol = arg;
    if (!answer || answer->kind != MSG_PONG)
        return false;
    *protocol = answer->pong.protocol;
    return true;
}

struct millrace *millrace_open(const char *dir, struct millrace_error *out)
{
    struct err e = {0};
    char path[4096];
    struct millrace *m = calloc(1, sizeof *m);
    if (!m || sodium_init() < 0) {
        free(m);
        client_error(out, ERR_MEMORY, "no memory for a connection");
        return NULL;
    }
    instance_default_dir(dir, path, sizeof path);
    if (instance_open(&m->in, path, &e) != ERR_OK) {
        client_fail(out, &e);
        free(m);
        return NULL;
    }
    randombytes_buf(&m->next_tag, sizeof m->next_tag);
    m->next_tag >>= 8; /* room to count on without a wrap */
    m->next_tag |= 1;
    actor_enter_anonymous(&m->self, ACTOR_CLIENT);
    m->lanes = lanes_new(&m->in, &m->self, &e);
    m->lane = m->lanes ? lane_connect(m->lanes, LANE_CLIENT, 0, &e) : NULL;
    if (!m->lane) {
        client_fail(out, &e);
        millrace_close(&m);
        return NULL;
    }
    struct message ping = {.kind = MSG_PING};
    uint32_t protocol = 0;
    if (client_ask(m, &ping, -1, OPEN_MS, take_pong, &protocol, out)) {
        client_error(out, ERR_UNAVAILABLE,
                     "%s: no instance answers there; start one with: millrace up --dir %s",
                     m->in.dir, m->in.dir);
        millrace_close(&m);
        return NULL;
    }
    if (protocol != PROTOCOL_VERSION) {
        client_error(out, ERR_MISMATCH,
                     "%s: the desk speaks protocol %u, this program %d: they are of two builds",
                     m->in.dir, protocol, PROTOCOL_VERSION);
        millrace_close(&m);
        return NULL;
    }
    return m;
}

void millrace_close(struct millrace **m)
{
    if (!m || !*m)
        return;
    lanes_free(&(*m)->lanes);
    instance_close(&(*m)->in);
    free(*m);
    *m = NULL;
}

const char *millrace_dir(const struct millrace *m)
{
    return m->in.dir;
}
