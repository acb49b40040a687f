/* pool: every index once, worker numbers in range, loops one after the other, any thread count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "pool.h"

enum { N = 5000 };

struct seen {
    struct pool *pool;
    atomic_uint times[N];
    atomic_bool bad_worker;
};

static void mark(void *arg, size_t i, unsigned worker)
{
    struct seen *s = arg;
    atomic_fetch_add(&s->times[i], 1);
    if (worker >= pool_threads(s->pool))
        atomic_store(&s->bad_worker, true);
}

static void mark_range(void *arg, size_t begin, size_t end, unsigned worker)
{
    for (size_t i = begin; i < end; i++)
        mark(arg, i, worker);
}

static void every_index_runs_once(void **state)
{
    (void)state;
    static const unsigned threads[] = {0, 1, 2, 3, 7};
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        struct err e;
        struct seen *s = calloc(1, sizeof *s);
        s->pool = pool_new(threads[t], NULL, &e);
        assert_non_null(s->pool);
        if (threads[t])
            assert_int_equal(pool_threads(s->pool), threads[t]);
        unsigned rounds = 0;
        for (size_t n = 0; n <= N; n += n < 4 ? 1 : 833, rounds++) {
            memset(s->times, 0, sizeof s->times);
            pool_run(s->pool, mark, s, n);
            for (size_t i = 0; i < N; i++)
                assert_int_equal(s->times[i], i < n);
            pool_range(s->pool, mark_range, s, n, n / 7);
            for (size_t i = 0; i < N; i++)
                assert_int_equal(s->times[i], 2 * (i < n));
        }
        assert_true(rounds > 5);
        assert_false(s->bad_worker);
        pool_free(&s->pool);
        assert_null(s->pool);
        free(s);
    }
}

static void add_to_plain(void *arg, size_t i, unsigned worker)
{
    (void)worker;
    ((uint64_t *)arg)[i]++; /* not atomic: loops must be ordered one after the other */
}

static void loops_are_ordered(void **state)
{
    (void)state;
    struct pool *p = pool_new(4, NULL, NULL);
    uint64_t *x = calloc(64, sizeof *x);
    for (int round = 0; round < 3000; round++)
        pool_run(p, add_to_plain, x, 64);
    for (size_t i = 0; i < 64; i++)
        assert_int_equal(x[i], 3000);
    free(x);
    pool_free(&p);
}

static void no_pool_runs_on_the_caller(void **state)
{
    (void)state;
    uint64_t x[16] = {0};
    pool_run(NULL, add_to_plain, x, 16);
    for (size_t i = 0; i < 16; i++)
        assert_int_equal(x[i], 1);
    assert_int_equal(pool_threads(NULL), 1);
    struct pool *none = NULL;
    pool_free(&none);
}

static void a_bad_cpu_is_named(void **state)
{
    (void)state;
    struct err e = {0};
    int cpus[2] = {0, 1 << 20};
    assert_null(pool_new(2, cpus, &e));
    assert_int_equal(e.code, ERR_VALUE);
    assert_non_null(strstr(e.text, "1048576"));
    assert_null(pool_new(1u << 30, NULL, &e));
    assert_int_equal(e.code, ERR_VALUE);
}

static void run_nested(void *arg, size_t i, unsigned worker)
{
    (void)i;
    (void)worker;
    uint64_t x[4] = {0};
    pool_run(arg, add_to_plain, x, 4);
}

static void a_nested_loop_is_a_broken_invariant(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        if (!freopen("/dev/null", "w", stderr))
            _exit(3);
        struct pool *p = pool_new(1, NULL, NULL);
        pool_run(p, run_nested, p, 1);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_runs_once),
        cmocka_unit_test(loops_are_ordered),
        cmocka_unit_test(no_pool_runs_on_the_caller),
        cmocka_unit_test(a_bad_cpu_is_named),
        cmocka_unit_test(a_nested_loop_is_a_broken_invariant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
