/* history: the last hour in points of five seconds each. */
#pragma once
#include "live.h"
#include "text.h"

enum { HISTORY_POINTS = 720, HISTORY_STEP_S = 5 };

struct history_point {
    uint64_t wall_ms;
    double rate;   /* proofs verified a second */
    double busy;   /* share of the GPUs' time with a kernel running, 0 to 1; < 0: no GPU wrote */
    double memory; /* share of the arenas in use, 0 to 1 */
    uint32_t waiting, in_flight;
};
struct history {
    struct history_point at[HISTORY_POINTS];
    size_t n, next;
    uint64_t last_ns, last_verified;
    double busy_sum, busy_n; /* of the turns since the last point */
};

/* true when this turn made a point: the newest. */
bool history_turn(struct history *h, const struct live_view *view);
void history_point_json(const struct history_point *p, struct text *out); /* [t,rate,busy,...] */
void history_json(const struct history *h, struct text *out); /* an array, oldest first */
