#include "asker.h"
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include "lane.h"
#include "span.h"

enum { PING_MS = 2000, AGAIN_MS = 2000, AWAIT_AGAIN_MS = 30000, REPORT_BYTES_MAX = 64 << 20 };

struct question {
    struct question *next;
    uint64_t name;
    struct message m; /* its tag is of the last time it was sent */
    uint64_t until_ns, asked_ns;
    char *json; /* pieces of a REPORT so far */
    size_t n;
    asked_fn *fn;
    void *arg;
};

struct asker {
    struct actor self;
    struct lanes *lanes;
    struct lane *lane;
    struct question *open;
    size_t n_open;
    uint64_t next_tag, next_name;
    uint64_t epoch, heard_ns, pinged_ns;
};

struct asker *asker_new(const struct instance *in, enum actor_kind as, struct err *e)
{
    struct asker *a = calloc(1, sizeof *a);
    if (!a) {
        err_set(e, ERR_MEMORY, "no memory for a talk with the desk");
        return NULL;
    }
    actor_enter_anonymous(&a->self, as);
    randombytes_buf(&a->next_tag, sizeof a->next_tag);
    a->next_tag = (a->next_tag >> 8) | 1; /* room to count on without a wrap */
    a->next_name = 1;
    a->lanes = lanes_new(in, &a->self, e);
    a->lane = a->lanes ? lane_connect(a->lanes, LANE_CLIENT, 0, e) : NULL;
    if (!a->lane)
        asker_free(&a);
    return a;
}

static void free_question(struct question *q)
{
    free(q->json);
    free(q);
}

void asker_free(struct asker **asker)
{
    struct asker *a = *asker;
    if (!a)
        return;
    for (struct question *q = a->open, *next; q; q = next) {
        next = q->next;
        free_question(q);
    }
    lanes_free(&a->lanes);
    free(a);
    *asker = NULL;
}

/* The tag stands first in every question (asserted in the client library for the same use). */
static uint64_t *tag_in(struct message *m)
{
    return &m->ping.tag;
}

static uint64_t tag_of(const struct message *m)
{
    switch (m->kind) {
    case MSG_ACCEPTED:
        return m->accepted.tag;
    case MSG_REFUSED:
        return m->refused.tag;
    case MSG_PROGRESS:
        return m->progress.tag;
    case MSG_DONE:
        return m->done.tag;
    case MSG_REPORT:
        return m->report.tag;
    case MSG_OK:
        return m->ok.tag;
    default:
        return 0;
    }
}

static void send(struct asker *a, struct question *q, uint64_t now)
{
    /* An AWAIT keeps its tag, so that the desk knows it for the same; another question gets a new
     * one, so that pieces of two answers never mix. */
    if (q->m.kind != MSG_AWAIT || *tag_in(&q->m) == 0)
        *tag_in(&q->m) = a->next_tag++;
    q->n = 0;
    q->asked_ns = now;
    (void)lane_send(a->lane, NULL, &q->m);
}

uint64_t asker_ask(struct asker *a, const struct message *question, uint64_t limit_ms, asked_fn *fn,
                   void *arg)
{
    struct question *q = calloc(1, sizeof *q);
    INVARIANT(q != NULL);
    uint64_t now = span_now_ns();
    *q = (struct question){.next = a->open,
                           .name = a->next_name++,
                           .m = *question,
                           .until_ns = limit_ms ? now + limit_ms * 1000000 : UINT64_MAX,
                           .fn = fn,
                           .arg = arg};
    *tag_in(&q->m) = 0;
    a->open = q;
    a->n_open++;
    send(a, q, now);
    return q->name;
}

/* Takes it out of the list; the caller frees it. */
static struct question *take(struct asker *a, uint64_t name)
{
    for (struct question **at = &a->open; *at; at = &(*at)->next)
        if ((*at)->name == name) {
            struct question *q = *at;
            *at = q->next;
            a->n_open--;
            return q;
        }
    return NULL;
}

void asker_forget(struct asker *a, uint64_t name)
{
    struct question *q = take(a, name);
    if (q)
        free_question(q);
}

static void finish(struct asker *a, struct question *q, struct answer *answer)
{
    struct question *mine = take(a, q->name);
    INVARIANT(mine == q);
    answer->last = true;
    q->fn(q->arg, answer); /* may ask again */
    free_question(q);
}

/* true when the document is whole. */
static bool add_piece(struct question *q, const struct msg_report *piece, struct answer *answer)
{
    size_t n = q->n + piece->json.len;
    char *more = n <= REPORT_BYTES_MAX ? realloc(q->json, n + 1) : NULL;
    if (!more) {
        answer->code = ERR_MEMORY;
        answer->reason = "the desk's report is too large";
        return true;
    }
    memcpy(more + q->n, piece->json.data, piece->json.len);
    more[n] = '\0';
    q->json = more;
    q->n = n;
    answer->json = more;
    answer->n = n;
    return piece->last;
}

static void hear(struct asker *a, const struct message *m)
{
    uint64_t tag = tag_of(m);
    struct question *q = a->open;
    while (q && (!tag || *tag_in(&q->m) != tag))
        q = q->next;
    if (!q)
        return;
    struct answer answer = {.m = m};
    switch (m->kind) {
    case MSG_PROGRESS:
        q->fn(q->arg, &answer);
        break;
    case MSG_REPORT:
        answer.m = NULL;
        if (add_piece(q, &m->report, &answer))
            finish(a, q, &answer);
        break;
    case MSG_REFUSED:
        answer.m = NULL;
        answer.code = m->refused.code ? (enum err_code)m->refused.code : ERR_REFUSED;
        answer.reason = m->refused.reason;
        finish(a, q, &answer);
        break;
    case MSG_DONE:
        answer.code = (enum err_code)m->done.code;
        answer.reason = m->done.reason;
        finish(a, q, &answer);
        break;
    default:
        finish(a, q, &answer);
        break;
    }
}

/* Questions that are late are asked again; those whose time is over are answered with that. One a
 * round is ended, since its call may change the list. */
static void keep_asking(struct asker *a, bool desk_is_new)
{
    uint64_t now = span_now_ns();
    for (struct question *q = a->open; q; q = q->next) {
        uint64_t again_ms = q->m.kind == MSG_AWAIT ? AWAIT_AGAIN_MS : AGAIN_MS;
        if (desk_is_new || now - q->asked_ns > again_ms * 1000000)
            send(a, q, now);
    }
    if (now - a->pinged_ns > PING_MS * UINT64_C(1000000)) {
        struct message ping = {.kind = MSG_PING};
        ping.ping.tag = a->next_tag++;
        (void)lane_send(a->lane, NULL, &ping);
        a->pinged_ns = now;
    }
    for (struct question *q = a->open; q;) {
        if (now < q->until_ns) {
            q = q->next;
            continue;
        }
        struct answer late = {.code = ERR_UNAVAILABLE, .reason = "the desk does not answer"};
        finish(a, q, &late);
        q = a->open;
    }
}

void asker_turn(struct asker *a, int wait_ms)
{
    struct incoming in;
    bool desk_is_new = false;
    lanes_wait(a->lanes, wait_ms);
    while (lane_receive(a->lane, &in)) {
        a->heard_ns = span_now_ns();
        if (in.m.kind == MSG_PONG) {
            /* Another incarnation has never heard the questions of before. */
            desk_is_new |= in.m.pong.epoch != a->epoch;
            a->epoch = in.m.pong.epoch;
        } else {
            hear(a, &in.m);
        }
    }
    keep_asking(a, desk_is_new);
}

void asker_watch(struct asker *a, int fd)
{
    lanes_watch(a->lanes, fd, 0);
}

uint64_t asker_heard_ns(const struct asker *a)
{
    return a->heard_ns;
}

size_t asker_open(const struct asker *a)
{
    return a->n_open;
}
