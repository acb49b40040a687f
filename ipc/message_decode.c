/* The strict decoder. It reads the few msgpack forms that the encoder writes and no other: fixed
 * arrays, unsigned integers, str and bin up to 16 bits of length. Lengths are compared with what is
 * left of the frame before a byte is looked at. */
#include <string.h>
#include "message_text.h"
#include "messages.h"

struct cursor {
    const uint8_t *begin, *at, *end;
    const char *why;
};

static bool fail(struct cursor *c, const char *why)
{
    if (!c->why)
        c->why = why;
    return false;
}

/* n bytes big-endian. */
static bool take_be(struct cursor *c, size_t n, uint64_t *out)
{
    if ((size_t)(c->end - c->at) < n)
        return fail(c, "the frame ends inside a number");
    *out = 0;
    for (size_t i = 0; i < n; i++)
        *out = *out << 8 | *c->at++;
    return true;
}

static bool take_byte(struct cursor *c, uint8_t *out)
{
    if (c->at == c->end)
        return fail(c, "the frame ends before its last field");
    *out = *c->at++;
    return true;
}

static bool take_number(struct cursor *c, uint64_t limit, uint64_t *out)
{
    uint8_t tag;
    if (!take_byte(c, &tag))
        return false;
    if (tag < 0x80)
        *out = tag;
    else if (tag >= 0xcc && tag <= 0xcf) {
        if (!take_be(c, (size_t)1 << (tag - 0xcc), out))
            return false;
    } else
        return fail(c, "expected an unsigned integer");
    return *out <= limit || fail(c, "a number is above its limit");
}

/* A length-prefixed run of bytes: str (fix, 8, 16) or bin (8, 16). */
static bool take_bytes(struct cursor *c, bool text, uint64_t limit, const uint8_t **data,
                       uint32_t *len)
{
    uint8_t tag;
    uint64_t n;
    if (!take_byte(c, &tag))
        return false;
    if (text && (tag & 0xe0) == 0xa0)
        n = tag & 0x1f;
    else if (tag == (text ? 0xd9 : 0xc4)) {
        if (!take_be(c, 1, &n))
            return false;
    } else if (tag == (text ? 0xda : 0xc5)) {
        if (!take_be(c, 2, &n))
            return false;
    } else
        return fail(c, text ? "expected text" : "expected bytes");
    if (n > limit)
        return fail(c, "text or bytes are longer than their limit");
    if (n > (uint64_t)(c->end - c->at))
        return fail(c, "the frame ends inside text or bytes");
    *data = c->at;
    *len = (uint32_t)n;
    c->at += n;
    return true;
}

static bool take_field(struct cursor *c, const struct field_info *f, uint8_t *body)
{
    uint8_t *to = body + f->offset;
    const uint8_t *data = NULL;
    uint64_t number = 0;
    uint32_t len = 0, n32;
    switch (f->type) {
    case FIELD_U8:
        if (!take_number(c, f->limit, &number))
            return false;
        *to = (uint8_t)number;
        return true;
    case FIELD_U32:
        if (!take_number(c, f->limit, &number))
            return false;
        n32 = (uint32_t)number;
        memcpy(to, &n32, sizeof n32);
        return true;
    case FIELD_U64:
        if (!take_number(c, f->limit, &number))
            return false;
        memcpy(to, &number, sizeof number);
        return true;
    case FIELD_STR:
        if (!take_bytes(c, true, f->limit, &data, &len))
            return false;
        for (size_t i = 0, one; i < len; i += one)
            if ((one = text_char(data + i, len - i)) == 0)
                return fail(c, "text holds a control character or broken UTF-8");
        memcpy(to, data, len);
        return true;
    case FIELD_HASH:
    case FIELD_BIN:
        if (!take_bytes(c, false, f->limit, &data, &len))
            return false;
        if (f->type == FIELD_HASH && len != f->limit)
            return fail(c, "a digest has not its 32 bytes");
        memcpy(to, data, len);
        if (f->type == FIELD_BIN)
            memcpy(body + f->len_offset, &len, sizeof len);
        return true;
    case FIELD_BLOB:
        if (!take_bytes(c, false, f->limit, &data, &len))
            return false;
        *(struct blob *)to = (struct blob){data, len};
        return true;
    }
    return fail(c, "unknown type of field");
}

static bool take_array(struct cursor *c, uint64_t *n)
{
    uint8_t tag;
    if (!take_byte(c, &tag))
        return false;
    if ((tag & 0xf0) == 0x90) {
        *n = tag & 15;
        return true;
    }
    return tag == 0xdc ? take_be(c, 2, n) : fail(c, "is not an array");
}

bool message_decode(struct message *m, const void *frame, size_t size, const char **why, size_t *at)
{
    struct cursor c = {frame, frame, (const uint8_t *)frame + size, NULL};
    uint64_t n = 0, kind = 0, version = 0;
    const struct message_info *info = NULL;
    memset(m, 0, sizeof *m);
    if (size > MESSAGE_BYTES_MAX)
        fail(&c, "is longer than a message may be");
    else if (take_array(&c, &n) && take_number(&c, UINT32_MAX, &kind)) {
        info = kind < MSG_KINDS ? message_info((enum message_kind)kind) : NULL;
        if (!info)
            fail(&c, "unknown kind");
        else if (n != info->n_fields + 2)
            fail(&c, "wrong number of fields");
        else if (take_number(&c, UINT32_MAX, &version) && version != info->version)
            fail(&c, "unknown version");
    }
    for (unsigned i = 0; !c.why && i < info->n_fields; i++)
        take_field(&c, &info->fields[i], (uint8_t *)m + offsetof(struct message, hello));
    if (!c.why && c.at != c.end)
        fail(&c, "bytes follow the last field");
    if (c.why) {
        memset(m, 0, sizeof *m);
        *why = c.why;
        *at = (size_t)(c.at - c.begin);
        return false;
    }
    m->kind = info->kind;
    return true;
}
