/* answer: what goes out on the client lane. Nothing here blocks: a long result is sent in pieces,
 * and goes on in the next turn when a client's queue is full. */
#pragma once
#include "state.h"

void answer_refused(struct desk *d, const char *route, uint64_t tag, const struct err *why);
void answer_ok(struct desk *d, const char *route, uint64_t tag, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void answer_accepted(struct desk *d, const char *route, uint64_t tag, uint64_t job, bool existed);

/* An open job has ended: everyone who awaits it gets its proofs and DONE, and whoever asked to
 * cancel it gets OK. Takes proofs and publics out of the job's partitions. */
void answer_ended(struct job *j);
/* The same from the ledger's rows, for one who asks after the end. */
void answer_stored(struct desk *d, const char *route, uint64_t tag, const struct ledger_job *j,
                   const struct ledger_partition *parts, uint32_t n);

/* Looks the job up in the ledger (by id, or by client and request) and answers as it stands there:
 * results, REFUSED, or it is awaited when it is open. */
void answer_fetch(struct desk *d, const char *route, uint64_t tag, uint64_t job, const char *client,
                  const char *request);

void answer_progress(struct job *j); /* to those who asked for it */
/* A JSON document in pieces; text is copied. */
void answer_report(struct desk *d, const char *route, uint64_t tag, const char *text, size_t n);

void answers_pump(struct desk *d); /* goes on with what is in d->sendings */
void answers_free(struct desk *d);
