#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "binfile.h"
#include "fixture.h"

static const struct bin_layout layout = {
    .magic = "test",
    .kind = "test file",
    .version = 3,
    .known =
        (const struct bin_known[]){{1, true, "numbers"}, {2, false, "letters"}, {0, false, NULL}},
};

struct put {
    unsigned char p[1 << 16];
    size_t n;
};

static void put(struct put *f, const void *data, size_t n)
{
    memcpy(f->p + f->n, data, n);
    f->n += n;
}

static void put_section(struct put *f, uint32_t id, const void *data, uint64_t n)
{
    put(f, &id, 4);
    put(f, &n, 8);
    put(f, data, n);
}

static void save(const struct put *f)
{
    FILE *out = fopen(temp_make(), "w");
    fwrite(f->p, 1, f->n, out);
    fclose(out);
}

static void head(struct put *f, uint32_t sections)
{
    f->n = 0;
    put(f, "test\3\0\0\0", 8);
    put(f, &sections, 4);
}

static void sections_in_any_order(void **state)
{
    (void)state;
    struct put f;
    struct err e;
    head(&f, 2);
    put_section(&f, 2, "abcdef", 6);
    put_section(&f, 1, "\5\0\0\0\6\0\0\0", 8);
    save(&f);
    struct binfile *b = binfile_open(temp_path, &layout, &e);
    assert_non_null(b);
    assert_int_equal(binfile_check_sections(b, &e), ERR_OK);
    assert_int_equal(binfile_length(b, 1), 8);
    assert_int_equal(binfile_find(b, 2)->offset, 24);
    assert_null(binfile_find(b, 3));
    char text[6];
    assert_int_equal(binfile_read(b, 2, 1, text, 5, &e), ERR_OK);
    assert_memory_equal(text, "bcdef", 5);
    assert_int_equal(binfile_read(b, 2, 2, text, 5, &e), ERR_FORMAT);
    assert_non_null(strstr(e.text, "section 2 (letters): offset 26: expected 5 more bytes, but the "
                                   "section ends 4 bytes further"));
    assert_int_equal(binfile_read(b, 2, UINT64_MAX, text, 5, &e), ERR_FORMAT);
    assert_int_equal(binfile_read(b, 3, 0, text, 1, &e), ERR_FORMAT);
    binfile_close(&b);
    assert_null(b);
    temp_remove();
}

static void optional_may_be_absent_required_not(void **state)
{
    (void)state;
    struct put f;
    struct err e;
    head(&f, 1);
    put_section(&f, 2, "", 0);
    save(&f);
    struct binfile *b = binfile_open(temp_path, &layout, &e);
    assert_non_null(b);
    assert_int_equal(binfile_check_sections(b, &e), ERR_FORMAT);
    assert_non_null(strstr(e.text, "section 1 (numbers) is missing"));
    binfile_close(&b);
    temp_remove();
}

static void cursor_reads_across_its_buffer(void **state)
{
    (void)state;
    enum { N = 1000 };
    uint32_t numbers[N];
    struct put f;
    struct err e;
    for (uint32_t i = 0; i < N; i++)
        numbers[i] = i * i;
    head(&f, 1);
    put_section(&f, 1, numbers, sizeof numbers);
    save(&f);
    struct binfile *b = binfile_open(temp_path, &layout, &e);
    unsigned char buffer[42];
    struct bin_cursor c;
    bin_cursor_init(&c, b, 1, buffer, sizeof buffer);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t v;
        if (i % 7 == 6) {
            assert_int_equal(bin_skip(&c, 4, &e), ERR_OK);
            continue;
        }
        assert_int_equal(bin_u32(&c, &v, &e), ERR_OK);
        assert_int_equal(v, i * i);
    }
    assert_int_equal(bin_at_end(&c, &e), ERR_OK);
    uint64_t beyond;
    assert_int_equal(bin_u64(&c, &beyond, &e), ERR_FORMAT);
    assert_int_equal(bin_skip(&c, 1, &e), ERR_FORMAT);
    /* More than the buffer takes comes straight from the file. */
    bin_cursor_init(&c, b, 1, buffer, sizeof buffer);
    uint32_t many[100];
    bin_u32(&c, &many[0], &e);
    assert_int_equal(bin_bytes(&c, many, sizeof many, &e), ERR_OK);
    assert_memory_equal(many, numbers + 1, sizeof many);
    assert_int_equal(bin_at_end(&c, &e), ERR_FORMAT);
    binfile_close(&b);
    temp_remove();
}

/* With a mapping this would be a SIGBUS. */
static void a_file_that_shrinks_is_an_error(void **state)
{
    (void)state;
    struct put f;
    struct err e;
    static const char data[20000];
    head(&f, 1);
    put_section(&f, 1, data, sizeof data);
    save(&f);
    struct binfile *b = binfile_open(temp_path, &layout, &e);
    static char out[sizeof data];
    assert_int_equal(binfile_read(b, 1, 0, out, sizeof out, &e), ERR_OK);
    assert_int_equal(truncate(temp_path, 10000), 0);
    assert_int_equal(binfile_read(b, 1, 0, out, sizeof out, &e), ERR_IO);
    assert_non_null(strstr(e.text, "offset 10000: the file shrank while it was read"));
    binfile_close(&b);
    temp_remove();
}

static void what_cannot_be_opened(void **state)
{
    (void)state;
    struct err e;
    assert_null(binfile_open("/nowhere/x", &layout, &e));
    assert_int_equal(e.code, ERR_IO);
    assert_null(binfile_open("/tmp", &layout, &e));
    assert_int_equal(e.code, ERR_IO);
    temp_make();
    temp_remove();
    assert_int_equal(mkfifo(temp_path, 0600), 0); /* must not wait for a writer */
    assert_null(binfile_open(temp_path, &layout, &e));
    assert_non_null(strstr(e.text, "is not a regular file"));
    temp_remove();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_in_any_order),
        cmocka_unit_test(optional_may_be_absent_required_not),
        cmocka_unit_test(cursor_reads_across_its_buffer),
        cmocka_unit_test(a_file_that_shrinks_is_an_error),
        cmocka_unit_test(what_cannot_be_opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
