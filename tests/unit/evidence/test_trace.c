/* A trace is what was recorded: its slices nest, and reading it gives the same spans, and with them
 * the same account. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "account.h"
#include "trace.h"

static const struct span_source sources[] = {
    {.actor = {.kind = ACTOR_FINALIZD, .incarnation = 1}, .thread = "desk"},
    {.actor = {.kind = ACTOR_SYNTHD, .node = 0, .index = 2, .incarnation = 3}, .thread = "fill"},
    {.actor = {.kind = ACTOR_GPUD, .incarnation = 1}, .thread = "take"},
    {.actor = {.kind = ACTOR_GPUD, .incarnation = 1}, .thread = "finish"},
    {.actor = {.kind = ACTOR_GPUD, .index = 1, .incarnation = 7}, .thread = "finish"},
};

static uint64_t random_state;
static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

/* Spans of every kind, overlapping as they like. */
static void make(struct spans *s, unsigned n)
{
    uint64_t at = UINT64_C(123456789012345);
    for (unsigned i = 0; i < n; i++) {
        struct span x = {.kind = (uint16_t)(1 + next_random() % (SPAN_KINDS - 1)),
                         .begin_ns = at + next_random() % 1000000,
                         .job = 1 + next_random() % 5,
                         .partition = (uint32_t)(next_random() % 4),
                         .attempt = 1 + (uint32_t)(next_random() % 2),
                         .outcome = next_random() % 10 == 0 ? 14 : 0,
                         .value = next_random() % 1000000,
                         .row = UINT32_MAX};
        x.end_ns = x.begin_ns + next_random() % 3000000;
        at += next_random() % 100000;
        if (!span_info((enum span_kind)x.kind)->value[0])
            x.value = 0;
        assert_int_equal(spans_add(s, &x, &sources[next_random() % 5], NULL), ERR_OK);
    }
    spans_sort(s);
}

static char path[] = "/tmp/millrace-trace-XXXXXX";

static void write_text(const char *text)
{
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
}

static int by_all(const void *a, const void *b)
{
    const struct span *x = &((const struct seen_span *)a)->s,
                      *y = &((const struct seen_span *)b)->s;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns < y->end_ns ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        struct spans s = {0}, back = {0};
        struct err e = {0};
        make(&s, 300);
        FILE *out = fopen(path, "w");
        assert_int_equal(trace_write(out, &s, 0, 0, &e), ERR_OK);
        fclose(out);
        assert_int_equal(trace_read(&back, path, &e), ERR_OK);
        assert_int_equal(back.n, s.n);
        qsort(s.at, s.n, sizeof *s.at, by_all);
        qsort(back.at, back.n, sizeof *back.at, by_all);
        for (size_t i = 0; i < s.n; i++) {
            const struct span *x = &s.at[i].s, *y = &back.at[i].s;
            assert_int_equal(x->kind, y->kind);
            assert_int_equal(x->begin_ns, y->begin_ns);
            assert_int_equal(x->end_ns, y->end_ns);
            assert_int_equal(x->job, y->job);
            assert_int_equal(x->partition, y->partition);
            assert_int_equal(x->attempt, y->attempt);
            assert_int_equal(x->outcome, y->outcome);
            assert_int_equal(x->value, y->value);
            assert_true(actor_equal(&s.source[s.at[i].source].actor,
                                    &back.source[back.at[i].source].actor));
        }
        spans_sort(&s);
        spans_sort(&back);
        struct account *a, *b;
        size_t n, m;
        assert_int_equal(account_make(&s, 0, 0, &a, &n, &e), ERR_OK);
        assert_int_equal(account_make(&back, 0, 0, &b, &m, &e), ERR_OK);
        assert_int_equal(n, m);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(a[i].busy_ns, b[i].busy_ns);
            for (unsigned c = 0; c < GAP_CAUSE_COUNT; c++)
                assert_int_equal(a[i].by_cause_ns[c], b[i].by_cause_ns[c]);
        }
        account_free(&a, n);
        account_free(&b, m);
        spans_free(&s);
        spans_free(&back);
    }
}

static void refused(const char *text, enum err_code code, const char *said)
{
    struct spans s = {0};
    struct err e = {0};
    write_text(text);
    assert_int_equal(trace_read(&s, path, &e), code);
    if (said && !strstr(e.text, said))
        fail_msg("expected '%s' in: %s", said, e.text);
    spans_free(&s);
}

static void what_is_no_trace_is_refused(void **state)
{
    (void)state;
#define PROCESS                                                                                    \
    "{\"traceEvents\":[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":0,\"args\":"      \
    "{\"name\":\"gpud.0#1\"}},"
    refused("", ERR_FORMAT, "line");
    refused("{\"traceEvents\":[", ERR_FORMAT, "line");
    refused("[]", ERR_FORMAT, "traceEvents");
    refused("{\"traceEvents\":7}", ERR_FORMAT, "traceEvents");
    refused("{\"traceEvents\":[1,null,{},[],\"x\"]}", ERR_OK, NULL);
    refused("{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"kernels\",\"pid\":1,\"tid\":1,\"ts\":1}]}",
            ERR_FORMAT, "traceEvents[0]: pid");
    refused(PROCESS "{\"ph\":\"X\",\"name\":\"kernels\",\"pid\":-1,\"tid\":1,\"ts\":1,\"dur\":1}]}",
            ERR_FORMAT, "traceEvents[1]: pid");
    refused(PROCESS "{\"ph\":\"X\",\"name\":\"kernels\",\"pid\":1,\"tid\":1,\"ts\":1}]}",
            ERR_FORMAT, "traceEvents[1]: ts, dur");
    refused(PROCESS "{\"ph\":\"X\",\"name\":\"kernels\",\"pid\":1,\"tid\":1,\"ts\":-4,\"dur\":1}]}",
            ERR_FORMAT, "ts, dur");
    refused(PROCESS "{\"ph\":\"X\",\"name\":\"of another program\",\"pid\":9,\"ts\":\"x\"}]}",
            ERR_OK, NULL);
    refused(PROCESS
            "{\"ph\":\"b\",\"name\":\"grant\",\"id\":\"w3\",\"pid\":1,\"tid\":0,\"ts\":9},"
            "{\"ph\":\"e\",\"name\":\"grant\",\"id\":\"w3\",\"pid\":1,\"tid\":0,\"ts\":5}]}",
            ERR_OK, NULL); /* w3: there are three events, so no third place */
    refused(PROCESS
            "{\"ph\":\"b\",\"name\":\"grant\",\"id\":\"w1\",\"pid\":1,\"tid\":0,\"ts\":9},"
            "{\"ph\":\"e\",\"name\":\"grant\",\"id\":\"w1\",\"pid\":1,\"tid\":0,\"ts\":5}]}",
            ERR_FORMAT, "ends before it begins");
    struct spans s = {0};
    struct err e = {0};
    assert_int_equal(trace_read(&s, "/nonexistent/trace.json", &e), ERR_IO);
    assert_non_null(strstr(e.text, "/nonexistent/trace.json"));
    spans_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(what_is_no_trace_is_refused),
    };
    const char *seed = getenv("MILLRACE_TEST_SEED");
    random_state = seed ? strtoull(seed, NULL, 0) : 0x9e3779b97f4a7c15;
    print_message("MILLRACE_TEST_SEED=%llu\n", (unsigned long long)random_state);
    int fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
