/* messages: what message_table.h says, as C: one struct a message, an encoder, a strict decoder
 * and a printer.
 *
 *     struct message m = {.kind = MSG_GRANT};
 *     message_set_lease(&m, ref, job, partition, attempt);
 *     n = message_encode(&m, frame, sizeof frame);
 *     if (message_decode(&m, frame, n, &why)) switch (m.kind) { case MSG_GRANT: m.grant.row ... }
 *
 * The decoder takes any bytes. It allocates nothing, believes no length that the frame does not
 * hold, and accepts exactly what the encoder would have written, up to the choice of integer
 * width: fixed arity, known kind and version, every bound of the table, every byte consumed. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "actors.h"
#include "lease.h"
#include "message_table.h"

enum { PROTOCOL_VERSION = 1, MESSAGE_BYTES_MAX = 65536 };

enum message_kind {
    MSG_NONE = 0,
#define M(KIND, kind, version, lane, from, to, doc) MSG_##KIND,
    MESSAGES(M)
#undef M
        MSG_KINDS
};

/* Bytes inside the received frame: valid until the next receive on that lane. */
struct blob {
    const uint8_t *data;
    uint32_t len;
};

#define FIELD_U8(name, limit)  uint8_t name;
#define FIELD_U32(name, limit) uint32_t name;
#define FIELD_U64(name, limit) uint64_t name;
#define FIELD_STR(name, limit) char name[(limit) + 1];
#define FIELD_BIN(name, limit)                                                                     \
    uint32_t name##_len;                                                                           \
    uint8_t name[limit];
#define FIELD_HASH(name, limit)            uint8_t name[limit];
#define FIELD_BLOB(name, limit)            struct blob name;
#define F(type, name, limit, secrecy, doc) FIELD_##type(name, limit)
#define M(KIND, kind, version, lane, from, to, doc)                                                \
    struct msg_##kind {                                                                            \
        FIELDS_##kind(F)                                                                           \
    };
MESSAGES(M)
#undef M
#undef F

struct message {
    enum message_kind kind;
    union {
#define M(KIND, kind, version, lane, from, to, doc) struct msg_##kind kind;
        MESSAGES(M)
#undef M
    };
};

/* The table as data, for whoever walks it. */
enum field_type { FIELD_U8, FIELD_U32, FIELD_U64, FIELD_STR, FIELD_BIN, FIELD_HASH, FIELD_BLOB };
struct field_info {
    const char *name;
    enum field_type type;
    uint64_t limit;
    bool secret;
    size_t offset, len_offset; /* into the message's struct; len_offset: FIELD_BIN's count */
    const char *doc;
};
struct message_info {
    const char *name; /* "GRANT" */
    enum message_kind kind;
    unsigned version;
    enum lane_id lane;
    unsigned from, to; /* ACTOR_BITs */
    const struct field_info *fields;
    unsigned n_fields;
    bool has_secret;
    const char *doc;
};
const struct message_info *message_info(enum message_kind kind); /* NULL when unknown */
enum message_kind message_kind_by_name(const char *name);        /* MSG_NONE when unknown */

/* Bytes written, or 0 when a value of ours is out of its bound or `size` is too small (both are
 * mistakes of the sender: the lane treats 0 as an invariant). Bytes that may not stand in a text
 * (control characters, broken UTF-8) are sent as '?'. */
size_t message_encode(const struct message *m, void *frame, size_t size);

/* false: *why says in a few words what was wrong and *at where. The whole of m is written, strings
 * end in NUL. */
bool message_decode(struct message *m, const void *frame, size_t size, const char **why,
                    size_t *at);

/* May this kind run on this lane from such a sender? What a lane checks before it hands a message
 * over. */
bool message_allowed(enum message_kind kind, enum lane_id lane, enum actor_kind from);

/* The lease fields, for messages that have them (LEASE_FIELDS of the table). */
void message_set_lease(struct message *m, struct lease_ref r, uint64_t job, uint32_t partition,
                       uint32_t attempt);
bool message_lease(const struct message *m, struct lease_ref *r); /* false: it has none */
/* Job (0: none) and partition, for filters. */
uint64_t message_job(const struct message *m, uint32_t *partition);

/* Overwrites secret fields with zeros. */
void message_redact(struct message *m);

/* "GRANT node=0 row=3 generation=17 job=5 partition=0 attempt=1"; long bytes are shortened, secrets
 * print as [secret]. No newline. */
void message_print_text(const struct message *m, FILE *out);
/* {"kind":"GRANT","node":0,...}: bytes in hexadecimal. */
void message_print_json(const struct message *m, FILE *out);
