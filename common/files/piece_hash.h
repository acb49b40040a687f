/* piece_hash: the checksum of a section of a prepared file: BLAKE2b-256 over the BLAKE2b-256
 * digests of its pieces of 1 MiB (the last may be shorter; nothing has no piece). Two levels, so
 * that all cores can work on one section; private to files/. */
#pragma once
#include <sodium.h>
#include <stdint.h>
#include "pool.h"

enum { PIECE_BYTES = 1 << 20, PIECE_DIGEST_BYTES = 32 };

struct piece_hash {
    crypto_generichash_state root, leaf;
    size_t in_leaf; /* bytes of the piece that is not full yet */
};

void piece_hash_init(struct piece_hash *h);
void piece_hash_update(struct piece_hash *h, const void *data, size_t n, struct pool *pool);
void piece_hash_final(struct piece_hash *h, uint8_t digest[PIECE_DIGEST_BYTES]);
