/* jobs, show: what the instance has been asked for. */
#include <stdlib.h>
#include "table.h"

struct jobs_args {
    const char *dir, *state;
    uint64_t after;
};
static const struct option jobs_options[] = {
    {"dir", 'd', OPTION_TEXT, "DIR", offsetof(struct jobs_args, dir), "the instance's directory"},
    {"state", 's', OPTION_TEXT, "STATE", offsetof(struct jobs_args, state),
     "only jobs in this state: queued, running, done, failed, cancelled"},
    {"after", 0, OPTION_COUNT, "JOB", offsetof(struct jobs_args, after),
     "only jobs with a larger number (a list holds at most 1,000)"},
    {0}};

static enum err_code run_jobs(const struct invocation *in, struct err *e)
{
    const struct jobs_args *a = in->args;
    static const struct column columns[] = {{"job", "JOB", 0},
                                            {"state", "STATE", 0},
                                            {"circuit", "CIRCUIT", COLUMN_SHORT},
                                            {"client", "CLIENT", 0},
                                            {"request", "REQUEST", COLUMN_SHORT},
                                            {"priority", "PRIORITY", 0},
                                            {"partitions", "PARTITIONS", 0},
                                            {"proved", "PROVED", 0},
                                            {"age_ms", "AGE", COLUMN_MS},
                                            {"took_ms", "TOOK", COLUMN_MS},
                                            {"reason", "REASON", 0},
                                            {0}};
    return table_report(in, a->dir, MILLRACE_JOBS, a->after, a->state, "jobs", columns, e);
}

const struct command command_jobs = {
    .name = "jobs",
    .summary = "list jobs with their state",
    .operands = "",
    .options = jobs_options,
    .args_bytes = sizeof(struct jobs_args),
    .run = run_jobs,
};

struct show_args {
    const char *dir;
};
static const struct option show_options[] = {
    {"dir", 'd', OPTION_TEXT, "DIR", offsetof(struct show_args, dir), "the instance's directory"},
    {0}};

static enum err_code run_show(const struct invocation *in, struct err *e)
{
    const struct show_args *a = in->args;
    uint64_t job;
    if (pipeline_job(in->operand[0], &job, e))
        return e->code;
    json_t *report = report_get(a->dir, MILLRACE_SHOW, job, NULL, e);
    if (!report)
        return e->code;
    if (in->json) {
        json_dumpf(report, stdout, JSON_INDENT(1));
        putchar('\n');
    } else {
        static const struct column columns[] = {
            {"partition", "PARTITION", 0}, {"state", "STATE", 0},
            {"attempts", "ATTEMPTS", 0},   {"synthd", "SYNTHD", 0},
            {"gpud", "GPUD", 0},           {"took_ms", "TOOK", COLUMN_MS},
            {"reason", "REASON", 0},       {0}};
        facts_print(stdout, report, NULL);
        const json_t *parts = json_object_get(report, "partition");
        if (json_is_array(parts))
            table_print(stdout, parts, columns);
    }
    json_decref(report);
    return ERR_OK;
}

const struct command command_show = {
    .name = "show",
    .summary = "everything about one job",
    .operands = "JOB",
    .options = show_options,
    .args_bytes = sizeof(struct show_args),
    .min_operands = 1,
    .max_operands = 1,
    .run = run_show,
};
