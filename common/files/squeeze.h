/* squeeze: leaves out bases at infinity and notes which wire each remaining base belongs to;
 * private to files/. */
#pragma once
#include <string.h>
#include "circuit.h"

struct squeeze {
    const struct group *group;
    uint32_t *wire; /* room for as many as there are points; written only once there is a gap */
    uint32_t first_wire; /* of the next point */
    uint64_t kept;
    bool gap;       /* the wires kept are not consecutive: the list is needed */
    uint32_t start; /* without a gap: the wire of the first base kept */
};

/* Squeezes n points in place, which belong to the next n wires; s->kept grows by what remains. */
static inline size_t squeeze_points(struct squeeze *s, void *points, size_t n)
{
    unsigned char *p = points;
    size_t bytes = s->group->bytes, kept = 0;
    for (size_t i = 0; i < n; i++, s->first_wire++) {
        if (s->group->is_infinity(p + i * bytes))
            continue;
        if (kept != i)
            memmove(p + kept * bytes, p + i * bytes, bytes);
        kept++;
        if (s->kept == 0)
            s->start = s->first_wire;
        if (!s->gap && s->first_wire != s->start + s->kept) {
            s->gap = true;
            for (uint64_t k = 0; k < s->kept; k++)
                s->wire[k] = s->start + (uint32_t)k;
        }
        if (s->gap)
            s->wire[s->kept] = s->first_wire;
        s->kept++;
    }
    return kept;
}
