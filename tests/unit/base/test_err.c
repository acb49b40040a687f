#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "err.h"

static void set_gives_code_and_text(void **state)
{
    (void)state;
    struct err e;
    assert_int_equal(err_set(&e, ERR_VALUE, "%s: offset %d", "file", 12), ERR_VALUE);
    assert_int_equal(e.code, ERR_VALUE);
    assert_string_equal(e.text, "file: offset 12");
    assert_int_equal(err_set(NULL, ERR_IO, "dropped"), ERR_IO);
}

static void prefix_stands_before_and_is_cut(void **state)
{
    (void)state;
    struct err e;
    err_set(&e, ERR_IO, "cannot open");
    assert_int_equal(err_prefix(&e, "key %d", 7), ERR_IO);
    assert_string_equal(e.text, "key 7: cannot open");
    char longest[2 * sizeof e.text];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    err_set(&e, ERR_IO, "%s", longest);
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
    err_prefix(&e, "%s", longest);
    assert_true(strlen(e.text) < sizeof e.text);
}

/* Was undefined: vsnprintf's target overlapped its argument. */
static void old_text_may_be_an_argument(void **state)
{
    (void)state;
    struct err e;
    err_set(&e, ERR_IO, "inner");
    err_set(&e, ERR_FAILED, "outer (%s)", e.text);
    assert_string_equal(e.text, "outer (inner)");
}

/* Was found by fuzzing: a curve's name with a line break made a message of two lines. */
static void quoted_input_stays_one_line(void **state)
{
    (void)state;
    struct err e;
    err_set(&e, ERR_FORMAT, "found \"%s\"", "a\nb\x1b[2J\x7f");
    assert_string_equal(e.text, "found \"a?b?[2J?\"");
    err_prefix(&e, "x\ty");
    assert_string_equal(e.text, "x?y: found \"a?b?[2J?\"");
}

static void every_code_has_a_word(void **state)
{
    (void)state;
    for (int code = 0; code <= ERR_FAILED; code++)
        assert_string_not_equal(err_word((enum err_code)code), "unknown");
    assert_string_equal(err_word(ERR_INTERNAL), "internal");
    assert_string_equal(err_word((enum err_code)99), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_gives_code_and_text),
        cmocka_unit_test(prefix_stands_before_and_is_cut),
        cmocka_unit_test(old_text_may_be_an_argument),
        cmocka_unit_test(quoted_input_stays_one_line),
        cmocka_unit_test(every_code_has_a_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
