/* big: memory for large arrays that are soon filled, in huge pages where the system gives them.
 *
 * A proof touches some hundred megabytes once each; with 4 KiB pages a third of its time went into
 * page faults. Given back with free(). */
#pragma once
#include <stddef.h>

/* At least 64-byte aligned, not zeroed; NULL without memory. From 4 MiB on, whole 2 MiB pages of it
 * are asked to be huge (a wish: without them it is ordinary memory); what is left over stays in
 * small ones, so that no page is resident for a few bytes. */
void *big_alloc(size_t bytes);
