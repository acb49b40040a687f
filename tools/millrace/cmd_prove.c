/* millrace prove --local: a proof in this process, from files to files. */
#include "command.h"
#include "local.h"
#include "output.h"
#include <time.h>

struct args {
    bool local, one_line;
    const char *r1cs;
    uint64_t threads;
};

static const struct option options[] = {
    {"local", 'l', OPTION_FLAG, NULL, offsetof(struct args, local),
     "prove in this process, with no instance running"},
    {"r1cs", 0, OPTION_TEXT, "FILE", offsetof(struct args, r1cs),
     "check the witness first and name the constraint that fails"},
    {"threads", 't', OPTION_COUNT, "N", offsetof(struct args, threads),
     "use N threads (default: one per CPU)"},
    {"one-line", 0, OPTION_FLAG, NULL, offsetof(struct args, one_line),
     "write the two files without white space"},
    {0},
};

static double seconds_since(const struct timespec *begin)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begin->tv_sec) + 1e-9 * (double)(now.tv_nsec - begin->tv_nsec);
}

static enum err_code prove(const struct invocation *in, const struct local_job *job,
                           struct local_proof *out, struct err *e)
{
    const struct args *args = in->args;
    struct pool *pool = pool_new((unsigned)args->threads, NULL, e);
    if (!pool)
        return e->code;
    enum err_code rc = local_prove(job, out, pool, e);
    pool_free(&pool);
    return rc;
}

static enum err_code run(const struct invocation *in, struct err *e)
{
    const struct args *args = in->args;
    if (!args->local)
        return err_set(e, ERR_USAGE,
                       "prove: --local is missing (a running instance takes jobs by `millrace "
                       "submit`)");
    if (args->threads > 4096)
        return err_set(e, ERR_USAGE, "prove: --threads: at most 4096");
    struct timespec begin;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    struct progress progress = {.title = "prove"};
    const struct local_job job = {
        .key_path = in->operand[0],
        .witness_path = in->operand[1],
        .r1cs_path = args->r1cs,
        .stage = command_shows_progress(in) ? progress_stage : NULL,
        .stage_arg = &progress,
    };
    struct local_proof proof;
    enum err_code rc = prove(in, &job, &proof, e);
    progress_end(&progress);
    if (rc)
        return rc;
    rc = write_proof_files(in->operand[2], &proof.proof, in->operand[3], proof.publics,
                           proof.n_public, args->one_line ? JSON_ONE_LINE : JSON_SNARKJS, e);
    if (!rc && in->json)
        rc = print_json(json_pack("{s:s,s:s,s:s,s:I,s:f}", "proof", in->operand[2], "public",
                                  in->operand[3], "curve", proof.proof.curve->name, "n_public",
                                  (json_int_t)proof.n_public, "seconds", seconds_since(&begin)),
                        e);
    local_proof_free(&proof);
    return rc;
}

const struct command command_prove = {
    .name = "prove",
    .summary = "make a proof, verify it, and write it with its public values",
    .operands = "KEY WITNESS.wtns PROOF.json PUBLIC.json",
    .text = "KEY is a snarkjs .zkey or a circuit that `millrace prepare` made. Both results are\n"
            "written beside their targets and renamed once the proof has been verified against\n"
            "the key: there are two good files or none.",
    .options = options,
    .args_bytes = sizeof(struct args),
    .min_operands = 4,
    .max_operands = 4,
    .run = run,
};
