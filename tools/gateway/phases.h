/* phases: counters and histograms over all time out of spans: how long each step of a partition
 * takes, and where each GPU's time went. They begin with the gateway; a restart of a daemon does
 * not set them back. */
#pragma once
#include "live.h"
#include "text.h"

struct phases;
struct phases *phases_new(void);
void phases_free(struct phases **p);
void phases_span(void *phases, const struct span *s, const struct span_source *from);
/* Takes each GPU's account further, up to some seconds ago: what happened since is not written yet.
 */
enum err_code phases_account(struct phases *p, const struct live_view *view, struct err *e);
void phases_metrics(const struct phases *p, struct text *out);
