/* suspicion: what follows a proof that failed its check. Either the witness does not satisfy the
 * circuit, or a device computed wrongly; with matrix C known the witness itself is asked, once;
 * else the partition is proved once more, on another gpud where there is one. */
#pragma once
#include "state.h"

void suspicion_rejected(struct flight *f, const char *reason);
