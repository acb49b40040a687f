/* Fields, towers, groups, point checks, square roots and pairings of both curves against
 * @noble/curves (vectors.txt, made by tests/tools/curve_vectors.mjs) and, for BLS12-381, against
 * blst (vectors_blst.txt, made by tests/tools/blst_vectors.c).
 *
 *   test_known_answers [FILE]      checks the lines of FILE instead */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "cpu.h"
#include "curve_variants.h"
#include "towers.h"

static void parse_hex(uint64_t *limb, size_t n, const char *hex)
{
    size_t digits = strlen(hex);
    assert_in_range(digits, 1, 16 * n);
    memset(limb, 0, 8 * n);
    for (size_t i = 0; i < digits; i++) {
        char ch = hex[digits - 1 - i];
        uint64_t value = (uint64_t)(ch >= 'a' ? ch - 'a' + 10 : ch - '0');
        assert_true(value < 16);
        limb[i / 16] |= value << (4 * (i % 16));
    }
}

#define C bn254
#include "known_answers.h"
#define C bls12_381
#include "known_answers.h"

/* Every line of a file; the number of lines. */
static int check_file(const char *path)
{
    FILE *f = fopen(path, "r");
    if (f == NULL)
        fail_msg("%s cannot be opened", path);
    static char line[16384];
    int lines = 0;
    while (fgets(line, sizeof line, f) != NULL) {
        char *save = NULL, *curve = strtok_r(line, " \n", &save);
        char *kind = strtok_r(NULL, " \n", &save), *value[41];
        int n = 0;
        while (n < 40 && (value[n] = strtok_r(NULL, " \n", &save)) != NULL)
            n++;
        lines++;
        bool known = strcmp(curve, "bn254") == 0 ? bn254_answer(kind, value, n)
                                                 : bls12_381_answer(kind, value, n);
        if (!known)
            fail_msg("%s, line %d: unknown kind %s", path, lines, kind);
    }
    fclose(f);
    return lines;
}

static void test_answers_of_noble(void **state)
{
    (void)state;
    assert_int_equal(check_file(VECTORS), 188);
}

static void test_answers_of_blst(void **state)
{
    (void)state;
    assert_int_equal(check_file(VECTORS_BLST), 116);
}

static const char *given; /* a file of fresh answers (blst.sh) */

static void test_answers_given(void **state)
{
    (void)state;
    assert_in_range(check_file(given), 100, 10000);
}

int main(int argc, char **argv)
{
#if defined(MATH_ADX)
    if (cpu_variant() < CPU_ADX)
        return 77; /* skipped */
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers_of_noble),
        cmocka_unit_test(test_answers_of_blst),
    };
    const struct CMUnitTest one[] = {cmocka_unit_test(test_answers_given)};
    given = argc > 1 ? argv[1] : NULL;
    return given ? cmocka_run_group_tests(one, NULL, NULL)
                 : cmocka_run_group_tests(tests, NULL, NULL);
}
