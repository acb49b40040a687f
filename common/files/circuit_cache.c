#include "circuit_cache.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "prepared.h"
#include "store.h"

struct mapped {
    struct mapped *next;
    struct circuit *circuit;
    unsigned users;
    bool evict; /* unmap when users comes to 0 */
};

struct circuit_cache {
    pthread_mutex_t lock;
    int dir_fd;
    struct mapped *list;
    uint64_t bytes;
};

struct circuit_cache *circuit_cache_new(int dir_fd, struct err *e)
{
    struct circuit_cache *cache = calloc(1, sizeof *cache);
    if (cache == NULL) {
        err_set(e, ERR_MEMORY, "no memory for the table of circuits");
        return NULL;
    }
    pthread_mutex_init(&cache->lock, NULL);
    cache->dir_fd = dir_fd;
    return cache;
}

static struct mapped **find(struct circuit_cache *cache, const uint8_t digest[32])
{
    struct mapped **m = &cache->list;
    while (*m != NULL && memcmp((*m)->circuit->digest, digest, 32) != 0)
        m = &(*m)->next;
    return m;
}

static void unmap(struct circuit_cache *cache, struct mapped **place)
{
    struct mapped *m = *place;
    *place = m->next;
    cache->bytes -= circuit_mapped_bytes(m->circuit);
    circuit_free(&m->circuit);
    free(m);
}

void circuit_cache_free(struct circuit_cache **out)
{
    struct circuit_cache *cache = *out;
    if (cache == NULL)
        return;
    *out = NULL;
    while (cache->list != NULL) {
        INVARIANT(cache->list->users == 0);
        unmap(cache, &cache->list);
    }
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

static struct mapped *map(struct circuit_cache *cache, const uint8_t digest[32], struct err *e)
{
    char name[STORE_NAME_MAX], path[STORE_NAME_MAX + 40];
    /* through the directory's descriptor, so that a renamed instance is still the same one */
    snprintf(path, sizeof path, "/proc/self/fd/%d/%s", cache->dir_fd,
             store_circuit_name(digest, name));
    struct mapped *m = calloc(1, sizeof *m);
    if (m == NULL) {
        err_set(e, ERR_MEMORY, "no memory to map a circuit");
        return NULL;
    }
    m->circuit = circuit_map(path, e);
    if (m->circuit == NULL) {
        free(m);
        return NULL;
    }
    if (memcmp(m->circuit->digest, digest, 32) != 0) {
        char hex[DIGEST_HEX + 1];
        digest_to_hex(m->circuit->digest, hex);
        err_set(e, ERR_MISMATCH, "%s: holds circuit %s, not the one that it is named for", name,
                hex);
        circuit_free(&m->circuit);
        free(m);
        return NULL;
    }
    m->next = cache->list;
    cache->list = m;
    cache->bytes += circuit_mapped_bytes(m->circuit);
    return m;
}

const struct circuit *circuit_cache_borrow(struct circuit_cache *cache, const uint8_t digest[32],
                                           struct err *e)
{
    pthread_mutex_lock(&cache->lock);
    struct mapped *m = *find(cache, digest);
    if (m == NULL)
        m = map(cache, digest, e);
    if (m != NULL) {
        m->users++;
        m->evict = false; /* wanted again */
    }
    pthread_mutex_unlock(&cache->lock);
    return m != NULL ? m->circuit : NULL;
}

void circuit_cache_return(struct circuit_cache *cache, const struct circuit *c)
{
    if (c == NULL)
        return;
    pthread_mutex_lock(&cache->lock);
    struct mapped **place = find(cache, c->digest);
    INVARIANT(*place != NULL && (*place)->users > 0);
    (*place)->users--;
    if ((*place)->users == 0 && (*place)->evict)
        unmap(cache, place);
    pthread_mutex_unlock(&cache->lock);
}

bool circuit_cache_evict(struct circuit_cache *cache, const uint8_t digest[32])
{
    bool gone = true;
    pthread_mutex_lock(&cache->lock);
    struct mapped **place = find(cache, digest);
    if (*place != NULL && (*place)->users == 0) {
        unmap(cache, place);
    } else if (*place != NULL) {
        (*place)->evict = true;
        gone = false;
    }
    pthread_mutex_unlock(&cache->lock);
    return gone;
}

uint64_t circuit_cache_bytes(struct circuit_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    uint64_t bytes = cache->bytes;
    pthread_mutex_unlock(&cache->lock);
    return bytes;
}

unsigned circuit_cache_list(struct circuit_cache *cache, struct circuit_mapped *out, unsigned max)
{
    unsigned n = 0;
    pthread_mutex_lock(&cache->lock);
    for (const struct mapped *m = cache->list; m != NULL; m = m->next, n++)
        if (n < max) {
            memcpy(out[n].digest, m->circuit->digest, 32);
            out[n].bytes = circuit_mapped_bytes(m->circuit);
        }
    pthread_mutex_unlock(&cache->lock);
    return n;
}
