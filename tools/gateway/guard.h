/* guard: may this request be served at all? Names the caller.
 *
 * With tokens: "Authorization: Bearer TOKEN". Without (the loopback interface alone): any local
 * program, but no web page of another origin, so Host must be a name of this machine and Origin,
 * when there is one, must be ours. Each caller has a bucket of requests; addresses that show wrong
 * tokens have one too. Any thread. */
#pragma once
#include "request.h"

struct guard;
/* tokens are the guard's from here on. */
struct guard *guard_new(const struct instance *in, bool loopback, const char *hosts, uint64_t rate,
                        struct tokens *take, struct err *e);
void guard_free(struct guard **g);
/* Reads DIR/gateway.tokens again; on an error the tokens stay as they are. Beyond the loopback
 * interface the last token cannot go. */
enum err_code guard_reload(struct guard *g, const struct instance *in, struct err *e);

/* Fills r->caller; false with a reply when it may not. need: the least role of its route;
 * ROLE_NONE: open to all (the page's own files, which hold no data). */
bool guard_admit(struct guard *g, struct request *r, enum role need);
