/* events: open pages, each a connection that gets server-sent events: "words" once, "history" once,
 * then "sample" with each new one of watch.h and "point" when the history has grown. A page that
 * does not keep up misses samples, never delays any.
 * Form: HTML Living Standard, 9.2 Server-sent events. */
#pragma once

struct events;
struct gateway;
enum { EVENTS_OPEN_MAX = 32 };

struct events *events_new(struct gateway *g);
void events_free(struct events **e);
void events_published(struct events *e); /* there is a new sample; any thread */
void events_end(struct events *e);       /* every stream ends; new ones are refused */
unsigned events_open(struct events *e);
