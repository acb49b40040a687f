/* What a .wasm must be before anything translates it. FIXTURES names the fixtures' directory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "file.h"
#include "wasmfile.h"

static uint8_t *wasm;
static size_t n;

static int set_up(void **state)
{
    (void)state;
    char path[4096];
    struct err e;
    snprintf(path, sizeof path, "%s/bn128/mul/mul.wasm", getenv("FIXTURES"));
    return file_read(path, 1 << 20, (char **)&wasm, &n, &e) == ERR_OK ? 0 : -1;
}

static void circoms_own(void **state)
{
    (void)state;
    struct err e;
    assert_int_equal(wasmfile_check("mul.wasm", wasm, n, &e), ERR_OK);
}

/* Cut anywhere, it is refused (or, behind the sections that are read, left to wasm2c). */
static void cut_short(void **state)
{
    (void)state;
    size_t accepted = 0;
    for (size_t k = 0; k < n; k += k < 2000 ? 1 : 97) {
        struct err e = {0};
        uint8_t *part = malloc(k + 1); /* exact size, so that a sanitizer sees one byte too far */
        memcpy(part, wasm, k);
        enum err_code rc = wasmfile_check("cut", part, k, &e);
        if (rc == ERR_OK)
            accepted++;
        else
            assert_true(e.text[0] != 0);
        free(part);
    }
    assert_true(accepted < 5);
}

static void flipped_bits(void **state)
{
    (void)state;
    uint8_t *copy = malloc(n);
    for (size_t bit = 0; bit < 8 * (n < 1500 ? n : 1500); bit++) {
        struct err e = {0};
        memcpy(copy, wasm, n);
        copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (wasmfile_check("flipped", copy, n, &e) != ERR_OK)
            assert_true(e.text[0] != 0);
    }
    free(copy);
}

static void other_modules(void **state)
{
    (void)state;
    struct err e;
    static const uint8_t empty[] = {0, 'a', 's', 'm', 1, 0, 0, 0};
    assert_int_equal(wasmfile_check("empty", empty, sizeof empty, &e), ERR_UNSUPPORTED);
    assert_non_null(strstr(e.text, "does not export memory"));
    static const uint8_t version[] = {0, 'a', 's', 'm', 2, 0, 0, 0};
    assert_int_equal(wasmfile_check("version", version, sizeof version, &e), ERR_FORMAT);
    /* (import "wasi" "exec" (func (type 0))) */
    static const uint8_t import[] = {0,   'a', 's', 'm', 1, 0,   0,   0,   2,   13, 1, 4,
                                     'w', 'a', 's', 'i', 4, 'e', 'x', 'e', 'c', 0,  0};
    assert_int_equal(wasmfile_check("import", import, sizeof import, &e), ERR_UNSUPPORTED);
    assert_non_null(strstr(e.text, "wasi.exec"));
    /* a count of 2^32 - 1 imports in a section of six bytes */
    static const uint8_t count[] = {0, 'a', 's', 'm', 1, 0, 0, 0, 2, 6, 255, 255, 255, 255, 15, 0};
    assert_int_equal(wasmfile_check("count", count, sizeof count, &e), ERR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(circoms_own),
        cmocka_unit_test(cut_short),
        cmocka_unit_test(flipped_bits),
        cmocka_unit_test(other_modules),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
