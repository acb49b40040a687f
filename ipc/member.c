#include "member.h"

#include <stdio.h>
#include <string.h>

#include "alive.h"
#include "span.h"

enum { HELLO_EVERY_MS = 1000, HEARTBEAT_MS = 1000 };
#define MS UINT64_C(1000000)

void text_clean(char *text)
{
    for (; *text != 0; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

static void send_hello(struct member *m, uint64_t now_ns)
{
    lane_send(m->desk, NULL, &m->hello);
    m->next_hello_ns = now_ns + HELLO_EVERY_MS * MS;
}

enum err_code member_join(struct member *m, struct lanes *ls, const struct actor *self,
                          const struct msg_hello *facts, struct err *e)
{
    struct alive_id id;
    *m = (struct member){.heartbeat_ns = HEARTBEAT_MS * MS};
    m->hello.kind = MSG_HELLO;
    m->hello.hello = *facts;
    text_clean(m->hello.hello.device);
    m->hello.hello.protocol = PROTOCOL_VERSION;
    m->hello.hello.incarnation = self->incarnation;
    actor_name(self, m->hello.hello.name);
    enum err_code rc = alive_self(&id, e);
    if (rc != ERR_OK)
        return rc;
    alive_to_hello(&id, &m->hello.hello);
    m->desk = lane_connect(ls, LANE_DESK, 0, e);
    if (m->desk == NULL)
        return e->code;
    send_hello(m, span_now_ns());
    return ERR_OK;
}

static void send_ready(struct member *m)
{
    struct message r = {.kind = MSG_READY};
    r.ready.nodes = m->nodes;
    r.ready.register_ns = m->register_ns;
    lane_send(m->desk, NULL, &r);
}

void member_ready(struct member *m, uint64_t nodes, uint64_t register_ns)
{
    m->is_ready = true;
    m->nodes = nodes;
    m->register_ns = register_ns;
    if (m->welcomed)
        send_ready(m);
}

enum member_event member_hear(struct member *m, const struct message *in)
{
    switch (in->kind) {
    case MSG_WHO:
        m->welcomed = false;
        send_hello(m, span_now_ns());
        return MEMBER_HANDLED;
    case MSG_WELCOME:
        m->welcomed = true;
        m->n_told = 0;
        m->epoch = in->welcome.epoch;
        if (in->welcome.heartbeat_ms > 0)
            m->heartbeat_ns = in->welcome.heartbeat_ms * MS;
        m->next_beat_ns = 0;
        if (m->is_ready)
            send_ready(m);
        return MEMBER_WELCOMED;
    case MSG_DRAIN:
        m->draining = true;
        return MEMBER_DRAIN;
    default:
        return MEMBER_OTHER;
    }
}

void member_turn(struct member *m, uint64_t now_ns, const struct msg_heartbeat *state)
{
    if (!m->welcomed && now_ns >= m->next_hello_ns)
        send_hello(m, now_ns);
    if (now_ns < m->next_beat_ns)
        return;
    struct message b = {.kind = MSG_HEARTBEAT};
    b.heartbeat = *state;
    b.heartbeat.epoch = m->epoch;
    b.heartbeat.draining = m->draining;
    /* Also before WELCOME: a desk that restarted answers it with WHO. */
    lane_send(m->desk, NULL, &b);
    m->next_beat_ns = now_ns + m->heartbeat_ns;
}

void member_bye(struct member *m, const char *reason)
{
    struct message b = {.kind = MSG_BYE};
    snprintf(b.bye.reason, sizeof b.bye.reason, "%s", reason);
    text_clean(b.bye.reason);
    lane_send(m->desk, NULL, &b);
}

void member_tell(struct member *m, enum message_kind kind, struct lease_ref r, uint64_t job,
                 uint32_t partition, uint32_t attempt)
{
    struct message out = {.kind = kind};
    message_set_lease(&out, r, job, partition, attempt);
    lane_send(m->desk, NULL, &out);
}

void member_tell_failed(struct member *m, struct lease_ref r, uint64_t job, uint32_t partition,
                        uint32_t attempt, uint32_t code, const char *reason)
{
    struct message out = {.kind = MSG_FAILED};
    message_set_lease(&out, r, job, partition, attempt);
    out.failed.code = code;
    snprintf(out.failed.reason, sizeof out.failed.reason, "%s", reason);
    text_clean(out.failed.reason);
    lane_send(m->desk, NULL, &out);
}

void member_tell_circuit(struct member *m, const uint8_t digest[32], bool resident, uint64_t bytes,
                         uint32_t code, const char *reason)
{
    struct message out = {.kind = MSG_CIRCUIT_STATE};
    memcpy(out.circuit_state.circuit, digest, 32);
    out.circuit_state.resident = resident;
    out.circuit_state.bytes = bytes;
    out.circuit_state.code = code;
    snprintf(out.circuit_state.reason, sizeof out.circuit_state.reason, "%s", reason);
    text_clean(out.circuit_state.reason);
    lane_send(m->desk, NULL, &out);
}

static const struct member_circuit *find_circuit(const struct member_circuit *list, unsigned n,
                                                 const uint8_t digest[32])
{
    for (unsigned i = 0; i < n; i++)
        if (memcmp(list[i].digest, digest, 32) == 0)
            return &list[i];
    return NULL;
}

void member_tell_circuits(struct member *m, const struct member_circuit *now, unsigned n)
{
    if (!m->welcomed)
        return;
    if (n > MEMBER_CIRCUITS_MAX)
        n = MEMBER_CIRCUITS_MAX;
    for (unsigned i = 0; i < m->n_told; i++)
        if (!find_circuit(now, n, m->told[i].digest))
            member_tell_circuit(m, m->told[i].digest, false, 0, 0, "");
    for (unsigned i = 0; i < n; i++) {
        const struct member_circuit *was = find_circuit(m->told, m->n_told, now[i].digest);
        if (!was || was->bytes != now[i].bytes)
            member_tell_circuit(m, now[i].digest, true, now[i].bytes, 0, "");
    }
    memcpy(m->told, now, n * sizeof *now);
    m->n_told = n;
}
