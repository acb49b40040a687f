/* Names in the store, and how a key file is recognised. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "store.h"

static char dir[] = "/tmp/test-store.XXXXXX";
static int dir_fd;
static char key[128], r1cs[128];

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(dir));
    dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(mkdirat(dir_fd, "store", 0700), 0);
    snprintf(key, sizeof key, "%s/key.zkey", dir);
    snprintf(r1cs, sizeof r1cs, "%s/key.r1cs", dir);
    write_file(key, "key");
    write_file(r1cs, "r1cs");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[256];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

static void digest_round_trip(void **state)
{
    (void)state;
    uint8_t digest[DIGEST_BYTES], back[DIGEST_BYTES];
    char hex[DIGEST_HEX + 1];
    for (int i = 0; i < DIGEST_BYTES; i++)
        digest[i] = (uint8_t)(i * 37 + 1);
    digest_to_hex(digest, hex);
    assert_int_equal(strlen(hex), DIGEST_HEX);
    assert_true(digest_from_hex(back, hex));
    assert_memory_equal(digest, back, DIGEST_BYTES);
    hex[5] = 'G';
    assert_false(digest_from_hex(back, hex));
    hex[5] = 'A'; /* one spelling a digest: lower case */
    assert_false(digest_from_hex(back, hex));
    assert_false(digest_from_hex(back, "00"));
    assert_false(digest_from_hex(back, ""));
}

static void a_source_is_known_until_it_changes(void **state)
{
    (void)state;
    uint8_t digest[DIGEST_BYTES] = {7}, found[DIGEST_BYTES];
    char id[STORE_NAME_MAX], name[STORE_NAME_MAX], path[512];
    struct err e = {0};
    assert_false(store_find_source(dir_fd, key, NULL, found));
    assert_int_equal(store_source_id(key, NULL, id, &e), ERR_OK);
    assert_int_equal(store_add_source(dir_fd, id, digest, &e), ERR_OK);
    assert_int_equal(store_add_source(dir_fd, id, digest, &e), ERR_OK); /* again is no error */
    /* Not while the circuit itself is missing. */
    assert_false(store_find_source(dir_fd, key, NULL, found));
    snprintf(path, sizeof path, "%s/%s", dir, store_circuit_name(digest, name));
    write_file(path, "prepared");
    assert_true(store_find_source(dir_fd, key, NULL, found));
    assert_memory_equal(digest, found, DIGEST_BYTES);
    /* With an .r1cs it is another circuit. */
    assert_false(store_find_source(dir_fd, key, r1cs, found));
    /* Written to: other times, another source, even at the same size. */
    struct timespec pause = {0, 20000000};
    nanosleep(&pause, NULL);
    write_file(key, "kex");
    assert_false(store_find_source(dir_fd, key, NULL, found));
}

static void remove_leaves_nothing(void **state)
{
    (void)state;
    uint8_t digest[DIGEST_BYTES] = {9}, other[DIGEST_BYTES] = {10}, found[DIGEST_BYTES];
    char id[STORE_NAME_MAX], name[STORE_NAME_MAX], path[512];
    struct err e = {0};
    assert_int_equal(store_source_id(key, r1cs, id, &e), ERR_OK);
    assert_int_equal(store_add_source(dir_fd, id, digest, &e), ERR_OK);
    snprintf(path, sizeof path, "%s/%s", dir, store_circuit_name(digest, name));
    write_file(path, "prepared");
    assert_int_equal(store_set_program(dir_fd, digest, "/anywhere/abc.so", &e), ERR_OK);
    char target[64] = {0};
    assert_int_equal(
        readlinkat(dir_fd, store_program_name(digest, name), target, sizeof target - 1),
        strlen("programs/abc.so"));
    assert_string_equal(target, "programs/abc.so");
    assert_int_equal(store_remove(dir_fd, other, &e), ERR_OK); /* not there: no error */
    assert_true(store_find_source(dir_fd, key, r1cs, found));
    assert_int_equal(store_remove(dir_fd, digest, &e), ERR_OK);
    assert_false(store_find_source(dir_fd, key, r1cs, found));
    assert_int_equal(faccessat(dir_fd, store_circuit_name(digest, name), F_OK, 0), -1);
    assert_int_equal(readlinkat(dir_fd, store_program_name(digest, name), target, 8), -1);
}

static void a_missing_source_is_named(void **state)
{
    (void)state;
    char id[STORE_NAME_MAX];
    struct err e = {0};
    assert_int_equal(store_source_id("/no/such.zkey", NULL, id, &e), ERR_IO);
    assert_non_null(strstr(e.text, "/no/such.zkey"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digest_round_trip),
        cmocka_unit_test(a_source_is_known_until_it_changes),
        cmocka_unit_test(remove_leaves_nothing),
        cmocka_unit_test(a_missing_source_is_named),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
