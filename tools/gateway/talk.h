/* talk: the gateway's one thread that asks the desk: reports, cancels, and who waits for which job.
 *
 * However many requests wait for a job, the desk is asked once. Calls come on the talk thread and
 * must not block. It also reaps slow connections (conns.h), being the thread that always turns. */
#pragma once
#include "asker.h"

struct gateway;
struct talk;
struct talk *talk_new(struct gateway *g, struct err *e);
/* From here on every question and wait, open or new, is answered with ERR_UNAVAILABLE. */
void talk_end(struct talk *t);
void talk_free(struct talk **t); /* after talk_end */

/* Any thread. The question is copied. */
void talk_ask(struct talk *t, const struct message *question, uint64_t limit_ms, asked_fn *fn,
              void *arg);

/* What a wait ended with. */
struct waited {
    bool ended;         /* false: until_ns passed, or the gateway stops (code is then set) */
    enum err_code code; /* of the job, when it ended */
    const char *reason;
    uint32_t partitions, synthesized, proved, ahead; /* as last heard */
};
typedef void waited_fn(void *arg, const struct waited *w);
/* Any thread. until_ns: CLOCK_MONOTONIC, UINT64_MAX for ever. */
void talk_wait(struct talk *t, uint64_t job, uint64_t until_ns, waited_fn *fn, void *arg);
