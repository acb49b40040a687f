#include <jansson.h>
#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "messages.h"

/* What the decoder took, msgpack-c takes too, and sees an array of the table's arity. It is asked
 * only now: by itself it allocates what a header claims. */
static void msgpack_c_agrees(const struct message *m, const uint8_t *data, size_t n)
{
    msgpack_unpacked got;
    size_t used = 0;
    msgpack_unpacked_init(&got);
    PROPERTY(msgpack_unpack_next(&got, (const char *)data, n, &used) == MSGPACK_UNPACK_SUCCESS);
    PROPERTY(used == n && got.data.type == MSGPACK_OBJECT_ARRAY);
    PROPERTY(got.data.via.array.size == message_info(m->kind)->n_fields + 2);
    PROPERTY(got.data.via.array.ptr[0].via.u64 == (uint64_t)m->kind);
    msgpack_unpacked_destroy(&got);
}

static void prints_as_one_line(const struct message *m)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    message_print_text(m, out);
    fclose(out);
    for (size_t i = 0; i < n; i++)
        PROPERTY((uint8_t)text[i] >= ' ' && text[i] != 0x7f);
    free(text);
    out = open_memstream(&text, &n);
    message_print_json(m, out);
    fclose(out);
    json_error_t why;
    json_t *j = json_loadb(text, n, 0, &why);
    PROPERTY(json_is_object(j) || strstr(why.text, "too big")); /* jansson's integers are signed */
    json_decref(j);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static uint8_t frame[MESSAGE_BYTES_MAX], again[MESSAGE_BYTES_MAX];
    struct message m, back;
    const char *why = NULL;
    size_t at = 0;
    if (!message_decode(&m, data, n, &why, &at)) {
        PROPERTY(why && at <= n && m.kind == MSG_NONE);
        return 0;
    }
    msgpack_c_agrees(&m, data, n);
    prints_as_one_line(&m);
    size_t len = message_encode(&m, frame, sizeof frame);
    PROPERTY(len > 0 && len <= n);
    PROPERTY(message_decode(&back, frame, len, &why, &at));
    PROPERTY(message_encode(&back, again, sizeof again) == len && memcmp(frame, again, len) == 0);
    return 0;
}
