/* input.json as circom's programs take it: numbers keep their digits, names are flattened, faults
 * are named without a value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <gmp.h>

#include "input.h"

static uint8_t prime[32];
static const char r_text[] =
    "21888242871839275222246405745257275088548364400416034343698204186575808495617";

static int set_up(void **state)
{
    (void)state;
    mpz_t r;
    mpz_init_set_str(r, r_text, 10);
    mpz_export(prime, NULL, -1, 1, 0, 0, r);
    mpz_clear(r);
    return 0;
}

static enum err_code parse(const char *text, struct input *in, struct err *e)
{
    return input_parse("in.json", text, strlen(text), prime, in, e);
}

static void expect(const char *text, const char *signal, size_t index, const char *decimal)
{
    struct input in;
    struct err e = {0};
    if (parse(text, &in, &e) != ERR_OK)
        fail_msg("%s: %s", text, e.text);
    for (size_t i = 0; i < in.n_signals; i++) {
        if (strcmp(in.signal[i].name, signal) != 0)
            continue;
        assert_true(index < in.signal[i].n);
        mpz_t v;
        mpz_init(v);
        mpz_import(v, 32, -1, 1, 0, 0, in.signal[i].value[index]);
        char got[100];
        mpz_get_str(got, 10, v);
        mpz_clear(v);
        assert_string_equal(got, decimal);
        input_wipe(&in);
        return;
    }
    fail_msg("%s: no signal %s", text, signal);
}

static void refuse(const char *text, enum err_code code, const char *words)
{
    struct input in;
    struct err e = {0};
    assert_int_equal(parse(text, &in, &e), code);
    if (strstr(e.text, words) == NULL)
        fail_msg("'%s' does not say '%s'", e.text, words);
    assert_int_equal(in.n_signals, 0);
}

static void values(void **state)
{
    (void)state;
    expect("{\"a\":\"3\"}", "a", 0, "3");
    expect("{\"a\":3}", "a", 0, "3");
    expect("{\"a\":\"0x10\"}", "a", 0, "16");
    expect("{\"a\":\"0XfF\"}", "a", 0, "255");
    expect("{\"a\":\"0b101\"}", "a", 0, "5");
    expect("{\"a\":\"0o17\"}", "a", 0, "15");
    expect("{\"a\":\" 12 \"}", "a", 0, "12");
    expect("{\"a\":\"+7\"}", "a", 0, "7");
    expect("{\"a\":true,\"b\":false}", "a", 0, "1");
    expect("{\"a\":true,\"b\":false}", "b", 0, "0");
    expect("{\"a\":\"00012\"}", "a", 0, "12");
}

static void modulo_r(void **state)
{
    (void)state;
    const char *r_minus_1 =
        "21888242871839275222246405745257275088548364400416034343698204186575808495616";
    expect("{\"a\":-1}", "a", 0, r_minus_1);
    expect("{\"a\":\"-1\"}", "a", 0, r_minus_1);
    expect(
        "{\"a\":\"21888242871839275222246405745257275088548364400416034343698204186575808495618\"}",
        "a", 0, "1");
    expect("{\"a\":-21888242871839275222246405745257275088548364400416034343698204186575808495617}",
           "a", 0, "0");
    expect("{\"a\":-0}", "a", 0, "0");
}

/* A double would have rounded these. */
static void bare_numbers_keep_their_digits(void **state)
{
    (void)state;
    expect("{\"a\":9007199254740993}", "a", 0, "9007199254740993");
    expect("{\"a\":[18446744073709551617, -2]}", "a", 0, "18446744073709551617");
    expect("{\"a\":340282366920938463463374607431768211457}", "a", 0,
           "340282366920938463463374607431768211457");
    expect("{\"a\":1e3}", "a", 0, "1000");
    expect("{\"a\":2.0}", "a", 0, "2");
    expect("{\"a\":1.25E2}", "a", 0, "125");
    expect("{\"a\":1200e-2}", "a", 0, "12");
}

static void arrays_and_buses(void **state)
{
    (void)state;
    expect("{\"a\":[[1,2],[3,[4]]]}", "a", 3, "4");
    expect("{\"p\":{\"x\":1,\"y\":[2,3]}}", "p.y", 1, "3");
    expect("{\"p\":[{\"x\":1},{\"x\":2}]}", "p[1].x", 0, "2");
    expect("{\"p\":[[{\"x\":5}]]}", "p[0][0].x", 0, "5");
    expect("{ \"s\\\"1\" : [ ] , \"b\" : 4 }", "b", 0, "4");
}

static void refusals(void **state)
{
    (void)state;
    refuse("{\"a\":1.5}", ERR_VALUE, "signal a");
    refuse("{\"a\":\"1e3\"}", ERR_VALUE, "signal a");
    refuse("{\"a\":\"-0x5\"}", ERR_VALUE, "signal a");
    refuse("{\"a\":[1,\"\"]}", ERR_VALUE, "signal a: value 1: an empty string");
    refuse("{\"a\":\"12x\"}", ERR_VALUE, "signal a");
    refuse("{\"a\":null}", ERR_VALUE, "null");
    refuse("{\"a\":1e99999}", ERR_VALUE, "signal a");
    refuse("{\"a\":1,\"a\":2}", ERR_FORMAT, "twice");
    refuse("[1]", ERR_FORMAT, "object");
    refuse("", ERR_FORMAT, "not JSON");
    refuse("{\"a\":01}", ERR_FORMAT, "not JSON");
    refuse("{\"a\":1.2.3}", ERR_FORMAT, "not JSON");
    refuse("{\"a\":1} x", ERR_FORMAT, "not JSON");
    refuse("{\"a\":[1,{\"x\":2}]}", ERR_FORMAT, "objects and values");
    refuse("{\"a\":\"\\u0000\"}", ERR_FORMAT, "not JSON");
}

/* The place that is named is in the file as it was given, not in the rewritten text. */
static void offsets_are_of_the_given_text(void **state)
{
    (void)state;
    struct input in;
    struct err e = {0};
    const char *text = "{\"a\":[1,2,3,4,5,6],\"b\":tru}";
    assert_int_equal(parse(text, &in, &e), ERR_FORMAT);
    const char *at = strstr(e.text, "offset ");
    assert_non_null(at);
    unsigned offset = 0;
    assert_int_equal(sscanf(at, "offset %u", &offset), 1);
    assert_in_range(offset, 22, 27);
}

static void no_value_in_messages(void **state)
{
    (void)state;
    struct input in;
    struct err e = {0};
    assert_int_equal(parse("{\"a\":\"7331secret\"}", &in, &e), ERR_VALUE);
    assert_null(strstr(e.text, "7331"));
    assert_int_equal(parse("{\"a\":7331 7332}", &in, &e), ERR_FORMAT);
    assert_null(strstr(e.text, "733"));
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    char text[2000] = "{\"a\":";
    for (int i = 0; i < 500; i++)
        strcat(text, "[");
    strcat(text, "1");
    for (int i = 0; i < 500; i++)
        strcat(text, "]");
    strcat(text, "}");
    refuse(text, ERR_FORMAT, "nested deeper");
}

/* Known answer: FNV-1a 64 of "a" (http://www.isthe.com/chongo/tech/comp/fnv). */
static void hash(void **state)
{
    (void)state;
    assert_true(input_hash("") == 0xcbf29ce484222325u);
    assert_true(input_hash("a") == 0xaf63dc4c8601ec8cu);
    assert_true(input_hash("foobar") == 0x85944171f73967e8u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(modulo_r),
        cmocka_unit_test(bare_numbers_keep_their_digits),
        cmocka_unit_test(arrays_and_buses),
        cmocka_unit_test(refusals),
        cmocka_unit_test(offsets_are_of_the_given_text),
        cmocka_unit_test(no_value_in_messages),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(hash),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
