/* await: a job's result. */
#include "pipeline.h"

struct args {
    const char *dir;
    double timeout;
    bool bytes;
};
static const struct option options[] = {
    {"dir", 'd', OPTION_TEXT, "DIR", offsetof(struct args, dir), "the instance's directory"},
    {"timeout", 't', OPTION_SECONDS, "TIME", offsetof(struct args, timeout),
     "give up after so long with exit code 15; the job goes on"},
    {"bytes", 0, OPTION_FLAG, NULL, offsetof(struct args, bytes),
     "write the proofs as bellperson does: 192 bytes a partition (BLS12-381)"},
    {0}};
static const struct args defaults = {.timeout = -1};

static enum err_code run(const struct invocation *in, struct err *e)
{
    const struct args *a = in->args;
    uint64_t job;
    if (pipeline_job(in->operand[0], &job, e))
        return e->code;
    struct millrace_error why;
    struct millrace *m = millrace_open(a->dir, &why);
    if (!m)
        return pipeline_error(e, &why);
    struct millrace_result *r = NULL;
    int64_t timeout_ms = a->timeout < 0 ? -1 : (int64_t)(a->timeout * 1000.0);
    int failed =
        millrace_await(m, job, timeout_ms, pipeline_progress, (void *)(uintptr_t)in, &r, &why);
    pipeline_progress_end(in);
    if (!failed)
        failed = (a->bytes ? millrace_result_write_bytes
                           : millrace_result_write)(r, in->operand[1], in->operand[2], &why);
    if (!failed && in->json)
        printf("{\"job\": %llu, \"partitions\": %zu}\n", (unsigned long long)job,
               millrace_result_partitions(r));
    millrace_result_free(&r);
    millrace_close(&m);
    return failed ? pipeline_error(e, &why) : ERR_OK;
}

const struct command command_await = {
    .name = "await",
    .summary = "wait for a job and write its verified proof",
    .operands = "JOB PROOF PUBLIC.json",
    .text = "Exit code 0 only with a verified proof, written beside and renamed. A job of several\n"
            "partitions gives an array of proofs, in partition order. When the job failed, the\n"
            "reason is printed and the exit code says of what kind it is (12 cancelled, 13\n"
            "deadline exceeded, 7 the witness does not satisfy the circuit, 14 others).",
    .options = options,
    .args_bytes = sizeof(struct args),
    .defaults = &defaults,
    .min_operands = 3,
    .max_operands = 3,
    .run = run,
};
