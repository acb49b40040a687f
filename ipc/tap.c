#include "tap.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>
#include "evidence.h"
#include "span.h"
#include "tap_wire.h"

enum { TAP_QUEUE = 64 }; /* a reader that is further behind loses messages */

struct tap {
    bool armed; /* first: tap_armed reads it here */
    unsigned topics;
    actor_id self;
    void *socket;
    int lock_fd;
    uint64_t sequence;
    struct flight_record *flight; /* NULL where it could not be made */
};

struct tap *tap_open(void *zmq_context, const struct instance *in, const struct actor *self,
                     struct err *e)
{
    char address[128], name[ACTOR_NAME_MAX], file[64], lock[80], what[128];
    struct tap *t = calloc(1, sizeof *t);
    INVARIANT(t != NULL);
    tap_address(in, self, address, sizeof address);
    snprintf(file, sizeof file, "%s", strrchr(address, '/') + 1);
    snprintf(lock, sizeof lock, "%s.lock", file);
    snprintf(what, sizeof what, "the tap of %s is open", actor_name(self, name));
    t->self = actor_to_id(self);
    t->lock_fd = instance_lock(in, lock, what, e);
    if (t->lock_fd < 0) {
        free(t);
        return NULL;
    }
    const int zero = 0, queue = TAP_QUEUE;
    t->socket = zmq_socket(zmq_context, ZMQ_XPUB);
    if (!t->socket || zmq_setsockopt(t->socket, ZMQ_LINGER, &zero, sizeof zero) != 0 ||
        zmq_setsockopt(t->socket, ZMQ_SNDHWM, &queue, sizeof queue) != 0 ||
        zmq_bind(t->socket, address) != 0 || fchmodat(in->run_fd, file, 0600, 0) != 0) {
        err_set(e, ERR_IO, "tap: cannot bind %s/run/%s: %s", in->dir, file,
                zmq_strerror(zmq_errno()));
        tap_close(&t);
        return NULL;
    }
    t->flight = evidence_create(in, self, "flight", FLIGHT_RECORDS * sizeof *t->flight, NULL);
    return t;
}

void tap_close(struct tap **tap)
{
    struct tap *t = *tap;
    if (!t)
        return;
    if (t->socket)
        zmq_close(t->socket);
    close(t->lock_fd);
    evidence_unmap(t->flight, FLIGHT_RECORDS * sizeof *t->flight);
    free(t);
    *tap = NULL;
}

void *tap_socket(struct tap *t)
{
    return t->socket;
}

/* Readers that come and go: 1 or 0, then the topic. libzmq tells only of the first reader of a
 * topic and the last, so the count is of topics that anybody wants. */
void tap_housekeeping(struct tap *t)
{
    uint8_t note[64];
    for (int n;
         (n = zmq_recv(t->socket, note, sizeof note, ZMQ_DONTWAIT)) >= 0 || zmq_errno() == EINTR;) {
        if (n > 0 && note[0] == 1)
            t->topics++;
        else if (n > 0 && note[0] == 0 && t->topics > 0)
            t->topics--;
    }
    __atomic_store_n(&t->armed, t->topics > 0, __ATOMIC_RELAXED);
}

void tap_record(struct tap *t, struct tap_header *h, const struct message *m)
{
    h->sequence = ++t->sequence;
    h->at_ns = span_now_ns();
    if (!t->flight)
        return;
    struct flight_record *r = &t->flight[(h->sequence - 1) % FLIGHT_RECORDS];
    atomic_store_explicit(&r->sequence, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    struct lease_ref lease = {.row = UINT32_MAX};
    message_lease(m, &lease);
    r->at_ns = h->at_ns;
    r->peer = h->peer;
    r->job = message_job(m, &r->partition);
    r->row = lease.row;
    r->generation = lease.generation;
    r->node = lease.node;
    r->kind = (uint8_t)m->kind;
    r->lane = h->lane;
    r->direction = h->direction;
    r->verdict = h->verdict;
    atomic_store_explicit(&r->sequence, h->sequence, memory_order_release);
}

void tap_mirror(struct tap *t, const struct tap_header *header, const struct message *m,
                const void *frame)
{
    struct tap_header h = *header;
    struct tap_prefix prefix = {(uint8_t)('0' + h.lane), {0}};
    uint8_t clean[MESSAGE_BYTES_MAX];
    const struct message_info *info = message_info(m->kind);
    memcpy(prefix.actor, &t->self, sizeof t->self);
    if (!info) {
        h.frame_bytes = 0;
    } else if (info->has_secret) {
        struct message copy = *m;
        message_redact(&copy);
        h.frame_bytes = (uint32_t)message_encode(&copy, clean, sizeof clean);
        frame = clean;
    }
    zmq_msg_t msg;
    if (zmq_msg_init_size(&msg, sizeof prefix + sizeof h + h.frame_bytes) != 0)
        return; /* no memory for a copy: a gap in the sequence says so */
    uint8_t *to = zmq_msg_data(&msg);
    memcpy(to, &prefix, sizeof prefix);
    memcpy(to + sizeof prefix, &h, sizeof h);
    memcpy(to + sizeof prefix + sizeof h, frame, h.frame_bytes);
    if (zmq_msg_send(&msg, t->socket, ZMQ_DONTWAIT) < 0)
        zmq_msg_close(&msg);
}
