#include "ballast.h"
#include <malloc.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include "workers.h"

/* Sizes as a prover's heap has them: many small, some of a page and more. Live and free blocks
 * alternate, so no two free ones join. */
static size_t size_of(uint64_t i)
{
    static const size_t sizes[] = {96, 512, 6000, 24000, 70000};
    return sizes[i % (sizeof sizes / sizeof sizes[0])];
}

static enum err_code fill_heap(uint64_t bytes, struct err *e)
{
    /* In the arena's heap, not in mappings of their own, which a trim never sees. */
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

struct making {
    struct work work;
    sem_t made;
    uint64_t bytes;
    struct err *err;
};

static void make(struct work *w)
{
    struct making *m = (struct making *)w;
    fill_heap(m->bytes, m->err);
    sem_post(&m->made);
}

enum err_code ballast_make(uint64_t bytes, struct workers *trimmer, struct err *e)
{
    struct making m = {.work.run = make, .bytes = bytes, .err = e};
    e->code = ERR_OK;
    sem_init(&m.made, 0, 0);
    workers_put(trimmer, &m.work);
    while (sem_wait(&m.made) != 0)
        continue; /* a signal came */
    sem_destroy(&m.made);
    return e->code;
}
