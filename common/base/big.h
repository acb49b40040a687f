/* big: memory for large arrays that are soon filled, in huge pages where the system gives them.
 *
 * A proof touches some hundred megabytes once each; with 4 KiB pages a third of its time went into
 * page faults. Given back with free(). */
#pragma once
#include <stddef.h>

/* At least 64-byte aligned, not zeroed; NULL without memory. From 1 MiB on it is asked to lie in
 * huge pages of 2 MiB (a wish: without them it is ordinary memory); a rest of less than half a page
 * stays in small ones, so that no page is resident for a few bytes. */
void *big_alloc(size_t bytes);
