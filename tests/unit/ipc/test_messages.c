#include "scratch.h"
#include <msgpack.h>
#include "messages.h"

static unsigned seed;

static int setup(void **state)
{
    (void)state;
    const char *wish = getenv("MILLRACE_SEED");
    seed = wish ? (unsigned)strtoul(wish, NULL, 10) : (unsigned)getpid();
    print_message("seed %u\n", seed);
    return 0;
}

static uint64_t random_64(void)
{
    uint64_t v = 0;
    for (int i = 0; i < 5; i++)
        v = v << 15 ^ (uint64_t)rand_r(&seed);
    return v >> rand_r(&seed) % 64; /* all widths */
}

static const uint8_t blob_bytes[49152] = {1, 2, 3};

static uint8_t *body_of(struct message *m)
{
    return (uint8_t *)m + offsetof(struct message, hello);
}

/* A message with every field at random, or at its limit. */
static void fill(struct message *m, enum message_kind kind, bool at_limit)
{
    const struct message_info *info = message_info(kind);
    memset(m, 0, sizeof *m);
    m->kind = kind;
    for (unsigned i = 0; i < info->n_fields; i++) {
        const struct field_info *f = &info->fields[i];
        uint8_t *at = body_of(m) + f->offset;
        uint64_t n = f->limit == UINT64_MAX ? random_64() : random_64() % (f->limit + 1);
        if (at_limit)
            n = f->limit;
        switch (f->type) {
        case FIELD_U8:
            *at = (uint8_t)n;
            break;
        case FIELD_U32:
            memcpy(at, &(uint32_t){(uint32_t)n}, 4);
            break;
        case FIELD_U64:
            memcpy(at, &n, 8);
            break;
        case FIELD_STR:
            for (uint64_t k = 0; k < n; k++)
                at[k] = (uint8_t)(' ' + rand_r(&seed) % 95);
            break;
        case FIELD_HASH:
        case FIELD_BIN:
            if (f->type == FIELD_HASH)
                n = f->limit;
            else
                memcpy(body_of(m) + f->len_offset, &(uint32_t){(uint32_t)n}, 4);
            for (uint64_t k = 0; k < n; k++)
                at[k] = (uint8_t)rand_r(&seed);
            break;
        case FIELD_BLOB:
            *(struct blob *)at = (struct blob){blob_bytes, (uint32_t)n};
            break;
        }
    }
}

/* Blobs are views: compared by content, then made equal so that the rest compares as bytes. */
static void assert_same(struct message *x, struct message *y)
{
    const struct message_info *info = message_info(x->kind);
    assert_int_equal(x->kind, y->kind);
    for (unsigned i = 0; i < info->n_fields; i++) {
        if (info->fields[i].type != FIELD_BLOB)
            continue;
        struct blob *bx = (struct blob *)(body_of(x) + info->fields[i].offset);
        struct blob *by = (struct blob *)(body_of(y) + info->fields[i].offset);
        assert_int_equal(bx->len, by->len);
        if (bx->len)
            assert_memory_equal(bx->data, by->data, bx->len);
        *by = *bx;
    }
    assert_memory_equal(x, y, sizeof *x);
}

static uint8_t frame[MESSAGE_BYTES_MAX + 64];

static void every_kind_comes_back(void **state)
{
    (void)state;
    for (int k = 1; k < MSG_KINDS; k++)
        for (int round = 0; round < 50; round++) {
            struct message m, back;
            const char *why;
            size_t at;
            fill(&m, (enum message_kind)k, round == 0);
            size_t n = message_encode(&m, frame, sizeof frame);
            assert_true(n > 0 && n <= MESSAGE_BYTES_MAX);
            if (!message_decode(&back, frame, n, &why, &at))
                fail_msg("%s: %s at %zu", message_info(m.kind)->name, why, at);
            assert_same(&m, &back);
            assert_int_equal(message_encode(&m, frame, n - 1), 0); /* one byte too little room */
        }
}

/* The other way of reading the same bytes: msgpack-c's own decoder sees the same values. */
static void msgpack_c_reads_what_we_write(void **state)
{
    (void)state;
    for (int k = 1; k < MSG_KINDS; k++) {
        struct message m;
        msgpack_unpacked got;
        size_t used = 0;
        const struct message_info *info = message_info((enum message_kind)k);
        fill(&m, info->kind, false);
        size_t n = message_encode(&m, frame, sizeof frame);
        msgpack_unpacked_init(&got);
        assert_int_equal(msgpack_unpack_next(&got, (char *)frame, n, &used),
                         MSGPACK_UNPACK_SUCCESS);
        assert_int_equal(used, n);
        assert_int_equal(got.data.type, MSGPACK_OBJECT_ARRAY);
        assert_int_equal(got.data.via.array.size, info->n_fields + 2);
        assert_int_equal(got.data.via.array.ptr[0].via.u64, k);
        assert_int_equal(got.data.via.array.ptr[1].via.u64, info->version);
        for (unsigned i = 0; i < info->n_fields; i++) {
            const struct field_info *f = &info->fields[i];
            const msgpack_object *o = &got.data.via.array.ptr[i + 2];
            const uint8_t *at = body_of(&m) + f->offset;
            uint64_t want = 0;
            switch (f->type) {
            case FIELD_U8:
            case FIELD_U32:
            case FIELD_U64:
                memcpy(&want, at, f->type == FIELD_U8 ? 1 : f->type == FIELD_U32 ? 4 : 8);
                assert_int_equal(o->type, MSGPACK_OBJECT_POSITIVE_INTEGER);
                assert_int_equal(o->via.u64, want);
                break;
            case FIELD_STR:
                assert_int_equal(o->type, MSGPACK_OBJECT_STR);
                assert_int_equal(o->via.str.size, strlen((const char *)at));
                assert_memory_equal(o->via.str.ptr, at, o->via.str.size);
                break;
            default:
                assert_int_equal(o->type, MSGPACK_OBJECT_BIN);
            }
        }
        msgpack_unpacked_destroy(&got);
    }
}

static void cut_frames_and_frames_with_more_are_refused(void **state)
{
    (void)state;
    for (int k = 1; k < MSG_KINDS; k++) {
        struct message m, back;
        const char *why;
        size_t at;
        fill(&m, (enum message_kind)k, false);
        size_t n = message_encode(&m, frame, sizeof frame), step = n > 4096 ? 97 : 1;
        for (size_t cut = 0; cut < n; cut += step) {
            assert_false(message_decode(&back, frame, cut, &why, &at));
            assert_true(at <= cut);
            assert_int_equal(back.kind, MSG_NONE);
        }
        frame[n] = 0xc0;
        assert_false(message_decode(&back, frame, n + 1, &why, &at));
    }
}

static bool decodes(const void *bytes, size_t n, const char **why)
{
    struct message m;
    size_t at;
    return message_decode(&m, bytes, n, why, &at);
}

static void forms_that_we_never_write_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *why;
    } bad[] = {
        {"", 0, "ends"},
        {"\xc0", 1, "not an array"},
        {"\x83\x01\x02\x03", 4, "not an array"},
        {"\xdd\x02\xff\xff\xff\x01", 6, "not an array"}, /* msgpack-c asks for 2 GiB here */
        {"\xdc\xff\xff\x01", 4, "wrong number of fields"},
        {"\x90", 1, "ends"},
        {"\x92\x00\x01", 3, "unknown kind"},
        {"\x92\xcc\xff\x01", 4, "unknown kind"},
        {"\x92\xcf\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, "above its limit"},
        {"\x92\xd0\x01\x01", 4, "expected an unsigned"},
        {"\x92\xff\x01", 3, "expected an unsigned"},
        {"\x92\xca\x3f\x80\x00\x00\x01", 7, "expected an unsigned"},
    };
    const char *why;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(decodes(bad[i].bytes, bad[i].n, &why));
        if (!strstr(why, bad[i].why))
            fail_msg("case %zu: %s, expected %s", i, why, bad[i].why);
    }
    /* BYE: [kind, version, reason] */
    uint8_t bye[600] = {0x93, MSG_BYE, 1, 0xa3, 'b', 'y', 'e'};
    assert_true(decodes(bye, 7, &why));
    bye[2] = 2;
    assert_false(decodes(bye, 7, &why));
    assert_non_null(strstr(why, "version"));
    bye[2] = 1;
    bye[3] = 0xc4; /* bin where str belongs */
    assert_false(decodes(bye, 7, &why));
    bye[3] = 0xbf; /* claims 31 bytes */
    assert_false(decodes(bye, 7, &why));
    assert_non_null(strstr(why, "ends inside"));
    uint8_t big[] = {0x93, MSG_BYE, 1, 0xdb, 0xff, 0xff, 0xff, 0xff, 'x'};
    assert_false(decodes(big, sizeof big, &why));              /* str32 */
    uint8_t above[300] = {0x93, MSG_BYE, 1, 0xda, 0x01, 0x00}; /* 256 bytes, the limit is 255 */
    memset(above + 6, 'x', 256);
    assert_false(decodes(above, 262, &why));
    assert_non_null(strstr(why, "limit"));
    above[4] = 0;
    above[5] = 255;
    assert_true(decodes(above, 261, &why));
}

static void text_can_steer_no_terminal(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "\n",           "\x1b[2J",          "\x7f", "\xc2\x85", "\xc0\xaf",
        "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff", "\xe2\x82", "\xf0\x80\x80\xaf",
        "a\tb"};
    static const char *const good[] = {"plain", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x8c\x8d",
                                       "\xc2\xa0"};
    const char *why;
    uint8_t bye[64] = {0x93, MSG_BYE, 1};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        size_t n = strlen(bad[i]);
        bye[3] = (uint8_t)(0xa0 | n);
        memcpy(bye + 4, bad[i], n);
        assert_false(decodes(bye, 4 + n, &why));
        /* A reason of ours that quotes such a file name still goes out, and arrives. */
        struct message m = {.kind = MSG_BYE}, back;
        size_t at;
        memcpy(m.bye.reason, bad[i], n);
        size_t len = message_encode(&m, frame, sizeof frame);
        assert_true(len > 0 && message_decode(&back, frame, len, &why, &at));
        assert_non_null(strchr(back.bye.reason, '?'));
    }
    bye[3] = 0xa1;
    bye[4] = 0;
    assert_false(decodes(bye, 5, &why)); /* NUL */
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        size_t n = strlen(good[i]);
        bye[3] = (uint8_t)(0xa0 | n);
        memcpy(bye + 4, good[i], n);
        assert_true(decodes(bye, 4 + n, &why));
    }
}

static void values_of_ours_beyond_their_bound_are_not_sent(void **state)
{
    (void)state;
    struct message m = {.kind = MSG_GRANT, .grant.node = 256};
    assert_int_equal(message_encode(&m, frame, sizeof frame), 0);
    m = (struct message){.kind = MSG_HELLO, .hello.evaluates = 2};
    assert_int_equal(message_encode(&m, frame, sizeof frame), 0);
    m = (struct message){.kind = MSG_BYE};
    memset(m.bye.reason, 'x', sizeof m.bye.reason); /* no NUL */
    assert_int_equal(message_encode(&m, frame, sizeof frame), 0);
    m = (struct message){.kind = MSG_PROOF, .proof.proof_len = 385};
    assert_int_equal(message_encode(&m, frame, sizeof frame), 0);
    m = (struct message){.kind = MSG_REPORT, .report.json = {blob_bytes, 49153}};
    assert_int_equal(message_encode(&m, frame, sizeof frame), 0);
    m = (struct message){.kind = MSG_KINDS};
    assert_int_equal(message_encode(&m, frame, sizeof frame), 0);
}

/* Bits flipped and bytes changed in valid frames: refused, or equal to what it encodes to again. */
static void mutated_frames_are_refused_or_exact(void **state)
{
    (void)state;
    static uint8_t again[MESSAGE_BYTES_MAX];
    for (int round = 0; round < 20000; round++) {
        struct message m, back;
        const char *why;
        size_t at;
        fill(&m, (enum message_kind)(1 + rand_r(&seed) % (MSG_KINDS - 1)), false);
        size_t n = message_encode(&m, frame, sizeof frame);
        size_t head = n < 64 ? n : 64;
        for (int k = rand_r(&seed) % 4; k >= 0; k--)
            frame[(size_t)rand_r(&seed) % head] ^= (uint8_t)(1 + rand_r(&seed) % 255);
        if (!message_decode(&back, frame, n, &why, &at))
            continue;
        struct message third;
        size_t len = message_encode(&back, again, sizeof again);
        assert_true(len > 0 && len <= n); /* shorter when a wide integer was narrowed */
        assert_true(message_decode(&third, again, len, &why, &at));
        assert_same(&back, &third);
    }
}

static void secrets_are_marked_and_blanked(void **state)
{
    (void)state;
    struct message m;
    char *text = NULL;
    size_t n = 0;
    fill(&m, MSG_SUBMIT, false);
    memset(m.submit.content, 0xab, sizeof m.submit.content);
    assert_true(message_info(MSG_SUBMIT)->has_secret);
    FILE *out = open_memstream(&text, &n);
    message_print_text(&m, out);
    fputc('\n', out);
    message_print_json(&m, out);
    fclose(out);
    assert_null(strstr(text, "abab"));
    assert_non_null(strstr(text, "content=[secret]"));
    assert_non_null(strstr(text, "\"content\":\"[secret]\""));
    free(text);
    message_redact(&m);
    for (size_t i = 0; i < sizeof m.submit.content; i++)
        assert_int_equal(m.submit.content[i], 0);
}

static void printed_as_people_read_it(void **state)
{
    (void)state;
    struct message m = {.kind = MSG_FAILED, .failed.code = 5};
    char *text = NULL;
    size_t n = 0;
    message_set_lease(&m, (struct lease_ref){1, 0, 3, 17}, 5, 2, 1);
    strcpy(m.failed.reason, "w[3] = \"x\" \\ \xc3\xa4");
    FILE *out = open_memstream(&text, &n);
    message_print_text(&m, out);
    fputc('|', out);
    message_print_json(&m, out);
    fclose(out);
    assert_string_equal(
        text, "FAILED arena_epoch=1 node=0 row=3 generation=17 job=5 partition=2 attempt=1 code=5 "
              "reason=\"w[3] = \\\"x\\\" \\\\ \xc3\xa4\"|{\"kind\":\"FAILED\",\"arena_epoch\":1,"
              "\"node\":0,\"row\":3,\"generation\":17,\"job\":5,\"partition\":2,\"attempt\":1,"
              "\"code\":5,\"reason\":\"w[3] = \\\"x\\\" \\\\ \xc3\xa4\"}");
    free(text);
}

static void the_table_is_sound(void **state)
{
    (void)state;
    for (int k = 1; k < MSG_KINDS; k++) {
        const struct message_info *info = message_info((enum message_kind)k);
        const struct lane_info *lane = lane_info(info->lane);
        unsigned on_lane = lane->connectors | 1u << lane->binder;
        assert_int_equal(info->kind, k);
        assert_int_equal(message_kind_by_name(info->name), k);
        assert_true(info->from != 0 && info->to != 0 && info->version > 0 && *info->doc);
        assert_int_equal((info->from | info->to) & ~on_lane, 0); /* each can reach the lane */
        assert_int_equal(info->from & info->to, 0);
        /* One side of a lane is its binder. */
        assert_true(info->from == 1u << lane->binder || info->to == 1u << lane->binder);
        struct lease_ref r;
        struct message m = {.kind = info->kind};
        bool leased = message_lease(&m, &r);
        assert_int_equal(leased,
                         info->n_fields > 0 && strcmp(info->fields[0].name, "arena_epoch") == 0);
        struct message big;
        fill(&big, info->kind, true);
        assert_true(message_encode(&big, frame, MESSAGE_BYTES_MAX) >
                    0); /* all limits at once fit */
    }
    assert_null(message_info(MSG_NONE));
    assert_null(message_info(MSG_KINDS));
    assert_true(message_allowed(MSG_GRANT, LANE_DESK, ACTOR_FINALIZD));
    assert_false(message_allowed(MSG_GRANT, LANE_DESK, ACTOR_SYNTHD));
    assert_false(message_allowed(MSG_GRANT, LANE_CLIENT, ACTOR_FINALIZD));
    assert_false(message_allowed(MSG_PROVED, LANE_DESK, ACTOR_SYNTHD));
    assert_false(message_allowed(MSG_SUBMIT, LANE_CLIENT, ACTOR_NONE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_sound),
        cmocka_unit_test(every_kind_comes_back),
        cmocka_unit_test(msgpack_c_reads_what_we_write),
        cmocka_unit_test(cut_frames_and_frames_with_more_are_refused),
        cmocka_unit_test(forms_that_we_never_write_are_refused),
        cmocka_unit_test(text_can_steer_no_terminal),
        cmocka_unit_test(values_of_ours_beyond_their_bound_are_not_sent),
        cmocka_unit_test(mutated_frames_are_refused_or_exact),
        cmocka_unit_test(secrets_are_marked_and_blanked),
        cmocka_unit_test(printed_as_people_read_it),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
