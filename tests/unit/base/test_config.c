#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "config.h"

static char path[] = "/tmp/millrace-config-XXXXXX";

static struct config *load(const char *text, struct err *e)
{
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
    return config_load(path, false, e);
}

static const char good[] = "; the desk\n"
                           "[desk]\n"
                           "name = mill one   ; a comment\n"
                           "  arena=16GiB\n"
                           "wait = 250ms\n"
                           "[gpu 0]\n"
                           "on = yes\n"
                           "n = 12\n"
                           "[gpu 1]\n"
                           "on = off\n";

static void typed_values_come_back(void **state)
{
    (void)state;
    struct err e = {0};
    struct config *c = load(good, &e);
    assert_non_null(c);
    uint64_t v;
    bool on;
    assert_string_equal(config_string(c, "desk", "name", "none"), "mill one");
    assert_string_equal(config_string(c, "desk", "other", "none"), "none");
    assert_int_equal(config_bytes(c, "desk", "arena", 1, &v, &e), ERR_OK);
    assert_int_equal(v, 16ull << 30);
    assert_int_equal(config_duration(c, "desk", "wait", 1, &v, &e), ERR_OK);
    assert_int_equal(v, 250000000);
    assert_int_equal(config_u64(c, "gpu 0", "n", 1, 0, 12, &v, &e), ERR_OK);
    assert_int_equal(v, 12);
    assert_int_equal(config_u64(c, "gpu 1", "n", 77, 0, 12, &v, &e), ERR_OK);
    assert_int_equal(v, 77);
    assert_int_equal(config_bool(c, "gpu 0", "on", false, &on, &e), ERR_OK);
    assert_true(on);
    assert_string_equal(config_section(c, "gpu", 1), "gpu 1");
    assert_null(config_section(c, "gpu", 2));
    config_free(&c);
    assert_null(c);
}

static void unknown_setting_is_named(void **state)
{
    (void)state;
    struct err e = {0};
    struct config *c = load(good, &e);
    config_string(c, "desk", "name", NULL);
    assert_int_equal(config_check_unknown(c, &e), ERR_FORMAT);
    assert_non_null(strstr(e.text, "line 4: unknown setting \"arena\" in [desk]"));
    config_free(&c);
}

static void wrong_values_are_told_with_their_place(void **state)
{
    (void)state;
    struct err e = {0};
    struct config *c = load("[a]\nn = 13x\nm = -1\nbig = 18446744073709551616\nt = 5\nb = perhaps\n"
                            "s = 99999999999TiB\n",
                            &e);
    uint64_t v;
    bool on;
    assert_int_equal(config_u64(c, "a", "n", 0, 0, 99, &v, &e), ERR_VALUE);
    assert_non_null(
        strstr(e.text, "line 2: [a] n: expected a whole number from 0 to 99, found \"13x\""));
    assert_int_equal(config_u64(c, "a", "m", 0, 0, 99, &v, &e), ERR_VALUE);
    assert_int_equal(config_u64(c, "a", "big", 0, 0, UINT64_MAX, &v, &e), ERR_VALUE);
    assert_int_equal(config_duration(c, "a", "t", 0, &v, &e), ERR_VALUE);
    assert_non_null(strstr(e.text, "a duration with its unit"));
    assert_int_equal(config_bool(c, "a", "b", false, &on, &e), ERR_VALUE);
    assert_int_equal(config_bytes(c, "a", "s", 0, &v, &e), ERR_VALUE);
    config_free(&c);
}

static void bad_files_are_refused(void **state)
{
    (void)state;
    struct err e = {0};
    assert_null(load("[a]\nn = 1\nn = 2\n", &e));
    assert_non_null(strstr(e.text, "line 3: [a] n stands already in line 2"));
    assert_null(load("[a]\njust words\n", &e));
    assert_non_null(strstr(e.text, "line 2: expected"));
    char wide[4000];
    memset(wide, 'x', sizeof wide);
    memcpy(wide, "[a]\nk = ", 8);
    wide[sizeof wide - 1] = 0;
    assert_null(load(wide, &e));
    assert_non_null(strstr(e.text, "line 2: longer than"));
    unlink(path);
    assert_null(config_load(path, false, &e));
    assert_int_equal(e.code, ERR_IO);
    struct config *c = config_load(path, true, &e);
    assert_non_null(c);
    config_free(&c);
}

static void sizes_and_durations(void **state)
{
    (void)state;
    uint64_t v;
    assert_true(parse_bytes("4096", &v) && v == 4096);
    assert_true(parse_bytes("64KiB", &v) && v == 65536);
    assert_true(parse_bytes("2 MiB", &v) && v == 2 << 20);
    assert_false(parse_bytes("1.5GiB", &v));
    assert_false(parse_bytes("16GB", &v));
    assert_false(parse_bytes("", &v));
    assert_true(parse_duration("2h", &v) && v == 7200ull * 1000000000);
    assert_true(parse_duration("10us", &v) && v == 10000);
    assert_false(parse_duration("5", &v));
    assert_false(parse_duration("-5s", &v));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(typed_values_come_back),
        cmocka_unit_test(unknown_setting_is_named),
        cmocka_unit_test(wrong_values_are_told_with_their_place),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(sizes_and_durations),
    };
    close(mkstemp(path));
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
