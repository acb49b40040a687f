/* snapshot: a view of the instance as JSON: short for /status, and with the lanes and the waterfall
 * drawn out for the page. Numbers of bytes and nanoseconds are whole; times in lanes are
 * microseconds from the begin of the window. */
#pragma once
#include "live.h"
#include "text.h"

enum { SNAPSHOT_PARTITIONS = 60, SNAPSHOT_SEGMENTS = 600, SNAPSHOT_JOBS = 40 };

void snapshot_status(const struct live_view *view, struct text *out);
void snapshot_page(const struct live_view *view, struct text *out);
/* The words that numbers in the page's snapshot stand for: kinds of steps, causes, lease states. */
void snapshot_words(struct text *out);
