/* trace: spans as a Chrome trace (JSON object format), which Perfetto opens too, and back.
 *
 * One track a process and thread; a GPU's copies and kernels, timed on the device, stand in tracks
 * of their own ("copy engine", "stream") beside the threads of its gpud. Steps of a thread are
 * complete events (X) that nest; waits of partitions and sums of steps are asynchronous ones (b,
 * e). Arrows (s, t, f) join the steps of one attempt at one partition, in the order of their begin.
 * Format: "Trace Event Format", Google, 2016. Times are microseconds of CLOCK_MONOTONIC. */
#pragma once
#include <stdio.h>
#include "collect.h"

/* Writes the spans that overlap [begin_ns, end_ns); end_ns 0: all. */
enum err_code trace_write(FILE *out, const struct spans *s, uint64_t begin_ns, uint64_t end_ns,
                          struct err *e);

/* Adds the spans of a trace that trace_write has made, sorted: a recorded run. Events that are none
 * of ours are passed over. ERR_IO; ERR_FORMAT naming the event that is wrong. */
enum err_code trace_read(struct spans *to, const char *path, struct err *e);
