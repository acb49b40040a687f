/* platform: what a kernel source needs, from nvcc or from the emulator.
 *
 * The kernels are compiled twice: by nvcc for a device, and by the C++ compiler over
 * tests/unit/cuda/emulator.h, which runs every thread of a block on the CPU, so that a machine with
 * no GPU still tests each kernel bit for bit. Sources here therefore launch through LAUNCH and name
 * shared memory through SHARED_DYNAMIC. */
#pragma once
#include <stdint.h>
#ifdef __CUDACC__
#include <cuda_runtime.h>
#define LAUNCH(kernel, grid, block, shared, stream, ...)                                           \
    (kernel)<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__)
#define SHARED_DYNAMIC(type, name)                                                                 \
    extern __shared__ uint4 shared_dynamic[];                                                      \
    type *name = reinterpret_cast<type *>(shared_dynamic)
#define HD      __host__ __device__ __forceinline__
#define DEV     __device__ __forceinline__
#define DEVCALL static __device__ __noinline__
#else
#include "emulator.h"
#define HD      inline
#define DEV     inline
#define DEVCALL static
#endif

typedef uint32_t u32;
typedef uint64_t u64;

/* Asks for `bytes` at p to come into the second-level cache. */
DEV void prefetch(const void *p, u32 bytes)
{
#ifdef __CUDACC__
    for (u32 at = 0; at < bytes; at += 64)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(static_cast<const char *>(p) + at));
#else
    (void)p, (void)bytes;
#endif
}
