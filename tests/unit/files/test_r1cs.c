#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cases.h"
#include "edit.h"
#include "fixture.h"
#include "r1cs.h"
#include "wtns.h"
#include "zkey.h"

static void read_or_fail(const char *path, enum r1cs_parts parts, struct r1cs *r)
{
    struct err e;
    if (r1cs_read(path, parts, r, NULL, &e))
        fail_msg("%s", e.text);
}

/* snarkjs's witness satisfies it, and one with a changed value does not. */
static void witness_satisfies_constraints(void **state)
{
    (void)state;
    for (unsigned k = 0; k < N_FIXTURE_CURVES; k++) {
        for (unsigned i = 0; i < N_FIXTURE_CIRCUITS; i++) {
            struct r1cs r;
            struct err e;
            read_or_fail(fixture(k, fixture_circuits[i], "r1cs"), R1CS_ALL, &r);
            struct wtns *f = wtns_open(fixture(k, fixture_circuits[i], "wtns"), &e);
            assert_int_equal(wtns_expect(f, r.curve, r.n_wires, &e), ERR_OK);
            fr_t *w = malloc(r.n_wires * sizeof *w);
            assert_int_equal(wtns_read(f, w, NULL, &e), ERR_OK);
            assert_int_equal(matrix_first_unsatisfied(r.curve, &r.a, &r.b, &r.c, w, NULL),
                             r.n_constraints);
            w[r.n_wires - 1].limb[0] ^= 1;
            if (r.n_constraints)
                assert_true(matrix_first_unsatisfied(r.curve, &r.a, &r.b, &r.c, w, NULL) <
                            r.n_constraints);
            wtns_close(&f);
            free(w);
            r1cs_free(&r);
        }
    }
}

static void parts_and_counts(void **state)
{
    (void)state;
    struct r1cs r;
    read_or_fail(fixture(0, "wide_12", "r1cs"), R1CS_COUNTS, &r);
    uint32_t n = r.n_constraints;
    assert_true(n > 4000);
    assert_int_equal(r.a.n_rows, 0);
    r1cs_free(&r);
    read_or_fail(fixture(0, "wide_12", "r1cs"), R1CS_C, &r);
    assert_int_equal(r.a.n_rows, 0);
    assert_int_equal(r.c.n_rows, n);
    r1cs_free(&r);
}

static void writer_gives_back_what_was_read(void **state)
{
    (void)state;
    for (unsigned k = 0; k < N_FIXTURE_CURVES; k++) {
        for (unsigned i = 0; i < N_FIXTURE_CIRCUITS; i++) {
            struct r1cs r, again;
            struct err e;
            read_or_fail(fixture(k, fixture_circuits[i], "r1cs"), R1CS_ALL, &r);
            assert_int_equal(r1cs_write(temp_make(), &r, &e), ERR_OK);
            read_or_fail(temp_path, R1CS_ALL, &again);
            assert_int_equal(again.n_private_inputs, r.n_private_inputs);
            assert_int_equal(again.c.n_entries, r.c.n_entries);
            uint32_t n_public = r.n_public_outputs + r.n_public_inputs;
            assert_int_equal(
                r1cs_matches(&again, r.curve, &r.a, &r.b, r.n_constraints, r.n_wires, n_public, &e),
                ERR_OK);
            assert_int_equal(
                r1cs_matches(&again, r.curve, &r.c, &r.b, r.n_constraints, r.n_wires, n_public, &e),
                r.n_constraints ? ERR_MISMATCH : ERR_OK);
            r1cs_free(&r);
            r1cs_free(&again);
            temp_remove();
        }
    }
}

static enum err_code match(const char *r1cs_path, const char *zkey_path, struct err *e)
{
    struct r1cs r;
    struct matrix a, b;
    uint32_t n_constraints;
    read_or_fail(r1cs_path, R1CS_ALL, &r);
    struct zkey *z = zkey_open(zkey_path, e);
    assert_int_equal(zkey_read_matrices(z, &a, &b, &n_constraints, NULL, e), ERR_OK);
    const struct zkey_facts *k = zkey_facts(z);
    enum err_code code =
        r1cs_matches(&r, k->curve, &a, &b, n_constraints, k->n_wires, k->n_public, e);
    matrix_free(&a);
    matrix_free(&b);
    zkey_close(&z);
    r1cs_free(&r);
    return code;
}

static void key_and_system_belong_together(void **state)
{
    (void)state;
    struct err e = {0};
    for (unsigned k = 0; k < N_FIXTURE_CURVES; k++)
        for (unsigned i = 0; i < N_FIXTURE_CIRCUITS; i++)
            if (match(fixture(k, fixture_circuits[i], "r1cs"),
                      fixture(k, fixture_circuits[i], "zkey"), &e))
                fail_msg("%s: %s", fixture_circuits[i], e.text);
    assert_int_equal(match(fixture(0, "mul", "r1cs"), fixture(1, "mul", "zkey"), &e), ERR_MISMATCH);
    assert_int_equal(match(fixture(0, "mul", "r1cs"), fixture(0, "wide_12", "zkey"), &e),
                     ERR_MISMATCH);
    assert_non_null(strstr(e.text, "wires"));
    /* One coefficient of A is another. */
    struct bytes b = bytes_read(fixture(0, "wide_12", "r1cs"));
    b.p[section_data(&b, 2) + 8 + 31] = 0;
    bytes_write(temp_make(), &b);
    assert_int_equal(match(temp_path, fixture(0, "wide_12", "zkey"), &e), ERR_MISMATCH);
    assert_non_null(strstr(e.text, "constraint 0 has another A"));
    free(b.p);
    temp_remove();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(witness_satisfies_constraints),
        cmocka_unit_test(parts_and_counts),
        cmocka_unit_test(writer_gives_back_what_was_read),
        cmocka_unit_test(key_and_system_belong_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
