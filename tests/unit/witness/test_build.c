/* Programs built and run: byte-equal to the fixtures' .wtns, and every fault of an input named.
 * FIXTURES names the fixtures; arguments: CURVE/CIRCUIT ... (default: the small ones). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "build.h"
#include "compile.h"
#include "file.h"
#include "sibling.h"

static char dir[] = "/tmp/millrace-witness.XXXXXX";
static char runner[PATH_MAX];
static const char *const small[] = {"bn128/mul",        "bn128/edge_full",    "bn128/edge_linear",
                                    "bn128/edge_nopub", "bn128/edge_manypub", "bn128/wide_12",
                                    "bls12381/mul",     "bls12381/wide_12"};
static const char *const *circuits = small;
static size_t n_circuits = sizeof small / sizeof *small;

static int set_up(void **state)
{
    (void)state;
    struct err e;
    return mkdtemp(dir) != NULL &&
                   sibling_path("millrace-wasm", "tools/witness", runner, &e) == ERR_OK
               ? 0
               : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[PATH_MAX];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

static const char *fixture(const char *circuit, const char *ending, char out[PATH_MAX])
{
    const char *name = strrchr(circuit, '/') + 1;
    if (ending[0] == '/')
        snprintf(out, PATH_MAX, "%s/%s%s", getenv("FIXTURES"), circuit, ending);
    else
        snprintf(out, PATH_MAX, "%s/%s/%s.%s", getenv("FIXTURES"), circuit, name, ending);
    return out;
}

static enum err_code build(const char *circuit, struct program_info *info)
{
    char wasm[PATH_MAX], store[PATH_MAX];
    struct err e;
    snprintf(store, sizeof store, "%s/programs", dir);
    enum err_code rc = program_build(fixture(circuit, "wasm", wasm), store, info, &e);
    if (rc != ERR_OK)
        fail_msg("%s: %s", circuit, e.text);
    return rc;
}

/* Runs the program on an input file; the witness goes to DIR/out.wtns. */
static enum err_code run(const char *program, const char *input, struct err *e)
{
    char out[PATH_MAX], log[PATH_MAX];
    snprintf(out, sizeof out, "%s/out.wtns", dir);
    snprintf(log, sizeof log, "%s/log", dir);
    unlink(out);
    char *const argv[] = {runner,        "--cpu-s", "20", "--memory-mib", "512", (char *)program,
                          (char *)input, out,       NULL};
    return compile_run(argv, log, e);
}

static void byte_equal(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_circuits; i++) {
        struct program_info info, again;
        struct err e = {0};
        char input[PATH_MAX], expected[PATH_MAX], out[PATH_MAX];
        char *a, *b;
        size_t na, nb;
        build(circuits[i], &info);
        assert_true(info.built && !info.native);
        if (run(info.path, fixture(circuits[i], "/input.json", input), &e) != ERR_OK)
            fail_msg("%s: %s", circuits[i], e.text);
        snprintf(out, sizeof out, "%s/out.wtns", dir);
        assert_int_equal(file_read(out, 1 << 30, &a, &na, &e), ERR_OK);
        assert_int_equal(file_read(fixture(circuits[i], "wtns", expected), 1 << 30, &b, &nb, &e),
                         ERR_OK);
        assert_int_equal(na, nb);
        assert_memory_equal(a, b, na);
        assert_int_equal(info.n_witness, (nb - 76) / 32);
        assert_memory_equal(info.prime, b + 28, 32);
        free(a);
        free(b);
        build(circuits[i], &again); /* the same content is recognised */
        assert_false(again.built);
        assert_string_equal(again.path, info.path);
        struct stat st;
        assert_int_equal(stat(info.path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0500);
    }
}

static void refuse(const struct program_info *info, const char *json, const char *words)
{
    char path[PATH_MAX];
    struct err e = {0};
    snprintf(path, sizeof path, "%s/bad.json", dir);
    assert_int_equal(file_replace(path, json, strlen(json), 0600, &e), ERR_OK);
    assert_int_not_equal(run(info->path, path, &e), ERR_OK);
    if (strstr(e.text, words) == NULL)
        fail_msg("%s: '%s' does not say '%s'", json, e.text, words);
    char out[PATH_MAX];
    struct stat st;
    snprintf(out, sizeof out, "%s/out.wtns", dir);
    assert_true(stat(out, &st) != 0 || st.st_size == 0);
}

static void bad_inputs(void **state)
{
    (void)state;
    struct program_info mul, many;
    build("bn128/mul", &mul);
    refuse(&mul, "{\"a\":\"3\"}", "1 of 2 values given (by: a)");
    refuse(&mul, "{\"a\":\"3\",\"b\":\"11\",\"c\":1}", "signal c: the circuit has no input");
    refuse(&mul, "{\"a\":[3,4],\"b\":\"11\"}", "signal a: too many values: 2 given, 1 expected");
    refuse(&mul, "{}", "0 of 2 values given (by: none)");
    refuse(&mul, "{\"a\":\"3\",\"b\":}", "not JSON");
    build("bn128/edge_manypub", &many);
    refuse(&many, "{\"x\":[1,2],\"k\":7}", "signal x: too few values: 2 given, 100 expected");
}

static void no_compiler(void **state)
{
    (void)state;
    struct program_info info;
    struct err e = {0};
    char wasm[PATH_MAX], store[PATH_MAX];
    char *path = strdup(getenv("PATH"));
    snprintf(store, sizeof store, "%s/elsewhere", dir);
    setenv("PATH", "/nonexistent", 1);
    assert_int_equal(program_build(fixture("bn128/mul", "wasm", wasm), store, &info, &e),
                     ERR_UNAVAILABLE);
    setenv("PATH", path, 1);
    free(path);
    assert_non_null(strstr(e.text, "install gcc"));
    assert_int_equal(rmdir(store), 0); /* nothing was left in it */
}

static void not_a_program(void **state)
{
    (void)state;
    struct program_info info;
    struct err e = {0};
    char path[PATH_MAX], store[PATH_MAX];
    snprintf(store, sizeof store, "%s/programs", dir);
    assert_int_equal(program_build(fixture("bn128/mul", "zkey", path), store, &info, &e),
                     ERR_FORMAT);
    assert_non_null(strstr(e.text, "mul.zkey"));
    assert_int_equal(program_build("/nonexistent.wasm", store, &info, &e), ERR_IO);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        circuits = (const char *const *)argv + 1;
        n_circuits = (size_t)argc - 1;
        const struct CMUnitTest these[] = {cmocka_unit_test(byte_equal)};
        return cmocka_run_group_tests_name("byte_equal", these, set_up, tear_down);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(byte_equal),
        cmocka_unit_test(bad_inputs),
        cmocka_unit_test(no_compiler),
        cmocka_unit_test(not_a_program),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
