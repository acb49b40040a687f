#include "keys.h"
#include <stdlib.h>
#include "err.h"

void keys_free(struct key_set *s)
{
    free(s->at);
    *s = (struct key_set){.limit = s->limit};
}

static struct key *find(const struct key_set *s, unsigned circuit)
{
    for (unsigned i = 0; i < s->n; i++)
        if (s->at[i].circuit == circuit)
            return &s->at[i];
    return NULL;
}

const struct key *keys_find(const struct key_set *s, unsigned circuit)
{
    return find(s, circuit);
}

static uint64_t charge(const struct key_set *s, uint64_t bytes)
{
    return s->limit && bytes > s->limit ? s->limit : bytes;
}

static uint64_t leaving_bytes(const struct key_set *s)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < s->n; i++)
        if (s->at[i].leaving)
            sum += s->at[i].bytes;
    return sum;
}

enum key_room keys_room(const struct key_set *s, unsigned circuit, uint64_t bytes)
{
    const struct key *k = find(s, circuit);
    if (k)
        return k->resident && !k->leaving ? KEY_RESIDENT : KEY_FITS; /* charged already */
    bytes = charge(s, bytes);
    if (s->limit == 0 || s->used + bytes <= s->limit)
        return KEY_FITS;
    uint64_t held = 0;
    for (unsigned i = 0; i < s->n; i++)
        if (s->at[i].users > 0)
            held += s->at[i].bytes;
    return held + bytes <= s->limit ? KEY_EVICTS : KEY_BUSY;
}

bool keys_victim(struct key_set *s, uint64_t bytes, unsigned *circuit)
{
    bytes = charge(s, bytes);
    if (s->limit == 0 || s->used - leaving_bytes(s) + bytes <= s->limit)
        return false;
    struct key *oldest = NULL;
    for (unsigned i = 0; i < s->n; i++) {
        struct key *k = &s->at[i];
        if (k->users == 0 && !k->leaving && (!oldest || k->last_use < oldest->last_use))
            oldest = k;
    }
    if (!oldest)
        return false;
    oldest->leaving = true;
    *circuit = oldest->circuit;
    return true;
}

static struct key *add(struct key_set *s, unsigned circuit, uint64_t bytes)
{
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 4;
        s->at = realloc(s->at, s->cap * sizeof *s->at);
        INVARIANT(s->at != NULL);
    }
    struct key *k = &s->at[s->n++];
    *k = (struct key){.circuit = circuit, .bytes = charge(s, bytes)};
    s->used += k->bytes;
    return k;
}

static void drop(struct key_set *s, struct key *k)
{
    s->used -= k->bytes;
    *k = s->at[--s->n];
}

void keys_use(struct key_set *s, unsigned circuit, uint64_t bytes, uint64_t now_ns)
{
    struct key *k = find(s, circuit);
    if (!k)
        k = add(s, circuit, bytes);
    k->users++;
    k->leaving = false;
    k->last_use = now_ns;
}

void keys_done(struct key_set *s, unsigned circuit, uint64_t now_ns)
{
    struct key *k = find(s, circuit);
    INVARIANT(k && k->users > 0);
    k->users--;
    k->last_use = now_ns;
    if (k->users == 0 && !k->resident) /* it was never loaded, or its holder lost it */
        drop(s, k);
}

void keys_report(struct key_set *s, unsigned circuit, bool resident, uint64_t bytes,
                 uint64_t now_ns)
{
    struct key *k = find(s, circuit);
    if (resident) {
        if (!k) {
            k = add(s, circuit, bytes);
            k->last_use = now_ns;
        }
        s->used += charge(s, bytes) - k->bytes;
        k->bytes = charge(s, bytes);
        k->resident = true;
    } else if (k) {
        k->resident = k->leaving = false;
        if (k->users == 0)
            drop(s, k);
    }
}
