/* filecoin_steps PREPARED WITNESS.wtns DIR: every intermediate value of a proof, in the layouts of
 * bellperson's vectors (tests/fixtures/filecoin/README.md): DIR gets abc.bin, density.bin, h.bin
 * and msm.bin. TEST TOOL: what it writes is as secret as the witness. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "file.h"
#include "ntt.h"
#include "prepared.h"
#include "prove.h"
#include "wtns.h"
#include "zcash_point.h"

struct run {
    struct circuit *ck;
    struct pool *pool;
    const char *directory;
    fr_t *w;
};

static void must(bool fine, const struct err *e)
{
    if (fine)
        return;
    fprintf(stderr, "filecoin_steps: %s\n", e->text);
    exit((int)e->code);
}

static fr_t *vector(size_t n)
{
    fr_t *v = calloc(n ? n : 1, sizeof *v);
    if (!v)
        DIE("no memory for %zu scalars", n);
    return v;
}

static struct file_writer *create(const struct run *r, const char *name, struct err *e)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", r->directory, name);
    struct file_writer *w = file_writer_open(path, 0600, e);
    must(w, e);
    return w;
}

static void put(struct file_writer *w, const void *data, size_t n)
{
    struct err e = {0};
    must(!file_writer_write(w, data, n, &e), &e);
}

static void put_u64(struct file_writer *w, uint64_t v)
{
    put(w, &v, sizeof v);
}

static void finish(struct file_writer **w)
{
    struct err e = {0};
    must(!file_writer_commit(w, &e), &e);
}

static void write_rows(const struct run *r)
{
    struct err e = {0};
    const struct circuit *ck = r->ck;
    const struct matrix *const m[3] = {&ck->a, &ck->b, &ck->c};
    size_t n = ck->a.n_rows;
    struct file_writer *w = create(r, "abc.bin", &e);
    fr_t *x = vector(n);
    put_u64(w, n);
    for (int k = 0; k < 3; k++) {
        matrix_evaluate(ck->curve, m[k], r->w, x, n, r->pool);
        ck->curve->fr_from_mont(x, x, n);
        put(w, x, n * sizeof *x);
    }
    free(x);
    finish(&w);
}

/* A byte for each wire in [first, first + n): is it one of the query's? */
static void put_density(struct file_writer *w, const struct query *q, uint64_t first, uint64_t n)
{
    uint8_t *dense = calloc(n ? n : 1, 1);
    if (!dense)
        DIE("no memory");
    for (uint64_t i = 0; i < q->n; i++) {
        uint64_t wire = q->wire ? q->wire[i] : q->first_wire + i;
        if (wire >= first && wire - first < n)
            dense[wire - first] = 1;
    }
    put_u64(w, n);
    put(w, dense, n);
    free(dense);
}

static void write_densities(const struct run *r)
{
    struct err e = {0};
    uint64_t n_inputs = r->ck->n_public + 1, n_aux = r->ck->n_wires - n_inputs;
    struct file_writer *w = create(r, "density.bin", &e);
    put_density(w, &r->ck->a_query, n_inputs, n_aux);
    put_density(w, &r->ck->b1_query, 0, n_inputs);
    put_density(w, &r->ck->b1_query, n_inputs, n_aux);
    finish(&w);
}

static void rows(const struct run *r, fr_t *a, fr_t *b, size_t n)
{
    matrix_evaluate(r->ck->curve, &r->ck->a, r->w, a, n, r->pool);
    matrix_evaluate(r->ck->curve, &r->ck->b, r->w, b, n, r->pool);
}

static void write_quotient_and_sums(const struct run *r)
{
    struct err e = {0};
    const struct circuit *ck = r->ck;
    size_t n = (size_t)1 << ck->domain_log2;
    fr_t *a = vector(n), *b = vector(n);
    struct ntt_domain *dom = ntt_domain_new(ck->curve, ck->roots, ck->domain_log2, r->pool, &e);
    must(dom, &e);
    rows(r, a, b, n);
    must(!groth16_quotient(ck->curve, ck->roots, ck->h_basis, dom, ck->domain_log2, a, b, r->pool,
                           &e),
         &e);
    struct file_writer *w = create(r, "h.bin", &e);
    put_u64(w, n - 1);
    put(w, a, (n - 1) * sizeof *a);
    finish(&w);

    struct groth16_sums sums;
    rows(r, a, b, n);
    must(!groth16_sums(ck, dom, r->w, a, b, &sums, NULL, r->pool, &e), &e);
    const struct group *g1 = ck->curve->g1, *g2 = ck->curve->g2;
    const struct {
        const struct group *g;
        const point_t *p;
    } order[] = {{g1, &sums.h}, {g1, &sums.l}, {g1, &sums.a}, {g1, &sums.b1}, {g2, &sums.b2}};
    w = create(r, "msm.bin", &e);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        uint8_t bytes[POINT_MAX_BYTES];
        zcash_point_write(order[i].g, order[i].p, false, bytes);
        put(w, bytes, order[i].g->bytes);
    }
    finish(&w);
    ntt_domain_free(&dom);
    free(a);
    free(b);
}

int main(int argc, char **argv)
{
    struct err e = {0};
    if (argc != 4) {
        fprintf(stderr, "usage: filecoin_steps PREPARED WITNESS.wtns DIR\n");
        return ERR_USAGE;
    }
    struct run r = {.directory = argv[3]};
    must((r.ck = circuit_map(argv[1], &e)), &e);
    must((r.pool = pool_new(0, NULL, &e)), &e);
    struct wtns *witness = wtns_open(argv[2], &e);
    must(witness, &e);
    must(!wtns_expect(witness, r.ck->curve, r.ck->n_wires, &e), &e);
    r.w = vector(r.ck->n_wires);
    must(!wtns_read(witness, r.w, r.pool, &e), &e);
    wtns_close(&witness);
    write_rows(&r);
    write_densities(&r);
    write_quotient_and_sums(&r);
    free(r.w);
    pool_free(&r.pool);
    circuit_free(&r.ck);
    return 0;
}
