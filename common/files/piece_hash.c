#include "piece_hash.h"

enum { BATCH = 64 }; /* pieces that are hashed side by side before the root takes their digests */

void piece_hash_init(struct piece_hash *h)
{
    crypto_generichash_init(&h->root, NULL, 0, PIECE_DIGEST_BYTES);
    crypto_generichash_init(&h->leaf, NULL, 0, PIECE_DIGEST_BYTES);
    h->in_leaf = 0;
}

static void end_leaf(struct piece_hash *h)
{
    uint8_t digest[PIECE_DIGEST_BYTES];
    crypto_generichash_final(&h->leaf, digest, sizeof digest);
    crypto_generichash_update(&h->root, digest, sizeof digest);
    crypto_generichash_init(&h->leaf, NULL, 0, PIECE_DIGEST_BYTES);
    h->in_leaf = 0;
}

struct batch {
    const unsigned char *data;
    uint8_t digest[BATCH][PIECE_DIGEST_BYTES];
};

static void hash_piece(void *arg, size_t i, unsigned worker)
{
    (void)worker;
    struct batch *b = arg;
    crypto_generichash(b->digest[i], PIECE_DIGEST_BYTES, b->data + i * PIECE_BYTES, PIECE_BYTES,
                       NULL, 0);
}

void piece_hash_update(struct piece_hash *h, const void *data, size_t n, struct pool *pool)
{
    const unsigned char *p = data;
    while (n) {
        size_t whole = h->in_leaf ? 0 : n / PIECE_BYTES;
        if (whole) {
            struct batch b = {.data = p};
            whole = whole < BATCH ? whole : BATCH;
            pool_run(pool, hash_piece, &b, whole);
            crypto_generichash_update(&h->root, b.digest[0], whole * PIECE_DIGEST_BYTES);
            p += whole * PIECE_BYTES;
            n -= whole * PIECE_BYTES;
            continue;
        }
        size_t room = PIECE_BYTES - h->in_leaf, step = n < room ? n : room;
        crypto_generichash_update(&h->leaf, p, step);
        h->in_leaf += step;
        p += step;
        n -= step;
        if (h->in_leaf == PIECE_BYTES)
            end_leaf(h);
    }
}

void piece_hash_final(struct piece_hash *h, uint8_t digest[PIECE_DIGEST_BYTES])
{
    if (h->in_leaf)
        end_leaf(h);
    crypto_generichash_final(&h->root, digest, PIECE_DIGEST_BYTES);
}
