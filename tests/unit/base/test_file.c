#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "file.h"

static char dir[] = "/tmp/millrace-file-XXXXXX";
static char target[64], link_name[64];

static int setup(void **state)
{
    (void)state;
    strcpy(dir + sizeof dir - 7, "XXXXXX");
    if (!mkdtemp(dir))
        return 1;
    snprintf(target, sizeof target, "%s/target", dir);
    snprintf(link_name, sizeof link_name, "%s/link", dir);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(target);
    unlink(link_name);
    return rmdir(dir); /* fails when a temporary file was left */
}

static unsigned entries(void)
{
    unsigned n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
    closedir(d);
    return n;
}

static void expect(const char *path, const char *want)
{
    struct err e;
    char *text;
    size_t n;
    assert_int_equal(file_read(path, 100, &text, &n, &e), ERR_OK);
    assert_string_equal(text, want);
    assert_int_equal(n, strlen(want));
    free(text);
}

static void commit_replaces_and_abort_does_not(void **state)
{
    (void)state;
    struct err e;
    assert_int_equal(file_replace(target, "old", 3, 0644, &e), ERR_OK);
    struct file_writer *w = file_writer_open(target, 0600, &e);
    assert_non_null(w);
    assert_int_equal(file_writer_write(w, "new", 3, &e), ERR_OK);
    assert_int_equal(entries(), 2);
    expect(target, "old");
    file_writer_abort(&w);
    assert_null(w);
    assert_int_equal(entries(), 1);
    expect(target, "old");
    w = file_writer_open(target, 0600, &e);
    file_writer_write(w, "new", 3, &e);
    assert_int_equal(file_writer_commit(&w, &e), ERR_OK);
    assert_null(w);
    expect(target, "new");
    struct stat st;
    stat(target, &st);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(entries(), 1);
}

static void large_and_small_pieces_keep_their_order(void **state)
{
    (void)state;
    enum { BIG = 3 << 20 };
    struct err e;
    char *big = malloc(BIG);
    memset(big, 'b', BIG);
    struct file_writer *w = file_writer_open(target, 0644, &e);
    file_writer_write(w, "head", 4, &e);
    file_writer_write(w, big, BIG, &e);
    assert_int_equal(file_writer_align(w, 4096, &e), ERR_OK);
    assert_int_equal(file_writer_offset(w) % 4096, 0);
    file_writer_write(w, "tail", 4, &e);
    assert_int_equal(file_writer_patch(w, 0, "HEAD", 4, &e), ERR_OK);
    uint64_t size = file_writer_offset(w);
    assert_int_equal(file_writer_commit(&w, &e), ERR_OK);
    free(big);
    char *text;
    size_t n;
    assert_int_equal(file_read(target, 4 << 20, &text, &n, &e), ERR_OK);
    assert_int_equal(n, size);
    assert_memory_equal(text, "HEADbb", 6);
    assert_int_equal(text[4 + BIG - 1], 'b');
    assert_int_equal(text[4 + BIG], 0);
    assert_memory_equal(text + n - 4, "tail", 4);
    free(text);
}

static void symbolic_link_stays_one(void **state)
{
    (void)state;
    struct err e;
    struct stat st;
    file_replace(target, "old", 3, 0644, &e);
    assert_int_equal(symlink(target, link_name), 0);
    assert_int_equal(file_replace(link_name, "new", 3, 0644, &e), ERR_OK);
    lstat(link_name, &st);
    assert_true(S_ISLNK(st.st_mode));
    expect(target, "new");
}

static void a_device_is_written_straight(void **state)
{
    (void)state;
    struct err e;
    assert_int_equal(file_replace("/dev/null", "x", 1, 0644, &e), ERR_OK);
    struct stat st;
    stat("/dev/null", &st);
    assert_true(S_ISCHR(st.st_mode));
    struct file_writer *w = file_writer_open("/dev/null", 0644, &e);
    file_writer_write(w, "x", 1, &e);
    assert_int_equal(file_writer_patch(w, 0, "y", 1, &e), ERR_IO);
    file_writer_abort(&w);
}

static void failures_are_told(void **state)
{
    (void)state;
    struct err e;
    char *text;
    size_t n;
    assert_null(file_writer_open("/nowhere/at/all", 0644, &e));
    assert_int_equal(e.code, ERR_IO);
    assert_non_null(strstr(e.text, "/nowhere/at/all: cannot create: No such file"));
    assert_int_equal(file_read("/nowhere", 10, &text, &n, &e), ERR_IO);
    file_replace(target, "0123456789", 10, 0644, &e);
    assert_int_equal(file_read(target, 9, &text, &n, &e), ERR_FORMAT);
    assert_int_equal(file_read(target, 10, &text, &n, &e), ERR_OK);
    free(text);
}

/* A full disk is found at the latest in commit, and leaves nothing behind. */
static void full_disk_leaves_the_target(void **state)
{
    (void)state;
    struct err e;
    assert_int_equal(file_replace("/dev/full", "x", 1, 0644, &e), ERR_IO);
    assert_non_null(strstr(e.text, "No space left"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(commit_replaces_and_abort_does_not, setup, teardown),
        cmocka_unit_test_setup_teardown(large_and_small_pieces_keep_their_order, setup, teardown),
        cmocka_unit_test_setup_teardown(symbolic_link_stays_one, setup, teardown),
        cmocka_unit_test_setup_teardown(a_device_is_written_straight, setup, teardown),
        cmocka_unit_test_setup_teardown(failures_are_told, setup, teardown),
        cmocka_unit_test_setup_teardown(full_disk_leaves_the_target, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
