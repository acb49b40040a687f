/* metrics: the instance as it is now, in Prometheus's text form (exposition format 0.0.4). Labels
 * are names of daemons, NUMA nodes, states and edges: all of them few. */
#pragma once
#include "live.h"
#include "text.h"

void metrics_instance(const struct live_view *view, struct text *out);
