/* ballast: a large fragmented heap, for the malloc_trim experiment alone ([finisher] ballast). It
 * gives malloc_trim what a long-lived prover's heap gives it: gigabytes of live blocks with free
 * ones between them, which it visits and returns to the system each time it is called. */
#pragma once
#include <stdint.h>
#include "err.h"

struct workers;
/* Leaves about `bytes` of live blocks with as many free ones between them, made by the thread of
 * `trimmer` (which has one) and so in that thread's malloc arena. malloc_trim holds an arena's lock
 * for as long as it walks it: the one that takes long is one that nobody else allocates from.
 * ERR_MEMORY. */
enum err_code ballast_make(uint64_t bytes, struct workers *trimmer, struct err *e);
