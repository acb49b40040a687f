/* budget: memory is one budget. Extents of the arenas and the memory of keys and matrices, host and
 * device, are charged here and nowhere else.
 *
 * Extents: cut first-fit from the node's map; the urgent class has one extent of its largest
 * circuit kept aside in each node (node.reserve), which nobody else is given. Two-phase release: an
 * extent comes back when its last reader is done with it (UPLOADED), the key's charge when the
 * partition is settled.
 * Keys: see keys.h. A gpud's set is bounded by its device's memory. The host's is bounded by the
 * memory limit less the arenas: a circuit's file, once, as long as any daemon maps it or may map it
 * (a flight uses it), and beside it the tables that a gpud without device memory makes for it. */
#pragma once
#include "state.h"

/* The extent of a partition: w alone where the backend evaluates, else with a and b. */
uint64_t budget_extent(const struct circuit_entry *c, bool evaluate_gpu);
/* The smallest extent that a partition may be given, and the one that is reserved for it. */
uint64_t budget_least_extent(const struct desk *d, const struct circuit_entry *c);

/* Cuts an extent. urgent: may take the node's reserve when the rest has no room. */
bool budget_cut(struct node *n, uint64_t bytes, bool urgent, struct extent *out,
                bool *from_reserve);
void budget_return(struct node *n, struct extent x, bool from_reserve);

/* Sets aside, in every node that can hold it beside the largest other circuit, one extent of the
 * largest urgent circuit. Called when circuits or nodes change and when an extent comes back. */
void budget_keep_reserve(struct desk *d);

/* ERR_MEMORY with the figures when no node could ever hold a partition of this circuit, or the host
 * its key; ERR_OK otherwise. */
enum err_code budget_can_ever(const struct desk *d, const struct circuit_entry *c, bool urgent,
                              struct err *e);

/* Is there room for the circuit's key on this gpud and in the host, now? When there would be after
 * idle keys have gone, they are asked to go, and the answer is false until they went. */
bool budget_key_room(struct desk *d, struct peer *gpud, struct circuit_entry *c);
bool budget_key_resident(const struct peer *gpud, const struct circuit_entry *c);

/* Charges and releases the key for one flight. */
void budget_key_use(struct desk *d, struct peer *gpud, struct circuit_entry *c);
void budget_key_done(struct desk *d, struct peer *gpud, struct circuit_entry *c);

/* The desk itself maps the circuit for a while. */
void budget_map_use(struct desk *d, struct circuit_entry *c);
void budget_map_done(struct desk *d, struct circuit_entry *c);

/* What the host is charged for circuits: the files that any daemon maps, each once (mapped), and
 * the tables that gpuds without device memory make beside them. */
uint64_t budget_mapped_bytes(const struct desk *d);
uint64_t budget_table_bytes(const struct desk *d);

/* CIRCUIT_STATE of a daemon, and the end of one (everything it held is gone). */
void budget_key_report(struct desk *d, struct peer *p, struct circuit_entry *c, bool resident,
                       uint64_t bytes);
void budget_peer_gone(struct desk *d, struct peer *p);

uint64_t budget_arena_bytes(const struct desk *d);

/* Looks at what else lies beside the arenas on their tmpfs (span rings and counters of daemons,
 * also of dead ones), charges it, and bounds the keys by what is left. */
void budget_look_evidence(struct desk *d);
uint64_t budget_charged_bytes(const struct desk *d); /* all of it: what the limit is for */
