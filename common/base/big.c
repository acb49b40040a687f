#include "big.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_BYTES = 2 << 20, LINE_BYTES = 64 };

/* How much of it is to lie in huge pages: all whole ones, and one more for a large rest. */
static size_t huge_part(size_t bytes)
{
    size_t whole = bytes / HUGE_BYTES * HUGE_BYTES;
    bool rest = bytes - whole >= HUGE_BYTES / 2 && whole <= SIZE_MAX - HUGE_BYTES;
    return whole + (rest ? HUGE_BYTES : 0);
}

void *big_alloc(size_t bytes)
{
    void *p = NULL;
    size_t huge = huge_part(bytes), room = bytes > huge ? bytes : huge;
    /* Not aligned_alloc: it wants a size that is a multiple of the alignment. */
    if (posix_memalign(&p, huge ? HUGE_BYTES : LINE_BYTES, room ? room : 1))
        return NULL;
    if (huge)
        madvise(p, huge, MADV_HUGEPAGE);
    return p;
}
