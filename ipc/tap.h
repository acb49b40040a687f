/* tap: a mirror of every descriptor that an actor sends or takes, free when nobody listens.
 *
 * Each daemon has an XPUB socket (DIR/run/tap.NAME.sock). A reader that subscribes arms it; from
 * then on the lane hands each frame, already encoded, to tap_mirror with a 32-byte header. Unarmed
 * it is one relaxed load. Armed it never blocks: a reader that is too slow loses messages, and sees
 * that by the gap in the header's sequence. SECRET fields are blanked before a frame leaves.
 *
 * What went by before a reader came, or just before a crash, stands in the flight recorder: a ring
 * of 1,024 records in shared memory (NAME#INCARNATION.flight beside the span rings). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "actors.h"
#include "err.h"
#include "messages.h"

enum tap_direction { TAP_SENT = 1, TAP_TAKEN = 2 };
enum tap_verdict { TAP_PASSED = 0, TAP_PEER_GONE = 1, TAP_QUEUE_FULL = 2, TAP_REFUSED = 3 };

/* In front of each mirrored frame; little-endian. */
struct tap_header {
    uint64_t sequence; /* of this actor's tap: 1, 2, 3, ... ; a gap is loss */
    uint64_t at_ns;    /* CLOCK_MONOTONIC */
    uint64_t peer;     /* actor_id of the other side; 0: not a daemon */
    uint8_t lane, direction, verdict, peer_kind;
    uint32_t frame_bytes;
};
_Static_assert(sizeof(struct tap_header) == 32, "wire layout");

/* One flight record: 64 bytes, `sequence` stored last with release. */
struct flight_record {
    _Atomic uint64_t sequence; /* 0: never written */
    uint64_t at_ns;
    uint64_t job, peer;
    uint32_t partition, attempt, row, generation;
    uint8_t kind, lane, direction, verdict;
    uint32_t node;
    uint64_t reserved;
};
_Static_assert(sizeof(struct flight_record) == 64, "shared layout");
enum { FLIGHT_RECORDS = 1024 };

/* --- the actor's side, called by lane.c --------------------------------------------------- */

struct tap {
    bool armed; /* somebody subscribed; read by the owning thread alone */
    struct tap_impl *impl;
};
struct tap *tap_open(void *zmq_context, const struct instance *in, const struct actor *self,
                     struct err *e);
void tap_close(struct tap **t);
void tap_housekeeping(struct tap *t);
/* For zmq_poll. */
void *tap_socket(struct tap *t);
void tap_mirror(struct tap *t, const struct tap_header *h, const void *frame);
void tap_record(struct tap *t, const struct tap_header *h, const struct message *m);

/* --- the reader's side --------------------------------------------------------------------- */

struct tap_event {
    struct actor actor; /* whose tap */
    struct tap_header header;
    uint64_t lost; /* how many were missed just before this one */
    bool valid;    /* m holds a message; else the frame was refused: see `why` */
    struct message m;
    const char *why;
};
struct tap_reader;
/* Connects to the taps of all daemons there are and come (looks for new ones at each wait).
 * only: an actor name or NULL. */
struct tap_reader *tap_reader_new(const struct instance *in, const char *only, struct err *e);
void tap_reader_free(struct tap_reader **r);
/* The next event, waiting up to timeout_ms; false when none came. Blobs live until the next call.
 */
bool tap_reader_next(struct tap_reader *r, struct tap_event *ev, int timeout_ms);
/* Reads a flight recorder (fd of its file): up to `max` records, oldest first. */
size_t flight_read(int fd, struct flight_record *out, size_t max);
