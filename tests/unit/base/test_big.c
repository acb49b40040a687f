/* Large memory: aligned, writable to its last byte, and NULL for what no machine has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "big.h"

static void test_every_size_is_usable(void **state)
{
    (void)state;
    static const size_t sizes[] = {0,        1,
                                   4095,     (1u << 20) - 1,
                                   1u << 20, (2u << 20) - 1,
                                   2u << 20, (3u << 20) - 1,
                                   3u << 20, (9u << 20) + 3};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *p = big_alloc(sizes[i]);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 64, 0);
        memset(p, 0xa5, sizes[i]);
        if (sizes[i])
            assert_int_equal(p[sizes[i] - 1], 0xa5);
        free(p);
    }
}

static void test_more_than_there_is(void **state)
{
    (void)state;
    assert_null(big_alloc(SIZE_MAX));
    assert_null(big_alloc(SIZE_MAX - (1u << 20)));
    assert_null(big_alloc(SIZE_MAX / 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_size_is_usable),
        cmocka_unit_test(test_more_than_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
