/* msm_sum: from the ordered list of additions to one point.
 *
 * The list is cut into equal pieces, one a thread, wherever bucket borders lie: the time depends on
 * the number of additions alone, whether they fall into one bucket or into all. A thread writes the
 * buckets that begin and end within its piece; of the first and the last it has only a part, which
 * it leaves as two partials. Partials are ordered by bucket too: blocks add them up pairwise, and
 * leave two of their own, until one block holds all (levels of 1/128 the size).
 *
 * Buckets then lie in a square of rows and columns: sum (b + 1) B_b for b = high 2^m + low is
 * 2^m sum high Row_high + sum (low + 1) Column_low, and each of the two short sums is cut by the
 * bits of its weight. So every step is a plain sum, wide and of logarithmic depth, and the last
 * step doubles all the bits' sums to their places at once. */
#pragma once
#include "group.cuh"
#include "kernels.h"

enum {
    NO_BUCKET = 0xffffffffu,
    MERGE_THREADS = 256,
    LINE_THREADS = 64,
    PLACE_THREADS_MAX = 384, /* sets * bits: at most about the bits of a scalar and one a set */
    PIECE_MIN = 8,           /* additions that are worth a thread and its two partials */
};

/* The first bucket after b that ends beyond `position`. */
DEV u32 bucket_after(const u32 *start, u32 n_buckets, u32 b, u32 position)
{
    for (int k = 0; k < 4; k++)
        if (start[++b + 1] > position)
            return b;
    u32 low = b, high = n_buckets - 1;
    while (low < high) {
        const u32 middle = low + (high - low) / 2;
        if (start[middle + 1] > position)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

template <class F> struct piece_traits {
    static constexpr int THREADS = 128;
    static constexpr int BLOCKS = sizeof(F) <= 32 ? 4 : sizeof(F) <= 48 ? 3 : 2; /* an SM */
};

template <class F>
__global__ void __launch_bounds__(piece_traits<F>::THREADS, piece_traits<F>::BLOCKS)
    sum_pieces(xyzz<F> *buckets, xyzz<F> *partials, u32 *keys, const affine<F> *tables,
               const u32 *start, const u32 *entry, u32 n_buckets)
{
    const u32 total = start[n_buckets], n_threads = gridDim.x * blockDim.x;
    const u32 t = blockIdx.x * blockDim.x + threadIdx.x;
    u32 each = total / n_threads + (total % n_threads != 0);
    each = each < PIECE_MIN ? (u32)PIECE_MIN : each;
    const u64 first = (u64)t * each;
    if (first >= total) {
        keys[2 * t] = keys[2 * t + 1] = NO_BUCKET;
        return;
    }
    const u32 end = first + each < total ? (u32)first + each : total;
    u32 position = (u32)first;
    u32 bucket = bucket_after(start, n_buckets, NO_BUCKET, position); /* b + 1 wraps to 0 */
    u32 border = start[bucket + 1];
    bool is_head = true;
    u32 now = entry[position], ahead = position + 1 < end ? entry[position + 1] : 0;
    xyzz<F> sum = xyzz<F>::infinity();
    for (; position < end; position++) {
        if (position == border) {
            if (is_head) {
                partials[2 * t] = sum;
                keys[2 * t] = bucket;
                is_head = false;
            } else {
                buckets[bucket] = sum;
            }
            sum = xyzz<F>::infinity();
            bucket = bucket_after(start, n_buckets, bucket, position);
            border = start[bucket + 1];
        }
        /* Entries are read two ahead and their points fetched into the cache one ahead. */
        const u32 e = now;
        now = ahead;
        ahead = position + 2 < end ? entry[position + 2] : 0;
        prefetch(tables + (now & 0x7fffffffu), sizeof *tables);
        affine<F> p = tables[e & 0x7fffffffu];
        if (e >> 31)
            p.y = negate(p.y);
        add_affine(sum, p);
    }
    partials[2 * t + 1] = is_head ? xyzz<F>::infinity() : sum;
    keys[2 * t + 1] = bucket;
    if (is_head) {
        partials[2 * t] = sum;
        keys[2 * t] = bucket;
    }
}

/* Adds up partials with equal keys, MERGE_THREADS of them a block, in place. */
template <class F>
__global__ void __launch_bounds__(MERGE_THREADS)
    sum_partials(xyzz<F> *buckets, xyzz<F> *partials, const u32 *keys, u32 n, xyzz<F> *next,
                 u32 *next_keys)
{
    __shared__ u32 key[MERGE_THREADS];
    const u32 tid = threadIdx.x, i = blockIdx.x * MERGE_THREADS + tid;
    const u32 mine = i < n ? keys[i] : NO_BUCKET;
    key[tid] = mine;
    __syncthreads();
    u32 low = 0, high = tid; /* first of my run */
    while (low < high) {
        const u32 middle = (low + high) / 2;
        if (key[middle] == mine)
            high = middle;
        else
            low = middle + 1;
    }
    const u32 begin = low;
    low = tid + 1;
    high = MERGE_THREADS; /* one beyond the last of my run */
    while (low < high) {
        const u32 middle = (low + high) / 2;
        if (key[middle] != mine)
            high = middle;
        else
            low = middle + 1;
    }
    const u32 end = low;
    const bool real = mine != NO_BUCKET;
    for (u32 step = 1; step < MERGE_THREADS; step *= 2) {
        if (!__syncthreads_or(real && end - begin > step))
            break;
        if (real && (tid - begin) % (2 * step) == 0 && tid + step < end)
            add_call(partials + i, partials + i, partials + i + step);
    }
    const bool only_block = gridDim.x == 1;
    if (real && tid == begin) {
        const xyzz<F> sum = partials[i];
        if (only_block || (begin > 0 && end < MERGE_THREADS)) {
            buckets[mine] = sum;
        } else if (begin == 0) {
            next[2 * blockIdx.x] = sum;
            next_keys[2 * blockIdx.x] = mine;
            if (end == MERGE_THREADS) {
                next[2 * blockIdx.x + 1] = xyzz<F>::infinity();
                next_keys[2 * blockIdx.x + 1] = mine;
            }
        } else {
            next[2 * blockIdx.x + 1] = sum;
            next_keys[2 * blockIdx.x + 1] = mine;
        }
    }
    if (!only_block && !real && tid == begin) { /* the unused rest, at the end of the list */
        next_keys[2 * blockIdx.x + 1] = NO_BUCKET;
        if (begin == 0)
            next_keys[2 * blockIdx.x] = NO_BUCKET;
    }
}

/* The sum of every block's terms, in partial-sum order; lane 0 of the block has it in shared[0]. */
template <class F> DEV void sum_block(xyzz<F> *shared)
{
    const u32 tid = threadIdx.x;
    for (u32 step = LINE_THREADS / 2; step > 0; step /= 2) {
        __syncthreads();
        if (tid < step)
            add_call(shared + tid, shared + tid, shared + tid + step);
    }
    __syncthreads();
}

/* Where the lines of one set lie: 2^high_bits rows, then 2^low_bits columns, then high_bits sums of
 * row bits, then low_bits + 1 sums of column bits. */
struct lines {
    u32 low_bits, high_bits, n_rows, n_columns, n_bits, stride;
    HD explicit lines(u32 window_bits)
    {
        const u32 bits = window_bits - 1;
        low_bits = (bits + 1) / 2;
        high_bits = bits - low_bits;
        n_rows = 1u << high_bits;
        n_columns = 1u << low_bits;
        n_bits = high_bits + low_bits + 1;
        stride = n_rows + n_columns + n_bits;
    }
};

/* Block (line, set): one row or one column of buckets. */
template <class F>
__global__ void __launch_bounds__(LINE_THREADS)
    sum_lines(xyzz<F> *out, const xyzz<F> *buckets, u32 window_bits)
{
    SHARED_DYNAMIC(xyzz<F>, shared);
    const lines of(window_bits);
    const u32 line = blockIdx.x;
    const bool is_row = line < of.n_rows;
    const u32 n = is_row ? of.n_columns : of.n_rows;
    const xyzz<F> *first = buckets + ((size_t)blockIdx.y << (window_bits - 1)) +
                           (is_row ? (size_t)line << of.low_bits : (size_t)(line - of.n_rows));
    const size_t stride = is_row ? 1 : of.n_columns;
    xyzz<F> *mine = shared + threadIdx.x;
    *mine = threadIdx.x < n ? first[threadIdx.x * stride] : xyzz<F>::infinity();
    for (u32 k = threadIdx.x + LINE_THREADS; k < n; k += LINE_THREADS)
        add_call(mine, mine, first + k * stride);
    sum_block(shared);
    if (threadIdx.x == 0)
        out[(size_t)blockIdx.y * of.stride + line] = shared[0];
}

/* Block (bit, set): the rows, or the columns, whose weight has that bit. */
template <class F>
__global__ void __launch_bounds__(LINE_THREADS) sum_bits(xyzz<F> *lines_of_all, u32 window_bits)
{
    SHARED_DYNAMIC(xyzz<F>, shared);
    const lines of(window_bits);
    const bool of_rows = blockIdx.x < of.high_bits;
    const u32 bit = of_rows ? blockIdx.x : blockIdx.x - of.high_bits;
    const u32 n = of_rows ? of.n_rows : of.n_columns, more = of_rows ? 0 : 1;
    xyzz<F> *set = lines_of_all + (size_t)blockIdx.y * of.stride;
    const xyzz<F> *first = set + (of_rows ? 0 : of.n_rows);
    xyzz<F> *mine = shared + threadIdx.x;
    *mine = xyzz<F>::infinity();
    for (u32 k = threadIdx.x; k < n; k += LINE_THREADS)
        if (((k + more) >> bit) & 1)
            add_call(mine, mine, first + k);
    sum_block(shared);
    if (threadIdx.x == 0)
        set[of.n_rows + of.n_columns + blockIdx.x] = shared[0];
}

/* One block: doubles each bit's sum to its place and adds them all. */
template <class F>
__global__ void __launch_bounds__(PLACE_THREADS_MAX)
    sum_places(xyzz<F> *result, xyzz<F> *lines_of_all, u32 window_bits, u32 n_sets, u32 set_bits)
{
    const lines of(window_bits);
    const u32 n = n_sets * of.n_bits, t = threadIdx.x;
    const u32 set = t / of.n_bits, bit = t % of.n_bits;
    xyzz<F> *places = lines_of_all + of.n_rows + of.n_columns;
    if (t < n) {
        xyzz<F> *mine = places + (size_t)set * of.stride + bit;
        u32 doublings = set * set_bits + bit;
        if (bit < of.high_bits)
            doublings += of.low_bits;
        else
            doublings -= of.high_bits;
        for (; doublings > 0; doublings--)
            double_call(mine);
    }
    for (u32 step = 1; step < n; step *= 2) {
        __syncthreads();
        if (t % (2 * step) == 0 && t + step < n) {
            const u32 u = t + step;
            add_call(places + (size_t)set * of.stride + bit, places + (size_t)set * of.stride + bit,
                     places + (size_t)(u / of.n_bits) * of.stride + u % of.n_bits);
        }
    }
    if (t == 0)
        *result = *places;
}

template <class F> u32 piece_blocks()
{
    int device = 0, n_sm = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&n_sm, cudaDevAttrMultiProcessorCount, device);
    return (u32)n_sm * piece_traits<F>::BLOCKS;
}

/* Blocks for a sum: no more than its additions are worth. */
template <class F> u32 piece_blocks_of(const struct msm_shape *shape)
{
    const u64 most = (u64)shape->n * shape->n_windows;
    const u64 worth = most / ((u64)PIECE_MIN * piece_traits<F>::THREADS) + 1;
    const u32 all = piece_blocks<F>();
    return worth < all ? (u32)worth : all;
}

template <class F> size_t msm_partials(const struct msm_shape *shape)
{
    size_t n = 2u * piece_blocks_of<F>(shape) * piece_traits<F>::THREADS, all = n;
    while (n > MERGE_THREADS) {
        n = 2 * ((n + MERGE_THREADS - 1) / MERGE_THREADS);
        all += n;
    }
    return all;
}

template <class F> size_t msm_lines(const struct msm_shape *shape)
{
    return (size_t)shape->n_sets * lines(shape->window_bits).stride;
}

template <class F>
cudaError_t msm_sum(void *result, const void *tables, const struct msm_shape *shape,
                    const struct msm_sorted *sorted, const struct msm_work *work,
                    cudaStream_t stream)
{
    xyzz<F> *buckets = static_cast<xyzz<F> *>(work->buckets);
    xyzz<F> *partials = static_cast<xyzz<F> *>(work->partials);
    xyzz<F> *line = static_cast<xyzz<F> *>(work->lines);
    u32 *keys = work->partial_keys;
    cudaError_t rc =
        cudaMemsetAsync(buckets, 0, (size_t)shape->n_buckets * sizeof(xyzz<F>), stream);
    if (rc != cudaSuccess)
        return rc;
    const u32 blocks = piece_blocks_of<F>(shape);
    LAUNCH(sum_pieces<F>, blocks, piece_traits<F>::THREADS, 0, stream, buckets, partials, keys,
           static_cast<const affine<F> *>(tables), sorted->start, sorted->entry, shape->n_buckets);
    for (u32 n = 2 * blocks * piece_traits<F>::THREADS; n > 0;) {
        const u32 merge = (n + MERGE_THREADS - 1) / MERGE_THREADS;
        LAUNCH(sum_partials<F>, merge, MERGE_THREADS, 0, stream, buckets, partials, keys, n,
               partials + n, keys + n);
        partials += n;
        keys += n;
        n = merge > 1 ? 2 * merge : 0;
    }
    const lines of(shape->window_bits);
    const size_t shared = LINE_THREADS * sizeof(xyzz<F>);
    LAUNCH(sum_lines<F>, dim3(of.n_rows + of.n_columns, shape->n_sets), LINE_THREADS, shared,
           stream, line, buckets, shape->window_bits);
    LAUNCH(sum_bits<F>, dim3(of.n_bits, shape->n_sets), LINE_THREADS, shared, stream, line,
           shape->window_bits);
    const u32 places = shape->n_sets * of.n_bits;
    LAUNCH(sum_places<F>, 1, (places + 31) / 32 * 32, 0, stream, static_cast<xyzz<F> *>(result),
           line, shape->window_bits, shape->n_sets, shape->window_bits * shape->n_tables);
    return cudaGetLastError();
}
