#include "ballast.h"
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* Sizes as a prover's heap has them: many small, some of a page and more. Live and free blocks
 * alternate, so no two free ones join. */
static size_t size_of(uint64_t i)
{
    static const size_t sizes[] = {96, 512, 6000, 24000, 70000};
    return sizes[i % (sizeof sizes / sizeof sizes[0])];
}

enum err_code ballast_make(uint64_t bytes, struct err *e)
{
    /* In the main arena's heap, not in mappings of their own, which a trim never sees. */
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    void *gap = NULL; /* a list of the blocks to free, threaded through them */
    uint64_t live = 0;
    for (uint64_t i = 0; live < bytes; i++) {
        size_t n = size_of(i / 2);
        void *block = malloc(n);
        if (!block)
            return err_set(e, ERR_MEMORY, "[finisher] ballast: no memory after %llu bytes",
                           (unsigned long long)live);
        memset(block, (int)i, n);
        if (i % 2) {
            memcpy(block, &gap, sizeof gap);
            gap = block;
        } else {
            live += n; /* kept to the end of the process */
        }
    }
    for (void *next; gap; gap = next) {
        memcpy(&next, gap, sizeof next);
        free(gap);
    }
    return ERR_OK;
}
