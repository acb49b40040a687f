/* connection: one client's talk with the desk. Private to the client library. */
#pragma once
#include "instance.h"
#include "lane.h"
#include "millrace.h"

/* How long a question may stay without any sign of the desk, and how often it is asked again. The
 * first must outlast a restart of finalizd with its recovery. */
enum { PATIENCE_MS = 60000, AGAIN_MS = 2000, AWAIT_AGAIN_MS = 30000, OPEN_MS = 2000 };

struct millrace {
    struct instance in;
    struct actor self;
    struct lanes *lanes;
    struct lane *lane;
    uint64_t next_tag;
    uint64_t epoch; /* the desk's incarnation as last heard */
    bool heard;     /* a PONG came */
};

uint64_t client_now_ms(void); /* CLOCK_MONOTONIC */

/* Fills the public error from ours; returns its code. */
int client_fail(struct millrace_error *out, const struct err *e);
int client_error(struct millrace_error *out, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Sends `question`, with a tag of its own, and hands every answer to it to `take` until that
 * returns true. Asks again when the desk was restarted or an answer stays out (take(arg, NULL) then
 * says: start over). Gives up with ERR_UNAVAILABLE when the desk has said nothing at all for
 * patience_ms, with MILLRACE_PENDING when timeout_ms (< 0: none) has passed. */
typedef bool client_take(void *arg, const struct message *answer);
int client_ask(struct millrace *m, struct message *question, int64_t timeout_ms,
               uint64_t patience_ms, client_take *take, void *arg, struct millrace_error *e);

/* A question that OK or REFUSED answers. */
int client_ask_ok(struct millrace *m, struct message *question, int64_t timeout_ms,
                  struct millrace_error *e);
