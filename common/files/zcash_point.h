/* zcash_point: points of BLS12-381 as ZCash encodes them, the form of bellperson's files.
 *
 * Coordinates are plain and big-endian, of Fq2 c1 before c0: x|y uncompressed (96 bytes in G1, 192
 * in G2), x alone compressed (48, 96). The top three bits of the first byte are flags: 0x80 the
 * point is compressed, 0x40 it is infinity and every other bit is zero, 0x20 y is the larger of the
 * two (compressed only). Source: the README of ZCash's pairing library, "BLS12-381 serialization".
 */
#pragma once
#include "curve.h"

/* How many bytes a point of g takes. */
size_t zcash_point_bytes(const struct group *g, bool compressed);

/* One point to out (as curve.h has it). NULL when fine, else what is wrong: flags, coordinate not
 * below the modulus, no point has this x, and, uncompressed, "point is not on the curve". The
 * subgroup is not tested. Infinity is accepted. */
const char *zcash_point_read(const struct group *g, const uint8_t *bytes, bool compressed,
                             void *out);

/* point: any point of g. */
void zcash_point_write(const struct group *g, const void *point, bool compressed, uint8_t *bytes);
