/* circuit_cache: the prepared circuits of an instance's store that a daemon has mapped.
 *
 * Maps store/HEX.circuit by its digest, read-only, once; a circuit stays mapped when its last user
 * is done with it, until it is evicted or the cache is freed. Any thread.
 *
 *   c = circuit_cache_borrow(cache, digest, &err);   ... c ...   circuit_cache_return(cache, c); */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "circuit.h"

struct circuit_cache;

/* dir_fd: the instance's directory; borrowed until circuit_cache_free. */
struct circuit_cache *circuit_cache_new(int dir_fd, struct err *e);
/* Nothing may be borrowed any more (an invariant). */
void circuit_cache_free(struct circuit_cache **cache);

/* NULL: ERR_IO when the store has no such circuit, or what circuit_map says of it; ERR_MISMATCH
 * when the file's digest is not the one that it is named for. */
const struct circuit *circuit_cache_borrow(struct circuit_cache *cache, const uint8_t digest[32],
                                           struct err *e);
void circuit_cache_return(struct circuit_cache *cache, const struct circuit *c);

/* Unmaps it, now or when its last user returns it. True when it is unmapped already. */
bool circuit_cache_evict(struct circuit_cache *cache, const uint8_t digest[32]);
/* What is mapped now, up to max; how many there are. */
struct circuit_mapped {
    uint8_t digest[32];
    uint64_t bytes;
};
unsigned circuit_cache_list(struct circuit_cache *cache, struct circuit_mapped *out, unsigned max);
/* Bytes mapped now: what the memory budget is charged. */
uint64_t circuit_cache_bytes(struct circuit_cache *cache);
