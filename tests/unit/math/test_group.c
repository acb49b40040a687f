/* The laws of the four groups, in the variant that this file is compiled for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>
#include "cpu.h"
#include "curve_variants.h"
#include "groups.h"
#include "seed.h"

#define GROUP bn254_g1
#define F     bn254_fq
#define TABLE (MATH_NAME(bn254_curve).g1)
#define ORDER (MATH_NAME(bn254_curve).r)
#include "group_tests.h"

#define GROUP bn254_g2
#define F     bn254_fq2
#define TABLE (MATH_NAME(bn254_curve).g2)
#define ORDER (MATH_NAME(bn254_curve).r)
#include "group_tests.h"

#define GROUP bls12_381_g1
#define F     bls12_381_fq
#define TABLE (MATH_NAME(bls12_381_curve).g1)
#define ORDER (MATH_NAME(bls12_381_curve).r)
#include "group_tests.h"

#define GROUP bls12_381_g2
#define F     bls12_381_fq2
#define TABLE (MATH_NAME(bls12_381_curve).g2)
#define ORDER (MATH_NAME(bls12_381_curve).r)
#include "group_tests.h"

#define GROUP_TESTS(g)                                                                             \
    cmocka_unit_test(g##_test_laws), cmocka_unit_test(g##_test_multiples),                         \
        cmocka_unit_test(g##_test_batch_to_affine)

int main(void)
{
#if defined(MATH_ADX)
    if (cpu_variant() < CPU_ADX)
        return 77; /* skipped */
#endif
    seed_start();
    const struct CMUnitTest tests[] = {
        GROUP_TESTS(bn254_g1),
        GROUP_TESTS(bn254_g2),
        GROUP_TESTS(bls12_381_g1),
        GROUP_TESTS(bls12_381_g2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
