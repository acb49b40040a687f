/* msm_sort: from scalars to a list of additions ordered by bucket.
 *
 * Three steps: count the entries of every bucket (each entry keeps its rank within its bucket),
 * turn counts into starts by a scan, put every entry at start + rank. Entries of one bucket are in
 * no particular order, which is fine for a sum. A digit of zero makes no entry, so zeros cost a
 * read and ones, minus ones and small values cost one addition each. Lanes of a warp that meet in
 * one bucket share one atomic, so that a hot bucket costs no more than a cold one. Entries are put
 * into place one range of buckets after the other, each of a size that the second-level cache
 * holds, so that memory sees whole lines. */
#pragma once
#include "field.cuh"
#include "kernels.h"

#ifdef __CUDACC__
enum { PLACE_BYTES = 40 << 20 };
#else
enum { PLACE_BYTES = 4 << 10 }; /* so that the emulator's small sums have ranges too */
#endif
enum { PLACE_RANGES_MAX = 16 };
enum { SCAN_THREADS = 256, SCAN_EACH = 8, SCAN_TILE = SCAN_THREADS * SCAN_EACH };

/* A scalar on its way through its digits. */
template <class P> struct digits {
    u32 word[P::N + 1];
    bool minus;
    u32 carry;

    /* Any 256-bit value: reduced mod r, then brought below r / 2 by the sign. */
    DEV digits(const field<P> *from)
    {
        field<P> s = *from;
        for (;;) {
            field<P> t = reduce_once(s);
            if (t == s)
                break;
            s = t;
        }
        sub_cc(P::half(0), s.l[0]);
#pragma unroll
        for (int i = 1; i < P::N; i++)
            subc_cc(P::half(i), s.l[i]);
        minus = subc(0, 0) != 0;
        if (minus)
            s = negate(s);
#pragma unroll
        for (int i = 0; i < P::N; i++)
            word[i] = s.l[i];
        word[P::N] = 0;
        carry = 0;
    }
    /* The next digit in [-2^(bits-1), 2^(bits-1)] as its magnitude, the scalar's sign applied. The
     * words move down, so that no index depends on run-time values. */
    DEV u32 next(u32 bits, bool *negative)
    {
        u32 d = (word[0] & ((1u << bits) - 1)) + carry;
#pragma unroll
        for (int i = 0; i < P::N; i++)
            word[i] = (word[i] >> bits) | (word[i + 1] << (32 - bits));
        carry = d > (1u << (bits - 1));
        *negative = minus != (carry != 0);
        return carry ? (1u << bits) - d : d;
    }
};

template <class P> DEV const field<P> *scalar_of(const struct msm_scalars &s, u32 i)
{
    const field<P> *all = static_cast<const field<P> *>(s.scalars);
    return all + (s.wire ? s.wire[i] : s.first_wire + i);
}

/* counter[key] += 1 for each lane of `mask`; returns what each lane would have seen alone. */
DEV u32 count_together(u32 *counter, u32 key, u32 mask)
{
    const u32 peers = __match_any_sync(mask, key);
    const u32 lane = threadIdx.x % 32, leader = __ffs((int)peers) - 1;
    u32 base = 0;
    if (lane == leader)
        base = atomicAdd(counter + key, (u32)__popc(peers));
    base = __shfl_sync(peers, base, (int)leader);
    return base + (u32)__popc(peers & ((1u << lane) - 1));
}

template <class P>
__global__ void sort_count(struct msm_sorted out, struct msm_shape shape,
                           struct msm_scalars scalars)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool inside = i < shape.n;
    digits<P> d(scalar_of<P>(scalars, inside ? i : 0));
    u32 base = 0, table = 0;
    for (u32 j = 0; j < shape.n_windows; j++) {
        bool negative;
        const u32 magnitude = d.next(shape.window_bits, &negative);
        const bool counts = inside && magnitude != 0;
        const u32 mask = __ballot_sync(0xffffffffu, counts);
        if (counts)
            out.rank[(size_t)j * shape.n + i] =
                count_together(out.start, base + magnitude - 1, mask);
        if (++table == shape.n_tables) {
            table = 0;
            base += 1u << (shape.window_bits - 1);
        }
    }
}

/* The entries of range `range` of as many as their number asks for. */
template <class P>
__global__ void sort_place(struct msm_sorted out, struct msm_shape shape,
                           struct msm_scalars scalars, u32 range)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    u32 n_ranges = (u32)((u64)out.start[shape.n_buckets] * 4 / PLACE_BYTES) + 1;
    n_ranges = n_ranges < PLACE_RANGES_MAX ? n_ranges : (u32)PLACE_RANGES_MAX;
    if (i >= shape.n || range >= n_ranges)
        return;
    const u32 first = (u32)((u64)shape.n_buckets * range / n_ranges);
    const u32 count = (u32)((u64)shape.n_buckets * (range + 1) / n_ranges) - first;
    digits<P> d(scalar_of<P>(scalars, i));
    u32 base = 0, table = 0;
    for (u32 j = 0; j < shape.n_windows; j++) {
        bool negative;
        const u32 magnitude = d.next(shape.window_bits, &negative);
        const u32 bucket = base + magnitude - 1;
        if (magnitude != 0 && bucket - first < count) {
            const u32 place = out.start[bucket] + out.rank[(size_t)j * shape.n + i];
            out.entry[place] = (table * shape.n + i) | (negative ? 0x80000000u : 0);
        }
        if (++table == shape.n_tables) {
            table = 0;
            base += 1u << (shape.window_bits - 1);
        }
    }
}

/* Exclusive scan of value over the block; *total gets the sum. shared: SCAN_THREADS words. */
DEV u32 block_scan(u32 value, u32 *shared, u32 *total)
{
    const u32 tid = threadIdx.x;
    shared[tid] = value;
    __syncthreads();
    for (u32 step = 1; step < SCAN_THREADS; step *= 2) {
        const u32 below = tid >= step ? shared[tid - step] : 0;
        __syncthreads();
        shared[tid] += below;
        __syncthreads();
    }
    *total = shared[SCAN_THREADS - 1];
    const u32 before = shared[tid] - value;
    __syncthreads();
    return before;
}

static __global__ void scan_sums(u32 *partial, const u32 *value, u32 n)
{
    __shared__ u32 shared[SCAN_THREADS];
    u32 sum = 0, total;
    const u32 first = blockIdx.x * SCAN_TILE;
    for (u32 k = 0; k < SCAN_EACH; k++) {
        const u32 i = first + k * SCAN_THREADS + threadIdx.x;
        sum += i < n ? value[i] : 0;
    }
    block_scan(sum, shared, &total);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = total;
}

/* One block: partial[i] = sum of those before it, partial[n] = sum of all. */
static __global__ void scan_partials(u32 *partial, u32 n)
{
    __shared__ u32 shared[SCAN_THREADS];
    u32 carry = 0;
    for (u32 first = 0; first < n; first += SCAN_TILE) {
        u32 value[SCAN_EACH], sum = 0, total;
        const u32 mine = first + threadIdx.x * SCAN_EACH;
        for (u32 k = 0; k < SCAN_EACH; k++) {
            value[k] = mine + k < n ? partial[mine + k] : 0;
            sum += value[k];
        }
        u32 before = carry + block_scan(sum, shared, &total);
        for (u32 k = 0; k < SCAN_EACH; k++) {
            if (mine + k < n)
                partial[mine + k] = before;
            before += value[k];
        }
        carry += total;
    }
    if (threadIdx.x == 0)
        partial[n] = carry;
}

static __global__ void scan_apply(u32 *value, const u32 *partial, u32 n, u32 n_blocks)
{
    __shared__ u32 shared[SCAN_THREADS];
    u32 mine[SCAN_EACH], sum = 0, total;
    const u32 first = blockIdx.x * SCAN_TILE + threadIdx.x * SCAN_EACH;
    for (u32 k = 0; k < SCAN_EACH; k++) {
        mine[k] = first + k < n ? value[first + k] : 0;
        sum += mine[k];
    }
    u32 before = partial[blockIdx.x] + block_scan(sum, shared, &total);
    for (u32 k = 0; k < SCAN_EACH; k++) {
        if (first + k < n)
            value[first + k] = before;
        before += mine[k];
    }
    if (blockIdx.x == 0 && threadIdx.x == 0)
        value[n] = partial[n_blocks];
}

template <class P>
cudaError_t msm_sort(const struct msm_sorted *sorted, const struct msm_shape *shape,
                     const struct msm_scalars *scalars, cudaStream_t stream)
{
    const u32 n_blocks = (u32)msm_scan_blocks(shape->n_buckets);
    const u32 threads = 256, blocks = (shape->n + threads - 1) / threads;
    cudaError_t rc = cudaMemsetAsync(sorted->start, 0, (size_t)(shape->n_buckets + 1) * 4, stream);
    if (rc != cudaSuccess)
        return rc;
    if (blocks > 0)
        LAUNCH(sort_count<P>, blocks, threads, 0, stream, *sorted, *shape, *scalars);
    LAUNCH(scan_sums, n_blocks, SCAN_THREADS, 0, stream, sorted->partial, sorted->start,
           shape->n_buckets);
    LAUNCH(scan_partials, 1, SCAN_THREADS, 0, stream, sorted->partial, n_blocks);
    LAUNCH(scan_apply, n_blocks, SCAN_THREADS, 0, stream, sorted->start, sorted->partial,
           shape->n_buckets, n_blocks);
    /* No more launches than the most entries there can be would need. */
    const u64 most = (u64)shape->n * shape->n_windows * 4 / PLACE_BYTES + 1;
    for (u32 range = 0; blocks > 0 && range < most && range < PLACE_RANGES_MAX; range++)
        LAUNCH(sort_place<P>, blocks, threads, 0, stream, *sorted, *shape, *scalars, range);
    return cudaGetLastError();
}
