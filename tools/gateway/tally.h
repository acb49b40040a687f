/* tally: the gateway's own counters. Any thread; no lock. */
#pragma once
#include <stdint.h>
#include "routes.h"
#include "text.h"

enum tally_event {
    TALLY_CONNECTIONS,  /* accepted */
    TALLY_UPLOAD_BYTES, /* bodies received */
    TALLY_SUBMITTED,    /* jobs that the desk accepted over HTTP */
    TALLY_EVENTS_SENT,  /* samples sent to open pages */
    TALLY_EVENTS
};

struct tally;
struct tally *tally_new(void);
void tally_free(struct tally **t);
void tally_add(struct tally *t, enum tally_event event, uint64_t n);
/* A request that got its answer (or whose client went away: status 0). */
void tally_request(struct tally *t, enum route_id route, unsigned status, uint64_t took_ns);
/* Adds its part of /metrics. */
void tally_metrics(const struct tally *t, struct text *out);
