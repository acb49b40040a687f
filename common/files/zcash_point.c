#include "zcash_point.h"
#include <string.h>

enum { FLAG_COMPRESSED = 0x80, FLAG_INFINITY = 0x40, FLAG_LARGER = 0x20, FLAGS = 0xe0 };
enum { FQ_BYTES = 48, MAX_ELEMENTS = 4 };

static const struct curve *const curve = &curve_bls12_381;

/* Base-field elements of a point: 2 in G1, 4 in G2. */
static size_t elements_of(const struct group *g)
{
    return g->bytes / FQ_BYTES;
}

size_t zcash_point_bytes(const struct group *g, bool compressed)
{
    return compressed ? g->bytes / 2 : g->bytes;
}

static void reverse(uint8_t *out, const uint8_t *in)
{
    for (size_t i = 0; i < FQ_BYTES; i++)
        out[i] = in[FQ_BYTES - 1 - i];
}

/* Where element i (in memory x.c0 x.c1 y.c0 y.c1) stands among the encoded ones. */
static size_t place_of(const struct group *g, size_t i)
{
    return elements_of(g) == 4 ? i ^ 1 : i;
}

static const char *read_infinity(const struct group *g, const uint8_t *bytes, size_t n, void *out)
{
    for (size_t i = 0; i < n; i++)
        if (i ? bytes[i] : bytes[i] & ~(unsigned)(FLAG_INFINITY | FLAG_COMPRESSED))
            return "infinity with other bits set";
    memset(out, 0, g->bytes);
    return NULL;
}

const char *zcash_point_read(const struct group *g, const uint8_t *bytes, bool compressed,
                             void *out)
{
    size_t n = zcash_point_bytes(g, compressed), elements = n / FQ_BYTES;
    unsigned flags = bytes[0] & FLAGS;
    if (!(flags & FLAG_COMPRESSED) == compressed)
        return compressed ? "expected a compressed point (first bit 1)"
                          : "expected an uncompressed point (first bit 0)";
    if (flags & FLAG_INFINITY)
        return read_infinity(g, bytes, n, out);
    if (!compressed && flags & FLAG_LARGER)
        return "an uncompressed point with the flag for the larger y";
    uint64_t x[MAX_ELEMENTS][FQ_BYTES / 8];
    uint8_t first[FQ_BYTES];
    memcpy(first, bytes, sizeof first);
    first[0] &= (uint8_t)~FLAGS;
    for (size_t i = 0; i < elements; i++) {
        size_t place = place_of(g, i);
        reverse((uint8_t *)x[i], place ? bytes + place * FQ_BYTES : first);
        if (!curve->fq_is_reduced(x[i]))
            return "coordinate is not below the modulus";
    }
    curve->fq_to_mont(x, x, elements);
    if (!compressed) {
        memcpy(out, x, g->bytes);
        /* (0, 0) is how memory has infinity; it is no point of the curve. */
        return g->is_infinity(out) || !g->on_curve(out) ? "point is not on the curve" : NULL;
    }
    bool found =
        (elements == 2 ? curve->g2_decompress : curve->g1_decompress)(out, x, flags & FLAG_LARGER);
    return found ? NULL : "no point of the curve has this x";
}

void zcash_point_write(const struct group *g, const void *point, bool compressed, uint8_t *bytes)
{
    size_t n = zcash_point_bytes(g, compressed), elements = n / FQ_BYTES;
    memset(bytes, 0, n);
    if (g->is_infinity(point)) {
        bytes[0] = (uint8_t)(FLAG_INFINITY | (compressed ? FLAG_COMPRESSED : 0));
        return;
    }
    uint64_t plain[MAX_ELEMENTS][FQ_BYTES / 8];
    curve->fq_from_mont(plain, point, elements);
    for (size_t i = 0; i < elements; i++)
        reverse(bytes + place_of(g, i) * FQ_BYTES, (const uint8_t *)plain[i]);
    if (!compressed)
        return;
    bytes[0] |= FLAG_COMPRESSED;
    if ((elements == 2 ? curve->g2_is_larger : curve->g1_is_larger)(point))
        bytes[0] |= FLAG_LARGER;
}
