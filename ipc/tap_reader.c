#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>
#include "evidence.h"
#include "span.h"
#include "tap_wire.h"

enum { ACTORS_MAX = 1024, READER_QUEUE = 100000, LOOK_AGAIN_MS = 200 };

struct seen {
    actor_id actor;
    uint64_t sequence;
};

struct tap_reader {
    const struct instance *in;
    void *context, *socket;
    FILE *file;
    bool ended;
    char connected[ACTORS_MAX][ACTOR_NAME_MAX];
    unsigned n_connected;
    uint64_t looked_ns;
    struct seen seen[ACTORS_MAX];
    unsigned n_seen;
    zmq_msg_t msg;
    uint8_t raw[sizeof(struct tap_prefix) + sizeof(struct tap_header) + MESSAGE_BYTES_MAX];
};

struct tap_reader *tap_reader_new(const struct instance *in, struct err *e)
{
    struct tap_reader *r = calloc(1, sizeof *r);
    INVARIANT(r != NULL);
    const int zero = 0, queue = READER_QUEUE;
    r->in = in;
    zmq_msg_init(&r->msg);
    r->context = zmq_ctx_new();
    r->socket = r->context ? zmq_socket(r->context, ZMQ_SUB) : NULL;
    if (!r->socket || zmq_setsockopt(r->socket, ZMQ_LINGER, &zero, sizeof zero) != 0 ||
        zmq_setsockopt(r->socket, ZMQ_RCVHWM, &queue, sizeof queue) != 0 ||
        zmq_setsockopt(r->socket, ZMQ_SUBSCRIBE, "", 0) != 0) {
        err_set(e, ERR_UNAVAILABLE, "tap: cannot start ZeroMQ: %s", zmq_strerror(zmq_errno()));
        tap_reader_free(&r);
    }
    return r;
}

struct tap_reader *tap_reader_file(const char *path, struct err *e)
{
    char magic[sizeof TAP_FILE_MAGIC] = {0};
    struct tap_reader *r = calloc(1, sizeof *r);
    INVARIANT(r != NULL);
    zmq_msg_init(&r->msg);
    r->file = fopen(path, "re");
    if (!r->file)
        err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
    else if (fread(magic, 1, sizeof magic - 1, r->file) != sizeof magic - 1 ||
             strcmp(magic, TAP_FILE_MAGIC) != 0)
        err_set(e, ERR_FORMAT, "%s: offset 0: is not a recording of a tap", path);
    else
        return r;
    tap_reader_free(&r);
    return NULL;
}

void tap_reader_free(struct tap_reader **reader)
{
    struct tap_reader *r = *reader;
    if (!r)
        return;
    zmq_msg_close(&r->msg);
    if (r->socket)
        zmq_close(r->socket);
    while (r->context && zmq_ctx_term(r->context) != 0 && zmq_errno() == EINTR)
        ;
    if (r->file)
        fclose(r->file);
    free(r);
    *reader = NULL;
}

/* Connects to the taps that are not known yet. A daemon that restarts binds the same address, and
 * ZeroMQ connects again by itself. */
static void look_for_taps(struct tap_reader *r)
{
    int fd = openat(r->in->run_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *entry; d && (entry = readdir(d));) {
        struct actor who;
        const char *name = entry->d_name + 4;
        size_t n = strlen(entry->d_name);
        if (n < 10 || strncmp(entry->d_name, "tap.", 4) != 0 ||
            strcmp(entry->d_name + n - 5, ".sock") != 0 || !actor_parse(&who, name, n - 9))
            continue;
        char text[ACTOR_NAME_MAX], address[128];
        actor_name(&who, text);
        unsigned i = 0;
        while (i < r->n_connected && strcmp(r->connected[i], text) != 0)
            i++;
        if (i < r->n_connected || i == ACTORS_MAX)
            continue;
        tap_address(r->in, &who, address, sizeof address);
        if (zmq_connect(r->socket, address) == 0)
            memcpy(r->connected[r->n_connected++], text, sizeof text);
    }
    if (d)
        closedir(d);
    r->looked_ns = span_now_ns();
}

/* How many this reader missed just before `sequence` of that actor. */
static uint64_t note_sequence(struct tap_reader *r, actor_id actor, uint64_t sequence)
{
    unsigned i = 0;
    while (i < r->n_seen && r->seen[i].actor != actor)
        i++;
    if (i == r->n_seen) {
        if (r->n_seen < ACTORS_MAX)
            r->seen[r->n_seen++] = (struct seen){actor, sequence};
        return 0;
    }
    uint64_t lost = sequence > r->seen[i].sequence ? sequence - r->seen[i].sequence - 1 : 0;
    r->seen[i].sequence = sequence;
    return lost;
}

/* A recording may be anybody's file: nothing in it is believed. */
static bool decode_event(struct tap_reader *r, struct tap_event *ev, const uint8_t *raw, size_t n)
{
    const size_t head = sizeof(struct tap_prefix) + sizeof(struct tap_header);
    const char *why;
    size_t at;
    actor_id id;
    if (n < head)
        return false;
    memcpy(&id, raw + 1, sizeof id);
    memcpy(&ev->header, raw + sizeof(struct tap_prefix), sizeof ev->header);
    if (ev->header.frame_bytes != n - head || id >> ACTOR_ID_BITS)
        return false;
    ev->actor = actor_from_id(id);
    ev->raw = raw;
    ev->raw_bytes = n;
    ev->valid = message_decode(&ev->m, raw + head, n - head, &why, &at);
    ev->lost = note_sequence(r, id, ev->header.sequence);
    return true;
}

static bool next_of_file(struct tap_reader *r, struct tap_event *ev)
{
    uint8_t le[4];
    while (!r->ended) {
        size_t n = fread(le, 1, sizeof le, r->file);
        uint32_t bytes =
            (uint32_t)le[0] | (uint32_t)le[1] << 8 | (uint32_t)le[2] << 16 | (uint32_t)le[3] << 24;
        if (n != sizeof le || bytes > sizeof r->raw || fread(r->raw, 1, bytes, r->file) != bytes)
            r->ended = true;
        else if (decode_event(r, ev, r->raw, bytes))
            return true;
    }
    return false;
}

bool tap_reader_next(struct tap_reader *r, struct tap_event *ev, int timeout_ms)
{
    if (r->file)
        return next_of_file(r, ev);
    uint64_t until = span_now_ns() + (uint64_t)timeout_ms * 1000000u;
    for (;;) {
        uint64_t now = span_now_ns();
        if (now - r->looked_ns > LOOK_AGAIN_MS * UINT64_C(1000000))
            look_for_taps(r);
        zmq_msg_close(&r->msg);
        zmq_msg_init(&r->msg);
        if (zmq_msg_recv(&r->msg, r->socket, ZMQ_DONTWAIT) >= 0) {
            if (decode_event(r, ev, zmq_msg_data(&r->msg), zmq_msg_size(&r->msg)))
                return true;
            continue;
        }
        if (now >= until)
            return false;
        uint64_t left_ms = (until - now + 999999) / 1000000;
        zmq_pollitem_t item = {.socket = r->socket, .events = ZMQ_POLLIN};
        if (zmq_poll(&item, 1, left_ms < LOOK_AGAIN_MS ? (long)left_ms : LOOK_AGAIN_MS) < 0)
            return false; /* a signal: the caller looks at its flags */
    }
}

bool tap_reader_ended(const struct tap_reader *r)
{
    return r->ended;
}

enum err_code tap_file_begin(FILE *f, struct err *e)
{
    if (fputs(TAP_FILE_MAGIC, f) == EOF)
        return err_set(e, ERR_IO, "cannot write the recording: %s", strerror(errno));
    return ERR_OK;
}

enum err_code tap_file_append(FILE *f, const struct tap_event *ev, struct err *e)
{
    uint8_t le[4];
    for (int i = 0; i < 4; i++)
        le[i] = (uint8_t)(ev->raw_bytes >> 8 * i);
    if (fwrite(le, 1, sizeof le, f) != sizeof le ||
        fwrite(ev->raw, 1, ev->raw_bytes, f) != ev->raw_bytes)
        return err_set(e, ERR_IO, "cannot write the recording: %s", strerror(errno));
    return ERR_OK;
}

/* --- flight recorders ----------------------------------------------------------------------- */

struct flight_walk {
    flight_each *each;
    void *arg;
};

static void walk_flight(void *arg, int dir_fd, const char *name, const struct actor *who,
                        const char *suffix)
{
    (void)suffix;
    struct flight_walk *w = arg;
    const size_t bytes = FLIGHT_RECORDS * sizeof(struct flight_record);
    struct stat st;
    int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    const struct flight_record *ring = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &st) == 0 && (uint64_t)st.st_size == bytes)
        ring = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (ring == MAP_FAILED)
        return;
    uint64_t newest = 0;
    for (unsigned i = 0; i < FLIGHT_RECORDS; i++) {
        uint64_t s = atomic_load_explicit(&ring[i].sequence, memory_order_acquire);
        newest = s > newest ? s : newest;
    }
    uint64_t first = newest > FLIGHT_RECORDS ? newest - FLIGHT_RECORDS + 1 : 1;
    for (uint64_t s = first; s <= newest; s++) {
        const struct flight_record *r = &ring[(s - 1) % FLIGHT_RECORDS];
        struct flight_record copy;
        bool whole = atomic_load_explicit(&r->sequence, memory_order_acquire) == s;
        memcpy(&copy, r, sizeof copy);
        atomic_thread_fence(memory_order_acquire);
        if (whole && atomic_load_explicit(&r->sequence, memory_order_relaxed) == s)
            w->each(w->arg, who, &copy);
    }
    munmap((void *)ring, bytes);
}

void flight_scan(const struct instance *in, flight_each *each, void *arg)
{
    evidence_scan(in, ".flight", walk_flight, &(struct flight_walk){each, arg});
}
