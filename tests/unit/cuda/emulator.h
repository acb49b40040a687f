/* emulator: runs CUDA kernels on the CPU, one block at a time, each thread a fiber.
 *
 * A machine without a GPU compiles the kernel sources over this header and so tests every kernel
 * bit for bit at small sizes (under the sanitizers too). It knows what the kernels use: block and
 * thread indices, __syncthreads and its vote, warp ballots, matches and shuffles, atomicAdd,
 * static and dynamic shared memory. Launches and copies happen at once, so it shows wrong
 * arithmetic and wrong indices, not races between streams. The runtime calls behind it are in
 * emulator.cpp. */
#pragma once
#include <cuda_runtime_api.h>
#include <vector_types.h>
#include <functional>
#include <stdint.h>
#include <string.h>

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __launch_bounds__
#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __launch_bounds__(...)

struct emulated_index {
    unsigned x, y, z;
};
extern emulated_index threadIdx, blockIdx, blockDim, gridDim;

void emulate_launch(dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
                    const std::function<void()> &thread);
void *emulate_shared();
void emulate_barrier();
int emulate_barrier_or(int value);
/* All lanes of mask meet; returns where the 32 values of the warp lie until the next meeting. */
const uint32_t *emulate_meet(uint32_t mask, uint32_t value);

#define LAUNCH(kernel, grid, block, shared, stream, ...)                                           \
    emulate_launch(grid, block, shared, stream, [=] { (kernel)(__VA_ARGS__); })
#define SHARED_DYNAMIC(type, name) type *name = static_cast<type *>(emulate_shared())

static inline void __syncthreads()
{
    emulate_barrier();
}
static inline int __syncthreads_or(int value)
{
    return emulate_barrier_or(value);
}
static inline uint32_t __ballot_sync(uint32_t mask, int vote)
{
    const uint32_t *v = emulate_meet(mask, vote != 0);
    uint32_t r = 0;
    for (int lane = 0; lane < 32; lane++)
        r |= ((mask >> lane) & 1) && v[lane] ? 1u << lane : 0;
    return r;
}
static inline uint32_t __match_any_sync(uint32_t mask, uint32_t value)
{
    const uint32_t *v = emulate_meet(mask, value);
    uint32_t r = 0;
    for (int lane = 0; lane < 32; lane++)
        r |= ((mask >> lane) & 1) && v[lane] == value ? 1u << lane : 0;
    return r;
}
static inline uint32_t __shfl_sync(uint32_t mask, uint32_t value, int lane)
{
    return emulate_meet(mask, value)[lane];
}
static inline int __ffs(int x)
{
    return __builtin_ffs(x);
}
static inline int __popc(uint32_t x)
{
    return __builtin_popcount(x);
}
static inline uint32_t __brev(uint32_t x)
{
    uint32_t r = 0;
    for (int i = 0; i < 32; i++)
        r |= ((x >> i) & 1) << (31 - i);
    return r;
}
static inline uint32_t atomicAdd(uint32_t *p, uint32_t v)
{
    const uint32_t old = *p;
    *p += v;
    return old;
}
static inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w)
{
    return {x, y, z, w};
}
