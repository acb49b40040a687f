/* The pages: which sections stand where. */
#include "views.h"
#include <inttypes.h>
#include <string.h>

const char *text_bytes(double bytes, char out[16])
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    unsigned u = 0;
    while (bytes >= 1024 && u < 4) {
        bytes /= 1024;
        u++;
    }
    snprintf(out, 16, bytes < 10 && u ? "%.1f %s" : "%.0f %s", bytes, unit[u]);
    return out;
}

const char *text_age(double ns, char out[16])
{
    double s = ns / 1e9;
    if (s < 1)
        snprintf(out, 16, "%.0f ms", s * 1e3);
    else if (s < 60)
        snprintf(out, 16, "%.1f s", s);
    else if (s < 3600)
        snprintf(out, 16, "%.0f m %02.0f s", (double)(int)(s / 60), s - 60 * (int)(s / 60));
    else
        snprintf(out, 16, "%.0f h %02.0f m", (double)(int)(s / 3600), (double)((int)(s / 60) % 60));
    return out;
}

bool view_is_up(const struct live_view *v)
{
    for (size_t i = 0; i < v->n_actors; i++)
        if (v->actor[i].running)
            return true;
    return v->desk.present && v->n_nodes > 0;
}

struct page {
    char key;
    const char *name;
};
static const struct page pages[PAGES] = {
    [PAGE_ALL] = {'1', "all"},
    [PAGE_JOBS] = {'2', "jobs"},
    [PAGE_PARTITIONS] = {'3', "partitions"},
    [PAGE_MEMORY] = {'4', "memory"},
    [PAGE_DAEMONS] = {'5', "daemons"},
    [PAGE_HELP] = {'h', "help"},
};

static void draw_keys(struct canvas *c, const struct view_state *s, int y)
{
    int x = canvas_put(c, 0, y, STYLE_TITLE, "q");
    x = canvas_put(c, x, y, STYLE_PLAIN, " quit ");
    for (unsigned p = 0; p < PAGES; p++) {
        char key[2] = {pages[p].key, 0};
        x = canvas_put(c, x + 1, y, STYLE_TITLE, key);
        x = canvas_printf(c, x, y, s->page == p ? STYLE_TITLE : STYLE_PLAIN, " %s ", pages[p].name);
    }
    x = canvas_put(c, x + 1, y, STYLE_TITLE, "space");
    x = canvas_put(c, x, y, STYLE_PLAIN, s->paused ? " go on " : " pause ");
    x = canvas_put(c, x + 1, y, STYLE_TITLE, "+ -");
    x = canvas_put(c, x, y, STYLE_PLAIN, " window ");
    x = canvas_put(c, x + 1, y, STYLE_TITLE, "up down");
    canvas_put(c, x, y, STYLE_PLAIN, " scroll");
}

static int draw_help(struct canvas *c, int y, int rows)
{
    static const char *const text[] = {
        "What this shows is read out of the instance's shared memory: it takes no lock and slows",
        "nothing. What only the desk knows (jobs, budget) is asked for once a second.",
        "",
        "GPU lane      one column a slice of the window: a block is a kernel running, a letter",
        "              is the cause of a gap:",
        "",
        "partitions    one row a partition, newest first, one column a slice of the window:",
        "              q waits in the queue   o waits for room    s waits for a synthd",
        "              > message on its way   w witness           m matrices",
        "              r ready, GPU occupied  k key load          c copy in",
        "              # kernels              f prove_finish      d waits for the desk",
        "              v proof and pairing    l ledger",
        "",
        "leases        how many are in each state, and the age of the oldest in it",
    };
    int used = 0;
    for (size_t i = 0; i < sizeof text / sizeof *text && used < rows; i++) {
        canvas_put(c, 0, y + used++, STYLE_PLAIN, text[i]);
        if (i == 4)
            used += draw_gap_legend(c, y + used, rows - used);
    }
    return used;
}

/* Everything that matters, each section with what the window has room for. */
static void draw_all(struct canvas *c, const struct live_view *v, const struct view_state *s, int y,
                     int end)
{
    int top = 0;
    y += draw_gpus(c, v, y, end - y);
    if (end - y > 14)
        y += draw_gap_legend(c, y, 2);
    int fixed = (int)v->n_nodes + 3; /* leases, nodes, budget */
    if (end - y > fixed + 4) {
        y += draw_leases(c, v, y, end - y);
        y += draw_nodes(c, v, y, end - y);
        y += draw_budget(c, v, y, end - y);
    }
    int jobs = (end - y) / 3;
    if (jobs > 3)
        y += draw_jobs(c, v, y, jobs, &top);
    top = 0;
    draw_partitions(c, v, s->window_s, y, end - y, &top);
}

void view_draw(struct canvas *c, const struct live_view *v, struct view_state *s, bool keys)
{
    int y = 0, end = c->height - (keys ? 1 : 0);
    y += draw_head(c, v, s, y, end);
    switch (s->page) {
    case PAGE_JOBS:
        draw_jobs(c, v, y, end - y, &s->scroll);
        break;
    case PAGE_PARTITIONS:
        y += draw_gpus(c, v, y, end - y);
        draw_partitions(c, v, s->window_s, y, end - y, &s->scroll);
        break;
    case PAGE_MEMORY:
        y += draw_budget(c, v, y, end - y);
        y += draw_nodes(c, v, y, end - y);
        draw_leases(c, v, y, end - y);
        break;
    case PAGE_DAEMONS:
        draw_daemons(c, v, y, end - y, &s->scroll);
        break;
    case PAGE_HELP:
        draw_help(c, y, end - y);
        break;
    default:
        draw_all(c, v, s, y, end);
        break;
    }
    if (keys)
        draw_keys(c, s, c->height - 1);
}
