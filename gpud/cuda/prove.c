/* prove: one proof queued on the device, watched and collected. */
#include "device.h"
#include <string.h>
#include <time.h>

enum { MAIN_LANE = N_LANES - 1 };

uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

enum err_code slot_open(struct slot *s, struct err *e)
{
    void *pinned = NULL;
    CUDA_TRY(e, cudaMallocHost(&pinned, N_SUMS * RESULT_BYTES), "pinned memory for results");
    s->result = pinned;
    for (unsigned i = 0; i < N_LANES; i++)
        CUDA_TRY(e, cudaStreamCreateWithFlags(&s->lane[i], cudaStreamNonBlocking), "a stream");
    for (unsigned i = 0; i < N_EVENTS; i++)
        CUDA_TRY(e, cudaEventCreateWithFlags(&s->event[i], i == AT_END ? cudaEventBlockingSync : 0),
                 "an event");
    return ERR_OK;
}

void slot_close(struct slot *s)
{
    for (unsigned i = 0; i < N_EVENTS; i++)
        if (s->event[i])
            cudaEventDestroy(s->event[i]);
    for (unsigned i = 0; i < N_LANES; i++)
        if (s->lane[i])
            cudaStreamDestroy(s->lane[i]);
    cudaFree(s->w);
    if (s->result) {
        explicit_bzero(s->result, N_SUMS * RESULT_BYTES);
        cudaFreeHost(s->result);
    }
}

/* In pieces, so that no copy keeps the engine for long. */
static cudaError_t copy_in(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    cudaError_t rc = cudaSuccess;
    for (size_t done = 0; done < bytes && rc == cudaSuccess; done += COPY_BYTES) {
        const size_t piece = bytes - done < COPY_BYTES ? bytes - done : COPY_BYTES;
        rc = cudaMemcpyAsync((uint8_t *)to + done, (const uint8_t *)from + done, piece,
                             cudaMemcpyHostToDevice, stream);
    }
    return rc;
}

#define TRY(call)                                                                                  \
    do {                                                                                           \
        const cudaError_t rc_ = (call);                                                            \
        if (rc_ != cudaSuccess)                                                                    \
            return rc_;                                                                            \
    } while (0)

static cudaError_t queue_copies(struct backend *b, struct slot *s, const struct workspace *ws,
                                const struct workspace_layout *at, const struct prove_input *in)
{
    const size_t n = (size_t)1 << s->key->ntt.log2_n;
    TRY(cudaEventRecord(s->event[AT_COPY_BEGIN], b->copy));
    TRY(copy_in(s->w, in->w, s->key->n_wires * sizeof(fr_t), b->copy));
    if (!s->evaluated) { /* into the workspace: behind the proof that has it now */
        TRY(cudaStreamWaitEvent(b->copy, ws->idle, 0));
        TRY(copy_in(at->a, in->a, n * sizeof(fr_t), b->copy));
        TRY(copy_in(at->b, in->b, n * sizeof(fr_t), b->copy));
    }
    return cudaEventRecord(s->event[AT_COPY_END], b->copy);
}

/* a, b -> the scalars of the H bases, left in a. */
static cudaError_t queue_quotient(struct slot *s, const struct workspace_layout *at)
{
    const struct key *k = s->key;
    const struct cuda_curve *f = k->curve;
    const size_t n = (size_t)1 << k->ntt.log2_n;
    cudaStream_t stream = s->lane[MAIN_LANE];
    void *abc[3] = {at->a, at->b, at->c};
    if (s->evaluated) {
        TRY(f->evaluate(at->a, n, &k->a, s->w, at->long_rows, stream));
        TRY(f->evaluate(at->b, n, &k->b, s->w, at->long_rows, stream));
    }
    TRY(cudaEventRecord(s->event[AT_MATRICES], stream));
    TRY(f->multiply(at->c, at->a, at->b, n, stream));
    TRY(f->ntt_inverse(abc, 3, &k->ntt, k->to_coset, stream));
    TRY(f->ntt_forward(abc, 3, &k->ntt, stream));
    TRY(f->multiply_subtract(at->a, at->b, at->c, n, !k->monomial, stream));
    if (k->monomial)
        TRY(f->ntt_inverse(abc, 1, &k->ntt, k->from_coset, stream));
    return cudaEventRecord(s->event[AT_NTT], stream);
}

static cudaError_t queue_sum(struct slot *s, const struct workspace_layout *at, enum sum_id id)
{
    const struct key_sum *sum = &s->key->sum[id];
    const struct lane *lane = &at->lane[at->lane_of[id]];
    cudaStream_t stream = s->lane[at->lane_of[id]];
    void *result = (uint8_t *)at->results + id * RESULT_BYTES;
    TRY(cudaEventRecord(s->event[AT_SUM_BEGIN + id], stream));
    if (sum->shape.n != 0 && !sum->shares_sort) {
        const struct msm_scalars scalars = {id == SUM_H ? at->a : s->w, sum->wire, sum->first_wire};
        TRY(s->key->curve->sort(&lane->sorted, &sum->shape, &scalars, stream));
    }
    TRY(cudaEventRecord(s->event[AT_SUM_SORTED + id], stream));
    if (sum->shape.n == 0) {
        TRY(cudaMemsetAsync(result, 0, RESULT_BYTES, stream));
    } else {
        TRY(sum->group->sum(result, sum->tables, &sum->shape, &lane->sorted, &lane->work, stream));
    }
    return cudaEventRecord(s->event[AT_SUM_END + id], stream);
}

static cudaError_t queue_kernels(struct slot *s, const struct workspace *ws,
                                 const struct workspace_layout *at)
{
    cudaStream_t stream = s->lane[MAIN_LANE];
    for (unsigned i = 0; i < N_LANES; i++) {
        TRY(cudaStreamWaitEvent(s->lane[i], ws->idle, 0));
        TRY(cudaStreamWaitEvent(s->lane[i], s->event[AT_COPY_END], 0));
    }
    TRY(cudaEventRecord(s->event[AT_KERNEL_BEGIN], stream));
    TRY(queue_quotient(s, at));
    TRY(queue_sum(s, at, SUM_H));
    for (unsigned id = 0; id < SUM_H; id++)
        TRY(queue_sum(s, at, (enum sum_id)id));
    for (unsigned id = 0; id < SUM_H; id++)
        TRY(cudaStreamWaitEvent(stream, s->event[AT_SUM_END + id], 0));
    TRY(cudaEventRecord(s->event[AT_KERNEL_END], stream));
    TRY(cudaMemcpyAsync(s->result, at->results, N_SUMS * RESULT_BYTES, cudaMemcpyDeviceToHost,
                        stream));
    TRY(cudaEventRecord(s->event[AT_END], stream));
    return cudaEventRecord(ws->idle, stream);
}

int prove_start_cuda(struct backend *b, const struct prove_input *in, struct err *e)
{
    struct key *k = key_find(b, in->circuit->digest);
    if (!k) {
        err_set(e, ERR_INTERNAL, "cuda backend: the circuit was not loaded");
        return -1;
    }
    if (!in->a != !in->b) {
        err_set(e, ERR_INTERNAL, "cuda backend: a without b");
        return -1;
    }
    cudaError_t rc = cudaSetDevice(b->device);
    if (rc != cudaSuccess) {
        cuda_failed(e, rc, "taking the device");
        return -1;
    }
    if (make_room_to_work(b, k, e))
        return -1;
    const unsigned ticket = b->next_start % IN_FLIGHT;
    struct slot *s = &b->slot[ticket];
    pthread_mutex_lock(&b->lock);
    const bool room = !s->busy;
    if (room) {
        s->busy = true;
        k->users++;
    }
    pthread_mutex_unlock(&b->lock);
    if (!room) {
        err_set(e, ERR_REFUSED, "cuda backend: %d proofs are in flight already", IN_FLIGHT);
        return -1;
    }
    k->last_use = ++b->clock;
    s->key = k;
    s->evaluated = !in->a;
    struct workspace *ws = &b->workspace[ticket % b->n_workspaces];
    struct workspace_layout at;
    workspace_carve(&at, k, parallel_bytes(b), ws->block);
    s->timing = (struct prove_timing){.queued_ns = clock_ns(),
                                      .key_load_begin_ns = k->load_begin_ns,
                                      .key_load_end_ns = k->load_end_ns};
    rc = cudaEventRecord(s->event[AT_BASE], b->time);
    if (rc == cudaSuccess)
        rc = cudaEventSynchronize(s->event[AT_BASE]);
    s->base_ns = clock_ns();
    if (rc == cudaSuccess)
        rc = queue_copies(b, s, ws, &at, in);
    if (rc == cudaSuccess)
        rc = queue_kernels(s, ws, &at);
    if (rc != cudaSuccess) {
        cuda_failed(e, rc, "queueing a proof");
        cudaDeviceSynchronize(); /* what was queued may read the extent still */
        pthread_mutex_lock(&b->lock);
        s->busy = false;
        k->users--;
        pthread_mutex_unlock(&b->lock);
        return -1;
    }
    b->next_start++;
    return (int)ticket;
}

enum prove_stage prove_poll_cuda(struct backend *b, int ticket)
{
    const struct slot *s = &b->slot[ticket];
    cudaError_t rc = cudaEventQuery(s->event[AT_END]);
    if (rc == cudaSuccess)
        return PROVE_DONE;
    if (rc == cudaErrorNotReady)
        rc = cudaEventQuery(s->event[AT_COPY_END]);
    else
        return PROVE_FAILED;
    return rc == cudaSuccess         ? PROVE_UPLOADED
           : rc == cudaErrorNotReady ? PROVE_QUEUED
                                     : PROVE_FAILED;
}

static uint64_t event_ns(const struct slot *s, unsigned event)
{
    float ms = 0;
    if (cudaEventElapsedTime(&ms, s->event[AT_BASE], s->event[event]) != cudaSuccess) {
        cudaGetLastError();
        return 0;
    }
    return s->base_ns + (uint64_t)((double)(ms > 0 ? ms : 0) * 1e6);
}

static uint64_t between_ns(const struct slot *s, unsigned from, unsigned to)
{
    const uint64_t begin = event_ns(s, from), end = event_ns(s, to);
    return end > begin ? end - begin : 0;
}

static void collect_timing(struct slot *s)
{
    struct prove_timing *t = &s->timing;
    t->copy_begin_ns = event_ns(s, AT_COPY_BEGIN);
    t->copy_end_ns = event_ns(s, AT_COPY_END);
    t->kernel_begin_ns = event_ns(s, AT_KERNEL_BEGIN);
    t->kernel_end_ns = event_ns(s, AT_KERNEL_END);
    t->copy_out_ns = between_ns(s, AT_KERNEL_END, AT_END);
    t->matrices_ns = s->evaluated ? between_ns(s, AT_KERNEL_BEGIN, AT_MATRICES) : 0;
    t->ntt_ns = between_ns(s, AT_MATRICES, AT_NTT);
    uint64_t *const sums[N_SUMS] = {&t->msm_a_ns, &t->msm_b1_ns, &t->msm_b2_ns, &t->msm_l_ns,
                                    &t->msm_h_ns};
    for (unsigned id = 0; id < N_SUMS; id++) {
        t->classify_ns += between_ns(s, AT_SUM_BEGIN + id, AT_SUM_SORTED + id);
        *sums[id] = between_ns(s, AT_SUM_SORTED + id, AT_SUM_END + id);
    }
}

enum err_code prove_finish_cuda(struct backend *b, int ticket, struct groth16_sums *out,
                                struct prove_timing *timing, struct err *e)
{
    INVARIANT(ticket >= 0 && ticket < IN_FLIGHT);
    struct slot *s = &b->slot[ticket];
    INVARIANT(s->busy);
    enum err_code rc = ERR_OK;
    cudaError_t failed = cudaSetDevice(b->device);
    if (failed == cudaSuccess)
        failed = cudaEventSynchronize(s->event[AT_END]);
    if (failed == cudaSuccess) {
        point_t *const points[N_SUMS] = {&out->a, &out->b1, &out->b2, &out->l, &out->h};
        const struct curve *c = curve_by_id((enum curve_id)s->key->curve->id);
        for (unsigned id = 0; id < N_SUMS; id++)
            point_from_device(c, id == SUM_B2, s->result + id * RESULT_BYTES, points[id]);
        collect_timing(s);
        if (timing)
            *timing = s->timing;
    } else {
        rc = cuda_failed(e, failed, "proving");
    }
    explicit_bzero(s->result, N_SUMS * RESULT_BYTES);
    pthread_mutex_lock(&b->lock);
    s->key->users--;
    s->busy = false;
    pthread_mutex_unlock(&b->lock);
    return rc;
}
