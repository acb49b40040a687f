/* scalar_kernels: what a proof does with vectors of Fr besides transforms. */
#pragma once
#include "field.cuh"
#include "kernels.h"

enum { SCALAR_THREADS = 256, ROW_LONG = 64, LONG_BLOCKS = 256, POWERS_MAX = 32 };

template <class P> struct power_table {
    field<P> first, square[POWERS_MAX]; /* base^(2^t) */
};

template <class P>
__global__ void powers_fill(field<P> *out, u32 log2_n, struct power_table<P> powers, bool reversed)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >> log2_n)
        return;
    field<P> r = powers.first;
    for (u32 t = 0; t < log2_n; t++)
        if ((i >> t) & 1)
            r = r * powers.square[t];
    out[reversed && log2_n > 0 ? __brev(i) >> (32 - log2_n) : i] = r;
}

template <class P>
__global__ void vector_multiply(field<P> *c, const field<P> *a, const field<P> *b, size_t n)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] * b[i];
}

template <class P>
__global__ void vector_multiply_subtract(field<P> *a, const field<P> *b, const field<P> *c,
                                         size_t n, bool plain)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    field<P> r = a[i] * b[i] - c[i];
    if (plain) {
        field<P> unit = field<P>::zero();
        unit.l[0] = 1;
        r = r * unit;
    }
    a[i] = r;
}

template <class P> struct row_reader {
    struct matrix_device m;
    const field<P> *w;

    /* entry * wire, plain; w[wire] may be any 256-bit value (it is reduced by the product). */
    DEV field<P> term(u32 e) const
    {
        const u32 code = m.code_bytes == 1   ? static_cast<const uint8_t *>(m.code)[e]
                         : m.code_bytes == 2 ? static_cast<const uint16_t *>(m.code)[e]
                                             : static_cast<const u32 *>(m.code)[e];
        const field<P> *dictionary = static_cast<const field<P> *>(m.dictionary);
        return dictionary[code] * w[m.wire[e]];
    }
};

/* A thread a row; rows of more than ROW_LONG entries are listed for the next kernel. */
template <class P>
__global__ void rows_evaluate(field<P> *out, size_t n_out, struct row_reader<P> rows,
                              u32 *long_rows)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_out)
        return;
    field<P> sum = field<P>::zero();
    if (i < rows.m.n_rows) {
        const u32 begin = rows.m.row_start[i], end = rows.m.row_start[i + 1];
        if (end - begin > ROW_LONG) {
            long_rows[1 + atomicAdd(long_rows, 1u)] = (u32)i;
            return;
        }
        for (u32 e = begin; e < end; e++)
            sum = sum + rows.term(e);
        sum = sum * field<P>::r_squared();
    }
    out[i] = sum;
}

template <class P>
__global__ void long_rows_evaluate(field<P> *out, struct row_reader<P> rows, const u32 *long_rows)
{
    __shared__ u32 words[SCALAR_THREADS * P::N];
    field<P> *shared = reinterpret_cast<field<P> *>(words);
    const u32 n = long_rows[0], tid = threadIdx.x;
    for (u32 k = blockIdx.x; k < n; k += gridDim.x) {
        const u32 row = long_rows[1 + k];
        field<P> sum = field<P>::zero();
        for (u32 e = rows.m.row_start[row] + tid; e < rows.m.row_start[row + 1];
             e += SCALAR_THREADS)
            sum = sum + rows.term(e);
        shared[tid] = sum;
        for (u32 step = SCALAR_THREADS / 2; step > 0; step /= 2) {
            __syncthreads();
            if (tid < step)
                shared[tid] = shared[tid] + shared[tid + step];
        }
        if (tid == 0)
            out[row] = shared[0] * field<P>::r_squared();
        __syncthreads();
    }
}

static inline u32 scalar_blocks(size_t n)
{
    return (u32)((n + SCALAR_THREADS - 1) / SCALAR_THREADS);
}

template <class P>
cudaError_t scalar_powers(void *out, unsigned log2_n, const void *powers, const void *first,
                          bool reversed, cudaStream_t stream)
{
    struct power_table<P> table = {
    };
    memcpy(&table.first, first, sizeof table.first);
    memcpy(table.square, powers, log2_n * sizeof table.first);
    LAUNCH(powers_fill<P>, scalar_blocks((size_t)1 << log2_n), SCALAR_THREADS, 0, stream,
           static_cast<field<P> *>(out), log2_n, table, reversed);
    return cudaGetLastError();
}

template <class P>
cudaError_t scalar_multiply(void *c, const void *a, const void *b, size_t n, cudaStream_t stream)
{
    LAUNCH(vector_multiply<P>, scalar_blocks(n), SCALAR_THREADS, 0, stream,
           static_cast<field<P> *>(c), static_cast<const field<P> *>(a),
           static_cast<const field<P> *>(b), n);
    return cudaGetLastError();
}

template <class P>
cudaError_t scalar_multiply_subtract(void *a, const void *b, const void *c, size_t n, bool plain,
                                     cudaStream_t stream)
{
    LAUNCH(vector_multiply_subtract<P>, scalar_blocks(n), SCALAR_THREADS, 0, stream,
           static_cast<field<P> *>(a), static_cast<const field<P> *>(b),
           static_cast<const field<P> *>(c), n, plain);
    return cudaGetLastError();
}

template <class P>
cudaError_t scalar_evaluate(void *out, size_t n_out, const struct matrix_device *m, const void *w,
                            uint32_t *long_rows, cudaStream_t stream)
{
    const struct row_reader<P> rows = {
        *m, static_cast<const field<P> *>(w)
    };
    cudaError_t rc = cudaMemsetAsync(long_rows, 0, sizeof *long_rows, stream);
    if (rc != cudaSuccess)
        return rc;
    LAUNCH(rows_evaluate<P>, scalar_blocks(n_out), SCALAR_THREADS, 0, stream,
           static_cast<field<P> *>(out), n_out, rows, long_rows);
    LAUNCH(long_rows_evaluate<P>, LONG_BLOCKS, SCALAR_THREADS, 0, stream,
           static_cast<field<P> *>(out), rows, long_rows);
    return cudaGetLastError();
}
