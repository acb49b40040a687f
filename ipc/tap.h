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
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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

struct tap;
struct tap *tap_open(void *zmq_context, const struct instance *in, const struct actor *self,
                     struct err *e);
void tap_close(struct tap **t);
void *tap_socket(struct tap *t); /* for zmq_poll: readable when a reader came or went */
void tap_housekeeping(struct tap *t);
/* Is anybody subscribed? One relaxed load of a word that only the owning thread writes. */
static inline bool tap_armed(const struct tap *t)
{
    return __atomic_load_n((const bool *)t, __ATOMIC_RELAXED);
}
/* Gives the header its sequence and time and writes the flight record. Each message, armed or not;
 * m->kind is MSG_NONE for a frame that was refused. */
void tap_record(struct tap *t, struct tap_header *h, const struct message *m);
/* Sends a copy to whoever listens; never blocks. A refused frame is mirrored by its header alone:
 * nobody knows what is in it. */
void tap_mirror(struct tap *t, const struct tap_header *h, const struct message *m,
                const void *frame);

/* --- the reader's side --------------------------------------------------------------------- */

struct tap_event {
    struct actor actor; /* whose tap */
    struct tap_header header;
    uint64_t lost; /* how many were missed just before this one */
    bool valid;    /* m holds a message; else the frame was refused by its receiver */
    struct message m;
    const void *raw; /* as it came, for tap_record_file */
    size_t raw_bytes;
};
struct tap_reader;
/* Connects to the taps of all daemons there are and come (looks for new ones at each wait). */
struct tap_reader *tap_reader_new(const struct instance *in, struct err *e);
/* Reads a recording: a file that begins with TAP_FILE_MAGIC and holds, for each event, its raw
 * length (4 bytes, little-endian) and its raw bytes. */
struct tap_reader *tap_reader_file(const char *path, struct err *e);
void tap_reader_free(struct tap_reader **r);
/* The next event, waiting up to timeout_ms; false when none came (end of a recording: see
 * tap_reader_ended). Blobs and raw live until the next call. */
bool tap_reader_next(struct tap_reader *r, struct tap_event *ev, int timeout_ms);
bool tap_reader_ended(const struct tap_reader *r);
/* Appends one event to a recording. */
enum err_code tap_file_begin(FILE *f, struct err *e);
enum err_code tap_file_append(FILE *f, const struct tap_event *ev, struct err *e);
#define TAP_FILE_MAGIC "MLRTAP1\n"

/* The flight recorders of an instance, also of processes that are gone: each(...) for every record,
 * oldest first within an actor. */
typedef void flight_each(void *arg, const struct actor *who, const struct flight_record *record);
void flight_scan(const struct instance *in, flight_each *each, void *arg);
