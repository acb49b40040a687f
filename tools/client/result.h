/* result: a job's proofs as they come in, piece by piece, and as JSON when all are there. Private
 * to the client library. Pieces may come twice and in any order. */
#pragma once
#include "err.h"
#include "messages.h"
#include "millrace.h"

struct millrace_result *result_new(void);
void result_proof(struct millrace_result *r, const struct msg_proof *p);
void result_publics(struct millrace_result *r, const struct msg_publics *p);
/* Every proof and every public value of `partitions` partitions is there. */
bool result_complete(const struct millrace_result *r, uint32_t partitions);
/* Makes the JSON texts. */
enum err_code result_finish(struct millrace_result *r, struct err *e);
