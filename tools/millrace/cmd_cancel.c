/* cancel: stops jobs. */
#include "pipeline.h"

struct args {
    const char *dir;
};
static const struct option options[] = {
    {"dir", 'd', OPTION_TEXT, "DIR", offsetof(struct args, dir), "the instance's directory"}, {0}};

static enum err_code run(const struct invocation *in, struct err *e)
{
    const struct args *a = in->args;
    struct millrace_error why;
    struct millrace *m = millrace_open(a->dir, &why);
    if (!m)
        return pipeline_error(e, &why);
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < in->n_operands && !rc; i++) {
        uint64_t job;
        rc = pipeline_job(in->operand[i], &job, e);
        if (!rc && millrace_cancel(m, job, &why))
            rc = pipeline_error(e, &why);
        if (!rc && in->json)
            printf("{\"job\": %llu, \"cancelled\": true}\n", (unsigned long long)job);
    }
    millrace_close(&m);
    return rc;
}

const struct command command_cancel = {
    .name = "cancel",
    .summary = "stop a job; what it holds is given back within one step",
    .operands = "JOB [JOB...]",
    .options = options,
    .args_bytes = sizeof(struct args),
    .min_operands = 1,
    .max_operands = 4096,
    .run = run,
};
