/* local_steps: what the two kinds of key (local_zkey.c, local_prepared.c) and local.c share. */
#pragma once
#include "local.h"
#include "wtns.h"

struct local_run {
    const struct local_job *job;
    struct pool *pool;
    unsigned stage;
    struct wtns *witness;
    fr_t *w; /* n_wires plain values */
    size_t n_wires;
};

void local_stage(struct local_run *run, const char *what);

/* Checks that the witness belongs to this key and reads it into run->w. */
enum err_code local_read_witness(struct local_run *run, const struct curve *curve, size_t n_wires,
                                 struct err *e);

/* ERR_UNSATISFIED naming the first constraint that w does not satisfy. */
enum err_code local_check_constraints(const struct local_run *run, const struct curve *curve,
                                      const struct matrix *a, const struct matrix *b,
                                      const struct matrix *c, struct err *e);

/* n values of the domain, or NULL with ERR_MEMORY. */
fr_t *local_vector(size_t n, struct err *e);
void local_vector_free(fr_t **v, size_t n); /* wiped */

/* What of a key decides the transforms. */
struct local_shape {
    const struct curve *curve;
    enum root_convention roots;
    enum h_basis h_basis;
    unsigned domain_log2;
};

/* The two vectors of the domain, for A w and B w, owned by the caller. */
enum err_code local_rows_new(unsigned domain_log2, fr_t *rows[2], struct err *e);

/* rows[0] becomes the scalars of H, plain; rows[1] is freed, and on failure both are. */
enum err_code local_quotient(struct local_run *run, const struct local_shape *s, fr_t *rows[2],
                             struct err *e);

/* Assembles, verifies, and fills out->publics from the witness. ERR_UNSATISFIED when the proof does
 * not verify. */
enum err_code local_finish(struct local_run *run, const struct blinding_points *key,
                           const struct verification_key *vk, const struct groth16_sums *sums,
                           struct local_proof *out, struct err *e);

enum err_code local_prove_zkey(struct local_run *run, struct local_proof *out, struct err *e);
enum err_code local_prove_prepared(struct local_run *run, struct local_proof *out, struct err *e);
