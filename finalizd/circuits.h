/* circuits: the table of circuits of this instance, mapped from the store. */
#pragma once
#include "state.h"

struct circuit_entry *circuit_by_digest(const struct desk *d, const uint8_t digest[32]);
/* By alias or by digest in hexadecimal; NULL when there is none that is in use. */
struct circuit_entry *circuit_by_name(const struct desk *d, const char *name);
const char *circuit_label(const struct circuit_entry *c, char out[80]); /* alias, or short digest */

/* The entry of a digest, made (as removed, not mapped) when there is none. */
struct circuit_entry *circuit_entry_of(struct desk *d, const uint8_t digest[32]);

/* At start: a circuit that the ledger knows. A file that cannot be mapped is reported, and its jobs
 * fail with that reason. Blocks on the disk. */
void circuit_load(struct desk *d, const struct ledger_circuit *c);

/* CIRCUIT_ADD, CIRCUIT_REMOVE, PRELOAD, EVICT of a client; each answers OK or REFUSED to (route,
 * tag), at once or when the ledger has it. */
void circuit_add(struct desk *d, const char *route, const struct msg_circuit_add *m);
void circuit_remove(struct desk *d, const char *route, const struct msg_circuit_remove *m);
void circuit_preload(struct desk *d, const char *route, const struct msg_preload *m);
void circuit_evict(struct desk *d, const char *route, const struct msg_evict *m);

void circuits_free(struct desk *d);
