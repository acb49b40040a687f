/* backend: the only door from gpud to an implementation of the proving kernels.
 *
 * Implementations: cpu (always built) and cuda. Results are equal bit for bit. One backend object
 * belongs to one gpud and is used from its take thread alone, except prove_wait, which the finish
 * thread calls.
 *
 *   open -> arena_attach (each bulk segment, once, before the first partition)
 *        -> circuit_load (by need) -> prove_start ... prove_finish (two or more in flight) -> close
 *
 * Life of one proof: prove_start queues everything and returns at once; the backend then reads the
 * extent (a, b, w) on its own time. prove_poll says how far it is: when it reports UPLOADED no
 * copy out of the extent is outstanding and it may be given to another partition. prove_finish
 * blocks until the sums are there and gives the slot back. Finishes come in the order of starts. */
#pragma once
#include "prove.h"

struct backend;

enum prove_stage { PROVE_QUEUED, PROVE_UPLOADED, PROVE_DONE, PROVE_FAILED };

/* Times of one proof as the device saw them, for the spans; 0 where a step did not happen.
 * All in nanoseconds of CLOCK_MONOTONIC (a device clock is mapped to it by the backend). */
struct prove_timing {
    uint64_t queued_ns, copy_begin_ns, copy_end_ns, kernel_begin_ns, kernel_end_ns;
    /* Durations. classify: scalars sorted into buckets, of all sums together, not in theirs. */
    uint64_t matrices_ns, ntt_ns, classify_ns, msm_a_ns, msm_b1_ns, msm_b2_ns, msm_l_ns, msm_h_ns;
    uint64_t copy_out_ns; /* results to the host, after kernel_end */
    uint64_t key_load_begin_ns, key_load_end_ns;
};

struct prove_input {
    const struct circuit *circuit;
    const fr_t *w; /* n_wires plain values, in an attached arena */
    /* N values each (mont), in an attached arena; both NULL when the backend is to evaluate the
     * matrices itself (backend_caps says whether it can). No backend writes into an extent: what
     * its gpud leaves behind when it dies is intact, and gpud's mapping is read-only. */
    const fr_t *a, *b;
};

struct backend_caps {
    const char *name;       /* "cpu", "cuda" */
    char device[128];       /* "NVIDIA H200", "AMD EPYC ..., 16 threads" */
    bool evaluates;         /* can make a and b from w itself */
    bool early_upload;      /* reports UPLOADED before DONE */
    unsigned max_in_flight; /* how many prove_start may be outstanding, >= 1 */
    uint64_t memory_bytes;  /* device memory for keys and work; 0 when the host's is used */
    int numa_node;          /* -1 unknown */
};

struct backend_ops {
    const char *name;
    /* device: index among the devices of this kind. budget_bytes: device memory for keys and work
     * (0: what is there). ERR_UNAVAILABLE with the reason in plain words where there is no device.
     */
    enum err_code (*open)(struct backend **out, int device, uint64_t budget_bytes, unsigned threads,
                          struct err *e);
    void (*caps)(const struct backend *b, struct backend_caps *out);
    enum err_code (*arena_attach)(struct backend *b, void *base, size_t bytes, struct err *e);
    enum err_code (*arena_detach)(struct backend *b, void *base, struct err *e);
    /* Makes the circuit's key resident (or ready to stream); idempotent. May take long. */
    enum err_code (*circuit_load)(struct backend *b, const struct circuit *c, struct err *e);
    void (*circuit_evict)(struct backend *b, const uint8_t digest[32]);
    bool (*circuit_resident)(const struct backend *b, const uint8_t digest[32]);
    /* What a resident circuit takes beside the mapped file: device memory where there is such, else
     * tables in the host; 0 when it is not resident. */
    uint64_t (*circuit_bytes)(const struct backend *b, const uint8_t digest[32]);
    /* A ticket (>= 0) for the others, or -1 with the reason. */
    int (*prove_start)(struct backend *b, const struct prove_input *in, struct err *e);
    enum prove_stage (*prove_poll)(struct backend *b, int ticket);
    enum err_code (*prove_finish)(struct backend *b, int ticket, struct groth16_sums *out,
                                  struct prove_timing *timing, struct err *e);
    void (*close)(struct backend **b);
};

extern const struct backend_ops backend_cpu;
#ifdef MILLRACE_CUDA
extern const struct backend_ops backend_cuda;
#endif
