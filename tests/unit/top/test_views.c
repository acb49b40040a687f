/* What `top` draws, without a terminal: into windows of every size, in UTF-8 and in ASCII. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include "views.h"

#define S UINT64_C(1000000000)

static struct seen_span spans[3];
static uint32_t span_of[3] = {0, 1, 2};
static struct gap gaps[2];
static struct account account;
static struct live_partition partitions[2];
static struct live_actor actors[3];
static struct live_node node;
static struct live_view view;

static void make_view(void)
{
    view = (struct live_view){.now_ns = 100 * S, .begin_ns = 90 * S, .wall_ns = 1700000000 * S};
    spans[0].s =
        (struct span){.kind = SPAN_WITNESS, .begin_ns = 91 * S, .end_ns = 93 * S, .job = 7};
    spans[1].s =
        (struct span){.kind = SPAN_KERNELS, .begin_ns = 93 * S, .end_ns = 97 * S, .job = 7};
    spans[2].s = (struct span){.kind = SPAN_COMMIT, .begin_ns = 97 * S, .end_ns = 98 * S, .job = 7};
    view.spans = (struct spans){.at = spans, .n = 3};
    view.span_of = span_of;
    gaps[0] = (struct gap){.begin_ns = 90 * S, .end_ns = 93 * S, .cause = GAP_WITNESS};
    gaps[1] = (struct gap){.begin_ns = 97 * S, .end_ns = 100 * S, .cause = GAP_ROOM};
    account = (struct account){.gpud = {.kind = ACTOR_GPUD},
                               .begin_ns = 90 * S,
                               .end_ns = 100 * S,
                               .busy_ns = 4 * S,
                               .gap = gaps,
                               .n_gaps = 2};
    view.account = &account;
    view.n_accounts = 1;
    partitions[0] = (struct live_partition){
        .job = 7, .attempt = 1, .begin_ns = 91 * S, .end_ns = 98 * S, .first = 0, .n = 3};
    partitions[1] = (struct live_partition){
        .job = 8, .attempt = 2, .begin_ns = 99 * S, .end_ns = 100 * S, .open = true};
    partitions[1].lease.state = LEASE_FILLING;
    view.partition = partitions;
    view.n_partitions = 2;
    static const enum actor_kind kinds[] = {ACTOR_FINALIZD, ACTOR_SYNTHD, ACTOR_GPUD};
    for (int i = 0; i < 3; i++) {
        actors[i] = (struct live_actor){.who = {.kind = kinds[i]}, .running = i != 2, .pid = 41};
        actor_name(&actors[i].who, actors[i].name);
    }
    view.actor = actors;
    view.n_actors = 3;
    node = (struct live_node){.total_bytes = 256 << 20, .used_bytes = 64 << 20, .rows = 16};
    node.count[LEASE_FILLING] = 1;
    node.oldest_ns[LEASE_FILLING] = S;
    node.count[LEASE_FREE] = 15;
    view.node = &node;
    view.n_nodes = 1;
    view.desk.present = true;
    view.desk.status =
        json_pack("{s:s,s:i,s:{s:I,s:I,s:I,s:I}}", "state", "running", "jobs_open", 2, "memory",
                  "limit_bytes", (json_int_t)1 << 30, "charged_bytes", (json_int_t)1 << 29,
                  "arena_bytes", (json_int_t)1 << 28, "key_bytes", (json_int_t)1 << 28);
    view.desk.jobs =
        json_pack("[{s:i,s:s,s:i,s:i,s:i,s:i,s:s}]", "job", 7, "state", "running", "priority", 100,
                  "partitions", 16, "proved", 4, "age_ms", 1500, "circuit", "withdr\xc3\xa4w");
}

static char *drawn(int width, int height, enum view_page page, bool utf8, int scroll)
{
    struct view_state s = {.dir = "/instance", .page = page, .window_s = 10, .scroll = scroll};
    struct canvas c;
    char *text = NULL;
    size_t n = 0;
    assert_true(canvas_new(&c, width, height, utf8));
    view_draw(&c, &view, &s, true);
    FILE *out = open_memstream(&text, &n);
    canvas_print(&c, out);
    fclose(out);
    canvas_free(&c);
    return text;
}

static void any_size_is_drawn(void **state)
{
    (void)state;
    for (int width = 0; width < 130; width += width < 20 ? 1 : 7)
        for (int height = 0; height < 40; height++)
            for (int page = 0; page < PAGES; page++) {
                char *text = drawn(width, height, (enum view_page)page, false, height);
                int lines = 0;
                for (char *line = text; *line; lines++) {
                    size_t n = strcspn(line, "\n");
                    assert_true((int)n <= width);
                    line += n + (line[n] == '\n');
                }
                assert_true(lines <= height);
                free(text);
            }
}

static void shown(const char *text, const char *what)
{
    if (!strstr(text, what))
        fail_msg("'%s' is not shown:\n%s", what, text);
}

static void it_says_what_there_is(void **state)
{
    (void)state;
    char *text = drawn(120, 40, PAGE_ALL, false, 0);
    shown(text, "running");
    shown(text, "jobs open 2");
    shown(text, "gpud.0   ########............  40.0 % busy");
    shown(text, "idle for 3.0 s: room");
    shown(text, "FILLING 1 (1.0 s)");
    shown(text, "64 MiB of 256 MiB");
    shown(text, "512 MiB of 1.0 GiB");
    shown(text, "   4/16");
    shown(text, "8.0        FILLING");
    shown(text, "q quit");
    char *lane = strstr(text, "  lane");
    assert_non_null(lane);
    assert_true(strspn(lane + 9, "w") > 20); /* three of ten seconds */
    shown(lane, "w######");
    shown(lane, "#oooooo");
    free(text);
    text = drawn(120, 40, PAGE_DAEMONS, false, 0);
    shown(text, "gpud.0         dead");
    shown(text, "finalizd       alive");
    free(text);
}

static void characters_are_those_of_the_locale(void **state)
{
    (void)state;
    char *text = drawn(120, 40, PAGE_JOBS, false, 0);
    for (const char *p = text; *p; p++)
        assert_true((unsigned char)*p < 0x80);
    shown(text, "withdr??w");
    free(text);
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        skip();
    text = drawn(120, 40, PAGE_JOBS, true, 0);
    shown(text, "withdr\xc3\xa4w");
    shown(text, "\xe2\x96\x88");
    free(text);
    setlocale(LC_CTYPE, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_size_is_drawn),
        cmocka_unit_test(it_says_what_there_is),
        cmocka_unit_test(characters_are_those_of_the_locale),
    };
    make_view();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    json_decref(view.desk.status);
    json_decref(view.desk.jobs);
    return failed;
}
