/* server: the only code (with events.c and upload.c) that knows microhttpd: takes requests in,
 * admits them, finds their route, receives bodies, sends answers. */
#pragma once
#include <stdint.h>
#include "err.h"

struct gateway;
struct server;
struct server *server_start(struct gateway *g, struct err *e);
uint16_t server_port(const struct server *s); /* where it listens, also when 0 was asked for */
/* Takes no more connections; those that are open go on. */
void server_quiesce(struct server *s);
/* Ends every connection. No request may be suspended any more. */
void server_stop(struct server **s);
