/* spoil_point: a named place where a test build can make a wrong result of a right one, so that
 * what follows has something to find.
 *
 * In a build with -Dkill_points=true, MILLRACE_SPOIL_AT="gpud.sums:3:1" is true at that place for
 * partition 3 of any job, up to its first attempt (":2": its first two). In a release build it is
 * false. Places: gpud.sums (L is replaced by A: points of the group, and no proof). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#ifdef MILLRACE_KILL_POINTS
bool spoil_point(const char *name, uint32_t partition, uint32_t attempt);
#define SPOIL_POINT(name, partition, attempt) spoil_point(name, partition, attempt)
#else
#define SPOIL_POINT(name, partition, attempt) false
#endif
