/* millrace.h: the client library of Millrace, a Groth16 proving service.
 *
 *     struct millrace_error e;
 *     struct millrace *m = millrace_open(NULL, &e);               the instance of MILLRACE_DIR
 *     const char *inputs[] = {"witness.wtns"};
 *     struct millrace_job job = {.circuit = "withdraw", .inputs = inputs, .n_inputs = 1};
 *     uint64_t id;
 *     if (millrace_submit(m, &job, &id, NULL, &e)) ...            from here on it survives a crash
 *     struct millrace_result *r;
 *     if (millrace_await(m, id, -1, NULL, NULL, &r, &e)) ...      verified, or the reason why not
 *     puts(millrace_result_proof(r));                             snarkjs's proof.json
 *     millrace_result_free(&r);
 *     millrace_close(&m);
 *
 * A connection belongs to one thread at a time; open as many as there are threads. Functions return
 * 0 or an error code (the exit codes of millrace(1), repeated below) and fill the error, which may
 * be NULL. A lost or repeated message and a restart of the service are handled here: a call ends
 * with its answer, its timeout, or MILLRACE_UNAVAILABLE when the service stays away.
 * The inputs of a job are opened by this library, with the caller's rights, and copied into the
 * instance's spool (0600); the service opens nothing outside of its own directory. */
#ifndef MILLRACE_H
#define MILLRACE_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MILLRACE_OK = 0,
    MILLRACE_REJECTED = 1,
    MILLRACE_USAGE = 2,
    MILLRACE_IO = 3,
    MILLRACE_FORMAT = 4,
    MILLRACE_VALUE = 5,
    MILLRACE_MISMATCH = 6,
    MILLRACE_UNSATISFIED = 7,
    MILLRACE_MEMORY = 8,
    MILLRACE_UNSUPPORTED = 9,
    MILLRACE_UNAVAILABLE = 10, /* no instance runs there, or it does not answer */
    MILLRACE_REFUSED = 11,     /* queue full, quota, the same request id with other content */
    MILLRACE_CANCELLED = 12,
    MILLRACE_DEADLINE = 13,
    MILLRACE_FAILED = 14,
    MILLRACE_PENDING = 15, /* the timeout of a call passed; the job goes on */
    MILLRACE_INTERNAL = 70,
};

struct millrace_error {
    int code;
    char text[1024]; /* one line for a person */
};

struct millrace;

/* dir: the instance, or NULL for MILLRACE_DIR, else the user's own (see millrace(1)). Asks once
 * whether the service is there: MILLRACE_UNAVAILABLE when it does not answer within 2 seconds. */
struct millrace *millrace_open(const char *dir, struct millrace_error *e);
void millrace_close(struct millrace **m);
const char *millrace_dir(const struct millrace *m); /* absolute path */

/* --- circuits -------------------------------------------------------------------------------- */

/* Prepares a key into the instance's store, in this process and on all cores, and tells the desk:
 * a snarkjs .zkey, with its .r1cs when not NULL, so that the first failing constraint of a bad
 * witness can be named; or a .params of bellperson, with the circuit's PCE file or r1cs.bin in
 * `r1cs` and, when `digests` names a parameters.json, only if its digest is the one there. A key
 * that was added before, by what stat says of the files, is not read again (a digest is).
 * program: the circuit's witness program (.wasm of circom, or an executable built from circom's C++
 * output), or NULL. alias: a friendly name, or NULL for the file's name without its ending.
 * digest_hex (65 bytes, may be NULL) gets the circuit's name. */
struct millrace_circuit {
    const char *key, *r1cs, *digests, *program, *alias;
    int is_params;    /* read the key as a .params, whatever it looks like */
    int urgent;       /* room is reserved for this circuit */
    int keep;         /* a circuit that is known keeps the alias and the urgency that it has */
    unsigned threads; /* 0: all */
    int has_publics;  /* a key with another number of public values than this is refused: */
    uint32_t publics;
};
int millrace_circuit_add(struct millrace *m, const struct millrace_circuit *c, char *digest_hex,
                         struct millrace_error *e);
/* Forgets a circuit, and the desk deletes its files in the store; refused while open jobs use it.
 */
int millrace_circuit_remove(struct millrace *m, const char *circuit, struct millrace_error *e);
int millrace_preload(struct millrace *m, const char *circuit, struct millrace_error *e);
int millrace_evict(struct millrace *m, const char *circuit, struct millrace_error *e);

/* --- jobs ------------------------------------------------------------------------------------ */

struct millrace_job {
    const char *circuit;       /* alias or digest */
    const char *const *inputs; /* a file for each partition, in order */
    size_t n_inputs;           /* 1 .. 4096 */
    int inputs_are_json;       /* input.json for the circuit's program instead of .wtns */
    const char *request;       /* request id: the same one gives the same job; NULL: none */
    const char *client;        /* whose request ids and quota; NULL: the user's name */
    unsigned priority;         /* 0 is served first; 255 last */
    uint64_t limit_ms;         /* time limit from acceptance on; 0: none */
    int urgent;
    int is_volatile; /* not kept through a crash */
};

/* Returns when the job is in the ledger. existed (may be NULL): the request id was known. */
int millrace_submit(struct millrace *m, const struct millrace_job *job, uint64_t *id, int *existed,
                    struct millrace_error *e);

struct millrace_progress {
    uint64_t job;
    uint32_t partitions, synthesized, proved, ahead;
};
typedef void millrace_progress_fn(void *arg, const struct millrace_progress *p);

struct millrace_result;
/* Waits until the job has ended: 0 with its proofs, or the code and reason with which it failed.
 * timeout_ms < 0 waits for ever; MILLRACE_PENDING when it passes. */
int millrace_await(struct millrace *m, uint64_t job, int64_t timeout_ms, millrace_progress_fn *fn,
                   void *arg, struct millrace_result **out, struct millrace_error *e);
int millrace_cancel(struct millrace *m, uint64_t job, struct millrace_error *e);

size_t millrace_result_partitions(const struct millrace_result *r);
/* proof.json and public.json as snarkjs has them; of a job with several partitions an array of
 * them in partition order. Owned by the result. */
const char *millrace_result_proof(const struct millrace_result *r);
const char *millrace_result_public(const struct millrace_result *r);
/* Writes both files (beside, then renamed; both or none). */
int millrace_result_write(const struct millrace_result *r, const char *proof_path,
                          const char *public_path, struct millrace_error *e);
/* The same, with the proofs as bellperson writes them: 192 bytes a partition, in partition order.
 * MILLRACE_UNSUPPORTED for a circuit that is not on BLS12-381. */
int millrace_result_write_bytes(const struct millrace_result *r, const char *proof_path,
                                const char *public_path, struct millrace_error *e);
void millrace_result_free(struct millrace_result **r);

/* --- what goes on ---------------------------------------------------------------------------- */

enum millrace_report {
    MILLRACE_STATUS,   /* the instance: actors, queue, budget, rates */
    MILLRACE_JOBS,     /* list; text: only in this state, or NULL */
    MILLRACE_SHOW,     /* one job in full; number: the job */
    MILLRACE_CIRCUITS, /* list */
};
/* *json is malloc'ed text: one JSON document. */
int millrace_report(struct millrace *m, enum millrace_report what, uint64_t number,
                    const char *text, char **json, struct millrace_error *e);

/* Finishes what is under way and takes nothing new; name: one daemon ("synthd.0.1"), or NULL for
 * the instance. Returns when it is done. */
int millrace_drain(struct millrace *m, const char *name, uint64_t grace_ms,
                   struct millrace_error *e);

#ifdef __cplusplus
}
#endif
#endif
