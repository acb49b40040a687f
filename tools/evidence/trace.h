/* trace: spans as a Chrome trace (JSON object format), which Perfetto opens too.
 *
 * One track a process and thread; a GPU's copies and kernels, timed on the device, stand in tracks
 * of their own ("copy engine", "stream") beside the threads of its gpud. Arrows join the steps of
 * one attempt at one partition, in the order of their begin.
 * Format: "Trace Event Format", Google, 2016. Times are microseconds of CLOCK_MONOTONIC. */
#pragma once
#include <stdio.h>
#include "collect.h"

/* Writes the spans (sorted) that overlap [begin_ns, end_ns); end_ns 0: all. */
void trace_write(FILE *out, const struct spans *s, uint64_t begin_ns, uint64_t end_ns);
