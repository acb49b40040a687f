/* device: the objects that the sources of the cuda backend share.
 *
 *   backend    one GPU: its streams, the keys that are resident, slots and workspaces
 *   key        a circuit in device memory, one allocation; least recently used goes first
 *   slot       one proof in flight: its witness on the device, its result on the host, its events
 *   workspace  the vectors and sorting memory of one proof; slots share them when they are large,
 *              and then prove one after the other while their copies overlap
 *
 * Locking: everything is the take thread's, but a slot's state, which finish moves under `lock`. */
#pragma once
#include <pthread.h>
#include "backend.h"
#include "kernels.h"

enum { IN_FLIGHT = 4, N_LANES = 4, COPY_BYTES = 32 << 20 };
enum sum_id { SUM_A, SUM_B1, SUM_B2, SUM_L, SUM_H, N_SUMS };

/* The bases of one sum. */
struct key_sum {
    struct msm_shape shape;
    const struct cuda_group *group;
    void *tables;   /* n_tables * n affine points */
    uint32_t *wire; /* n, or NULL */
    uint32_t first_wire;
    bool shares_sort; /* same wires and shape as the sum before: B2 after B1 */
};

struct key {
    struct key *next;
    uint8_t digest[32];
    const struct cuda_curve *curve;
    uint32_t n_wires;
    bool monomial;
    unsigned max_sets; /* bucket sets a sum may have; 1 where every multiple is stored */
    struct ntt_shape ntt;
    void *to_coset;   /* 1/n shift^i, at bit-reversed places */
    void *from_coset; /* monomial: 1/(n Z) shift^-i, plain, at bit-reversed places */
    struct matrix_device a, b;
    struct key_sum sum[N_SUMS];
    void *block;
    uint64_t bytes, last_use;
    uint64_t tables_bytes, load_begin_ns, load_end_ns;
    unsigned users; /* proofs in flight */
};

struct lane {
    struct msm_sorted sorted;
    struct msm_work work;
};

struct workspace {
    void *block;
    cudaEvent_t idle; /* recorded behind the last kernel that uses it */
};

/* What one proof of a key needs of a workspace, laid out over its block. */
struct workspace_layout {
    void *a, *b, *c;
    uint32_t *long_rows;
    void *results; /* N_SUMS places of RESULT_BYTES */
    struct lane lane[N_LANES];
    unsigned lane_of[N_SUMS];
    size_t bytes;
};
enum { RESULT_BYTES = 384 }; /* an xyzz of G2 of BLS12-381 */

enum slot_event {
    AT_BASE,
    AT_COPY_BEGIN,
    AT_COPY_END,
    AT_KERNEL_BEGIN,
    AT_MATRICES,
    AT_NTT,
    AT_KERNEL_END,
    AT_END,
    AT_SUM_BEGIN,
    AT_SUM_SORTED = AT_SUM_BEGIN + N_SUMS,
    AT_SUM_END = AT_SUM_SORTED + N_SUMS,
    N_EVENTS = AT_SUM_END + N_SUMS
};

struct slot {
    bool busy;
    struct key *key;
    void *w;         /* device */
    uint8_t *result; /* N_SUMS * RESULT_BYTES, pinned; SECRET until taken */
    cudaEvent_t event[N_EVENTS];
    bool evaluated;
    cudaStream_t lane[N_LANES]; /* lane[SUM_H's] is the main one */
    struct prove_timing timing;
    uint64_t base_ns;
};

struct backend {
    pthread_mutex_t lock;
    int device;
    char name[128];
    int numa_node;
    uint64_t budget_bytes, key_bytes, work_bytes;
    uint64_t clock; /* of last_use */
    struct key *keys;
    struct slot slot[IN_FLIGHT];
    unsigned next_start;
    struct workspace workspace[IN_FLIGHT];
    unsigned n_workspaces;
    size_t workspace_bytes, witness_bytes; /* what each has been given */
    cudaStream_t copy, time;
};

/* Says "cuda backend: WHAT: ...", drops the sticky error, and tells a lost context from the rest.
 */
enum err_code cuda_failed(struct err *e, cudaError_t rc, const char *what);
#define CUDA_TRY(e, call, what)                                                                    \
    do {                                                                                           \
        const cudaError_t rc_ = (call);                                                            \
        if (rc_ != cudaSuccess)                                                                    \
            return cuda_failed(e, rc_, what);                                                      \
    } while (0)

uint64_t clock_ns(void);

/* Hands out pieces of one block, each at a multiple of 256 bytes; with base NULL it only counts. */
struct carve {
    uint8_t *base;
    size_t used;
};
void *carve_take(struct carve *c, size_t bytes);

/* shape.c: how to cut a sum of n bases into n_sets bucket sets at most (1: every multiple stored).
 */
struct msm_shape shape_for(uint32_t n, unsigned scalar_bits, unsigned max_sets);
void lane_carve(struct lane *lane, struct carve *c, const struct key_sum *sums, unsigned n);
void workspace_carve(struct workspace_layout *out, const struct key *k, uint64_t parallel_bytes,
                     void *base);

/* keys.c */
struct key *key_find(const struct backend *b, const uint8_t digest[32]);
enum err_code key_load(struct backend *b, const struct circuit *c, struct err *e);
void key_evict(struct backend *b, struct key *k);
/* Gives every slot and workspace room for k; waits for the kernels in flight where they are too
 * small, which is never so once circuit_load has been through here. */
enum err_code make_room_to_work(struct backend *b, const struct key *k, struct err *e);
/* At most this share of the budget may go into lanes that run side by side. */
uint64_t parallel_bytes(const struct backend *b);

/* prove.c */
enum err_code slot_open(struct slot *s, struct err *e);
void slot_close(struct slot *s);
int prove_start_cuda(struct backend *b, const struct prove_input *in, struct err *e);
enum prove_stage prove_poll_cuda(struct backend *b, int ticket);
enum err_code prove_finish_cuda(struct backend *b, int ticket, struct groth16_sums *out,
                                struct prove_timing *timing, struct err *e);

/* affine.c: an xyzz as the device leaves it -> affine, on the host (one inversion). */
void point_from_device(const struct curve *c, bool g2, const void *xyzz, point_t *out);
