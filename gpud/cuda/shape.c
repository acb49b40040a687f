/* shape: how a sum is cut into windows, and where its memory lies. */
#include "device.h"
#include <string.h>

enum { WINDOW_MIN = 4, WINDOW_MAX = 23, BUCKET_ADDITIONS = 8 };

void *carve_take(struct carve *c, size_t bytes)
{
    void *p = c->base ? c->base + c->used : NULL;
    c->used += (bytes + 255) / 256 * 256;
    return p;
}

/* A bucket costs about as much as five additions to sum up, and more than
 * that where most scalars are 0 or 1; an entry costs one. The top window keeps one bit free,
 * so that no carry leaves it. */
struct msm_shape shape_for(uint32_t n, unsigned scalar_bits, unsigned max_sets)
{
    struct msm_shape best = {0};
    uint64_t best_cost = UINT64_MAX;
    for (unsigned bits = WINDOW_MIN; bits <= WINDOW_MAX; bits++) {
        const unsigned windows = scalar_bits / bits + 1;
        const unsigned sets = max_sets < windows ? max_sets : windows;
        const unsigned tables = (windows + sets - 1) / sets;
        const unsigned used_sets = (windows + tables - 1) / tables;
        const uint64_t buckets = (uint64_t)used_sets << (bits - 1);
        const uint64_t cost = (uint64_t)n * windows + BUCKET_ADDITIONS * buckets;
        if (cost < best_cost && (uint64_t)n * tables < (uint64_t)1 << 31 &&
            (uint64_t)n * windows < UINT32_MAX) {
            best_cost = cost;
            best = (struct msm_shape){n, bits, windows, tables, used_sets, (uint32_t)buckets};
        }
    }
    return best;
}

/* One lane that can take each of the n sums in turn. */
void lane_carve(struct lane *lane, struct carve *c, const struct key_sum *sums, unsigned n)
{
    size_t entries = 0, buckets = 0, bucket_bytes = 0, partials = 0, partial_bytes = 0,
           line_bytes = 0;
    for (unsigned i = 0; i < n; i++) {
        const struct msm_shape *s = &sums[i].shape;
        const struct cuda_group *g = sums[i].group;
        if (s->n == 0)
            continue;
        const size_t of_entries = (size_t)s->n * s->n_windows, of_partials = g->n_partials(s);
        const size_t of_lines = g->n_lines(s) * g->xyzz_bytes;
        entries = of_entries > entries ? of_entries : entries;
        buckets = s->n_buckets > buckets ? s->n_buckets : buckets;
        if (s->n_buckets * g->xyzz_bytes > bucket_bytes)
            bucket_bytes = s->n_buckets * g->xyzz_bytes;
        partials = of_partials > partials ? of_partials : partials;
        if (of_partials * g->xyzz_bytes > partial_bytes)
            partial_bytes = of_partials * g->xyzz_bytes;
        line_bytes = of_lines > line_bytes ? of_lines : line_bytes;
    }
    lane->sorted.start = carve_take(c, (buckets + 1) * 4);
    lane->sorted.entry = carve_take(c, entries * 4);
    lane->sorted.rank = carve_take(c, entries * 4);
    lane->sorted.partial = carve_take(c, (msm_scan_blocks((uint32_t)buckets) + 1) * 4);
    lane->work.buckets = carve_take(c, bucket_bytes);
    lane->work.partials = carve_take(c, partial_bytes);
    lane->work.partial_keys = carve_take(c, partials * 4);
    lane->work.lines = carve_take(c, line_bytes);
}

/* A's, B's, L's and H's lanes side by side where they are small, else one for all. */
void workspace_carve(struct workspace_layout *out, const struct key *k, uint64_t parallel_bytes,
                     void *base)
{
    static const unsigned first[N_LANES] = {SUM_A, SUM_B1, SUM_L, SUM_H};
    static const unsigned count[N_LANES] = {1, 2, 1, 1};
    const size_t n = (size_t)1 << k->ntt.log2_n;
    struct carve c = {base, 0};
    memset(out, 0, sizeof *out);
    out->a = carve_take(&c, n * sizeof(fr_t));
    out->b = carve_take(&c, n * sizeof(fr_t));
    out->c = carve_take(&c, n * sizeof(fr_t));
    const uint32_t rows = k->a.n_rows > k->b.n_rows ? k->a.n_rows : k->b.n_rows;
    out->long_rows = carve_take(&c, ((size_t)rows + 1) * 4);
    out->results = carve_take(&c, N_SUMS * RESULT_BYTES);
    struct carve lanes = c;
    for (unsigned i = 0; i < N_LANES; i++) {
        lane_carve(&out->lane[i], &lanes, k->sum + first[i], count[i]);
        for (unsigned j = 0; j < count[i]; j++)
            out->lane_of[first[i] + j] = i;
    }
    if (lanes.used - c.used > parallel_bytes) {
        lanes = c;
        lane_carve(&out->lane[N_LANES - 1], &lanes, k->sum, N_SUMS);
        for (unsigned i = 0; i < N_SUMS; i++)
            out->lane_of[i] = N_LANES - 1;
    }
    out->bytes = lanes.used;
}
