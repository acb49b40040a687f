/* msm_tables: multiples 2^(window_bits j) P of every base, affine, made once when a key is loaded.
 */
#pragma once
#include "group.cuh"
#include "kernels.h"

enum { TABLE_THREADS = 128, TABLE_EACH = 32 };

template <class F>
__global__ void __launch_bounds__(TABLE_THREADS)
    table_double(xyzz<F> *out, const affine<F> *points, u32 n, u32 doublings)
{
    const u32 i = blockIdx.x * TABLE_THREADS + threadIdx.x;
    if (i >= n)
        return;
    xyzz<F> p = from_affine(points[i]);
    for (u32 k = 0; k < doublings; k++)
        double_call(&p);
    out[i] = p;
}

/* Each thread inverts TABLE_EACH denominators with one inversion (Montgomery's trick); the
 * products so far lie in the x words of the result until they are needed. */
template <class F>
__global__ void __launch_bounds__(TABLE_THREADS)
    table_normalize(affine<F> *out, const xyzz<F> *in, u32 n, u32 n_threads)
{
    const u32 t = blockIdx.x * TABLE_THREADS + threadIdx.x;
    if (t >= n_threads)
        return;
    F product = F::one();
    u32 last = t;
    for (u32 i = t; i < n; i += n_threads) {
        out[i].x = product;
        if (!in[i].is_infinity())
            product = product * in[i].zzz;
        last = i;
    }
    product = inverse(product);
    for (u32 i = last;; i -= n_threads) {
        const xyzz<F> p = in[i];
        affine<F> a = {F::zero(), F::zero()};
        if (!p.is_infinity()) {
            const F one_over_zzz = product * out[i].x;
            product = product * p.zzz;
            a.x = p.x * square(p.zz * one_over_zzz);
            a.y = p.y * one_over_zzz;
        }
        out[i] = a;
        if (i == t)
            break;
    }
}

template <class F>
cudaError_t msm_multiples(void *tables, const struct msm_shape *shape, uint32_t first,
                          uint32_t count, void *scratch, cudaStream_t stream)
{
    xyzz<F> *p = static_cast<xyzz<F> *>(scratch);
    if (count == 0)
        return cudaSuccess;
    const u32 blocks = (count + TABLE_THREADS - 1) / TABLE_THREADS;
    const u32 n_threads = (count + TABLE_EACH - 1) / TABLE_EACH;
    for (u32 j = 1; j < shape->n_tables; j++) {
        affine<F> *to = static_cast<affine<F> *>(tables) + (size_t)j * shape->n + first;
        LAUNCH(table_double<F>, blocks, TABLE_THREADS, 0, stream, p, to - shape->n, count,
               shape->window_bits);
        LAUNCH(table_normalize<F>, (n_threads + TABLE_THREADS - 1) / TABLE_THREADS, TABLE_THREADS,
               0, stream, to, p, count, n_threads);
    }
    return cudaGetLastError();
}
