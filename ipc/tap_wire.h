/* tap_wire: what stands in front of a mirrored frame, for tap.c and tap_reader.c alone.
 *
 * One ZeroMQ frame: prefix, struct tap_header, the mirrored frame. The prefix begins with the lane,
 * so that a reader can subscribe to one lane, and names the actor. */
#pragma once
#include "tap.h"

struct tap_prefix {
    uint8_t lane; /* '0' + enum lane_id */
    uint8_t actor[8];
};
_Static_assert(sizeof(struct tap_prefix) == 9, "wire layout");
