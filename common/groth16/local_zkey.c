/* A proof from a .zkey, section by section. */
#include "local_steps.h"
#include "big.h"
#include "json.h"
#include "r1cs.h"
#include "zkey.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Has the system read a key from a slow disk while we compute. Only a hint: errors are ignored. */
static void read_ahead(const char *path, uint64_t bytes)
{
    long pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages < 0 || bytes / 2 > (uint64_t)pages * (uint64_t)page / 4)
        return; /* it would push out what is needed sooner */
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    posix_fadvise(fd, 0, 0, POSIX_FADV_WILLNEED);
    close(fd);
}

static enum err_code compare_and_check(struct local_run *run, const struct zkey_facts *facts,
                                       const struct matrix *a, const struct matrix *b,
                                       uint32_t n_constraints, struct err *e)
{
    struct r1cs r = {0};
    enum err_code rc = r1cs_read(run->job->r1cs_path, R1CS_ALL, &r, run->pool, e);
    if (rc)
        return rc;
    rc = r1cs_matches(&r, facts->curve, a, b, n_constraints, facts->n_wires, facts->n_public, e);
    if (rc)
        err_prefix(e, "%s against %s", run->job->r1cs_path, run->job->key_path);
    else
        rc = local_check_constraints(run, facts->curve, &r.a, &r.b, &r.c, e);
    r1cs_free(&r);
    return rc;
}

/* With an .r1cs the matrices are needed to see that it is the key's. */
static enum err_code check_against_r1cs(struct local_run *run, struct zkey *key, struct err *e)
{
    struct matrix a = {0}, b = {0};
    uint32_t n_constraints;
    enum err_code rc = zkey_read_matrices(key, &a, &b, &n_constraints, run->pool, e);
    if (rc)
        return rc;
    rc = compare_and_check(run, zkey_facts(key), &a, &b, n_constraints, e);
    matrix_free(&a);
    matrix_free(&b);
    return rc;
}

static enum err_code evaluate(struct local_run *run, struct zkey *key, fr_t *rows[2], struct err *e)
{
    const struct zkey_facts *facts = zkey_facts(key);
    local_stage(run, "matrices");
    enum err_code rc = run->job->r1cs_path ? check_against_r1cs(run, key, e) : ERR_OK;
    if (!rc)
        rc = local_rows_new(facts->domain_log2, rows, e);
    if (rc)
        return rc;
    rc = zkey_evaluate(key, run->w, rows[0], rows[1], run->pool, e);
    if (rc) {
        local_vector_free(&rows[0], (size_t)1 << facts->domain_log2);
        local_vector_free(&rows[1], (size_t)1 << facts->domain_log2);
    }
    return rc;
}

/* How many points are read and summed at once. */
static uint64_t piece_points(const struct local_run *run, const struct group *g)
{
    size_t bytes = run->job->piece_bytes ? run->job->piece_bytes : LOCAL_PIECE_BYTES;
    return bytes < g->bytes ? 1 : bytes / g->bytes;
}

/* sum = the section's points times scalars, read and summed in pieces. */
static enum err_code sum_section(struct local_run *run, struct zkey *key, enum zkey_points which,
                                 const fr_t *scalars, point_t *sum, struct err *e)
{
    const struct curve *c = zkey_facts(key)->curve;
    const struct group *g = which == ZKEY_B2 ? c->g2 : c->g1;
    uint64_t count = zkey_points_count(key, which), most = piece_points(run, g);
    memset(sum, 0, sizeof *sum);
    if (count == 0)
        return ERR_OK;
    /* Equal pieces: a short last one would be summed at a worse rate. */
    uint64_t pieces = (count + most - 1) / most, size = (count + pieces - 1) / pieces;
    void *points = big_alloc(size * g->bytes);
    if (!points)
        return err_set(e, ERR_MEMORY, "no memory for %llu points of %s", (unsigned long long)size,
                       g->name);
    enum err_code rc = ERR_OK;
    for (uint64_t first = 0; first < count && !rc; first += size) {
        uint64_t n = count - first < size ? count - first : size;
        point_t part = {{0}};
        rc = zkey_read_points(key, which, first, n, points, false, run->pool, e);
        if (!rc)
            rc = g->msm(&part, points, scalars + first, NULL, n, false, run->pool, e);
        if (!rc)
            g->add(sum, sum, &part);
        explicit_bzero(&part, sizeof part);
    }
    free(points);
    return rc;
}

/* Why a proof may fail that is not the witness's fault: a key whose points are on the curve and not
 * in the subgroup. Tested only then, since it takes longer than the proof. */
static enum err_code check_subgroups(struct local_run *run, struct zkey *key, struct err *e)
{
    static const enum zkey_points sections[] = {ZKEY_A, ZKEY_B1, ZKEY_B2, ZKEY_L, ZKEY_H};
    enum { AT_ONCE = 1 << 14 };
    void *points = malloc((size_t)AT_ONCE * POINT_MAX_BYTES);
    if (!points)
        return err_set(e, ERR_MEMORY, "no memory to check the key");
    enum err_code rc = ERR_OK;
    for (size_t s = 0; s < sizeof sections / sizeof sections[0]; s++) {
        uint64_t count = zkey_points_count(key, sections[s]);
        for (uint64_t first = 0; first < count && !rc; first += AT_ONCE)
            rc = zkey_read_points(key, sections[s], first,
                                  count - first < AT_ONCE ? count - first : AT_ONCE, points, true,
                                  run->pool, e);
    }
    free(points);
    return rc;
}

static enum err_code sum_all(struct local_run *run, struct zkey *key, struct groth16_sums *sums,
                             struct err *e)
{
    const struct zkey_facts *facts = zkey_facts(key);
    size_t n = (size_t)1 << facts->domain_log2;
    const struct local_shape shape = {facts->curve, ROOT_SNARKJS, H_ODD_LAGRANGE,
                                      facts->domain_log2};
    fr_t *rows[2];
    enum err_code rc = evaluate(run, key, rows, e);
    if (!rc)
        rc = local_quotient(run, &shape, rows, e);
    if (rc)
        return rc;
    local_stage(run, "sum of H in G1");
    rc = sum_section(run, key, ZKEY_H, rows[0], &sums->h, e);
    local_vector_free(&rows[0], n);
    const struct {
        enum zkey_points which;
        const char *what;
        const fr_t *scalars;
        point_t *sum;
    } sections[] = {
        {ZKEY_A, "sum of A in G1", run->w, &sums->a},
        {ZKEY_B1, "sum of B in G1", run->w, &sums->b1},
        {ZKEY_B2, "sum of B in G2", run->w, &sums->b2},
        {ZKEY_L, "sum of L in G1", run->w + facts->n_public + 1, &sums->l},
    };
    for (size_t i = 0; i < sizeof sections / sizeof sections[0] && !rc; i++) {
        local_stage(run, sections[i].what);
        rc = sum_section(run, key, sections[i].which, sections[i].scalars, sections[i].sum, e);
    }
    return rc;
}

static enum err_code prove(struct local_run *run, struct zkey *key, struct local_proof *out,
                           struct err *e)
{
    const struct zkey_facts *facts = zkey_facts(key);
    local_stage(run, "witness");
    enum err_code rc = local_read_witness(run, facts->curve, facts->n_wires, e);
    if (rc)
        return rc;
    struct groth16_sums sums = {0};
    struct verification_key vk = {0};
    rc = zkey_read_vk(key, &vk, e);
    if (!rc)
        rc = sum_all(run, key, &sums, e);
    if (!rc) {
        const struct blinding_points points = {
            .curve = facts->curve,
            .alpha_g1 = &facts->alpha_g1,
            .beta_g1 = &facts->beta_g1,
            .beta_g2 = &facts->beta_g2,
            .delta_g1 = &facts->delta_g1,
            .delta_g2 = &facts->delta_g2,
        };
        rc = local_finish(run, &points, &vk, &sums, out, e);
        if (rc == ERR_UNSATISFIED) {
            struct err key_error = {0};
            if (check_subgroups(run, key, &key_error)) {
                *e = key_error;
                rc = e->code;
            }
        }
    }
    vk_free(&vk);
    explicit_bzero(&sums, sizeof sums);
    return rc;
}

enum err_code local_prove_zkey(struct local_run *run, struct local_proof *out, struct err *e)
{
    struct zkey *key = zkey_open(run->job->key_path, e);
    if (!key)
        return e->code;
    read_ahead(run->job->key_path, zkey_facts(key)->file_bytes);
    enum err_code rc = prove(run, key, out, e);
    zkey_close(&key);
    return rc;
}
