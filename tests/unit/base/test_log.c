#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <jansson.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "log.h"

/* Standard error goes into a pipe while a line is logged; captured() gives what came. */
static int kept_stderr, pipe_read;

static void capture(void)
{
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    kept_stderr = dup(STDERR_FILENO);
    dup2(fds[1], STDERR_FILENO);
    close(fds[1]);
    pipe_read = fds[0];
    fcntl(pipe_read, F_SETFL, O_NONBLOCK);
}

static char *captured(void)
{
    static char text[1 << 17];
    ssize_t n = 0, got;
    dup2(kept_stderr, STDERR_FILENO);
    close(kept_stderr);
    while ((got = read(pipe_read, text + n, sizeof text - 1 - (size_t)n)) > 0)
        n += got;
    close(pipe_read);
    text[n] = 0;
    return text;
}

/* The line behind its time stamp. */
static const char *rest(const char *line)
{
    assert_non_null(strchr(line, ' '));
    return strchr(line, ' ') + 1;
}

static int setup(void **state)
{
    (void)state;
    unsetenv("MILLRACE_LOG");
    log_init("test");
    return !log_configure("info,text");
}

static void line_in_words(void **state)
{
    (void)state;
    char want[256];
    capture();
    log_warn("proof-rejected", LOG_OF("j-17", 3), "attempt=%u rate=%.2f big=%" PRIu64, 2u, 1.5,
             UINT64_MAX);
    const char *line = captured();
    snprintf(want, sizeof want,
             "warn test[%d] proof-rejected job=j-17 partition=3 attempt=2 rate=1.50 "
             "big=18446744073709551615\n",
             (int)getpid());
    assert_string_equal(rest(line), want);
}

static void values_cannot_forge_fields_or_lines(void **state)
{
    (void)state;
    capture();
    log_info("taken", LOG_OF("x job=y\nerror", -1), "name=%s empty=%s", "a\"b\\c\n", "");
    const char *line = captured();
    assert_non_null(strstr(line, " job=\"x job=y\\u000aerror\" "));
    assert_non_null(strstr(line, " name=\"a\\\"b\\\\c\\u000a\" empty=\"\"\n"));
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
}

static void json_line_parses_with_types(void **state)
{
    (void)state;
    log_configure("json");
    capture();
    log_error("lost", LOG_OF("j\xff", 0), "n=%zu ratio=%.3f text=%s mixed=%d/%d pad=%*d", (size_t)5,
              0.25, "a \"b\"", 1, 2, 4, 7);
    json_error_t why;
    json_t *o = json_loads(captured(), JSON_REJECT_DUPLICATES, &why);
    assert_non_null(o);
    assert_string_equal(json_string_value(json_object_get(o, "level")), "error");
    assert_string_equal(json_string_value(json_object_get(o, "event")), "lost");
    assert_int_equal(json_integer_value(json_object_get(o, "partition")), 0);
    assert_int_equal(json_integer_value(json_object_get(o, "n")), 5);
    assert_true(json_real_value(json_object_get(o, "ratio")) == 0.25);
    assert_string_equal(json_string_value(json_object_get(o, "text")), "a \"b\"");
    assert_string_equal(json_string_value(json_object_get(o, "mixed")), "1/2");
    assert_int_equal(json_integer_value(json_object_get(o, "pad")), 7);
    json_decref(o);
}

/* NaN and infinity are no JSON numbers. */
static void numbers_that_json_lacks_become_strings(void **state)
{
    (void)state;
    log_configure("json");
    capture();
    log_info("odd", NULL, "a=%f b=%g", (double)INFINITY, (double)NAN);
    json_error_t why;
    json_t *o = json_loads(captured(), 0, &why);
    assert_non_null(o);
    assert_true(json_is_string(json_object_get(o, "a")));
    json_decref(o);
}

static void long_lines_are_cut_whole_fields(void **state)
{
    (void)state;
    char *text = malloc(6000);
    memset(text, 'x', 5999);
    text[5999] = 0;
    log_configure("json");
    capture();
    log_info("long", NULL, "first=%d text=%s more=%s and=%s last=%d", 1, text, text, text, 2);
    const char *line = captured();
    json_error_t why;
    assert_true(strlen(line) <= 4096);
    json_t *o = json_loads(line, 0, &why);
    assert_non_null(o);
    assert_int_equal(json_integer_value(json_object_get(o, "first")), 1);
    assert_true(json_is_true(json_object_get(o, "cut")));
    json_decref(o);
    free(text);
}

static void levels_filter_and_bad_settings_change_nothing(void **state)
{
    (void)state;
    assert_true(log_configure("error"));
    capture();
    log_warn("hidden", NULL, "n=%d", 1);
    assert_string_equal(captured(), "");
    assert_false(log_configure("error,loud"));
    assert_false(log_enabled(LOG_LEVEL_WARN));
    char now[LOG_SETTING_MAX];
    assert_string_equal(log_setting(now), "error,text");
    assert_true(log_is_setting("warn,json") && log_is_setting("json"));
    assert_false(log_is_setting("") || log_is_setting("loud") ||
                 log_is_setting("info,text,info,text"));
    assert_string_equal(log_setting(now), "error,text"); /* asking changes nothing */
    assert_true(log_configure("debug"));
    assert_true(log_enabled(LOG_LEVEL_DEBUG));
}

static void environment_is_read(void **state)
{
    (void)state;
    setenv("MILLRACE_LOG", "debug,json", 1);
    log_init("test");
    assert_true(log_enabled(LOG_LEVEL_DEBUG));
    log_configure("info,text");
    setenv("MILLRACE_LOG", "noisy", 1);
    capture();
    log_init("test");
    assert_non_null(strstr(captured(), "bad-log-setting MILLRACE_LOG=noisy"));
    unsetenv("MILLRACE_LOG");
}

/* A reader that has stopped must not stop the process that logs. */
static void full_pipe_drops_and_says_so(void **state)
{
    (void)state;
    capture();
    uint64_t before = log_dropped();
    for (int i = 0; i < 2000 && log_dropped() == before; i++)
        log_info("flood", NULL, "i=%d text=%0500d", i, 0);
    assert_int_equal(log_dropped(), before + 1);
    char scratch[4096];
    while (read(pipe_read, scratch, sizeof scratch) > 0)
        ;
    log_info("after", NULL, "i=%d", 1);
    assert_non_null(strstr(captured(), "lines_lost=1"));
}

static void *shout(void *arg)
{
    for (int i = 0; i < 50; i++)
        log_info("shout", NULL, "who=%d i=%d", (int)(intptr_t)arg, i);
    return NULL;
}

static void threads_do_not_mix_lines(void **state)
{
    (void)state;
    pthread_t threads[4];
    capture();
    for (intptr_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, shout, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    int lines = 0;
    for (char *line = strtok(captured(), "\n"); line; line = strtok(NULL, "\n"), lines++)
        assert_non_null(strstr(line, " shout who="));
    assert_int_equal(lines, 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(line_in_words, setup),
        cmocka_unit_test_setup(values_cannot_forge_fields_or_lines, setup),
        cmocka_unit_test_setup(json_line_parses_with_types, setup),
        cmocka_unit_test_setup(numbers_that_json_lacks_become_strings, setup),
        cmocka_unit_test_setup(long_lines_are_cut_whole_fields, setup),
        cmocka_unit_test_setup(levels_filter_and_bad_settings_change_nothing, setup),
        cmocka_unit_test_setup(environment_is_read, setup),
        cmocka_unit_test_setup(full_pipe_drops_and_says_so, setup),
        cmocka_unit_test_setup(threads_do_not_mix_lines, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
