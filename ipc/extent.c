/* The extent map: one bit a granule, set while it is used. One writer, so no lock and no CAS; the
 * bits are atomic words only so that a tool which draws the map reads no torn ones. */
#include "arena.h"
#include "lease.h"

static _Atomic uint64_t *map_of(const struct arena *a)
{
    return (_Atomic uint64_t *)((uint8_t *)a->header + a->header->map_offset);
}

static uint64_t granules_of(const struct arena *a)
{
    return a->bulk_bytes / ARENA_GRANULE_BYTES;
}

static bool is_used(const struct arena *a, uint64_t g)
{
    return atomic_load_explicit(&map_of(a)[g / 64], memory_order_relaxed) >> g % 64 & 1;
}

/* First granule at or after g that is used (or is not), or the end. Whole words are skipped. */
static uint64_t next_granule(const struct arena *a, uint64_t g, bool used)
{
    uint64_t end = granules_of(a);
    while (g < end) {
        uint64_t word = atomic_load_explicit(&map_of(a)[g / 64], memory_order_relaxed);
        word = (used ? word : ~word) >> g % 64;
        if (word) {
            g += (uint64_t)__builtin_ctzll(word);
            return g < end ? g : end;
        }
        g = (g / 64 + 1) * 64;
    }
    return end;
}

static void mark(struct arena *a, uint64_t first, uint64_t n, bool used)
{
    for (uint64_t g = first; g < first + n;) {
        uint64_t bit = g % 64, many = 64 - bit < first + n - g ? 64 - bit : first + n - g;
        uint64_t mask = (many == 64 ? ~UINT64_C(0) : (UINT64_C(1) << many) - 1) << bit;
        _Atomic uint64_t *word = &map_of(a)[g / 64];
        uint64_t was = atomic_load_explicit(word, memory_order_relaxed);
        INVARIANT((was & mask) == (used ? 0 : mask));
        atomic_store_explicit(word, was ^ mask, memory_order_relaxed);
        g += many;
    }
    uint64_t now = atomic_load_explicit(&a->header->granules_used, memory_order_relaxed);
    atomic_store_explicit(&a->header->granules_used, used ? now + n : now - n,
                          memory_order_relaxed);
}

bool extent_cut(struct arena *a, uint64_t bytes, struct extent *out)
{
    uint64_t end = granules_of(a), border = a->header->border_bytes / ARENA_GRANULE_BYTES;
    if (bytes == 0 || bytes > a->bulk_bytes)
        return false;
    uint64_t n = (bytes + ARENA_GRANULE_BYTES - 1) / ARENA_GRANULE_BYTES;
    if (n > border)
        return false;
    for (uint64_t g = next_granule(a, 0, false); end - g >= n && g < end;) {
        if (g / border != (g + n - 1) / border) {
            g = next_granule(a, (g / border + 1) * border, false);
            continue;
        }
        uint64_t run_end = next_granule(a, g, true);
        if (run_end - g >= n) {
            mark(a, g, n, true);
            *out = (struct extent){g * ARENA_GRANULE_BYTES, n * ARENA_GRANULE_BYTES};
            return true;
        }
        g = next_granule(a, run_end, false);
    }
    return false;
}

static bool in_bounds(const struct arena *a, struct extent x)
{
    return x.bytes > 0 && x.offset % ARENA_GRANULE_BYTES == 0 &&
           x.bytes % ARENA_GRANULE_BYTES == 0 && x.offset < a->bulk_bytes &&
           x.bytes <= a->bulk_bytes - x.offset;
}

void extent_return(struct arena *a, struct extent x)
{
    INVARIANT(in_bounds(a, x));
    mark(a, x.offset / ARENA_GRANULE_BYTES, x.bytes / ARENA_GRANULE_BYTES, false);
}

bool extent_claim(struct arena *a, struct extent x)
{
    if (!in_bounds(a, x))
        return false;
    uint64_t first = x.offset / ARENA_GRANULE_BYTES, n = x.bytes / ARENA_GRANULE_BYTES;
    if (is_used(a, first) || next_granule(a, first, true) < first + n)
        return false;
    mark(a, first, n, true);
    return true;
}

void extent_map_clear(struct arena *a)
{
    for (uint64_t i = 0; i < a->header->map_bytes / 8; i++)
        atomic_store_explicit(&map_of(a)[i], 0, memory_order_relaxed);
    atomic_store_explicit(&a->header->granules_used, 0, memory_order_relaxed);
}

uint64_t extent_free_bytes(const struct arena *a)
{
    return a->bulk_bytes - ARENA_GRANULE_BYTES * atomic_load_explicit(&a->header->granules_used,
                                                                      memory_order_relaxed);
}

uint64_t extent_largest_bytes(const struct arena *a)
{
    uint64_t end = granules_of(a), border = a->header->border_bytes / ARENA_GRANULE_BYTES, best = 0;
    for (uint64_t g = next_granule(a, 0, false); g < end;) {
        uint64_t run_end = next_granule(a, g, true), edge = (g / border + 1) * border;
        uint64_t stop = run_end < edge ? run_end : edge;
        best = stop - g > best ? stop - g : best;
        g = next_granule(a, stop, false);
    }
    return best * ARENA_GRANULE_BYTES;
}
