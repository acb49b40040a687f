/* ballast: a large fragmented heap, for the malloc_trim experiment alone ([finisher] ballast). It
 * gives malloc_trim what a long-lived prover's heap gives it: gigabytes of live blocks with free
 * ones between them, which it visits and returns to the system each time it is called. */
#pragma once
#include <stdint.h>
#include "err.h"

/* Leaves about `bytes` of live blocks with as many free ones between them. ERR_MEMORY. */
enum err_code ballast_make(uint64_t bytes, struct err *e);
