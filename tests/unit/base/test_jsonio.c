#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "jsonio.h"

static json_t *parse(const char *text, unsigned flags, struct err *e)
{
    return json_parse(text, strlen(text), "in.json", flags, e);
}

static void errors_name_file_and_place(void **state)
{
    (void)state;
    struct err e;
    assert_null(parse("{\"a\":\n 1,}", 0, &e));
    assert_int_equal(e.code, ERR_FORMAT);
    assert_non_null(strstr(e.text, "in.json: line 2, column"));
    assert_null(parse("{\"a\":1,\"a\":2}", 0, &e));
    assert_null(parse("[1] x", 0, &e));
    assert_null(parse("", 0, &e));
}

static void big_integers_keep_their_digits(void **state)
{
    (void)state;
    struct err e;
    const char *text =
        "{\"a\": [123456789012345678901234567890, -5, 7], \"12345678901234567890123\":"
        " \"x\\\"99999999999999999999999\", \"f\": 1.0e3, "
        "\"n\": -98765432109876543210, \"t\": 999999999999999999}";
    json_t *o = parse(text, JSON_KEEP_BIG_INTEGERS, &e);
    assert_non_null(o);
    json_t *a = json_object_get(o, "a");
    assert_string_equal(json_string_value(json_array_get(a, 0)), "123456789012345678901234567890");
    assert_int_equal(json_integer_value(json_array_get(a, 1)), -5);
    assert_string_equal(json_string_value(json_object_get(o, "12345678901234567890123")),
                        "x\"99999999999999999999999");
    assert_true(json_real_value(json_object_get(o, "f")) == 1000.0);
    assert_string_equal(json_string_value(json_object_get(o, "n")), "-98765432109876543210");
    assert_int_equal(json_integer_value(json_object_get(o, "t")), 999999999999999999);
    json_decref(o);
    assert_null(parse(text, 0, &e)); /* jansson alone refuses it */
    o = parse("123456789012345678901", JSON_KEEP_BIG_INTEGERS, &e);
    assert_string_equal(json_string_value(o), "123456789012345678901");
    json_decref(o);
}

static void members_are_asked_for_by_type(void **state)
{
    (void)state;
    struct err e;
    json_t *o = parse("{\"s\":\"x\",\"n\":5,\"a\":[],\"o\":{}}", 0, &e);
    uint64_t n;
    assert_string_equal(json_need_string(o, "in.json", "s", &e), "x");
    assert_int_equal(json_need_u64(o, "in.json", "n", 5, &n, &e), ERR_OK);
    assert_int_equal(json_need_u64(o, "in.json", "n", 4, &n, &e), ERR_FORMAT);
    assert_non_null(json_need_array(o, "in.json", "a", &e));
    assert_non_null(json_need_object(o, "in.json", "o", &e));
    assert_null(json_need_string(o, "in.json", "n", &e));
    assert_string_equal(e.text, "in.json: n: expected a string, found another kind of value");
    assert_null(json_need_array(o, "in.json", "zz", &e));
    assert_string_equal(e.text, "in.json: zz: expected an array, but the field is missing");
    json_decref(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_name_file_and_place),
        cmocka_unit_test(big_integers_keep_their_digits),
        cmocka_unit_test(members_are_asked_for_by_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
