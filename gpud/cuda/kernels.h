/* kernels: the C door to the device code, one table per curve.
 *
 * Every function queues work on `stream` and returns what the launches returned; none allocates,
 * blocks or reads device memory from the host. Pointers are device pointers unless said. Scalars
 * are fr_t. A count that only the device knows (how many additions a sum has) stays there, so no
 * call waits for another. */
#pragma once
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How one multi-scalar multiplication is cut. Scalars are taken mod r and into (-r/2, r/2), then
 * into n_windows signed digits of window_bits. Digit j of base i selects the stored multiple
 * 2^(window_bits * (j mod n_tables)) P_i and a bucket of set j / n_tables. */
struct msm_shape {
    uint32_t n;           /* bases */
    uint32_t window_bits; /* 2 .. 24 */
    uint32_t n_windows;
    uint32_t n_tables;  /* stored multiples of each base, 1 .. n_windows; n * n_tables < 2^31 */
    uint32_t n_sets;    /* ceil(n_windows / n_tables) */
    uint32_t n_buckets; /* n_sets << (window_bits - 1) */
};

/* The scalars of one sum: scalars[wire ? wire[i] : first_wire + i] for base i. */
struct msm_scalars {
    const void *scalars;
    const uint32_t *wire;
    uint32_t first_wire;
};

/* Scratch of the sorting half of a sum. */
struct msm_sorted {
    uint32_t *start;   /* n_buckets + 1: where each bucket's entries begin */
    uint32_t *entry;   /* n * n_windows: table index, bit 31 set for minus */
    uint32_t *rank;    /* n * n_windows */
    uint32_t *partial; /* msm_scan_blocks(n_buckets) + 1 */
};

/* Scratch of the adding half. */
struct msm_work {
    void *buckets;  /* n_buckets xyzz */
    void *partials; /* msm_partials xyzz */
    uint32_t *partial_keys;
    void *lines; /* msm_lines xyzz */
};

struct ntt_shape {
    uint32_t log2_n;
    const void *twiddles; /* w^i, i < n (mont) */
};

struct matrix_device {
    uint32_t n_rows, code_bytes;
    const uint32_t *row_start, *wire;
    const void *code, *dictionary;
};

struct cuda_group {
    const char *name;
    size_t affine_bytes, xyzz_bytes;
    /* tables[0 .. n) holds the points; for those of first .. first + count, fills tables[j n + i],
     * j < n_tables, with 2^(window_bits j) times point i. scratch: count xyzz. */
    cudaError_t (*multiples)(void *tables, const struct msm_shape *shape, uint32_t first,
                             uint32_t count, void *scratch, cudaStream_t stream);
    /* *result (one xyzz) = sum over the sorted entries. */
    cudaError_t (*sum)(void *result, const void *tables, const struct msm_shape *shape,
                       const struct msm_sorted *sorted, const struct msm_work *work,
                       cudaStream_t stream);
    /* How many xyzz work->partials and work->lines need on the current device. */
    size_t (*n_partials)(const struct msm_shape *shape);
    size_t (*n_lines)(const struct msm_shape *shape);
};

struct cuda_curve {
    unsigned id;          /* enum curve_id */
    unsigned scalar_bits; /* of (r - 1) / 2 */
    const struct cuda_group *g1, *g2;
    /* out[i] = first * base^i, i < 2^log2_n; powers[t] = base^(2^t) (host, mont, log2_n of them),
     * first on the host; at bit-reversed places when `reversed`. */
    cudaError_t (*powers)(void *out, unsigned log2_n, const void *powers, const void *first,
                          bool reversed, cudaStream_t stream);
    /* n_vectors <= 3 transforms at once, in place. Natural order to bit-reversed with the inverse
     * root and no factor 1/n; out[i] is then multiplied by scale[i] where scale is not NULL. */
    cudaError_t (*ntt_inverse)(void *const *x, unsigned n_vectors, const struct ntt_shape *shape,
                               const void *scale, cudaStream_t stream);
    /* Bit-reversed order to natural. */
    cudaError_t (*ntt_forward)(void *const *x, unsigned n_vectors, const struct ntt_shape *shape,
                               cudaStream_t stream);
    cudaError_t (*multiply)(void *c, const void *a, const void *b, size_t n, cudaStream_t stream);
    /* a = a b - c, in plain form when `plain`. */
    cudaError_t (*multiply_subtract)(void *a, const void *b, const void *c, size_t n, bool plain,
                                     cudaStream_t stream);
    /* out[i] = row i times w (plain), mont; i < n_out. long_rows: 1 + n_rows u32 of scratch. */
    cudaError_t (*evaluate)(void *out, size_t n_out, const struct matrix_device *m, const void *w,
                            uint32_t *long_rows, cudaStream_t stream);
    /* Fills sorted from the scalars. */
    cudaError_t (*sort)(const struct msm_sorted *sorted, const struct msm_shape *shape,
                        const struct msm_scalars *scalars, cudaStream_t stream);
};

size_t msm_scan_blocks(uint32_t n_buckets);

extern const struct cuda_curve cuda_bn254, cuda_bls12_381;

#ifdef __cplusplus
}
#endif
