/* settle: from PROVED or FAILED to a verdict in the ledger, and only then the lease FREE. */
#pragma once
#include "state.h"

/* The lease is PROVED and its publics are captured: a finisher gets it. */
void settle_begin(struct flight *f);

/* The lease is FAILED and belongs to a partition: it is tried again or its job fails, by the reason
 * in the result cell. */
void settle_failed(struct flight *f);

/* malloc_trim after a partition, where it is configured; never on the desk's thread. */
void settle_trim(struct desk *d);

/* The attempt (PROVED or FAILED) is given up and the partition waits again, or its job fails when
 * it was tried often enough. */
void settle_retry(struct partition *p, struct flight *f, enum err_code code, const char *reason);
