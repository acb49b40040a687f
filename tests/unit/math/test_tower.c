/* The towers of both curves, in the variant that this file is compiled for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>
#include "cpu.h"
#include "seed.h"
#include "towers.h"

#define C     bn254
#define XI_C0 9
#include "tower_tests.h"
#define C     bls12_381
#define XI_C0 1
#include "tower_tests.h"

#define TOWER_TESTS(c)                                                                             \
    cmocka_unit_test(c##_test_fq2), cmocka_unit_test(c##_test_fq6),                                \
        cmocka_unit_test(c##_test_fq12), cmocka_unit_test(c##_test_frobenius),                     \
        cmocka_unit_test(c##_test_cyclotomic)

int main(void)
{
#if defined(MATH_ADX)
    if (cpu_variant() < CPU_ADX)
        return 77; /* skipped */
#endif
    seed_start();
    const struct CMUnitTest tests[] = {
        TOWER_TESTS(bn254),
        TOWER_TESTS(bls12_381),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
