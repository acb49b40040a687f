/* intake: SUBMIT, AWAIT and CANCEL of a client. A job is committed to the ledger, then ACCEPTED. */
#pragma once
#include "state.h"

void intake_submit(struct desk *d, const char *route, const struct msg_submit *m);
void intake_await(struct desk *d, const char *route, const struct msg_await *m);
void intake_cancel(struct desk *d, const char *route, const struct msg_cancel_job *m);
