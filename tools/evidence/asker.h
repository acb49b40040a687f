/* asker: questions to the desk that nobody waits for: many at once on one lane, each answered by a
 * call. For programs that must go on whatever the desk does (the gateway, top).
 *
 *     struct asker *a = asker_new(&instance, ACTOR_CLIENT, &err);
 *     struct message q = {.kind = MSG_STATUS};
 *     asker_ask(a, &q, 5000, got_status, self);
 *     for (;;) asker_turn(a, 100);                     calls got_status from in here
 *
 * A question that stays unanswered is asked again, at once when the desk was restarted; the tag is
 * filled in here. Blobs in a question must live until its answer. Everything belongs to the thread
 * that made it. */
#pragma once
#include "instance.h"
#include "messages.h"

/* What became of a question. */
struct answer {
    bool last;          /* no more answers follow (only PROGRESS is not the last) */
    enum err_code code; /* 0, the code of REFUSED or DONE, or ERR_UNAVAILABLE: no answer in time */
    const char *reason; /* one line when code is not 0 */
    const struct message *m; /* ACCEPTED, OK, PROGRESS, DONE; NULL otherwise */
    const char *json;        /* REPORT: the whole document, n bytes and a NUL; else NULL */
    size_t n;
};
typedef void asked_fn(void *arg, const struct answer *answer);

struct asker;
/* as: ACTOR_CLIENT or ACTOR_GATEWAY. Nobody needs to be there yet. */
struct asker *asker_new(const struct instance *in, enum actor_kind as, struct err *e);
void asker_free(struct asker **a); /* questions still open are dropped without a call */

/* Returns a name for asker_forget, never 0. limit_ms 0: for ever. PROOF and PUBLICS that an AWAIT
 * brings are passed over: who wants them uses the client library. */
uint64_t asker_ask(struct asker *a, const struct message *question, uint64_t limit_ms, asked_fn *fn,
                   void *arg);
void asker_forget(struct asker *a, uint64_t name); /* no call any more; unknown names are ignored */

/* Waits at most wait_ms for something to arrive, then makes the calls that are due. */
void asker_turn(struct asker *a, int wait_ms);
/* Another descriptor that ends the wait when it is readable (an eventfd); it is not read here. */
void asker_watch(struct asker *a, int fd);

/* CLOCK_MONOTONIC of the last sign of the desk; 0: none yet. It is asked every two seconds. */
uint64_t asker_heard_ns(const struct asker *a);
size_t asker_open(const struct asker *a); /* questions without their last answer */
