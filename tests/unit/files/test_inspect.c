#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "fixture.h"
#include "inspect.h"
#include "prepared.h"

static void kind_is(const char *path, enum file_kind want)
{
    struct err e;
    enum file_kind kind;
    assert_int_equal(file_kind_of(path, &kind, &e), ERR_OK);
    assert_int_equal(kind, want);
}

static void kinds_by_content(void **state)
{
    (void)state;
    kind_is(fixture(0, "mul", "zkey"), FILE_ZKEY);
    kind_is(fixture(0, "mul", "wtns"), FILE_WTNS);
    kind_is(fixture(0, "mul", "r1cs"), FILE_R1CS);
    kind_is(fixture(0, "mul", "wasm"), FILE_WASM);
    kind_is(fixture(0, "mul", "vk.json"), FILE_VK_JSON);
    kind_is(fixture(0, "mul", "proof.json"), FILE_PROOF_JSON);
    kind_is(fixture(0, "mul", "public.json"), FILE_PUBLIC_JSON);
    kind_is(fixture(0, "mul", "input.json"), FILE_OTHER_JSON);
    kind_is("/dev/null", FILE_UNKNOWN);
}

static int64_t number(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

static json_t *facts_of(const char *path)
{
    struct err e;
    json_t *o = inspect_file(path, &e);
    if (!o)
        fail_msg("%s", e.text);
    return o;
}

static void facts_of_each_kind(void **state)
{
    (void)state;
    json_t *o = facts_of(fixture(1, "edge_manypub", "zkey"));
    assert_string_equal(json_string_value(json_object_get(o, "kind")), "zkey");
    assert_string_equal(json_string_value(json_object_get(o, "curve")), "bls12-381");
    assert_int_equal(number(o, "publics"), 200);
    json_decref(o);
    o = facts_of(fixture(0, "edge_manypub", "r1cs"));
    assert_int_equal(number(o, "public_outputs") + number(o, "public_inputs"), 200);
    json_decref(o);
    o = facts_of(fixture(0, "mul", "wtns"));
    assert_int_equal(number(o, "wires"), 4);
    json_decref(o);
    o = facts_of(fixture(0, "edge_manypub", "public.json"));
    assert_int_equal(number(o, "publics"), 200);
    json_decref(o);
    o = facts_of(fixture(0, "mul", "proof.json"));
    assert_string_equal(json_string_value(json_object_get(o, "pi_b")), "in the subgroup");
    json_decref(o);
    o = facts_of(fixture(1, "mul", "vk.json"));
    assert_int_equal(number(o, "publics"), 1);
    json_decref(o);
    o = facts_of(FIXTURES "/../fuzz/regress/inspect/power-1.ptau");
    assert_int_equal(number(o, "power"), 1);
    assert_true(json_is_false(json_object_get(o, "prepared_for_phase_2")));
    json_decref(o);
    struct err e;
    prepare_zkey(fixture(0, "mul", "zkey"), NULL, temp_make(), NULL, NULL, &e);
    o = facts_of(temp_path);
    assert_int_equal(strlen(json_string_value(json_object_get(o, "digest"))), 64);
    assert_true(json_array_size(json_object_get(o, "sections")) > 10);
    json_decref(o);
    temp_remove();
}

static void words_hold_every_fact(void **state)
{
    (void)state;
    char *text;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    json_t *o = facts_of(fixture(0, "wide_12", "zkey"));
    inspect_print(o, out);
    fclose(out);
    assert_non_null(strstr(text, "proving key (.zkey)\n"));
    assert_non_null(strstr(text, "  domain log2"));
    assert_non_null(strstr(text, " 4096\n"));
    free(text);
    json_decref(o);
}

static void unknown_and_malformed_are_told(void **state)
{
    (void)state;
    struct err e;
    assert_null(inspect_file("/dev/null", &e));
    assert_int_equal(e.code, ERR_FORMAT);
    assert_null(inspect_file("/nowhere", &e));
    assert_int_equal(e.code, ERR_IO);
    FILE *f = fopen(temp_make(), "w");
    fputs("zkey\1\0\0\0", f);
    fclose(f);
    assert_null(inspect_file(temp_path, &e));
    assert_int_equal(e.code, ERR_FORMAT);
    temp_remove();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_by_content),
        cmocka_unit_test(facts_of_each_kind),
        cmocka_unit_test(words_hold_every_fact),
        cmocka_unit_test(unknown_and_malformed_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
