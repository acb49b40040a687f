/* top: the instance on a terminal, live; or once, as plain text. */
#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>
#include "command.h"
#include "screen.h"
#include "views.h"

struct args {
    const char *dir;
    double every, window;
    bool once;
    uint64_t count;
};
static const struct option options[] = {
    {"dir", 'd', OPTION_TEXT, "DIR", offsetof(struct args, dir), "the instance's directory"},
    {"every", 'n', OPTION_SECONDS, "TIME", offsetof(struct args, every), "draw so often (1s)"},
    {"window", 'w', OPTION_SECONDS, "TIME", offsetof(struct args, window),
     "how far back lanes, shares and partitions reach (60s)"},
    {"once", '1', OPTION_FLAG, NULL, offsetof(struct args, once),
     "print one screen as text and end; so it is, too, when the output is no terminal"},
    {"count", 'c', OPTION_COUNT, "N", offsetof(struct args, count),
     "print so many screens as text, one every --every"},
    {0}};
static const struct args defaults = {.every = 1, .window = 60};

enum { WIDTH = 110, HEIGHT = 60, DIR_MAX = 4096 };
static const double window_least = 1, window_most = 3600;

struct top {
    struct instance instance;
    struct live *live;
    struct view_state state;
};

static enum err_code open_live(struct top *t, struct err *e)
{
    live_close(&t->live);
    const struct live_options o = {.window_s = t->state.window_s, .account_of_window = true};
    t->live = live_open(&t->instance, &o, e);
    return t->live ? ERR_OK : e->code;
}

/* ---- as text, as JSON ---- */

static enum err_code print_text(struct top *t, struct err *e)
{
    struct canvas c;
    if (!canvas_new(&c, WIDTH, HEIGHT, strcmp(nl_langinfo(CODESET), "UTF-8") == 0))
        return err_set(e, ERR_MEMORY, "no memory for a screen");
    view_draw(&c, live_view(t->live), &t->state, false);
    canvas_print(&c, stdout);
    canvas_free(&c);
    return ERR_OK;
}

static json_t *gpus_json(const struct live_view *v)
{
    json_t *list = json_array();
    for (size_t i = 0; i < v->n_accounts; i++) {
        const struct account *a = &v->account[i];
        const struct gap *last = a->n_gaps ? &a->gap[a->n_gaps - 1] : NULL;
        bool idle = last && last->end_ns == a->end_ns;
        char name[ACTOR_NAME_MAX];
        json_t *o = json_pack("{s:s,s:I,s:I,s:b}", "gpud", actor_name(&a->gpud, name), "wall_ns",
                              (json_int_t)(a->end_ns - a->begin_ns), "busy_ns",
                              (json_int_t)a->busy_ns, "busy_now", !idle);
        if (idle)
            json_object_update_new(o, json_pack("{s:s,s:I}", "waits_for",
                                                gap_cause_name(last->cause), "idle_ns",
                                                (json_int_t)(last->end_ns - last->begin_ns)));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *leases_json(const struct live_view *v)
{
    json_t *list = json_array();
    for (size_t i = 0; i < v->n_leases; i++) {
        const struct live_lease *l = &v->lease[i];
        json_array_append_new(
            list, json_pack("{s:i,s:i,s:s,s:I,s:I,s:i,s:i}", "node", (int)l->node, "row",
                            (int)l->row, "state", lease_state_name(l->state), "age_ns",
                            (json_int_t)l->age_ns, "job", (json_int_t)l->job, "partition",
                            (int)l->partition, "attempt", (int)l->attempt));
    }
    return list;
}

static enum err_code print_json(struct top *t, struct err *e)
{
    const struct live_view *v = live_view(t->live);
    json_t *o = json_pack("{s:b,s:f,s:o,s:o,s:O?,s:O?}", "up", view_is_up(v), "window_s",
                          t->state.window_s, "gpus", gpus_json(v), "leases", leases_json(v),
                          "status", v->desk.status, "jobs", v->desk.jobs);
    if (!o)
        return err_set(e, ERR_MEMORY, "no memory for a report");
    json_dumpf(o, stdout, JSON_INDENT(1));
    putchar('\n');
    json_decref(o);
    return ERR_OK;
}

/* Rates are known after some seconds, so a single screen takes as long. */
static enum err_code print_screens(struct top *t, uint64_t n, double every, bool json,
                                   struct err *e)
{
    enum err_code rc = ERR_OK;
    setlocale(LC_CTYPE, "");
    for (uint64_t i = 0; i < n && rc == ERR_OK; i++) {
        uint64_t until = span_now_ns() + (uint64_t)((i || every > 3 ? every : 2.5) * 1e9);
        do
            rc = live_turn(t->live, 100, e);
        while (rc == ERR_OK && span_now_ns() < until && view_is_up(live_view(t->live)));
        if (rc != ERR_OK)
            break;
        rc = json ? print_json(t, e) : print_text(t, e);
        if (i + 1 < n && !json)
            putchar('\n');
        fflush(stdout);
        if (ferror(stdout))
            return err_set(e, ERR_IO, "standard output: cannot be written");
    }
    if (rc == ERR_OK && !view_is_up(live_view(t->live)))
        rc = err_set(e, ERR_UNAVAILABLE, "%s: nothing runs there: `millrace up` starts it",
                     t->instance.dir);
    return rc;
}

/* ---- on a terminal ---- */

static enum err_code draw(struct top *t, struct err *e)
{
    int width, height;
    struct canvas c;
    screen_size(&width, &height);
    if (!canvas_new(&c, width, height, screen_utf8()))
        return err_set(e, ERR_MEMORY, "no memory for a screen");
    view_draw(&c, live_view(t->live), &t->state, true);
    screen_show(&c);
    canvas_free(&c);
    return ERR_OK;
}

static enum err_code change_window(struct top *t, double factor, struct err *e)
{
    double w = t->state.window_s * factor;
    t->state.window_s = w < window_least ? window_least : w > window_most ? window_most : w;
    if (open_live(t, e))
        return e->code;
    return live_turn(t->live, 0, e);
}

/* False: the person wants to leave. */
static bool act(struct top *t, int key, enum err_code *rc, struct err *e)
{
    struct view_state *s = &t->state;
    enum view_page was = s->page;
    switch (key) {
    case 'q':
    case 'Q':
        return false;
    case ' ':
        s->paused = !s->paused;
        break;
    case '+':
    case '=':
        *rc = change_window(t, 2, e);
        break;
    case '-':
        *rc = change_window(t, 0.5, e);
        break;
    case 'h':
    case '?':
        s->page = s->page == PAGE_HELP ? PAGE_ALL : PAGE_HELP;
        break;
    case '\t':
        s->page = (enum view_page)((s->page + 1) % PAGE_HELP);
        break;
    case KEY_SCROLL_UP:
        s->scroll -= s->scroll > 0;
        break;
    case KEY_SCROLL_DOWN:
        s->scroll++;
        break;
    case KEY_PAGE_UP:
        s->scroll = s->scroll > 20 ? s->scroll - 20 : 0;
        break;
    case KEY_PAGE_DOWN:
        s->scroll += 20;
        break;
    default:
        if (key >= '1' && key < '1' + PAGE_HELP)
            s->page = (enum view_page)(key - '1');
        break;
    }
    if (s->page != was)
        s->scroll = 0;
    return true;
}

static enum err_code watch(struct top *t, double every, struct err *e)
{
    uint64_t next = 0;
    enum err_code rc = screen_open(e);
    while (rc == ERR_OK && !screen_ended()) {
        uint64_t now = span_now_ns();
        if (now >= next) {
            if (!t->state.paused)
                rc = live_turn(t->live, 0, e);
            /* The desk's first answers are not waited for: they come within the first turns. */
            next = now + (uint64_t)((live_view(t->live)->desk.status ? every : 0.1) * 1e9);
        }
        if (rc == ERR_OK)
            rc = draw(t, e);
        now = span_now_ns();
        int key = rc == ERR_OK ? screen_key(next > now ? (int)((next - now) / 1000000) + 1 : 0)
                               : KEY_NONE;
        if (key != KEY_NONE && !act(t, key, &rc, e))
            break;
    }
    screen_close(); /* before anything is said */
    return rc;
}

static enum err_code run_top(const struct invocation *in, struct err *e)
{
    const struct args *a = in->args;
    struct top t = {0};
    char dir[DIR_MAX];
    instance_default_dir(a->dir, dir, sizeof dir);
    if (a->every < 0.1 || a->window < window_least || a->window > window_most)
        return err_set(e, ERR_USAGE, "top: --every is at least 0.1s, --window from %.0fs to %.0fs",
                       window_least, window_most);
    if (instance_open(&t.instance, dir, e))
        return e->code;
    t.state = (struct view_state){.dir = t.instance.dir, .window_s = a->window};
    enum err_code rc = open_live(&t, e);
    bool text = a->once || a->count || in->json || !isatty(STDOUT_FILENO);
    if (rc == ERR_OK && text)
        rc = print_screens(&t, a->count ? a->count : 1, a->every, in->json, e);
    else if (rc == ERR_OK)
        rc = watch(&t, a->every, e);
    live_close(&t.live);
    instance_close(&t.instance);
    return rc;
}

const struct command command_top = {
    .name = "top",
    .summary = "GPUs, jobs, partitions, leases and memory on a screen, live",
    .operands = "",
    .text =
        "Lanes say when each GPU was busy and what it waited for otherwise; the waterfall says\n"
        "where every partition spent its time. Keys stand on the last line: q ends it, 1 to 5\n"
        "choose a page, h explains the letters. It only reads: it cannot slow the pipeline.\n"
        "It stays when the instance goes down and shows it again when it is back.",
    .options = options,
    .args_bytes = sizeof(struct args),
    .defaults = &defaults,
    .run = run_top,
};
