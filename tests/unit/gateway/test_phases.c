/* Counters over all time out of a window that moves on: nothing is counted twice or left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "phases.h"

#define SECOND UINT64_C(1000000000)
static const struct span_source gpud = {.actor = {.kind = ACTOR_GPUD, .incarnation = 1},
                                        .thread = "main"};

static void add(struct live_view *v, enum span_kind kind, uint64_t job, uint64_t begin,
                uint64_t end)
{
    struct err e;
    struct span s = {.kind = (uint16_t)kind, .job = job, .begin_ns = begin, .end_ns = end};
    assert_int_equal(spans_add(&v->spans, &s, &gpud, &e), ERR_OK);
}

static double metric(const struct phases *p, const char *name)
{
    struct text out = {0};
    phases_metrics(p, &out);
    const char *at = strstr(out.at, name);
    assert_non_null(at);
    double value = strtod(at + strlen(name), NULL);
    text_free(&out);
    return value;
}

static double all_states(const struct phases *p)
{
    struct text out = {0};
    double sum = 0;
    phases_metrics(p, &out);
    for (const char *at = out.at; (at = strstr(at, "millrace_gpu_time_seconds_total{"));) {
        at = strchr(at, '}') + 1;
        sum += strtod(at, NULL);
    }
    text_free(&out);
    return sum;
}

/* A minute's window, looked at each second for five minutes: half a second of kernels in each. */
static void states_add_up_to_the_wall_clock(void **state)
{
    struct phases *p = phases_new();
    struct live_view v = {0};
    struct err e;
    uint64_t first = 1000 * SECOND, now = first;
    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        now += SECOND;
        add(&v, SPAN_KERNELS, i + 1, now - SECOND, now - SECOND / 2);
        v.now_ns = now;
        v.begin_ns = now - 60 * SECOND;
        spans_sort(&v.spans);
        assert_int_equal(
            account_make(&v.spans, v.begin_ns, v.now_ns, &v.account, &v.n_accounts, &e), ERR_OK);
        assert_int_equal(phases_account(p, &v, &e), ERR_OK);
        account_free(&v.account, v.n_accounts);
    }
    double wall = all_states(p);
    assert_true(wall > 290 && wall <= 300); /* all but what is not settled yet */
    double busy = metric(p, "{gpu=\"gpud.0\",state=\"busy\"} ");
    assert_true(busy > wall / 2 - 1 && busy < wall / 2 + 1);
    /* Nothing more happens: idle time is counted all the same. */
    for (unsigned i = 0; i < 50; i++) {
        now += SECOND;
        v.now_ns = now;
        v.begin_ns = now - 60 * SECOND;
        assert_int_equal(
            account_make(&v.spans, v.begin_ns, v.now_ns, &v.account, &v.n_accounts, &e), ERR_OK);
        assert_int_equal(phases_account(p, &v, &e), ERR_OK);
        account_free(&v.account, v.n_accounts);
    }
    assert_true(all_states(p) > 315);
    assert_true(metric(p, "{gpu=\"gpud.0\",state=\"busy\"} ") < 151);
    spans_free(&v.spans);
    phases_free(&p);
}

static void histograms_hold_every_step_once(void **state)
{
    struct phases *p = phases_new();
    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        struct span s = {.kind = SPAN_WITNESS, .begin_ns = 5, .end_ns = 5, .value = 100};
        s.end_ns += i < 6 ? 2000000 : 20 * SECOND; /* 2 ms, 20 s */
        s.outcome = i == 9;
        phases_span(p, &s, &gpud);
    }
    assert_true(metric(p, "bucket{phase=\"witness\",le=\"0.001\"} ") == 0);
    assert_true(metric(p, "bucket{phase=\"witness\",le=\"0.0025\"} ") == 6);
    assert_true(metric(p, "bucket{phase=\"witness\",le=\"10\"} ") == 6);
    assert_true(metric(p, "bucket{phase=\"witness\",le=\"+Inf\"} ") == 10);
    assert_true(metric(p, "count{phase=\"witness\"} ") == 10);
    assert_true(metric(p, "failures_total{phase=\"witness\"} ") == 1);
    assert_true(metric(p, "processed_total{phase=\"witness\",unit=\"bytes\"} ") == 1000);
    double sum = metric(p, "sum{phase=\"witness\"} ");
    assert_true(sum > 80.011 && sum < 80.013);
    phases_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_add_up_to_the_wall_clock),
        cmocka_unit_test(histograms_hold_every_step_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
