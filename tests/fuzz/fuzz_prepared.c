/* The header is sealed again after each change, and so are the checksums of the sections, as
 * someone would who wants a bad file to be taken; else no input would come past the digest. */
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "piece_hash.h"
#include "prepared.h"
#include "prepared_layout.h"

static void seal(uint8_t *file, size_t n)
{
    struct prepared_header h;
    if (n < sizeof h)
        return;
    memcpy(&h, file, sizeof h);
    for (unsigned id = 1; id < PREPARED_SECTIONS; id++) {
        struct prepared_extent *s = &h.section[id];
        if (s->offset > n || s->length > n - s->offset || !s->length)
            continue;
        struct piece_hash hash;
        piece_hash_init(&hash);
        piece_hash_update(&hash, file + s->offset, (size_t)s->length, NULL);
        piece_hash_final(&hash, s->checksum);
    }
    prepared_header_digest(&h, h.digest);
    memcpy(file, &h, sizeof h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err e = {0};
    uint8_t *file = malloc(n + 1);
    memcpy(file, data, n);
    seal(file, n);
    struct circuit *c = circuit_map(input_file(file, n), &e);
    refused_in_one_line(c ? ERR_OK : e.code, &e);
    if (c) {
        PROPERTY(circuit_mapped_bytes(c) == n);
        refused_in_one_line(circuit_check(c, "prepared", NULL, &e), &e);
    }
    circuit_free(&c);
    free(file);
    return 0;
}
