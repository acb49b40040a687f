/* first_error: collects what goes wrong inside a parallel loop; of several errors the one of the
 * lowest index wins, so that a message does not depend on how threads were scheduled. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include "err.h"

struct first_error {
    pthread_mutex_t lock;
    _Atomic uint64_t index; /* UINT64_MAX: none */
    struct err err;
};

#define FIRST_ERROR_INIT                                                                           \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER, .index = UINT64_MAX                                     \
    }

/* False once an error of a lower index is known: the work at `index` need not be done. */
static inline int first_error_still_wanted(struct first_error *f, uint64_t index)
{
    return index < atomic_load_explicit(&f->index, memory_order_relaxed);
}

static inline void first_error_put(struct first_error *f, uint64_t index, const struct err *e)
{
    pthread_mutex_lock(&f->lock);
    if (index < atomic_load_explicit(&f->index, memory_order_relaxed)) {
        atomic_store_explicit(&f->index, index, memory_order_relaxed);
        f->err = *e;
    }
    pthread_mutex_unlock(&f->lock);
}

/* After the loop: ERR_OK, or the error, copied to e. */
static inline enum err_code first_error_take(struct first_error *f, struct err *e)
{
    pthread_mutex_destroy(&f->lock);
    if (atomic_load_explicit(&f->index, memory_order_relaxed) == UINT64_MAX)
        return ERR_OK;
    if (e)
        *e = f->err;
    return f->err.code;
}
