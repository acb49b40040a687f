/* Messages for a person and as JSON. Text fields hold no control characters (the decoder saw to
 * that), yet what is printed may also be one of our own, so quoting does not rely on it. */
#include <inttypes.h>
#include <string.h>
#include "message_text.h"
#include "messages.h"

enum { BYTES_SHOWN = 8 };

static void print_quoted(FILE *out, const char *text)
{
    size_t n = strlen(text);
    fputc('"', out);
    for (size_t i = 0; i < n;) {
        size_t len = text_char((const uint8_t *)text + i, n - i);
        if (len == 0) {
            fprintf(out, "\\u%04x", (uint8_t)text[i] < 0x80 ? (unsigned)text[i] : 0xfffdu);
            i++;
            continue;
        }
        if (text[i] == '"' || text[i] == '\\')
            fputc('\\', out);
        fwrite(text + i, 1, len, out);
        i += len;
    }
    fputc('"', out);
}

/* A text that stands alone in a line of key=value needs no quotes. */
static bool is_bare(const char *text)
{
    for (const char *p = text; *p; p++)
        if ((uint8_t)*p <= ' ' || (uint8_t)*p >= 0x7f || strchr("\"'=\\", *p))
            return false;
    return *text != 0;
}

static void print_hex(FILE *out, const uint8_t *bytes, size_t n, size_t shown)
{
    for (size_t i = 0; i < n && i < shown; i++)
        fprintf(out, "%02x", bytes[i]);
}

static void print_value(FILE *out, const struct field_info *f, const uint8_t *body, bool json)
{
    const uint8_t *at = body + f->offset;
    uint32_t n32 = 0;
    uint64_t n64 = 0;
    struct blob blob;
    if (f->secret) {
        fputs(json ? "\"[secret]\"" : "[secret]", out);
        return;
    }
    switch (f->type) {
    case FIELD_U8:
        fprintf(out, "%u", *at);
        break;
    case FIELD_U32:
        memcpy(&n32, at, sizeof n32);
        fprintf(out, "%" PRIu32, n32);
        break;
    case FIELD_U64:
        memcpy(&n64, at, sizeof n64);
        fprintf(out, "%" PRIu64, n64);
        break;
    case FIELD_STR:
        if (!json && is_bare((const char *)at))
            fputs((const char *)at, out);
        else
            print_quoted(out, (const char *)at);
        break;
    case FIELD_HASH:
    case FIELD_BIN:
        n32 = (uint32_t)f->limit;
        if (f->type == FIELD_BIN)
            memcpy(&n32, body + f->len_offset, sizeof n32);
        if (json)
            fputc('"', out);
        print_hex(out, at, n32, json ? n32 : BYTES_SHOWN);
        if (json)
            fputc('"', out);
        else if (n32 > BYTES_SHOWN)
            fprintf(out, "..(%" PRIu32 ")", n32);
        break;
    case FIELD_BLOB:
        memcpy(&blob, at, sizeof blob);
        fprintf(out, json ? "{\"bytes\":%" PRIu32 "}" : "(%" PRIu32 " bytes)", blob.len);
        break;
    }
}

static void print(const struct message *m, FILE *out, bool json)
{
    const struct message_info *info = message_info(m->kind);
    const uint8_t *body = (const uint8_t *)m + offsetof(struct message, hello);
    fprintf(out, json ? "{\"kind\":\"%s\"" : "%s", info ? info->name : "NONE");
    for (unsigned i = 0; info && i < info->n_fields; i++) {
        fprintf(out, json ? ",\"%s\":" : " %s=", info->fields[i].name);
        print_value(out, &info->fields[i], body, json);
    }
    if (json)
        fputc('}', out);
}

void message_print_text(const struct message *m, FILE *out)
{
    print(m, out, false);
}

void message_print_json(const struct message *m, FILE *out)
{
    print(m, out, true);
}
