#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "cases.h"
#include "edit.h"
#include "fixture.h"
#include "json.h"
#include "wtns.h"

static fr_t *read_all(const char *path, uint64_t *n)
{
    struct err e;
    struct wtns *f = wtns_open(path, &e);
    if (!f)
        fail_msg("%s", e.text);
    *n = wtns_facts(f)->n;
    fr_t *w = malloc(*n * sizeof *w);
    assert_int_equal(wtns_read(f, w, NULL, &e), ERR_OK);
    wtns_close(&f);
    return w;
}

/* The public values are the first wires, and the writer's bytes are snarkjs's. */
static void fixtures_read_and_write_back(void **state)
{
    (void)state;
    for (unsigned k = 0; k < N_FIXTURE_CURVES; k++) {
        for (unsigned i = 0; i < N_FIXTURES_WITH_WITNESS; i++) {
            struct err e;
            uint64_t n;
            size_t n_public;
            const struct curve *c = fixture_curves[k].curve;
            const char *path = fixture(k, fixture_circuits[i], "wtns");
            fr_t *w = read_all(path, &n), *publics;
            assert_int_equal(public_read(fixture(k, fixture_circuits[i], "public.json"), c,
                                         &publics, &n_public, &e),
                             ERR_OK);
            assert_memory_equal(w + 1, publics, n_public * sizeof *w);
            assert_int_equal(wtns_write(temp_make(), c, w, n, &e), ERR_OK);
            struct bytes theirs = bytes_read(path), ours = bytes_read(temp_path);
            assert_int_equal(ours.n, theirs.n);
            assert_memory_equal(ours.p, theirs.p, ours.n);
            struct stat st;
            stat(temp_path, &st);
            assert_int_equal(st.st_mode & 0777, 0600);
            temp_remove();
            free(theirs.p);
            free(ours.p);
            free(publics);
            free(w);
        }
    }
}

static void other_curve_or_count_is_a_mismatch(void **state)
{
    (void)state;
    struct err e;
    struct wtns *f = wtns_open(fixture(0, "mul", "wtns"), &e);
    assert_int_equal(wtns_expect(f, &curve_bn254, wtns_facts(f)->n, &e), ERR_OK);
    assert_int_equal(wtns_expect(f, &curve_bls12_381, wtns_facts(f)->n, &e), ERR_MISMATCH);
    assert_non_null(strstr(e.text, "a witness on bn254, but the circuit is on bls12-381"));
    assert_int_equal(wtns_expect(f, &curve_bn254, 99, &e), ERR_MISMATCH);
    assert_non_null(strstr(e.text, "but the circuit has 99 wires"));
    wtns_close(&f);
}

/* What was read of a bad witness is secret as well. */
static void failure_wipes_what_was_read(void **state)
{
    (void)state;
    struct err e;
    struct bytes b = bytes_read(fixture(0, "wide_12", "wtns"));
    memset(b.p + b.n - 32, 0xff, 32);
    bytes_write(temp_make(), &b);
    int fd = open(temp_path, O_RDONLY);
    struct wtns *f = wtns_open_fd(fd, "spool entry", &e);
    uint64_t n = wtns_facts(f)->n;
    fr_t *w = malloc(n * sizeof *w), *zero = calloc(n, sizeof *w);
    assert_int_equal(wtns_read(f, w, NULL, &e), ERR_VALUE);
    assert_int_equal(strncmp(e.text, "spool entry: section 2 (values): offset", 39), 0);
    assert_memory_equal(w, zero, n * sizeof *w);
    wtns_close(&f);
    assert_int_equal(fcntl(fd, F_GETFD), -1); /* it was taken over */
    free(w);
    free(zero);
    free(b.p);
    temp_remove();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixtures_read_and_write_back),
        cmocka_unit_test(other_curve_or_count_is_a_mismatch),
        cmocka_unit_test(failure_wipes_what_was_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
