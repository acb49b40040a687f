/* keys: circuits made resident in device memory, and given back least recently used first. */
#include "matrix_fold.h"
#include "device.h"
#include <stdlib.h>
#include <string.h>

enum { MULTIPLES_AT_ONCE = 1 << 20, WORKSPACE_SHARE = 6, PARALLEL_SHARE = 24 };

uint64_t parallel_bytes(const struct backend *b)
{
    return b->budget_bytes / PARALLEL_SHARE;
}

struct key *key_find(const struct backend *b, const uint8_t digest[32])
{
    for (struct key *k = b->keys; k; k = k->next)
        if (memcmp(k->digest, digest, 32) == 0)
            return k;
    return NULL;
}

void key_evict(struct backend *b, struct key *k)
{
    INVARIANT(k->users == 0); /* the caller evicts idle circuits only */
    struct key **place = &b->keys;
    while (*place != k)
        place = &(*place)->next;
    *place = k->next;
    b->key_bytes -= k->bytes;
    cudaFree(k->block);
    free(k);
}

static bool same_wires(const struct query *p, const struct query *q)
{
    if (p->n != q->n || !p->wire != !q->wire)
        return false;
    if (!p->wire)
        return p->first_wire == q->first_wire;
    return p->wire == q->wire || memcmp(p->wire, q->wire, p->n * sizeof *p->wire) == 0;
}

/* Folded rows are unfolded on their way to the device, whose kernels take every row as stored. */
static struct matrix_device matrix_carve(struct carve *c, const struct matrix *m)
{
    const uint64_t n_terms = matrix_terms(m);
    return (struct matrix_device){
        .n_rows = m->n_rows,
        .code_bytes = m->code_bytes,
        .row_start = carve_take(c, ((size_t)m->n_rows + 1) * 4),
        .wire = carve_take(c, n_terms * 4),
        .code = carve_take(c, n_terms * m->code_bytes),
        .dictionary = carve_take(c, m->n_dictionary * sizeof(fr_t)),
    };
}

/* The queries of c in the order of enum sum_id; H's scalars are a vector of their own. */
static void list_queries(const struct circuit *c, struct query out[N_SUMS])
{
    out[SUM_A] = c->a_query;
    out[SUM_B1] = c->b1_query;
    out[SUM_B2] = c->b2_query;
    out[SUM_L] = c->l_query;
    out[SUM_H] = (struct query){.points = c->h_points, .n = c->n_h};
}

/* Lays k out over `base` (NULL: only counts). */
static void key_carve(struct key *k, const struct circuit *c, void *base)
{
    struct carve at = {base, 0};
    const size_t n = (size_t)1 << c->domain_log2;
    struct query query[N_SUMS];
    list_queries(c, query);
    k->tables_bytes = 0;
    k->ntt.twiddles = carve_take(&at, n * sizeof(fr_t));
    k->to_coset = carve_take(&at, n * sizeof(fr_t));
    k->from_coset = k->monomial ? carve_take(&at, n * sizeof(fr_t)) : NULL;
    k->a = matrix_carve(&at, &c->a);
    k->b = matrix_carve(&at, &c->b);
    for (unsigned i = 0; i < N_SUMS; i++) {
        struct key_sum *s = &k->sum[i];
        const struct query *q = &query[i];
        s->group = i == SUM_B2 ? k->curve->g2 : k->curve->g1;
        s->shape = shape_for((uint32_t)q->n, k->curve->scalar_bits, k->max_sets);
        const size_t bytes = (size_t)s->shape.n_tables * q->n * s->group->affine_bytes;
        s->tables = carve_take(&at, bytes);
        k->tables_bytes += bytes;
        s->first_wire = q->first_wire;
        s->shares_sort = i == SUM_B2 && same_wires(&query[SUM_B1], q);
        s->wire = !q->wire         ? NULL
                  : s->shares_sort ? k->sum[SUM_B1].wire
                                   : carve_take(&at, q->n * 4);
    }
    k->bytes = at.used;
}

static enum err_code upload(void *to, const void *from, size_t bytes, struct err *e)
{
    for (size_t done = 0; done < bytes; done += COPY_BYTES) {
        const size_t piece = bytes - done < COPY_BYTES ? bytes - done : COPY_BYTES;
        CUDA_TRY(e,
                 cudaMemcpy((uint8_t *)to + done, (const uint8_t *)from + done, piece,
                            cudaMemcpyHostToDevice),
                 "copying a key to the device");
    }
    return ERR_OK;
}

static uint32_t reversed(uint32_t i, unsigned bits)
{
    uint32_t r = 0;
    for (unsigned b = 0; b < bits; b++)
        r |= ((i >> b) & 1) << (bits - 1 - b);
    return r;
}

/* bellman's H bases meet coefficients that lie at bit-reversed places; the last place has none. */
static enum err_code upload_reversed(void *to, const struct circuit *c, size_t point_bytes,
                                     struct err *e)
{
    const size_t at_once = COPY_BYTES / point_bytes;
    uint8_t *piece = malloc(at_once * point_bytes);
    if (!piece)
        return err_set(e, ERR_MEMORY, "cuda backend: no memory to load a key");
    enum err_code rc = ERR_OK;
    for (size_t first = 0; first < c->n_h && !rc; first += at_once) {
        const size_t n = c->n_h - first < at_once ? c->n_h - first : at_once;
        for (size_t i = 0; i < n; i++) {
            const size_t from = reversed((uint32_t)(first + i), c->domain_log2);
            memcpy(piece + i * point_bytes, (const uint8_t *)c->h_points + from * point_bytes,
                   point_bytes);
        }
        rc = upload((uint8_t *)to + first * point_bytes, piece, n * point_bytes, e);
    }
    free(piece);
    return rc;
}

static enum err_code upload_matrix(const struct matrix_device *to, const struct matrix *m,
                                   struct err *e)
{
    if (m->n_folds) {
        struct matrix whole;
        enum err_code unfolded = matrix_unfold(m, &whole, e);
        if (!unfolded) {
            unfolded = upload_matrix(to, &whole, e);
            matrix_free(&whole);
        }
        return unfolded;
    }
    enum err_code rc = upload((void *)to->row_start, m->row_start, ((size_t)m->n_rows + 1) * 4, e);
    rc = rc ? rc : upload((void *)to->wire, m->wire, m->n_entries * 4, e);
    rc = rc ? rc : upload((void *)to->code, m->code, m->n_entries * m->code_bytes, e);
    return rc ? rc
              : upload((void *)to->dictionary, m->dictionary, m->n_dictionary * sizeof(fr_t), e);
}

static enum err_code upload_queries(const struct key *k, const struct circuit *c, struct err *e)
{
    struct query query[N_SUMS];
    list_queries(c, query);
    enum err_code rc = ERR_OK;
    for (unsigned i = 0; i < N_SUMS && !rc; i++) {
        const struct key_sum *s = &k->sum[i];
        if (i == SUM_H && k->monomial)
            rc = upload_reversed(s->tables, c, s->group->affine_bytes, e);
        else
            rc = upload(s->tables, query[i].points, query[i].n * s->group->affine_bytes, e);
        if (!rc && s->wire && !s->shares_sort)
            rc = upload(s->wire, query[i].wire, query[i].n * 4, e);
    }
    return rc;
}

static enum err_code make_multiples(const struct key *k, cudaStream_t stream, struct err *e)
{
    void *scratch = NULL;
    size_t bytes = 0;
    for (unsigned i = 0; i < N_SUMS; i++) {
        const struct msm_shape *s = &k->sum[i].shape;
        const size_t n = s->n_tables < 2 ? 0 : s->n < MULTIPLES_AT_ONCE ? s->n : MULTIPLES_AT_ONCE;
        if (n * k->sum[i].group->xyzz_bytes > bytes)
            bytes = n * k->sum[i].group->xyzz_bytes;
    }
    if (bytes == 0)
        return ERR_OK;
    CUDA_TRY(e, cudaMalloc(&scratch, bytes), "memory to make a key's multiples");
    cudaError_t rc = cudaSuccess;
    for (unsigned i = 0; i < N_SUMS; i++) {
        const struct key_sum *s = &k->sum[i];
        for (uint32_t first = 0; first < s->shape.n && s->shape.n_tables > 1 && rc == cudaSuccess;
             first += MULTIPLES_AT_ONCE) {
            const uint32_t left = s->shape.n - first;
            rc = s->group->multiples(s->tables, &s->shape, first,
                                     left < MULTIPLES_AT_ONCE ? left : MULTIPLES_AT_ONCE, scratch,
                                     stream);
        }
    }
    if (rc == cudaSuccess)
        rc = cudaStreamSynchronize(stream);
    cudaFree(scratch);
    CUDA_TRY(e, rc, "making a key's multiples");
    return ERR_OK;
}

/* out[t] = base^(2^t). */
static void squares(const struct curve *c, const fr_t *base, unsigned n, fr_t *out)
{
    for (unsigned t = 0; t < n; t++)
        if (t == 0)
            out[0] = *base;
        else
            c->fr_mul(&out[t], &out[t - 1], &out[t - 1]);
}

static enum err_code make_domain(const struct key *k, const struct circuit *c, cudaStream_t stream,
                                 struct err *e)
{
    const struct curve *f = c->curve;
    const unsigned log2_n = c->domain_log2;
    fr_t power[64], root, shift, shift_inverse, n_inverse, z, one_plain = {{1}};
    f->fr_root(&root, c->roots, log2_n);
    f->fr_coset_shift(&shift, c->roots, log2_n);
    f->fr_inv(&shift_inverse, &shift);
    fr_t n_plain = {{(uint64_t)1 << log2_n}};
    f->fr_to_mont(&n_inverse, &n_plain, 1);
    f->fr_inv(&n_inverse, &n_inverse);
    squares(f, &root, log2_n, power);
    CUDA_TRY(e, k->curve->powers((void *)k->ntt.twiddles, log2_n, power, f->fr_one, false, stream),
             "making twiddles");
    squares(f, &shift, log2_n + 1, power);
    const fr_t shift_n = power[log2_n];
    CUDA_TRY(e, k->curve->powers(k->to_coset, log2_n, power, &n_inverse, true, stream),
             "making coset factors");
    if (k->monomial) {
        f->fr_sub(&z, &shift_n, f->fr_one);
        f->fr_inv(&z, &z);
        f->fr_mul(&z, &z, &n_inverse);
        f->fr_mul(&z, &z, &one_plain); /* plain, so that its products are */
        squares(f, &shift_inverse, log2_n, power);
        CUDA_TRY(e, k->curve->powers(k->from_coset, log2_n, power, &z, true, stream),
                 "making coset factors");
    }
    CUDA_TRY(e, cudaStreamSynchronize(stream), "making the domain's tables");
    return ERR_OK;
}

enum err_code make_room_to_work(struct backend *b, const struct key *k, struct err *e)
{
    struct workspace_layout layout;
    workspace_carve(&layout, k, parallel_bytes(b), NULL);
    const size_t witness = k->n_wires * sizeof(fr_t);
    if (layout.bytes <= b->workspace_bytes && witness <= b->witness_bytes)
        return ERR_OK;
    CUDA_TRY(e, cudaDeviceSynchronize(), "waiting for the proofs in flight");
    if (witness > b->witness_bytes) {
        for (unsigned i = 0; i < IN_FLIGHT; i++) {
            cudaFree(b->slot[i].w);
            b->slot[i].w = NULL;
        }
        b->work_bytes -= IN_FLIGHT * b->witness_bytes;
        b->witness_bytes = 0;
        for (unsigned i = 0; i < IN_FLIGHT; i++)
            CUDA_TRY(e, cudaMalloc(&b->slot[i].w, witness), "memory for witnesses");
        b->witness_bytes = witness;
        b->work_bytes += IN_FLIGHT * witness;
    }
    if (layout.bytes > b->workspace_bytes) {
        for (unsigned i = 0; i < b->n_workspaces; i++) {
            cudaFree(b->workspace[i].block);
            b->workspace[i].block = NULL;
        }
        b->work_bytes -= b->n_workspaces * b->workspace_bytes;
        b->n_workspaces = 0;
        b->workspace_bytes = layout.bytes;
        unsigned n = IN_FLIGHT;
        while (n > 1 && n * layout.bytes > b->budget_bytes / WORKSPACE_SHARE)
            n--;
        for (; b->n_workspaces < n; b->n_workspaces++) {
            cudaError_t rc = cudaMalloc(&b->workspace[b->n_workspaces].block, layout.bytes);
            if (rc != cudaSuccess && b->n_workspaces == 0) {
                b->workspace_bytes = 0;
                return cuda_failed(e, rc, "memory to work in");
            }
            if (rc != cudaSuccess) {
                cudaGetLastError();
                break;
            }
            b->work_bytes += layout.bytes;
        }
    }
    return ERR_OK;
}

/* What k and its work will take once loaded, the largest of the work areas counted once. */
static uint64_t bytes_to_work(const struct backend *b, const struct key *k)
{
    struct workspace_layout layout;
    workspace_carve(&layout, k, parallel_bytes(b), NULL);
    const uint64_t witness = k->n_wires * sizeof(fr_t);
    const uint64_t grown = (layout.bytes > b->workspace_bytes ? layout.bytes : 0) +
                           (witness > b->witness_bytes ? IN_FLIGHT * witness : 0);
    return grown > b->work_bytes ? grown : b->work_bytes;
}

static struct key *least_recently_used(const struct backend *b)
{
    struct key *found = NULL;
    for (struct key *k = b->keys; k; k = k->next)
        if (k->users == 0 && (!found || k->last_use < found->last_use))
            found = k;
    return found;
}

/* Chooses how many multiples k keeps: all, where the key then takes at most half of the budget that
 * work leaves, else fewer; then evicts idle keys until it fits. */
static enum err_code key_fit(struct backend *b, struct key *k, const struct circuit *c,
                             struct err *e)
{
    for (k->max_sets = 1;; k->max_sets++) {
        key_carve(k, c, NULL);
        const uint64_t work = bytes_to_work(b, k);
        const uint64_t left = b->budget_bytes > work ? b->budget_bytes - work : 0;
        if (k->bytes <= left / 2)
            break;
        bool single = true;
        for (unsigned i = 0; i < N_SUMS; i++)
            single = single && k->sum[i].shape.n_tables <= 1;
        if (single)
            break;
    }
    const uint64_t work = bytes_to_work(b, k);
    if (k->bytes + work > b->budget_bytes)
        return err_set(e, ERR_MEMORY,
                       "cuda backend: the key needs %llu MiB and proving %llu MiB of device "
                       "memory, the budget is %llu MiB",
                       (unsigned long long)(k->bytes >> 20), (unsigned long long)(work >> 20),
                       (unsigned long long)(b->budget_bytes >> 20));
    while (b->key_bytes + k->bytes + work > b->budget_bytes) {
        struct key *idle = least_recently_used(b);
        if (!idle)
            return err_set(e, ERR_REFUSED,
                           "cuda backend: no device memory for the key while those of the proofs "
                           "in flight are in use");
        key_evict(b, idle);
    }
    return ERR_OK;
}

static enum err_code check_size(const struct circuit *c, struct err *e)
{
    const uint64_t most = (uint64_t)1 << 28;
    if (c->a_query.n > most || c->b1_query.n > most || c->b2_query.n > most ||
        c->l_query.n > most || c->n_h > most || c->domain_log2 > 28)
        return err_set(e, ERR_UNSUPPORTED, "cuda backend: a query has more than 2^28 bases");
    return ERR_OK;
}

enum err_code key_load(struct backend *b, const struct circuit *c, struct err *e)
{
    enum err_code rc = check_size(c, e);
    if (rc)
        return rc;
    struct key *k = calloc(1, sizeof *k);
    if (!k)
        return err_set(e, ERR_MEMORY, "cuda backend: no memory");
    memcpy(k->digest, c->digest, 32);
    k->load_begin_ns = clock_ns();
    k->curve = c->curve->id == CURVE_BN254 ? &cuda_bn254 : &cuda_bls12_381;
    k->n_wires = c->n_wires;
    k->monomial = c->h_basis == H_MONOMIAL;
    k->ntt.log2_n = c->domain_log2;
    rc = key_fit(b, k, c, e);
    if (!rc)
        rc = make_room_to_work(b, k, e);
    if (!rc) {
        const cudaError_t failed = cudaMalloc(&k->block, k->bytes);
        if (failed != cudaSuccess)
            rc = cuda_failed(e, failed, "memory for a key");
    }
    if (!rc) {
        key_carve(k, c, k->block);
        rc = upload_matrix(&k->a, &c->a, e);
        rc = rc ? rc : upload_matrix(&k->b, &c->b, e);
        rc = rc ? rc : upload_queries(k, c, e);
        rc = rc ? rc : make_multiples(k, b->copy, e);
        rc = rc ? rc : make_domain(k, c, b->copy, e);
    }
    if (rc) {
        cudaFree(k->block);
        free(k);
        return rc;
    }
    k->load_end_ns = clock_ns();
    b->key_bytes += k->bytes;
    k->last_use = ++b->clock;
    k->next = b->keys;
    b->keys = k;
    return ERR_OK;
}
