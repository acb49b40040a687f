/* emulator: fibers, barriers and the part of the CUDA runtime that Millrace calls, on the CPU. */
#include "emulator.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>
#include <map>
#include <vector>

emulated_index threadIdx, blockIdx, blockDim, gridDim;

namespace
{
enum { STACK_BYTES = 256 << 10, RING = 16 };

struct meeting {
    uint32_t arrived = 0, generation = 0, value[32], kept[RING][32];
};
struct fiber {
    ucontext_t context; /* to begin with; afterwards jumps, which make no system call */
    jmp_buf at;
    std::vector<char> stack;
    bool begun, done;
};

std::vector<fiber> fibers;
ucontext_t scheduler;
jmp_buf scheduler_at;
const std::function<void()> *body;
unsigned current, n_threads, n_alive;
struct {
    unsigned arrived, generation;
    int vote, result;
} barrier;
std::vector<std::map<uint32_t, meeting>> warps;
std::vector<uint64_t> shared_words;

void yield()
{
    if (_setjmp(fibers[current].at) == 0)
        _longjmp(scheduler_at, 1);
}

void resume(unsigned t)
{
    current = t;
    threadIdx.x = t;
    if (_setjmp(scheduler_at) == 0) {
        if (fibers[t].begun)
            _longjmp(fibers[t].at, 1);
        fibers[t].begun = true;
        swapcontext(&scheduler, &fibers[t].context);
    }
}

void open_barrier_if_full()
{
    if (n_alive > 0 && barrier.arrived == n_alive) {
        barrier.arrived = 0;
        barrier.result = barrier.vote;
        barrier.vote = 0;
        barrier.generation++;
    }
}

void fiber_main()
{
    (*body)();
    fibers[current].done = true;
    n_alive--;
    open_barrier_if_full();
    _longjmp(scheduler_at, 1);
}

void run_block()
{
    n_alive = n_threads;
    barrier = {};
    warps.assign((n_threads + 31) / 32, {});
    if (fibers.size() < n_threads)
        fibers.resize(n_threads);
    for (unsigned t = 0; t < n_threads; t++) {
        fiber &f = fibers[t];
        f.stack.resize(STACK_BYTES);
        f.begun = f.done = false;
        getcontext(&f.context);
        f.context.uc_stack.ss_sp = f.stack.data();
        f.context.uc_stack.ss_size = f.stack.size();
        f.context.uc_link = nullptr;
        makecontext(&f.context, fiber_main, 0);
    }
    unsigned stuck = 0;
    while (n_alive > 0) {
        const unsigned alive_before = n_alive, generation = barrier.generation;
        for (unsigned t = 0; t < n_threads; t++) {
            if (fibers[t].done)
                continue;
            resume(t);
        }
        stuck = n_alive == alive_before && generation == barrier.generation ? stuck + 1 : 0;
        if (stuck > 100000) {
            fprintf(stderr, "emulator: the threads of a block wait for each other for ever\n");
            abort();
        }
    }
}
} // namespace

void emulate_barrier()
{
    (void)emulate_barrier_or(0);
}

int emulate_barrier_or(int value)
{
    const unsigned generation = barrier.generation, me = current;
    barrier.arrived++;
    barrier.vote |= value != 0;
    open_barrier_if_full();
    while (barrier.generation == generation)
        yield();
    current = me;
    threadIdx.x = me;
    return barrier.result;
}

const uint32_t *emulate_meet(uint32_t mask, uint32_t value)
{
    const unsigned lane = current % 32;
    meeting &m = warps[current / 32][mask];
    uint32_t expected = mask;
    const unsigned first = current - lane;
    for (unsigned l = 0; l < 32; l++) /* lanes that the block does not have, or that have left */
        if (first + l >= n_threads || fibers[first + l].done)
            expected &= ~(1u << l);
    const uint32_t generation = m.generation;
    m.value[lane] = value;
    m.arrived |= 1u << lane;
    if (m.arrived == expected) {
        memcpy(m.kept[generation % RING], m.value, sizeof m.value);
        m.arrived = 0;
        m.generation++;
    }
    while (m.generation == generation)
        yield();
    return m.kept[generation % RING];
}

void *emulate_shared()
{
    return shared_words.data();
}

void emulate_launch(dim3 grid, dim3 block, size_t shared, cudaStream_t,
                    const std::function<void()> &thread)
{
    body = &thread;
    n_threads = block.x;
    blockDim = {block.x, 1, 1};
    gridDim = {grid.x, grid.y, 1};
    shared_words.assign(shared / 8 + 2, 0xa5a5a5a5a5a5a5a5u); /* poison */
    for (blockIdx.y = 0; blockIdx.y < grid.y; blockIdx.y++)
        for (blockIdx.x = 0; blockIdx.x < grid.x; blockIdx.x++)
            run_block();
}

/* The runtime. A stream is a number, an event the time at which it was recorded. */
struct CUevent_st {
    double ms;
    bool recorded;
};

static double now_ms()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

extern "C" {
static size_t emulated_memory = (size_t)4 << 30, emulated_used;

cudaError_t cudaMalloc(void **p, size_t bytes)
{
    if (bytes > emulated_memory - emulated_used)
        return cudaErrorMemoryAllocation;
    size_t *block = static_cast<size_t *>(malloc(bytes + 64));
    block[0] = bytes;
    memset(block + 8, 0xa5, bytes); /* fresh device memory holds anything */
    emulated_used += bytes;
    *p = block + 8;
    return cudaSuccess;
}
cudaError_t cudaFree(void *p)
{
    if (p) {
        size_t *block = static_cast<size_t *>(p) - 8;
        emulated_used -= block[0];
        free(block);
    }
    return cudaSuccess;
}
cudaError_t cudaMallocHost(void **p, size_t bytes)
{
    *p = calloc(1, bytes);
    return *p ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFreeHost(void *p)
{
    free(p);
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t *unused, size_t *total)
{
    *unused = emulated_memory - emulated_used;
    *total = emulated_memory;
    return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind,
                            cudaStream_t)
{
    memcpy(to, from, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind)
{
    memcpy(to, from, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t)
{
    memset(p, value, bytes);
    return cudaSuccess;
}
cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}
const char *cudaGetErrorString(cudaError_t)
{
    return "emulated error";
}
const char *cudaGetErrorName(cudaError_t)
{
    return "cudaErrorEmulated";
}
cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device)
{
    return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}
cudaError_t cudaGetDeviceCount(int *n)
{
    *n = 1;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr which, int)
{
    *value = which == cudaDevAttrMultiProcessorCount
                 ? 1
                 : which == cudaDevAttrHostRegisterReadOnlySupported;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char *id, int n, int)
{
    snprintf(id, (size_t)n, "0000:00:00.0");
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int)
{
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "emulated device");
    p->totalGlobalMem = emulated_memory;
    p->major = 9;
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned)
{
    static size_t next = 1;
    *s = reinterpret_cast<cudaStream_t>(next++);
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t)
{
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize(void)
{
    return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned)
{
    return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned)
{
    *e = new CUevent_st();
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t e)
{
    delete e;
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t)
{
    e->ms = now_ms();
    e->recorded = true;
    return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t)
{
    return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t)
{
    return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b)
{
    *ms = (float)(b->ms - a->ms);
    return a->recorded && b->recorded ? cudaSuccess : cudaErrorInvalidResourceHandle;
}
cudaError_t cudaHostRegister(void *, size_t, unsigned)
{
    return cudaSuccess;
}
cudaError_t cudaHostUnregister(void *)
{
    return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *version)
{
    *version = 13000;
    return cudaSuccess;
}
}
