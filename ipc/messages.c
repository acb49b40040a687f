/* The table as data, and what walks it: lookup, the lease fields, redaction, the encoder. */
#include "messages.h"
#include <msgpack.h>
#include <string.h>
#include "message_text.h"

#define OPEN   false
#define SECRET true

#define COUNT_OF_U8(name)   0
#define COUNT_OF_U32(name)  0
#define COUNT_OF_U64(name)  0
#define COUNT_OF_STR(name)  0
#define COUNT_OF_HASH(name) 0
#define COUNT_OF_BLOB(name) 0
#define COUNT_OF_BIN(name)  offsetof(THIS, name##_len)

/* One function a message: THIS is its struct, which a field of the table cannot name itself. */
#define F(type, name, limit, secrecy, doc)                                                         \
    {#name, FIELD_##type, limit, secrecy, offsetof(THIS, name), COUNT_OF_##type(name), doc},
#define ANY_SECRET(type, name, limit, secrecy, doc) || secrecy
#define M(KIND, kind_, version_, lane_, from_, to_, doc_)                                          \
    static const struct message_info *info_##kind_(void)                                           \
    {                                                                                              \
        typedef struct msg_##kind_ THIS;                                                           \
        static const struct field_info fields[] = {FIELDS_##kind_(F)};                             \
        static const struct message_info info = {                                                  \
            .name = #KIND,                                                                         \
            .kind = MSG_##KIND,                                                                    \
            .version = version_,                                                                   \
            .lane = LANE_##lane_,                                                                  \
            .from = from_,                                                                         \
            .to = to_,                                                                             \
            .fields = fields,                                                                      \
            .n_fields = sizeof fields / sizeof *fields,                                            \
            .has_secret = false FIELDS_##kind_(ANY_SECRET),                                        \
            .doc = doc_,                                                                           \
        };                                                                                         \
        return &info;                                                                              \
    }
MESSAGES(M)
#undef M
#undef F

const struct message_info *message_info(enum message_kind kind)
{
    switch (kind) {
#define M(KIND, kind_, version_, lane_, from_, to_, doc_)                                          \
    case MSG_##KIND:                                                                               \
        return info_##kind_();
        MESSAGES(M)
#undef M
    case MSG_NONE:
    case MSG_KINDS:
        break;
    }
    return NULL;
}

enum message_kind message_kind_by_name(const char *name)
{
    for (int k = MSG_NONE + 1; k < MSG_KINDS; k++)
        if (strcmp(message_info((enum message_kind)k)->name, name) == 0)
            return (enum message_kind)k;
    return MSG_NONE;
}

bool message_allowed(enum message_kind kind, enum lane_id lane, enum actor_kind from)
{
    const struct message_info *info = message_info(kind);
    return info && info->lane == lane && (unsigned)from < ACTOR_KINDS && (info->from >> from & 1);
}

/* --- the lease fields stand first, in one order, in every message that has them ------------- */

struct lease_fields {
#define FIELD(type, name, limit, secrecy, doc) FIELD_##type(name, limit)
    LEASE_FIELDS(FIELD)
#undef FIELD
};

static struct lease_fields *lease_fields(const struct message *m)
{
    const struct message_info *info = message_info(m->kind);
    bool has = info && info->n_fields > 0 && strcmp(info->fields[0].name, "arena_epoch") == 0;
    return has ? (struct lease_fields *)((uint8_t *)m + offsetof(struct message, hello)) : NULL;
}

void message_set_lease(struct message *m, struct lease_ref r, uint64_t job, uint32_t partition,
                       uint32_t attempt)
{
    struct lease_fields *f = lease_fields(m);
    INVARIANT(f != NULL);
    *f = (struct lease_fields){.arena_epoch = r.arena_epoch,
                               .node = r.node,
                               .row = r.row,
                               .generation = r.generation,
                               .job = job,
                               .partition = partition,
                               .attempt = attempt};
}

bool message_lease(const struct message *m, struct lease_ref *r)
{
    const struct lease_fields *f = lease_fields(m);
    if (f)
        *r = (struct lease_ref){f->arena_epoch, f->node, f->row, f->generation};
    return f != NULL;
}

uint64_t message_job(const struct message *m, uint32_t *partition)
{
    const struct message_info *info = message_info(m->kind);
    const uint8_t *body = (const uint8_t *)m + offsetof(struct message, hello);
    const struct lease_fields *lease = lease_fields(m);
    uint64_t job = 0;
    *partition = lease ? lease->partition : UINT32_MAX;
    if (lease)
        return lease->job;
    for (unsigned i = 0; info && i < info->n_fields; i++) {
        const struct field_info *f = &info->fields[i];
        if (f->type == FIELD_U64 && strcmp(f->name, "job") == 0)
            memcpy(&job, body + f->offset, sizeof job);
        else if (f->type == FIELD_U32 && strcmp(f->name, "partition") == 0)
            memcpy(partition, body + f->offset, sizeof *partition);
    }
    return job;
}

void message_redact(struct message *m)
{
    const struct message_info *info = message_info(m->kind);
    uint8_t *body = (uint8_t *)m + offsetof(struct message, hello);
    for (unsigned i = 0; info && info->has_secret && i < info->n_fields; i++) {
        const struct field_info *f = &info->fields[i];
        static const size_t number_bytes[] = {[FIELD_U8] = 1, [FIELD_U32] = 4, [FIELD_U64] = 8};
        if (!f->secret)
            continue;
        switch (f->type) {
        case FIELD_U8:
        case FIELD_U32:
        case FIELD_U64:
            memset(body + f->offset, 0, number_bytes[f->type]);
            break;
        case FIELD_STR:
        case FIELD_HASH:
            explicit_bzero(body + f->offset, f->limit);
            break;
        case FIELD_BIN:
            explicit_bzero(body + f->offset, f->limit);
            memset(body + f->len_offset, 0, sizeof(uint32_t));
            break;
        case FIELD_BLOB:
            *(struct blob *)(body + f->offset) = (struct blob){0};
            break;
        }
    }
}

/* --- the encoder ---------------------------------------------------------------------------- */

struct frame {
    uint8_t *at;
    size_t used, size;
};

static int frame_write(void *data, const char *bytes, size_t n)
{
    struct frame *f = data;
    if (n > f->size - f->used)
        return -1;
    memcpy(f->at + f->used, bytes, n);
    f->used += n;
    return 0;
}

/* Text of ours may quote what a user named a file: what may not stand in a text field becomes '?'.
 * -1 when it is not terminated. */
static int pack_text(msgpack_packer *pk, const char *text, size_t limit)
{
    char clean[4096];
    size_t n = strnlen(text, limit + 1);
    if (n > limit || n > sizeof clean)
        return -1;
    for (size_t i = 0; i < n;) {
        size_t len = text_char((const uint8_t *)text + i, n - i);
        if (len == 0)
            clean[i++] = '?';
        for (size_t end = i + len; i < end; i++)
            clean[i] = text[i];
    }
    return msgpack_pack_str_with_body(pk, clean, n);
}

static int pack_field(msgpack_packer *pk, const struct field_info *f, const uint8_t *body)
{
    const uint8_t *at = body + f->offset;
    uint32_t n32;
    uint64_t n64;
    struct blob blob;
    switch (f->type) {
    case FIELD_U8:
        return *at > f->limit ? -1 : msgpack_pack_uint64(pk, *at);
    case FIELD_U32:
        memcpy(&n32, at, sizeof n32);
        return n32 > f->limit ? -1 : msgpack_pack_uint64(pk, n32);
    case FIELD_U64:
        memcpy(&n64, at, sizeof n64);
        return n64 > f->limit ? -1 : msgpack_pack_uint64(pk, n64);
    case FIELD_STR:
        return pack_text(pk, (const char *)at, f->limit);
    case FIELD_HASH:
        return msgpack_pack_bin_with_body(pk, at, f->limit);
    case FIELD_BIN:
        memcpy(&n32, body + f->len_offset, sizeof n32);
        return n32 > f->limit ? -1 : msgpack_pack_bin_with_body(pk, at, n32);
    case FIELD_BLOB:
        memcpy(&blob, at, sizeof blob);
        return blob.len > f->limit ? -1 : msgpack_pack_bin_with_body(pk, blob.data, blob.len);
    }
    return -1;
}

size_t message_encode(const struct message *m, void *frame, size_t size)
{
    const struct message_info *info = message_info(m->kind);
    const uint8_t *body = (const uint8_t *)m + offsetof(struct message, hello);
    struct frame out = {frame, 0, size < MESSAGE_BYTES_MAX ? size : MESSAGE_BYTES_MAX};
    msgpack_packer pk;
    if (!info)
        return 0;
    msgpack_packer_init(&pk, &out, frame_write);
    bool bad = msgpack_pack_array(&pk, info->n_fields + 2) != 0 ||
               msgpack_pack_uint64(&pk, info->kind) != 0 ||
               msgpack_pack_uint64(&pk, info->version) != 0;
    for (unsigned i = 0; !bad && i < info->n_fields; i++)
        bad = pack_field(&pk, &info->fields[i], body) != 0;
    return bad ? 0 : out.used;
}
