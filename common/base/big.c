#include "big.h"
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_BYTES = 2 << 20, LINE_BYTES = 64 };

void *big_alloc(size_t bytes)
{
    void *p = NULL;
    bool is_big = bytes >= 2 * (size_t)HUGE_BYTES;
    /* Not aligned_alloc: it wants a size that is a multiple of the alignment. */
    if (posix_memalign(&p, is_big ? HUGE_BYTES : LINE_BYTES, bytes ? bytes : 1))
        return NULL;
    if (is_big)
        madvise(p, bytes / HUGE_BYTES * HUGE_BYTES, MADV_HUGEPAGE);
    return p;
}
