/* views: what `millrace top` shows, drawn on a canvas from a live view. No terminal is needed. */
#pragma once
#include "canvas.h"
#include "live.h"

enum view_page {
    PAGE_ALL,
    PAGE_JOBS,
    PAGE_PARTITIONS,
    PAGE_MEMORY,
    PAGE_DAEMONS,
    PAGE_HELP,
    PAGES
};

struct view_state {
    const char *dir;
    enum view_page page;
    int scroll; /* rows of the list skipped; clipped when drawn */
    bool paused;
    double window_s;
    const char *notice; /* one line for the person, or NULL */
};

/* Is anything of the instance there? */
bool view_is_up(const struct live_view *v);

/* Fills the canvas. keys: the last line says which keys there are. */
void view_draw(struct canvas *c, const struct live_view *v, struct view_state *s, bool keys);

/* --- sections: each draws from row y on, at most `rows` rows, and returns how many it used ---- */

int draw_head(struct canvas *c, const struct live_view *v, const struct view_state *s, int y,
              int rows);
int draw_gpus(struct canvas *c, const struct live_view *v, int y, int rows);
int draw_gap_legend(struct canvas *c, int y, int rows);
int draw_jobs(struct canvas *c, const struct live_view *v, int y, int rows, int *skip);
int draw_partitions(struct canvas *c, const struct live_view *v, double window_s, int y, int rows,
                    int *skip);
int draw_leases(struct canvas *c, const struct live_view *v, int y, int rows);
int draw_nodes(struct canvas *c, const struct live_view *v, int y, int rows);
int draw_budget(struct canvas *c, const struct live_view *v, int y, int rows);
int draw_daemons(struct canvas *c, const struct live_view *v, int y, int rows, int *skip);

/* --- words ----------------------------------------------------------------------------------- */

const char *text_bytes(double bytes, char out[16]); /* "1.5 GiB" */
const char *text_age(double ns, char out[16]);      /* "12 ms", "3.4 s", "2 h 10 m" */
