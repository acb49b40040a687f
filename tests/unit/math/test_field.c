/* The four prime fields, in the variant that this file is compiled for, against GMP. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <gmp.h>
#include "cpu.h"
#include "fields.h"
#include "seed.h"

#define FIELD bn254_fr
#include "field_tests.h"
#define FIELD bls12_381_fr
#include "field_tests.h"
#define FIELD bn254_fq
#define FIELD_HAS_SQRT
#include "field_tests.h"
#define FIELD bls12_381_fq
#define FIELD_HAS_SQRT
#include "field_tests.h"

int main(void)
{
#if defined(MATH_ADX)
    if (cpu_variant() < CPU_ADX)
        return 77; /* skipped */
#endif
    seed_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bn254_fr_test_against_gmp),
        cmocka_unit_test(bn254_fr_test_edges),
        cmocka_unit_test(bn254_fq_test_against_gmp),
        cmocka_unit_test(bn254_fq_test_edges),
        cmocka_unit_test(bn254_fq_test_sqrt),
        cmocka_unit_test(bls12_381_fr_test_against_gmp),
        cmocka_unit_test(bls12_381_fr_test_edges),
        cmocka_unit_test(bls12_381_fq_test_against_gmp),
        cmocka_unit_test(bls12_381_fq_test_edges),
        cmocka_unit_test(bls12_381_fq_test_sqrt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
