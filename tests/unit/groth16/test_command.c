/* The frame of the `millrace` program: options in every form, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"

struct args {
    bool local;
    const char *name;
    uint64_t threads, bytes;
    double seconds, share;
    struct text_list first, second;
};

static const struct option options[] = {
    {"local", 'l', OPTION_FLAG, NULL, offsetof(struct args, local), "a flag"},
    {"name", 'n', OPTION_TEXT, "NAME", offsetof(struct args, name), "a text"},
    {"threads", 't', OPTION_COUNT, "N", offsetof(struct args, threads), "a number"},
    {"bytes", 0, OPTION_SIZE, "SIZE", offsetof(struct args, bytes), "a size"},
    {"seconds", 0, OPTION_SECONDS, "TIME", offsetof(struct args, seconds), "a time"},
    {"share", 0, OPTION_SHARE, "SHARE", offsetof(struct args, share), "a share"},
    {"first", 0, OPTION_LIST, "A", offsetof(struct args, first), "a list"},
    {"second", 0, OPTION_LIST, "B", offsetof(struct args, second), "another"},
    {0},
};

static enum err_code run_nothing(const struct invocation *in, struct err *e)
{
    (void)in, (void)e;
    return ERR_OK;
}

static const struct args defaults = {.threads = 7};
static const struct command command = {
    .name = "sample",
    .summary = "a command for this test",
    .operands = "A B",
    .options = options,
    .args_bytes = sizeof(struct args),
    .defaults = &defaults,
    .min_operands = 1,
    .max_operands = 2,
    .run = run_nothing,
};

struct outcome {
    struct invocation in;
    const struct args *args;
    void *buffer;
    bool help;
    struct err err;
    enum err_code rc;
};

static struct outcome parse(const char *words)
{
    static char copy[512];
    char *argv[32];
    int argc = 0;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *w = strtok(copy, " "); w; w = strtok(NULL, " "))
        argv[argc++] = w;
    struct outcome o = {.err.code = ERR_OK};
    o.rc = command_parse(&command, argc, argv, &o.in, &o.buffer, &o.help, &o.err);
    o.args = o.in.args;
    return o;
}

static void test_every_form(void **state)
{
    (void)state;
    struct outcome o = parse("a --local --name=x=y -t 3 --bytes 2M --json b --seconds 1.5m -q");
    assert_int_equal(o.rc, ERR_OK);
    assert_int_equal(o.in.n_operands, 2);
    assert_string_equal(o.in.operand[0], "a");
    assert_string_equal(o.in.operand[1], "b");
    assert_true(o.args->local && o.in.json && o.in.quiet);
    assert_string_equal(o.args->name, "x=y");
    assert_int_equal(o.args->threads, 3);
    assert_int_equal(o.args->bytes, 2 << 20);
    assert_true(o.args->seconds == 90);
    free(o.buffer);
}

static void test_defaults_and_joined_letters(void **state)
{
    (void)state;
    struct outcome o = parse("a");
    assert_int_equal(o.args->threads, 7);
    assert_null(o.args->name);
    assert_int_equal(o.args->first.n, 0);
    free(o.buffer);
    o = parse("-t12 a");
    assert_int_equal(o.args->threads, 12);
    free(o.buffer);
}

static void test_lists_keep_apart(void **state)
{
    (void)state;
    struct outcome o = parse("--first 1 --second x --first=2 a --second y --first 3");
    assert_int_equal(o.rc, ERR_OK);
    assert_int_equal(o.args->first.n, 3);
    assert_string_equal(o.args->first.item[2], "3");
    assert_int_equal(o.args->second.n, 2);
    assert_string_equal(o.args->second.item[0], "x");
    free(o.buffer);
}

static void test_double_dash_ends_options(void **state)
{
    (void)state;
    struct outcome o = parse("-- --local -");
    assert_int_equal(o.rc, ERR_OK);
    assert_false(o.args->local);
    assert_string_equal(o.in.operand[0], "--local");
    assert_string_equal(o.in.operand[1], "-");
    free(o.buffer);
}

static void test_help_wins(void **state)
{
    (void)state;
    struct outcome o = parse("--help --nonsense");
    assert_int_equal(o.rc, ERR_OK);
    assert_true(o.help);
    free(o.buffer);
}

static void test_refusals(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "0 operands given, expected A B"},
        {"a b c", "3 operands given, expected A B"},
        {"a --nope", "unknown option --nope"},
        {"a -x", "unknown option -x"},
        {"a --loca", "unknown option --loca"},
        {"a --local=1", "option --local takes no value"},
        {"a --threads", "option --threads needs a value (N)"},
        {"a --threads 3x", "option --threads: \"3x\" is not a whole number"},
        {"a --threads -3", "option --threads: \"-3\" is not a whole number"},
        {"a --threads 99999999999999999999", "is not a whole number"},
        {"a --bytes 20000000T", "is not a size in bytes"},
        {"a --bytes 1Q", "is not a size in bytes"},
        {"a --seconds 1w", "is not a time"},
        {"a --share 1.1", "is not a share"},
        {"a --share 200%", "is not a share"},
        {"a --share nan", "is not a share"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct outcome o = parse(cases[i][0]);
        assert_int_equal(o.rc, ERR_USAGE);
        assert_non_null(strstr(o.err.text, cases[i][1]));
        free(o.buffer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_form),       cmocka_unit_test(test_defaults_and_joined_letters),
        cmocka_unit_test(test_lists_keep_apart), cmocka_unit_test(test_double_dash_ends_options),
        cmocka_unit_test(test_help_wins),        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
