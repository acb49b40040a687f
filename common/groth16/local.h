/* local: a proof in this process, from files to a verified proof, with little memory.
 *
 * A .zkey is never held whole: its matrices are evaluated and freed, then each section of points is
 * read in pieces, summed and dropped. The peak is the witness, and beside it the larger of: one
 * matrix while it is built; four vectors of the domain (a, b, c and the transform's tables); one
 * piece of points (LOCAL_PIECE_BYTES) and the scratch of its sum. A prepared circuit is mapped.
 *
 * The finished proof is verified against the key (subgroup and pairing) before it is returned. */
#pragma once
#include "assemble.h"

enum { LOCAL_PIECE_BYTES = 128 << 20, LOCAL_STAGES_MAX = 9 };

struct local_job {
    const char *key_path;     /* .zkey or prepared circuit */
    const char *witness_path; /* .wtns */
    const char *r1cs_path;    /* NULL, or the .r1cs: a bad witness's constraint is then named */
    size_t piece_bytes;       /* of points read and summed at once; 0: LOCAL_PIECE_BYTES */
    /* Told before each stage: what it is, and how far along. NULL: nobody listens. */
    void (*stage)(void *arg, const char *what, unsigned number, unsigned count);
    void *stage_arg;
};

struct local_proof {
    struct proof proof;
    fr_t *publics; /* plain, n_public; owned: local_proof_free */
    uint32_t n_public;
};

/* On failure nothing is owned; e must not be NULL. Codes are those of the readers of the three
 * files, and ERR_UNSATISFIED when the witness does not satisfy the circuit: the first constraint
 * with its wires where matrix C is known, else the finished proof that does not verify. */
enum err_code local_prove(const struct local_job *job, struct local_proof *out, struct pool *pool,
                          struct err *e);
void local_proof_free(struct local_proof *p);
