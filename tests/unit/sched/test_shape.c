/* Shapes: the files that are installed, what is refused, and generated circuits that have their
 * statistics at every scale. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "generate_shape.h"

static const char *const names[] = {"porep", "snap", "window-post", "winning-post"};
enum { SHAPES = 4 };

static void the_installed_shapes(void **state)
{
    static const struct {
        uint32_t partitions;
        int64_t publics;
        bool urgent;
    } expected[SHAPES] = {
        {10, 327, false}, {16, 4, false}, {1, SHAPE_ANY_PUBLICS, false}, {1, 67, true}};
    (void)state;
    for (unsigned i = 0; i < SHAPES; i++) {
        struct shape s;
        struct err e = {0};
        if (shape_load(&s, names[i], NULL, &e))
            fail_msg("%s", e.text);
        assert_int_equal(s.partitions, expected[i].partitions);
        assert_int_equal(s.publics, expected[i].publics);
        assert_int_equal(s.urgent, expected[i].urgent);
        assert_true(s.has_statistics);
        assert_int_equal(
            shape_fits(&s, s.partitions, (uint64_t)(s.publics < 0 ? 9 : s.publics), &e), ERR_OK);
        assert_int_equal(shape_fits(&s, s.partitions + 1, 67, &e), ERR_USAGE);
        if (s.publics >= 0)
            assert_int_equal(shape_fits(&s, s.partitions, 66, &e), ERR_USAGE);
    }
}

static void put_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void a_shape_of_ones_own(void **state)
{
    char dir[] = "/tmp/millrace-shape-XXXXXX", folder[64], path[96], command[96];
    struct shape s;
    struct err e = {0};
    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(folder, sizeof folder, "%s/shapes", dir);
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(path, sizeof path, "%s/withdraw.ini", folder);
    put_file(path, "[job]\npartitions = 3\npublics = 2\nurgent = yes\nlimit = 5s\n");
    assert_int_equal(shape_load(&s, "withdraw", dir, &e), ERR_OK);
    assert_int_equal(s.partitions, 3);
    assert_int_equal(s.limit_ns, 5000000000u);
    assert_true(s.urgent && !s.has_statistics);
    assert_int_equal(shape_load(&s, "withdraw", NULL, &e), ERR_USAGE); /* that instance's alone */
    assert_int_equal(shape_load(&s, "porep", dir, &e), ERR_OK);        /* the installed one */
    snprintf(path, sizeof path, "%s/porep.ini", folder);
    put_file(path, "[job]\npartitions = 7\n");
    assert_int_equal(shape_load(&s, "porep", dir, &e), ERR_OK);
    assert_int_equal(s.partitions, 7); /* the instance's comes first */
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"[job]\npartitions = 0\n", "partitions"},
        {"[job]\nlimit = 5\n", "limit"},
        {"[job]\nurgnet = yes\n", "urgnet"},
        {"[statistics]\nrows = 100\n", "domain_log2 is missing"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        put_file(path, wrong[i].text);
        assert_int_not_equal(shape_load(&s, "porep", dir, &e), ERR_OK);
        if (!strstr(e.text, wrong[i].says) || !strstr(e.text, "porep"))
            fail_msg("'%s' does not say '%s'", e.text, wrong[i].says);
    }
    assert_int_equal(shape_load(&s, "../shapes/porep", dir, &e), ERR_USAGE);
    assert_int_equal(shape_load(&s, "none", dir, &e), ERR_USAGE);
    assert_non_null(strstr(e.text, folder));
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

static void near(const char *shape, unsigned log2, const char *what, uint64_t have, uint64_t want,
                 uint64_t within_ppm)
{
    uint64_t off = have > want ? have - want : want - have;
    if (off * 1000000 > want * within_ppm)
        fail_msg("%s 2^%u: %s is %lu, wanted %lu within %lu ppm", shape, log2, what,
                 (unsigned long)have, (unsigned long)want, (unsigned long)within_ppm);
}

/* The stated tolerance: counts of rows, inputs and aux wires are exact, non-zeros within 0.1 %,
 * dense wires within 0.5 %, the share of zeros and ones within 0.5 % of the wires; at 2^10 and
 * 2^11, where a wire is a tenth of a percent, ten times that. */
static void generated_circuits_have_the_statistics(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SHAPES; i++)
        for (unsigned log2 = 10; log2 <= 16; log2 += log2 < 14 ? 1 : 2) {
            struct shape s;
            struct shape_statistics want, have;
            struct r1cs r;
            fr_t *w;
            struct err e = {0};
            assert_int_equal(shape_load(&s, names[i], NULL, &e), ERR_OK);
            assert_int_equal(shape_scale(&s, log2, &want, &e), ERR_OK);
            if (generate_shape(&s, log2, 1, &r, &w, &e))
                fail_msg("%s 2^%u: %s", names[i], log2, e.text);
            assert_int_equal(matrix_first_unsatisfied(r.curve, &r.a, &r.b, &r.c, w, NULL),
                             r.n_constraints);
            assert_int_equal(shape_measure(&r, w, &have, &e), ERR_OK);
            uint64_t ppm = log2 < 12 ? 10000 : 1000, dense = 5 * ppm;
            assert_int_equal(have.rows, want.rows);
            assert_int_equal(have.aux, want.aux);
            assert_int_equal(have.inputs, want.inputs);
            assert_int_equal(have.domain_log2, log2);
            near(names[i], log2, "non-zeros of A", have.nonzeros_a, want.nonzeros_a, ppm);
            near(names[i], log2, "non-zeros of B", have.nonzeros_b, want.nonzeros_b, ppm);
            near(names[i], log2, "non-zeros of C", have.nonzeros_c, want.nonzeros_c, ppm);
            near(names[i], log2, "dense in A", have.dense_a, want.dense_a, dense);
            near(names[i], log2, "dense in B", have.dense_b, want.dense_b, dense);
            near(names[i], log2, "full-size wires + all", 1000000 + have.zeros_and_ones_ppm,
                 1000000 + want.zeros_and_ones_ppm, dense);
            for (uint64_t k = 0; k < r.b.n_entries; k++) /* no input but one stands in B */
                assert_true(r.b.wire[k] == 0 || r.b.wire[k] >= want.inputs);
            r1cs_free(&r);
            free(w);
        }
}

static void the_same_arguments_give_the_same_circuit(void **state)
{
    struct shape s;
    struct r1cs r[3];
    fr_t *w[3];
    struct err e = {0};
    (void)state;
    assert_int_equal(shape_load(&s, "snap", NULL, &e), ERR_OK);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(generate_shape(&s, 12, 7 + i / 2, &r[i], &w[i], &e), ERR_OK);
    size_t bytes = r[0].n_wires * sizeof(fr_t);
    assert_memory_equal(w[0], w[1], bytes);
    assert_memory_equal(r[0].a.wire, r[1].a.wire, r[0].a.n_entries * 4);
    assert_true(memcmp(w[0], w[2], bytes) != 0);
    for (unsigned i = 0; i < 3; i++) {
        r1cs_free(&r[i]);
        free(w[i]);
    }
    assert_int_equal(generate_shape(&s, 9, 1, &r[0], &w[0], &e), ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_installed_shapes),
        cmocka_unit_test(a_shape_of_ones_own),
        cmocka_unit_test(generated_circuits_have_the_statistics),
        cmocka_unit_test(the_same_arguments_give_the_same_circuit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
