/* holdings: which circuits this process keeps, and what they take. What is mapped is resident on
 * the device too, or in use: a key that the backend let go of for another is unmapped as well. */
#include <string.h>

#include "gpud.h"

bool holdings_in_use(struct gpud *g, const uint8_t digest[32])
{
    bool used = false;
    pthread_mutex_lock(&g->lock);
    for (unsigned i = 0; i < g->n_flights; i++) {
        const struct flight *f = &g->flight[(g->first + i) % FLIGHTS_MAX];
        used = used || memcmp(f->terms.circuit, digest, 32) == 0;
    }
    pthread_mutex_unlock(&g->lock);
    return used;
}

void holdings_look(struct gpud *g)
{
    static struct circuit_mapped mapped[MEMBER_CIRCUITS_MAX]; /* of the take thread */
    static struct member_circuit held[MEMBER_CIRCUITS_MAX];
    unsigned n_held = 0;
    unsigned n = circuit_cache_list(g->circuits, mapped, MEMBER_CIRCUITS_MAX);
    for (unsigned i = 0; i < n && i < MEMBER_CIRCUITS_MAX; i++) {
        bool resident = g->ops->circuit_resident(g->backend, mapped[i].digest);
        if (!resident && !holdings_in_use(g, mapped[i].digest)) {
            circuit_cache_evict(g->circuits, mapped[i].digest);
            continue;
        }
        memcpy(held[n_held].digest, mapped[i].digest, sizeof held[n_held].digest);
        held[n_held++].bytes = g->ops->circuit_bytes(g->backend, mapped[i].digest);
    }
    pthread_mutex_lock(&g->lock);
    memcpy(g->held, held, n_held * sizeof *held);
    g->n_held = n_held;
    pthread_mutex_unlock(&g->lock);
    stat_set(g->stats, STAT_CHARGED_BYTES, circuit_cache_bytes(g->circuits));
}

void holdings_tell(struct gpud *g)
{
    static struct member_circuit held[MEMBER_CIRCUITS_MAX]; /* of the main thread */
    pthread_mutex_lock(&g->lock);
    unsigned n = g->n_held;
    memcpy(held, g->held, n * sizeof *held);
    pthread_mutex_unlock(&g->lock);
    member_tell_circuits(&g->member, held, n);
}
