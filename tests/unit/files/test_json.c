#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cases.h"
#include "fixture.h"
#include "json.h"

static void equal_but_for_final_newline(const char *ours_path, const char *theirs_path)
{
    struct bytes ours = bytes_read(ours_path), theirs = bytes_read(theirs_path);
    while (theirs.n && theirs.p[theirs.n - 1] == '\n')
        theirs.n--;
    assert_int_equal(ours.n, theirs.n + 1);
    assert_memory_equal(ours.p, theirs.p, theirs.n);
    free(ours.p);
    free(theirs.p);
}

/* Byte for byte what snarkjs writes. */
static void proofs_keys_and_publics_write_as_snarkjs_does(void **state)
{
    (void)state;
    for (unsigned k = 0; k < N_FIXTURE_CURVES; k++) {
        for (unsigned i = 0; i < N_FIXTURES_WITH_WITNESS; i++) {
            struct err e;
            struct proof p;
            struct verification_key vk;
            fr_t *publics;
            size_t n;
            const struct curve *c = fixture_curves[k].curve;
            const char *proof = fixture(k, fixture_circuits[i], "proof.json");
            const char *key = fixture(k, fixture_circuits[i], "vk.json");
            const char *values = fixture(k, fixture_circuits[i], "public.json");
            temp_make();
            assert_int_equal(proof_read(proof, c, &p, &e), ERR_OK);
            assert_int_equal(proof_write(temp_path, &p, JSON_SNARKJS, &e), ERR_OK);
            equal_but_for_final_newline(temp_path, proof);
            assert_int_equal(vk_read(key, &vk, &e), ERR_OK);
            assert_int_equal(vk_write(temp_path, &vk, JSON_SNARKJS, &e), ERR_OK);
            equal_but_for_final_newline(temp_path, key);
            vk_free(&vk);
            assert_int_equal(public_read(values, c, &publics, &n, &e), ERR_OK);
            assert_int_equal(public_write(temp_path, publics, n, JSON_SNARKJS, &e), ERR_OK);
            if (n) /* snarkjs puts a line break into an empty list */
                equal_but_for_final_newline(temp_path, values);
            free(publics);
            temp_remove();
        }
    }
}

static void rapidsnark_form_is_read_and_written(void **state)
{
    (void)state;
    struct err e;
    struct proof p, again;
    assert_int_equal(proof_read(fixture(0, "mul", "proof.json"), NULL, &p, &e), ERR_OK);
    assert_int_equal(proof_write(temp_make(), &p, JSON_RAPIDSNARK, &e), ERR_OK);
    struct bytes b = bytes_read(temp_path);
    assert_int_equal(memcmp(b.p, "{\"pi_a\":[\"", 10), 0);
    assert_null(memmem(b.p, b.n, "curve", 5));
    assert_null(memchr(b.p, ' ', b.n));
    assert_ptr_equal(memchr(b.p, '\n', b.n), b.p + b.n - 1);
    free(b.p);
    assert_int_equal(proof_read(temp_path, NULL, &again, &e), ERR_OK);
    assert_ptr_equal(again.curve, &curve_bn254);
    assert_memory_equal(&again, &p, sizeof p);
    temp_remove();
}

static void curve_names_and_mismatch(void **state)
{
    (void)state;
    struct err e;
    struct proof p;
    static const char *const names[] = {"bn128", "bn254", "altbn128", "bls12381", "bls12-381"};
    assert_int_equal(proof_read(fixture(1, "mul", "proof.json"), &curve_bn254, &p, &e),
                     ERR_MISMATCH);
    assert_non_null(strstr(e.text, "a proof on bls12-381, but the key is on bn254"));
    for (unsigned i = 0; i < 5; i++) {
        json_t *json = json_read(fixture(i > 2, "mul", "proof.json"), 1 << 16, 0, &e);
        json_object_set_new(json, "curve", json_string(names[i]));
        assert_int_equal(proof_from_json(json, "x", NULL, &p, &e), ERR_OK);
        assert_ptr_equal(p.curve, fixture_curves[i > 2].curve);
        json_decref(json);
    }
}

static void infinity_both_ways(void **state)
{
    (void)state;
    struct err e;
    struct proof p = {.curve = &curve_bls12_381}, again;
    json_t *json = proof_to_json(&p, JSON_SNARKJS);
    char *text = json_dumps(json, JSON_COMPACT);
    assert_string_equal(
        text, "{\"pi_a\":[\"0\",\"1\",\"0\"],\"pi_b\":[[\"0\",\"0\"],[\"1\",\"0\"],[\"0\","
              "\"0\"]],\"pi_c\":[\"0\",\"1\",\"0\"],\"protocol\":\"groth16\",\"curve\":"
              "\"bls12381\"}");
    assert_int_equal(proof_from_json(json, "x", NULL, &again, &e), ERR_OK);
    assert_memory_equal(&again, &p, sizeof p);
    free(text);
    json_decref(json);
}

static void no_publics_are_an_empty_list(void **state)
{
    (void)state;
    struct err e;
    fr_t *values;
    size_t n = 7;
    json_t *json = public_to_json(NULL, 0);
    char *text = json_dumps(json, JSON_COMPACT);
    assert_string_equal(text, "[]");
    assert_int_equal(public_from_json(json, "x", &curve_bn254, &values, &n, &e), ERR_OK);
    assert_int_equal(n, 0);
    free(values);
    free(text);
    json_decref(json);
    json = json_null(); /* what rapidsnark writes */
    assert_int_equal(public_from_json(json, "x", &curve_bn254, &values, &n, &e), ERR_OK);
    assert_int_equal(n, 0);
    free(values);
}

static void decimals_are_canonical(void **state)
{
    (void)state;
    uint64_t v[6], modulus[6] = {0, 1}; /* 2^64 */
    char text[DECIMAL_ROOM];
    assert_null(decimal_to_limbs("0", modulus, 2, v));
    assert_int_equal(v[0] | v[1], 0);
    assert_null(decimal_to_limbs("18446744073709551615", modulus, 2, v));
    assert_int_equal(v[0], UINT64_MAX);
    assert_non_null(decimal_to_limbs("18446744073709551616", modulus, 2, v));
    static const char *const bad[] = {"", "00", "01", "+1", "-1", " 1", "1 ", "1e3", "0x1", "1.0"};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_non_null(decimal_to_limbs(bad[i], modulus, 2, v));
    static const uint64_t all[6] = {UINT64_MAX, UINT64_MAX, UINT64_MAX,
                                    UINT64_MAX, UINT64_MAX, UINT64_MAX};
    decimal_from_limbs(all, 6, text);
    assert_int_equal(strlen(text), 116);
    assert_null(
        decimal_to_limbs("39402006196394479212279040100143613805079739270465446667948293404245"
                         "721771497210611414266254884915640806627990306814",
                         all, 6, v));
    assert_non_null(decimal_to_limbs(text, all, 6, v));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proofs_keys_and_publics_write_as_snarkjs_does),
        cmocka_unit_test(rapidsnark_form_is_read_and_written),
        cmocka_unit_test(curve_names_and_mismatch),
        cmocka_unit_test(infinity_both_ways),
        cmocka_unit_test(no_publics_are_an_empty_list),
        cmocka_unit_test(decimals_are_canonical),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
