#include "big.h"
#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_BYTES = 2 << 20, LINE_BYTES = 64 };

static size_t round_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

void *big_alloc(size_t bytes)
{
    if (bytes > (size_t)-1 - HUGE_BYTES)
        return NULL;
    if (bytes < 2 * (size_t)HUGE_BYTES)
        return aligned_alloc(LINE_BYTES, round_up(bytes ? bytes : 1, LINE_BYTES));
    void *p = aligned_alloc(HUGE_BYTES, round_up(bytes, LINE_BYTES));
    if (p)
        madvise(p, bytes / HUGE_BYTES * HUGE_BYTES, MADV_HUGEPAGE);
    return p;
}
