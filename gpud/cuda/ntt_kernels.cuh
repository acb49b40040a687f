/* ntt_kernels: number-theoretic transforms of 2^k elements, k up to 30.
 *
 * The inverse transform decimates in frequency (natural order to bit-reversed), the forward one in
 * time (bit-reversed to natural), so a pair of them has no reordering pass. A transform takes
 * ceil(k / 9) passes over memory; a pass does up to 9 stages on tiles of NTT_TILE elements in
 * shared memory, in rounds of 3 stages (radix 8) with 8 elements a thread in registers. Twiddles
 * between rounds come from one full table of n powers of w; those within a round are eighth roots.
 *
 * Within pass `stage` .. `stage + bits`, element (column, middle) lies at
 * (column / D) (D << bits) + middle D + column % D with D = n >> (stage + bits). */
#pragma once
#include "field.cuh"
#include "kernels.h"

enum {
    NTT_TILE_LOG2 = 10,
    NTT_TILE = 1 << NTT_TILE_LOG2,
    NTT_THREADS = NTT_TILE / 8,
    NTT_PASS_BITS = 9
};

struct ntt_pass {
    u32 log2_n, stage, bits, column_log2; /* columns a block */
};
struct ntt_vectors {
    void *x[3];
};

/* Elements lie in shared memory as two planes of 16 bytes, one slot in nine left free, so that the
 * strides of every round fall into different banks. */
DEV u32 tile_slot(u32 column, u32 bits, u32 middle)
{
    return column * ((1u << bits) + (1u << bits) / 8 + 1) + middle + middle / 8;
}
enum { NTT_PLANE = NTT_TILE + NTT_TILE / 8 + NTT_TILE / 8 };

template <class P> struct tile {
    uint4 *plane;
    DEV field<P> load(u32 slot) const
    {
        const uint4 a = plane[slot], b = plane[slot + NTT_PLANE];
        field<P> r;
        r.l[0] = a.x, r.l[1] = a.y, r.l[2] = a.z, r.l[3] = a.w;
        r.l[4] = b.x, r.l[5] = b.y, r.l[6] = b.z, r.l[7] = b.w;
        return r;
    }
    DEV void store(u32 slot, const field<P> &v) const
    {
        plane[slot] = make_uint4(v.l[0], v.l[1], v.l[2], v.l[3]);
        plane[slot + NTT_PLANE] = make_uint4(v.l[4], v.l[5], v.l[6], v.l[7]);
    }
};

/* w^e, or w^-e. */
template <class P, bool INVERSE> DEV field<P> twiddle(const field<P> *table, u32 log2_n, u32 e)
{
    const u32 n = 1u << log2_n;
    return table[(INVERSE ? n - e : e) & (n - 1)];
}

template <class P> DEV void butterfly(field<P> &u, field<P> &v)
{
    const field<P> t = u - v;
    u = u + v;
    v = t;
}

/* Natural in, bit-reversed out: x[reverse(j)] = sum x[i] w_R^(i j), R = 2^BITS, w_8 given. */
template <class P, int BITS>
DEV void small_frequency(field<P> *x, const field<P> &w1, const field<P> &w2, const field<P> &w3)
{
    if (BITS == 3) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            butterfly(x[i], x[i + 4]);
        x[5] = x[5] * w1;
        x[6] = x[6] * w2;
        x[7] = x[7] * w3;
    }
    if (BITS >= 2) {
#pragma unroll
        for (int k = 0; k < (1 << BITS); k += 4) {
            butterfly(x[k], x[k + 2]);
            butterfly(x[k + 1], x[k + 3]);
            x[k + 3] = x[k + 3] * w2;
        }
    }
#pragma unroll
    for (int k = 0; k < (1 << BITS); k += 2)
        butterfly(x[k], x[k + 1]);
}

/* Bit-reversed in, natural out. */
template <class P, int BITS>
DEV void small_time(field<P> *x, const field<P> &w1, const field<P> &w2, const field<P> &w3)
{
#pragma unroll
    for (int k = 0; k < (1 << BITS); k += 2)
        butterfly(x[k], x[k + 1]);
    if (BITS >= 2) {
#pragma unroll
        for (int k = 0; k < (1 << BITS); k += 4) {
            x[k + 3] = x[k + 3] * w2;
            butterfly(x[k], x[k + 2]);
            butterfly(x[k + 1], x[k + 3]);
        }
    }
    if (BITS == 3) {
        x[5] = x[5] * w1;
        x[6] = x[6] * w2;
        x[7] = x[7] * w3;
#pragma unroll
        for (int i = 0; i < 4; i++)
            butterfly(x[i], x[i + 4]);
    }
}

template <int BITS> DEV u32 reversed(u32 j)
{
    return BITS == 1 ? j : BITS == 2 ? (j >> 1 | (j & 1) << 1) : (j >> 2 | (j & 2) | (j & 1) << 2);
}

/* One round of BITS stages, beginning `done` stages into the pass (counted from the top), from
 * global memory where `first`, to it where `last`. */
template <class P, int BITS, bool INVERSE>
DEV void ntt_round(field<P> *data, const tile<P> &shared, const field<P> *table,
                   const field<P> *scale, const struct ntt_pass &pass, u32 done, bool first,
                   bool last)
{
    constexpr u32 RADIX = 1u << BITS, GROUPS = 8 / RADIX;
    const u32 k = pass.log2_n, stage = pass.stage + done;
    const u32 d_log2 = k - pass.stage - pass.bits;
    const u32 q_log2 = pass.bits - done - BITS; /* of the distance of a butterfly's elements */
    const u32 workers_log2 = pass.bits - 3;     /* threads a column */
    const bool columns_first = d_log2 >= pass.column_log2 && (first || last);
    u32 worker, column;
    if (columns_first) {
        column = threadIdx.x & ((1u << pass.column_log2) - 1);
        worker = threadIdx.x >> pass.column_log2;
    } else {
        worker = threadIdx.x & ((1u << workers_log2) - 1);
        column = threadIdx.x >> workers_log2;
    }
    const u32 global_column = (blockIdx.x << pass.column_log2) + column;
    const u32 low = global_column & ((1u << d_log2) - 1);
    const size_t base = ((size_t)(global_column >> d_log2) << (d_log2 + pass.bits)) + low;

    field<P> x[8];
    u32 middle[GROUPS];
#pragma unroll
    for (u32 g = 0; g < GROUPS; g++) {
        const u32 u = worker + (g << workers_log2);
        middle[g] = (u >> q_log2 << (q_log2 + BITS)) + (u & ((1u << q_log2) - 1));
#pragma unroll
        for (u32 i = 0; i < RADIX; i++) {
            const u32 m = middle[g] + (i << q_log2);
            x[g * RADIX + i] = first ? data[base + ((size_t)m << d_log2)]
                                     : shared.load(tile_slot(column, pass.bits, m));
        }
    }
    field<P> w1, w2, w3;
    if (BITS == 3) {
        w1 = twiddle<P, INVERSE>(table, k, 1u << (k - 3));
        w3 = twiddle<P, INVERSE>(table, k, 3u << (k - 3));
    }
    if (BITS >= 2)
        w2 = twiddle<P, INVERSE>(table, k, 1u << (k - 2));
    const bool twisted = q_log2 + d_log2 > 0;
#pragma unroll
    for (u32 g = 0; g < GROUPS; g++) {
        field<P> *y = x + g * RADIX;
        const u32 place = ((middle[g] & ((1u << q_log2) - 1)) << d_log2) + low;
        if (INVERSE)
            small_frequency<P, BITS>(y, w1, w2, w3);
        if (twisted) {
#pragma unroll
            for (u32 j = 1; j < RADIX; j++) {
                const u32 i = reversed<BITS>(j);
                y[i] = y[i] * twiddle<P, INVERSE>(table, k, (place * j) << stage);
            }
        }
        if (!INVERSE)
            small_time<P, BITS>(y, w1, w2, w3);
    }
#pragma unroll
    for (u32 g = 0; g < GROUPS; g++) {
#pragma unroll
        for (u32 i = 0; i < RADIX; i++) {
            const u32 m = middle[g] + (i << q_log2);
            const size_t at = base + ((size_t)m << d_log2);
            field<P> v = x[g * RADIX + i];
            if (last) {
                if (scale)
                    v = v * scale[at];
                data[at] = v;
            } else {
                shared.store(tile_slot(column, pass.bits, m), v);
            }
        }
    }
}

template <class P, bool INVERSE>
__global__ void __launch_bounds__(NTT_THREADS, 4)
    ntt_tile(struct ntt_vectors vectors, const field<P> *table, const field<P> *scale,
             struct ntt_pass pass)
{
    SHARED_DYNAMIC(uint4, plane);
    const tile<P> shared = {plane};
    field<P> *data = static_cast<field<P> *>(vectors.x[blockIdx.y]);
    const u32 odd = pass.bits % 3;
    /* Rounds of three stages, and one of the rest: the inverse does it last, the forward first. */
    u32 done = INVERSE ? 0 : pass.bits;
    bool first = true;
    for (;;) {
        const bool rest = odd != 0 && (INVERSE ? done == pass.bits - odd : done == pass.bits);
        const u32 bits = rest ? odd : 3;
        if (!INVERSE)
            done -= bits;
        const bool last = INVERSE ? done + bits == pass.bits : done == 0;
        if (!first)
            __syncthreads();
        if (bits == 3)
            ntt_round<P, 3, INVERSE>(data, shared, table, scale, pass, done, first, last);
        else if (bits == 2)
            ntt_round<P, 2, INVERSE>(data, shared, table, scale, pass, done, first, last);
        else
            ntt_round<P, 1, INVERSE>(data, shared, table, scale, pass, done, first, last);
        if (last)
            break;
        if (INVERSE)
            done += bits;
        first = false;
    }
}

/* n <= 8, one block of n threads: the sum itself. */
template <class P, bool INVERSE>
__global__ void ntt_direct(struct ntt_vectors vectors, const field<P> *table, const field<P> *scale,
                           u32 log2_n)
{
    field<P> *data = static_cast<field<P> *>(vectors.x[blockIdx.y]);
    const u32 n = 1u << log2_n, t = threadIdx.x;
    u32 t_reversed = 0;
    for (u32 b = 0; b < log2_n; b++)
        t_reversed |= ((t >> b) & 1) << (log2_n - 1 - b);
    field<P> sum = field<P>::zero();
    for (u32 i = 0; i < n; i++) {
        u32 i_reversed = 0;
        for (u32 b = 0; b < log2_n; b++)
            i_reversed |= ((i >> b) & 1) << (log2_n - 1 - b);
        sum = sum + data[INVERSE ? i : i_reversed] *
                        twiddle<P, INVERSE>(table, log2_n, (i * t) & (n - 1));
    }
    __syncthreads();
    const u32 at = INVERSE ? t_reversed : t;
    if (scale)
        sum = sum * scale[at];
    data[at] = sum;
}

/* Stages of pass p of `passes`: whole threes shared out from the front, the rest to the last. */
static inline u32 ntt_pass_bits(u32 log2_n, u32 passes, u32 p)
{
    const u32 threes = log2_n / 3, share = threes / passes + (p < threes % passes ? 1 : 0);
    return 3 * share + (p == passes - 1 ? log2_n % 3 : 0);
}

template <class P, bool INVERSE>
cudaError_t ntt_run(void *const *x, unsigned n_vectors, const struct ntt_shape *shape,
                    const void *scale, cudaStream_t stream)
{
    const u32 k = shape->log2_n, passes = (k + NTT_PASS_BITS - 1) / NTT_PASS_BITS;
    const field<P> *table = static_cast<const field<P> *>(shape->twiddles);
    struct ntt_vectors vectors = {};
    for (unsigned i = 0; i < n_vectors; i++)
        vectors.x[i] = x[i];
    if (k <= 3) {
        LAUNCH((ntt_direct<P, INVERSE>), dim3(1, n_vectors), 1u << k, 0, stream, vectors, table,
               static_cast<const field<P> *>(scale), k);
        return cudaGetLastError();
    }
    for (u32 step = 0; step < passes; step++) {
        const u32 p = INVERSE ? step : passes - 1 - step;
        struct ntt_pass pass = {k, 0, ntt_pass_bits(k, passes, p), 0};
        for (u32 i = 0; i < p; i++)
            pass.stage += ntt_pass_bits(k, passes, i);
        pass.column_log2 = NTT_TILE_LOG2 - pass.bits;
        if (pass.column_log2 > k - pass.bits)
            pass.column_log2 = k - pass.bits;
        const u32 threads = 1u << (pass.bits + pass.column_log2 - 3);
        const u32 blocks = 1u << (k - pass.bits - pass.column_log2);
        const void *factor = step == passes - 1 ? scale : nullptr;
        LAUNCH((ntt_tile<P, INVERSE>), dim3(blocks, n_vectors), threads,
               2 * NTT_PLANE * sizeof(uint4), stream, vectors, table,
               static_cast<const field<P> *>(factor), pass);
    }
    return cudaGetLastError();
}

template <class P>
cudaError_t ntt_forward_run(void *const *x, unsigned n_vectors, const struct ntt_shape *shape,
                            cudaStream_t stream)
{
    return ntt_run<P, false>(x, n_vectors, shape, nullptr, stream);
}
