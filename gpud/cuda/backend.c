/* backend: the cuda backend's table of operations, its device and its arenas. */
#include "device.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUDGET_PERCENT = 90 };

enum err_code cuda_failed(struct err *e, cudaError_t rc, const char *what)
{
    cudaGetLastError(); /* an error sticks to the thread and would be blamed on the next call */
    const bool memory = rc == cudaErrorMemoryAllocation;
    const bool lost = cudaDeviceSynchronize() != cudaSuccess;
    cudaGetLastError();
    return err_set(e, memory ? ERR_MEMORY : ERR_FAILED, "cuda backend: %s: %s (%s)%s", what,
                   cudaGetErrorString(rc), cudaGetErrorName(rc),
                   lost ? "; the device's context is lost, this process must be restarted" : "");
}

static int node_of(int device)
{
    char id[32] = "", path[96];
    if (cudaDeviceGetPCIBusId(id, (int)sizeof id, device) != cudaSuccess)
        return -1;
    for (char *p = id; *p; p++)
        if (*p >= 'A' && *p <= 'F')
            *p = (char)(*p - 'A' + 'a');
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/numa_node", id);
    FILE *f = fopen(path, "re");
    int node = -1;
    if (f) {
        if (fscanf(f, "%d", &node) != 1)
            node = -1;
        fclose(f);
    }
    return node;
}

static void cuda_close(struct backend **out)
{
    struct backend *b = *out;
    if (!b)
        return;
    *out = NULL;
    cudaSetDevice(b->device);
    cudaDeviceSynchronize();
    for (unsigned i = 0; i < IN_FLIGHT; i++)
        slot_close(&b->slot[i]);
    while (b->keys) {
        b->keys->users = 0;
        key_evict(b, b->keys);
    }
    for (unsigned i = 0; i < IN_FLIGHT; i++) {
        cudaFree(b->workspace[i].block);
        if (b->workspace[i].idle)
            cudaEventDestroy(b->workspace[i].idle);
    }
    if (b->copy)
        cudaStreamDestroy(b->copy);
    if (b->time)
        cudaStreamDestroy(b->time);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

static enum err_code open_device(struct backend *b, uint64_t budget_bytes, struct err *e)
{
    CUDA_TRY(e, cudaSetDevice(b->device), "taking the device");
    struct cudaDeviceProp properties;
    CUDA_TRY(e, cudaGetDeviceProperties(&properties, b->device), "asking the device");
    snprintf(b->name, sizeof b->name, "%.127s", properties.name);
    b->numa_node = node_of(b->device);
    size_t unused = 0, total = 0;
    CUDA_TRY(e, cudaMemGetInfo(&unused, &total), "asking for device memory");
    const uint64_t most = (uint64_t)unused / 100 * BUDGET_PERCENT;
    b->budget_bytes = budget_bytes && budget_bytes < most ? budget_bytes : most;
    CUDA_TRY(e, cudaStreamCreateWithFlags(&b->copy, cudaStreamNonBlocking), "a stream");
    CUDA_TRY(e, cudaStreamCreateWithFlags(&b->time, cudaStreamNonBlocking), "a stream");
    for (unsigned i = 0; i < IN_FLIGHT; i++) {
        CUDA_TRY(e, cudaEventCreateWithFlags(&b->workspace[i].idle, cudaEventDisableTiming),
                 "an event");
        enum err_code rc = slot_open(&b->slot[i], e);
        if (rc)
            return rc;
    }
    return ERR_OK;
}

static enum err_code cuda_open(struct backend **out, int device, uint64_t budget_bytes,
                               unsigned threads, struct err *e)
{
    (void)threads; /* the kernels need none */
    *out = NULL;
    int n = 0;
    const cudaError_t rc = cudaGetDeviceCount(&n);
    if (rc != cudaSuccess) {
        cudaGetLastError();
        return err_set(e, ERR_UNAVAILABLE, "cuda backend: no device: %s", cudaGetErrorString(rc));
    }
    if (device < 0 || device >= n)
        return err_set(e, ERR_UNAVAILABLE, "cuda backend: device %d asked for, there %s %d", device,
                       n == 1 ? "is" : "are", n);
    struct backend *b = calloc(1, sizeof *b);
    if (!b)
        return err_set(e, ERR_MEMORY, "cuda backend: no memory");
    pthread_mutex_init(&b->lock, NULL);
    b->device = device;
    const enum err_code failed = open_device(b, budget_bytes, e);
    if (failed) {
        cuda_close(&b);
        return failed;
    }
    *out = b;
    return ERR_OK;
}

static void cuda_caps(const struct backend *b, struct backend_caps *out)
{
    *out = (struct backend_caps){
        .name = "cuda",
        .evaluates = true,
        .early_upload = true,
        .max_in_flight = IN_FLIGHT,
        .memory_bytes = b->budget_bytes,
        .numa_node = b->numa_node,
    };
    memcpy(out->device, b->name, sizeof out->device);
}

/* Read-only, so that a copy still under way when this process dies can only read. */
static enum err_code cuda_arena_attach(struct backend *b, void *base, size_t bytes, struct err *e)
{
    int read_only = 0;
    CUDA_TRY(e, cudaSetDevice(b->device), "taking the device");
    CUDA_TRY(
        e, cudaDeviceGetAttribute(&read_only, cudaDevAttrHostRegisterReadOnlySupported, b->device),
        "asking the device");
    CUDA_TRY(e,
             cudaHostRegister(base, bytes,
                              read_only ? cudaHostRegisterReadOnly : cudaHostRegisterDefault),
             "registering an arena");
    return ERR_OK;
}

static enum err_code cuda_arena_detach(struct backend *b, void *base, struct err *e)
{
    CUDA_TRY(e, cudaSetDevice(b->device), "taking the device");
    CUDA_TRY(e, cudaHostUnregister(base), "giving an arena back");
    return ERR_OK;
}

static enum err_code cuda_circuit_load(struct backend *b, const struct circuit *c, struct err *e)
{
    struct key *k = key_find(b, c->digest);
    if (k) {
        k->last_use = ++b->clock;
        return ERR_OK;
    }
    CUDA_TRY(e, cudaSetDevice(b->device), "taking the device");
    return key_load(b, c, e);
}

static void cuda_circuit_evict(struct backend *b, const uint8_t digest[32])
{
    struct key *k = key_find(b, digest);
    if (k)
        key_evict(b, k);
}

static bool cuda_circuit_resident(const struct backend *b, const uint8_t digest[32])
{
    return key_find(b, digest) != NULL;
}

static uint64_t cuda_circuit_bytes(const struct backend *b, const uint8_t digest[32])
{
    const struct key *k = key_find(b, digest);
    return k ? k->bytes : 0;
}

const struct backend_ops backend_cuda = {
    .name = "cuda",
    .open = cuda_open,
    .caps = cuda_caps,
    .arena_attach = cuda_arena_attach,
    .arena_detach = cuda_arena_detach,
    .circuit_load = cuda_circuit_load,
    .circuit_evict = cuda_circuit_evict,
    .circuit_resident = cuda_circuit_resident,
    .circuit_bytes = cuda_circuit_bytes,
    .prove_start = prove_start_cuda,
    .prove_poll = prove_poll_cuda,
    .prove_finish = prove_finish_cuda,
    .close = cuda_close,
};
