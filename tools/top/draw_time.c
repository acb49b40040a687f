/* What happened when: the GPUs' lanes and the waterfall of partitions. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "views.h"

/* ---- GPUs ---- */

static const char cause_letter[GAP_CAUSE_COUNT] = {
    [GAP_REGISTRATION] = 'g', [GAP_DOWN] = '!',       [GAP_KEY_LOAD] = 'k', [GAP_COPY_IN] = 'c',
    [GAP_FINISH] = 'f',       [GAP_DESCRIPTOR] = '>', [GAP_MATRICES] = 'm', [GAP_WITNESS] = 'w',
    [GAP_SYNTHD] = 's',       [GAP_ROOM] = 'o',       [GAP_NO_WORK] = ' ',
};

static enum style cause_style(enum gap_cause cause)
{
    switch (cause) {
    case GAP_REGISTRATION:
    case GAP_DOWN:
        return STYLE_BAD;
    case GAP_NO_WORK:
        return STYLE_DIM;
    case GAP_SYNTHD:
    case GAP_ROOM:
        return STYLE_WARN;
    case GAP_MATRICES:
    case GAP_WITNESS:
        return STYLE_INPUT;
    case GAP_FINISH:
        return STYLE_END;
    default:
        return STYLE_MOVE;
    }
}

int draw_gap_legend(struct canvas *c, int y, int rows)
{
    enum { LEFT = 9 };
    int x = LEFT, used = 1;
    if (rows < 1)
        return 0;
    for (unsigned i = 0; i < GAP_CAUSE_COUNT; i++) {
        if (cause_letter[i] == ' ')
            continue;
        if (x > LEFT && x + 4 + (int)strlen(gap_cause_name((enum gap_cause)i)) > c->width) {
            if (used == rows)
                break;
            used++;
            y++;
            x = LEFT;
        }
        canvas_cell(c, x, y, cause_style((enum gap_cause)i), cause_letter[i]);
        x = canvas_put(c, x + 2, y, STYLE_DIM, gap_cause_name((enum gap_cause)i)) + 2;
    }
    return used;
}

/* One column a slice: what has most of it. */
static void draw_lane(struct canvas *c, const struct account *a, int x, int y, int width)
{
    uint64_t wall = a->end_ns - a->begin_ns;
    size_t g = 0;
    for (int i = 0; i < width && wall; i++) {
        uint64_t from = a->begin_ns + wall / (uint64_t)width * (uint64_t)i;
        uint64_t to = a->begin_ns + wall / (uint64_t)width * (uint64_t)(i + 1);
        uint64_t idle = 0, most = 0;
        enum gap_cause cause = GAP_NO_WORK;
        while (g < a->n_gaps && a->gap[g].end_ns <= from)
            g++;
        for (size_t k = g; k < a->n_gaps && a->gap[k].begin_ns < to; k++) {
            uint64_t b = a->gap[k].begin_ns > from ? a->gap[k].begin_ns : from;
            uint64_t e = a->gap[k].end_ns < to ? a->gap[k].end_ns : to;
            idle += e - b;
            if (e - b > most) {
                most = e - b;
                cause = a->gap[k].cause;
            }
        }
        if (2 * idle < to - from)
            canvas_block(c, x + i, y, STYLE_GOOD);
        else
            canvas_cell(c, x + i, y, cause_style(cause), cause_letter[cause]);
    }
}

/* What it does now: a kernel, or what it waits for and since when. */
static void draw_now(struct canvas *c, const struct account *a, int x, int y)
{
    const struct gap *last = a->n_gaps ? &a->gap[a->n_gaps - 1] : NULL;
    char age[16];
    if (!last || last->end_ns < a->end_ns) {
        canvas_put(c, x, y, STYLE_GOOD, "now busy");
        return;
    }
    canvas_printf(c, x, y, cause_style(last->cause), "idle for %s: %s",
                  text_age((double)(last->end_ns - last->begin_ns), age),
                  gap_cause_name(last->cause));
}

static const struct live_actor *actor_of(const struct live_view *v, const struct actor *who)
{
    for (size_t i = 0; i < v->n_actors; i++)
        if (v->actor[i].who.kind == who->kind && v->actor[i].who.index == who->index)
            return &v->actor[i];
    return NULL;
}

int draw_gpus(struct canvas *c, const struct live_view *v, int y, int rows)
{
    int used = 0;
    for (size_t i = 0; i < v->n_accounts && used + 2 <= rows; i++) {
        const struct account *a = &v->account[i];
        const struct live_actor *who = actor_of(v, &a->gpud);
        char name[ACTOR_NAME_MAX];
        double wall = (double)(a->end_ns - a->begin_ns);
        double busy = wall > 0 ? (double)a->busy_ns / wall : 0;
        int x = canvas_printf(c, 0, y + used, STYLE_TITLE, "%-9s", actor_name(&a->gpud, name));
        x = canvas_bar(c, x, y + used, 20, busy, STYLE_GOOD);
        x = canvas_printf(c, x, y + used, STYLE_PLAIN, " %5.1f %% busy  %.1f proofs/s  ",
                          100 * busy, who ? who->rate[STAT_PARTITIONS_PROVED] : 0.0);
        draw_now(c, a, x, y + used++);
        canvas_put(c, 0, y + used, STYLE_DIM, "  lane");
        draw_lane(c, a, 9, y + used++, c->width - 9);
    }
    return used;
}

/* ---- partitions ---- */

/* How a step is drawn; where several share a column the higher rank is seen. */
static const struct look {
    char letter;
    enum style style;
    unsigned char rank;
} looks[SPAN_KINDS] = {
    [SPAN_QUEUE_WAIT] = {'q', STYLE_DIM, 1},   [SPAN_ROOM_WAIT] = {'o', STYLE_WARN, 2},
    [SPAN_SYNTHD_WAIT] = {'s', STYLE_WARN, 2}, [SPAN_FILL_WAIT] = {'s', STYLE_WARN, 2},
    [SPAN_ATTEMPT] = {'>', STYLE_MOVE, 3},     [SPAN_GRANT] = {'>', STYLE_MOVE, 3},
    [SPAN_RING] = {'>', STYLE_MOVE, 3},        [SPAN_PUBLISH] = {'>', STYLE_MOVE, 3},
    [SPAN_READY_WAIT] = {'r', STYLE_WARN, 2},  [SPAN_DESK_WAIT] = {'d', STYLE_END, 3},
    [SPAN_PROGRAM] = {'w', STYLE_INPUT, 5},    [SPAN_WITNESS] = {'w', STYLE_INPUT, 5},
    [SPAN_MATRICES] = {'m', STYLE_INPUT, 6},   [SPAN_KEY_LOAD] = {'k', STYLE_MOVE, 7},
    [SPAN_PROVE_START] = {'c', STYLE_MOVE, 4}, [SPAN_COPY_IN] = {'c', STYLE_MOVE, 7},
    [SPAN_PROVE_FINISH] = {'f', STYLE_END, 3}, [SPAN_KERNELS] = {'#', STYLE_GOOD, 9},
    [SPAN_RESULT] = {'v', STYLE_END, 4},       [SPAN_PAIRING] = {'v', STYLE_END, 5},
    [SPAN_COMMIT] = {'l', STYLE_END, 4},       [SPAN_SETTLE] = {'l', STYLE_END, 3},
};

struct axis {
    uint64_t begin_ns, end_ns;
    int x, width;
};

static int column(const struct axis *a, uint64_t at)
{
    if (at <= a->begin_ns)
        return 0;
    if (at >= a->end_ns)
        return a->width - 1;
    return (int)((double)(at - a->begin_ns) / (double)(a->end_ns - a->begin_ns) * a->width);
}

static void draw_bar(struct canvas *c, const struct live_view *v, const struct live_partition *p,
                     const struct axis *axis, int y)
{
    unsigned char *rank = calloc((size_t)axis->width + 1, 1);
    if (!rank)
        return;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct span *s = &v->spans.at[v->span_of[p->first + i]].s;
        const struct look *look = &looks[s->kind];
        if (!look->letter || s->end_ns < axis->begin_ns || s->begin_ns > axis->end_ns)
            continue;
        for (int k = column(axis, s->begin_ns); k <= column(axis, s->end_ns); k++) {
            if (rank[k] >= look->rank)
                continue;
            rank[k] = look->rank;
            if (look->letter == '#')
                canvas_block(c, axis->x + k, y, look->style);
            else
                canvas_cell(c, axis->x + k, y, look->style, look->letter);
        }
    }
    free(rank);
}

static void draw_partition(struct canvas *c, const struct live_view *v,
                           const struct live_partition *p, const struct axis *axis, int y)
{
    char name[32], age[16];
    snprintf(name, sizeof name, "%" PRIu64 ".%u", p->job, p->partition);
    const char *state = p->open      ? lease_state_name(p->lease.state)
                        : p->outcome ? err_word((enum err_code)p->outcome)
                                     : "";
    int x = canvas_printf(c, 0, y, STYLE_PLAIN, "%-10.10s ", name);
    x = canvas_printf(c, x, y,
                      p->outcome ? STYLE_BAD
                      : p->open  ? STYLE_GOOD
                                 : STYLE_DIM,
                      "%-9.9s", state);
    canvas_printf(c, x, y, STYLE_DIM, "%9s", text_age((double)(p->end_ns - p->begin_ns), age));
    if (p->attempt > 1)
        canvas_printf(c, x + 9, y, STYLE_WARN, "x%-2u", p->attempt);
    draw_bar(c, v, p, axis, y);
}

int draw_partitions(struct canvas *c, const struct live_view *v, double window_s, int y, int rows,
                    int *skip)
{
    enum { LEFT = 33 };
    int used = 0, n = (int)v->n_partitions;
    if (rows < 2)
        return 0;
    uint64_t window = (uint64_t)(window_s * 1e9);
    struct axis axis = {.begin_ns = v->now_ns > window ? v->now_ns - window : 0,
                        .end_ns = v->now_ns,
                        .x = LEFT,
                        .width = c->width > LEFT + 1 ? c->width - LEFT : 1};
    int x = canvas_put(c, 0, y, STYLE_TITLE, "PARTITION  STATE         TIME");
    if (x < LEFT)
        canvas_printf(c, LEFT, y, STYLE_DIM, "-%.0f s", window_s);
    canvas_put(c, c->width - 3, y + used++, STYLE_DIM, "now");
    if (*skip >= n)
        *skip = n ? n - 1 : 0;
    for (int i = n - 1 - *skip; i >= 0 && used < rows; i--)
        draw_partition(c, v, &v->partition[i], &axis, y + used++);
    if (n == 0 && used < rows)
        canvas_put(c, 0, y + used++, STYLE_DIM, "none within the window");
    return used;
}
