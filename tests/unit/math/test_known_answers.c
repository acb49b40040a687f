/* Fields, towers, groups, point checks, square roots and pairings of both curves against
 * @noble/curves (vectors.txt, made by tests/tools/curve_vectors.mjs). */
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

static void test_vectors(void **state)
{
    (void)state;
    FILE *f = fopen(VECTORS, "r");
    assert_non_null(f);
    static char line[16384];
    int lines = 0;
    while (fgets(line, sizeof line, f) != NULL) {
        char *save = NULL, *curve = strtok_r(line, " \n", &save);
        char *kind = strtok_r(NULL, " \n", &save), *value[40];
        int n = 0;
        while (n < 40 && (value[n] = strtok_r(NULL, " \n", &save)) != NULL)
            n++;
        lines++;
        bool known =
            strcmp(curve, "bn254") == 0 ? bn254_answer(kind, value) : bls12_381_answer(kind, value);
        if (!known)
            fail_msg("line %d: unknown kind %s", lines, kind);
    }
    fclose(f);
    assert_int_equal(lines, 188);
}

int main(void)
{
#if defined(MATH_ADX)
    if (cpu_variant() < CPU_ADX)
        return 77; /* skipped */
#endif
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
