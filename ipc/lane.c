#include "lane.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>
#include "log.h"
#include "tap.h"

enum {
    LANES_MAX = 64,
    QUEUE_MESSAGES = 1000, /* a peer; far above any credit, so only a dead or stuck one fills it */
    HANDSHAKE_MS = 5000,
    RECONNECT_MS = 20,
    RECONNECT_MOST_MS = 500,
};

struct lane {
    struct lanes *owner;
    const struct lane_info *info;
    unsigned index;
    bool bound;
    int lock_fd; /* bound lanes */
    void *socket;
    zmq_msg_t held; /* the frame that blobs of the last message point into */
    struct lane_counts counts;
    uint8_t frame[MESSAGE_BYTES_MAX];
};

struct watch {
    int fd;
    uint64_t tag;
    bool ready;
};

struct lanes {
    const struct instance *in;
    struct actor self;
    pthread_t thread;
    void *context;
    struct tap *tap;
    struct lane *lane[LANES_MAX];
    unsigned n_lanes;
    struct watch *watch;
    unsigned n_watched, watch_room, next_ready;
    zmq_pollitem_t *item; /* lanes, then the tap, then what is watched */
    unsigned item_room;
};

static void check_thread(const struct lanes *ls)
{
    INVARIANT(pthread_equal(ls->thread, pthread_self()));
}

struct lanes *lanes_new(const struct instance *in, const struct actor *self, struct err *e)
{
    int major, minor, patch;
    zmq_version(&major, &minor, &patch);
    if (ZMQ_MAKE_VERSION(major, minor, patch) < ZMQ_MAKE_VERSION(4, 3, 4)) {
        err_set(e, ERR_UNSUPPORTED, "libzmq is %d.%d.%d: 4.3.4 or later is needed", major, minor,
                patch);
        return NULL;
    }
    struct lanes *ls = calloc(1, sizeof *ls);
    void *context = zmq_ctx_new();
    if (!ls || !context) {
        err_set(e, ERR_UNAVAILABLE, "cannot start ZeroMQ: %s", zmq_strerror(zmq_errno()));
        if (context)
            zmq_ctx_term(context);
        free(ls);
        return NULL;
    }
    *ls = (struct lanes){.in = in, .self = *self, .thread = pthread_self(), .context = context};
    if (actor_to_id(self)) {
        struct err why = {0};
        ls->tap = tap_open(context, in, self, &why);
        if (!ls->tap)
            log_warn("tap-missing", NULL, "reason=%s", why.text);
    }
    return ls;
}

void lanes_free(struct lanes **ls)
{
    struct lanes *l = *ls;
    if (!l)
        return;
    check_thread(l);
    while (l->n_lanes > 0)
        lane_close(&(struct lane *){l->lane[l->n_lanes - 1]});
    tap_close(&l->tap);
    while (zmq_ctx_term(l->context) != 0 && zmq_errno() == EINTR)
        ;
    free(l->watch);
    free(l->item);
    free(l);
    *ls = NULL;
}

struct tap *lanes_tap(struct lanes *ls)
{
    return ls->tap;
}

/* --- opening -------------------------------------------------------------------------------- */

static bool set_int(void *socket, int option, int value)
{
    return zmq_setsockopt(socket, option, &value, sizeof value) == 0;
}

static bool set_options(void *socket, bool router, const char *routing_id)
{
    int64_t most = MESSAGE_BYTES_MAX;
    uid_t uid = geteuid();
    bool ok = set_int(socket, ZMQ_LINGER, 0) && set_int(socket, ZMQ_SNDHWM, QUEUE_MESSAGES) &&
              set_int(socket, ZMQ_RCVHWM, QUEUE_MESSAGES) &&
              set_int(socket, ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS) &&
              set_int(socket, ZMQ_RECONNECT_IVL, RECONNECT_MS) &&
              set_int(socket, ZMQ_RECONNECT_IVL_MAX, RECONNECT_MOST_MS) &&
              zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &most, sizeof most) == 0;
    if (router) /* a successor takes over a name; an unknown peer is an error, not a silent loss */
        return ok && set_int(socket, ZMQ_ROUTER_MANDATORY, 1) &&
               set_int(socket, ZMQ_ROUTER_HANDOVER, 1) &&
               zmq_setsockopt(socket, ZMQ_IPC_FILTER_UID, &uid, sizeof uid) == 0;
    return ok && zmq_setsockopt(socket, ZMQ_ROUTING_ID, routing_id, strlen(routing_id)) == 0;
}

static struct lane *lane_open(struct lanes *ls, enum lane_id id, unsigned index, bool bound,
                              struct err *e)
{
    check_thread(ls);
    const struct lane_info *info = lane_info(id);
    INVARIANT(bound ? ls->self.kind == info->binder : (info->connectors >> ls->self.kind & 1));
    INVARIANT(ls->n_lanes < LANES_MAX && ls->self.incarnation != 0);
    char peer[ROUTING_ID_MAX];
    struct lane *l = calloc(1, sizeof *l);
    void *socket = l ? zmq_socket(ls->context, bound ? ZMQ_ROUTER : ZMQ_DEALER) : NULL;
    if (!socket || !set_options(socket, bound, actor_routing_id(&ls->self, peer))) {
        err_set(e, ERR_UNAVAILABLE, "lane %s: cannot open its socket: %s", info->name,
                zmq_strerror(zmq_errno()));
        if (socket)
            zmq_close(socket);
        free(l);
        return NULL;
    }
    l->owner = ls;
    l->info = info;
    l->index = index;
    l->bound = bound;
    l->lock_fd = -1;
    l->socket = socket;
    zmq_msg_init(&l->held);
    ls->lane[ls->n_lanes++] = l;
    return l;
}

struct lane *lane_bind(struct lanes *ls, enum lane_id id, unsigned index, struct err *e)
{
    char address[128], file[64], lock[80], what[128];
    struct lane *l = lane_open(ls, id, index, true, e);
    if (!l)
        return NULL;
    lane_address(ls->in, id, index, address, sizeof address);
    snprintf(file, sizeof file, "%s", strrchr(address, '/') + 1);
    snprintf(lock, sizeof lock, "%s.lock", file);
    snprintf(what, sizeof what, "somebody is bound to %s", file);
    /* A second bind to the same path would succeed and silently steal it. */
    l->lock_fd = instance_lock(ls->in, lock, what, e);
    if (l->lock_fd < 0) {
        lane_close(&l);
        return NULL;
    }
    if (zmq_bind(l->socket, address) != 0 || fchmodat(ls->in->run_fd, file, 0600, 0) != 0) {
        err_set(e, ERR_IO, "lane %s: cannot bind %s/run/%s: %s", l->info->name, ls->in->dir, file,
                zmq_strerror(zmq_errno()));
        lane_close(&l);
        return NULL;
    }
    return l;
}

struct lane *lane_connect(struct lanes *ls, enum lane_id id, unsigned index, struct err *e)
{
    char address[128];
    struct lane *l = lane_open(ls, id, index, false, e);
    if (!l)
        return NULL;
    lane_address(ls->in, id, index, address, sizeof address);
    if (zmq_connect(l->socket, address) != 0) {
        err_set(e, ERR_IO, "lane %s: cannot connect: %s", l->info->name, zmq_strerror(zmq_errno()));
        lane_close(&l);
    }
    return l;
}

void lane_close(struct lane **lane)
{
    struct lane *l = *lane;
    if (!l)
        return;
    struct lanes *ls = l->owner;
    check_thread(ls);
    for (unsigned i = 0; i < ls->n_lanes; i++)
        if (ls->lane[i] == l) {
            memmove(&ls->lane[i], &ls->lane[i + 1], (ls->n_lanes - i - 1) * sizeof ls->lane[0]);
            ls->n_lanes--;
            break;
        }
    zmq_msg_close(&l->held);
    zmq_close(l->socket); /* closed, never disconnected: libzmq aborts on some of the latter */
    if (l->lock_fd >= 0)
        close(l->lock_fd);
    free(l);
    *lane = NULL;
}

const struct lane_counts *lane_counts(const struct lane *l)
{
    return &l->counts;
}

/* --- sending and receiving ------------------------------------------------------------------ */

/* What went by, for the flight recorder and, when somebody listens, for the tap. */
static void mirror(struct lane *l, enum tap_direction direction, enum tap_verdict verdict,
                   const struct actor *peer, const struct message *m, const void *frame, size_t n)
{
    struct tap *tap = l->owner->tap;
    if (!tap)
        return;
    struct tap_header h = {.peer = actor_to_id(peer),
                           .lane = (uint8_t)l->info->id,
                           .direction = (uint8_t)direction,
                           .verdict = (uint8_t)verdict,
                           .peer_kind = (uint8_t)peer->kind,
                           .frame_bytes = (uint32_t)n};
    tap_record(tap, &h, m);
    if (__builtin_expect(tap_armed(tap), 0))
        tap_mirror(tap, &h, m, frame);
}

static int send_frame(void *socket, const void *data, size_t n, int flags)
{
    int rc;
    do
        rc = zmq_send(socket, data, n, flags | ZMQ_DONTWAIT);
    while (rc < 0 && zmq_errno() == EINTR);
    return rc;
}

enum lane_sent lane_send(struct lane *l, const char *peer, const struct message *m)
{
    struct lanes *ls = l->owner;
    check_thread(ls);
    INVARIANT(l->bound == (peer != NULL) && message_allowed(m->kind, l->info->id, ls->self.kind));
    struct actor to = {.kind = l->info->binder, .index = l->index};
    INVARIANT(!peer || actor_parse(&to, peer, strlen(peer)));
    size_t n = message_encode(m, l->frame, sizeof l->frame);
    INVARIANT(n > 0);
    int rc = peer ? send_frame(l->socket, peer, strlen(peer), ZMQ_SNDMORE) : 0;
    if (rc >= 0)
        rc = send_frame(l->socket, l->frame, n, 0);
    enum lane_sent sent = LANE_SENT;
    if (rc < 0) {
        INVARIANT(zmq_errno() == EHOSTUNREACH || zmq_errno() == EAGAIN);
        sent = zmq_errno() == EAGAIN ? LANE_FULL : LANE_GONE;
    }
    l->counts.sent += sent == LANE_SENT;
    l->counts.gone += sent == LANE_GONE;
    l->counts.full += sent == LANE_FULL;
    mirror(l, TAP_SENT, (enum tap_verdict)sent, &to, m, l->frame, n);
    return sent;
}

static bool receive_frame(void *socket, zmq_msg_t *msg)
{
    int rc;
    do
        rc = zmq_msg_recv(msg, socket, ZMQ_DONTWAIT);
    while (rc < 0 && zmq_errno() == EINTR);
    return rc >= 0;
}

/* A peer that sends what it may not is counted and its frame dropped; nothing else happens. */
static void refuse(struct lane *l, const struct actor *from, const char *peer, const char *why,
                   size_t at)
{
    l->counts.refused++;
    snprintf(l->counts.last_refusal, sizeof l->counts.last_refusal, "%.40s: %s at byte %zu",
             *peer ? peer : "?", why, at);
    mirror(l, TAP_TAKEN, TAP_REFUSED, from, &(struct message){0}, zmq_msg_data(&l->held),
           zmq_msg_size(&l->held));
}

/* Takes one whole message off the socket: the sender's name (bound lanes), then one frame into
 * l->held. *why is set when it is not of that shape. */
static bool take(struct lane *l, char peer[ROUTING_ID_MAX], const char **why)
{
    *why = NULL;
    *peer = 0;
    zmq_msg_close(&l->held);
    zmq_msg_init(&l->held);
    if (!receive_frame(l->socket, &l->held))
        return false;
    if (l->bound) {
        size_t n = zmq_msg_size(&l->held);
        if (n < ROUTING_ID_MAX) {
            memcpy(peer, zmq_msg_data(&l->held), n);
            peer[n] = 0;
        }
        if (!zmq_msg_more(&l->held) || !receive_frame(l->socket, &l->held))
            *why = "no frame behind the sender's name";
    }
    while (zmq_msg_more(&l->held) && receive_frame(l->socket, &l->held))
        *why = "more than one frame";
    return true;
}

bool lane_receive(struct lane *l, struct incoming *in)
{
    struct lanes *ls = l->owner;
    check_thread(ls);
    const char *why;
    while (take(l, in->peer, &why)) {
        size_t at = 0;
        in->from = (struct actor){.kind = l->info->binder, .index = l->index};
        if (l->bound &&
            (!actor_parse(&in->from, in->peer, strlen(in->peer)) || in->from.incarnation == 0 ||
             !(l->info->connectors >> in->from.kind & 1))) {
            in->from = (struct actor){0};
            why = "the sender's name may not be on this lane";
        }
        if (!why &&
            message_decode(&in->m, zmq_msg_data(&l->held), zmq_msg_size(&l->held), &why, &at)) {
            if (message_allowed(in->m.kind, l->info->id, in->from.kind)) {
                l->counts.received++;
                mirror(l, TAP_TAKEN, TAP_PASSED, &in->from, &in->m, zmq_msg_data(&l->held),
                       zmq_msg_size(&l->held));
                return true;
            }
            why = "this kind may not be sent by it on this lane";
        }
        refuse(l, &in->from, in->peer, why, at);
    }
    return false;
}

/* --- waiting -------------------------------------------------------------------------------- */

void lanes_watch(struct lanes *ls, int fd, uint64_t tag)
{
    check_thread(ls);
    lanes_unwatch(ls, fd);
    if (ls->n_watched == ls->watch_room) {
        ls->watch_room = ls->watch_room ? ls->watch_room * 2 : 16;
        ls->watch = realloc(ls->watch, ls->watch_room * sizeof *ls->watch);
        INVARIANT(ls->watch != NULL);
    }
    ls->watch[ls->n_watched++] = (struct watch){fd, tag, false};
}

void lanes_unwatch(struct lanes *ls, int fd)
{
    check_thread(ls);
    for (unsigned i = 0; i < ls->n_watched; i++)
        if (ls->watch[i].fd == fd) {
            memmove(&ls->watch[i], &ls->watch[i + 1], (ls->n_watched - i - 1) * sizeof *ls->watch);
            ls->n_watched--;
            if (i < ls->next_ready)
                ls->next_ready--;
            break;
        }
}

int lanes_wait(struct lanes *ls, int timeout_ms)
{
    check_thread(ls);
    unsigned want = ls->n_lanes + 1 + ls->n_watched, n = 0;
    if (want > ls->item_room) {
        ls->item_room = want * 2;
        ls->item = realloc(ls->item, ls->item_room * sizeof *ls->item);
        INVARIANT(ls->item != NULL);
    }
    for (unsigned i = 0; i < ls->n_lanes; i++)
        ls->item[n++] = (zmq_pollitem_t){.socket = ls->lane[i]->socket, .events = ZMQ_POLLIN};
    if (ls->tap)
        ls->item[n++] = (zmq_pollitem_t){.socket = tap_socket(ls->tap), .events = ZMQ_POLLIN};
    unsigned first_watched = n;
    for (unsigned i = 0; i < ls->n_watched; i++)
        ls->item[n++] = (zmq_pollitem_t){.fd = ls->watch[i].fd, .events = ZMQ_POLLIN};

    /* zmq_poll asks every socket for its events, which is what makes libzmq do its housekeeping. */
    int rc = zmq_poll(ls->item, (int)n, timeout_ms);
    int ready = rc > 0 ? rc : 0;
    if (ls->tap && rc > 0 && (ls->item[first_watched - 1].revents & ZMQ_POLLIN)) {
        tap_housekeeping(ls->tap);
        ready--;
    }
    for (unsigned i = 0; i < ls->n_watched; i++)
        ls->watch[i].ready = rc > 0 && ls->item[first_watched + i].revents != 0;
    ls->next_ready = 0;
    return ready;
}

bool lanes_ready(struct lanes *ls, int *fd, uint64_t *tag)
{
    check_thread(ls);
    while (ls->next_ready < ls->n_watched) {
        struct watch *w = &ls->watch[ls->next_ready++];
        if (w->ready) {
            w->ready = false;
            *fd = w->fd;
            *tag = w->tag;
            return true;
        }
    }
    return false;
}
