/* status, drain: the instance as a whole. */
#include <stdlib.h>
#include <string.h>
#include "table.h"

struct status_args {
    const char *dir;
};
static const struct option status_options[] = {
    {"dir", 'd', OPTION_TEXT, "DIR", offsetof(struct status_args, dir), "the instance's directory"},
    {0}};

static enum err_code run_status(const struct invocation *in, struct err *e)
{
    const struct status_args *a = in->args;
    json_t *report = report_get(a->dir, MILLRACE_STATUS, 0, NULL, e);
    if (!report)
        return e->code;
    if (in->json) {
        json_dumpf(report, stdout, JSON_INDENT(1));
        putchar('\n');
    } else {
        static const struct column actors[] = {{"name", "ACTOR", 0},
                                               {"state", "STATE", 0},
                                               {"pid", "PID", 0},
                                               {"node", "NODE", 0},
                                               {"device", "DEVICE", 0},
                                               {"in_flight", "HOLDS", 0},
                                               {"done", "DONE", 0},
                                               {"charged_bytes", "KEYS", COLUMN_BYTES},
                                               {"heard_ms", "HEARD", COLUMN_MS},
                                               {0}};
        facts_print(stdout, report, NULL);
        const json_t *rows = json_object_get(report, "actors");
        if (json_is_array(rows))
            table_print(stdout, rows, actors);
    }
    json_decref(report);
    return ERR_OK;
}

const struct command command_status = {
    .name = "status",
    .summary = "the instance: daemons, queue, memory, rates",
    .operands = "",
    .options = status_options,
    .args_bytes = sizeof(struct status_args),
    .run = run_status,
};

struct drain_args {
    const char *dir;
    double grace;
};
static const struct option drain_options[] = {
    {"dir", 'd', OPTION_TEXT, "DIR", offsetof(struct drain_args, dir), "the instance's directory"},
    {"grace", 'g', OPTION_SECONDS, "TIME", offsetof(struct drain_args, grace),
     "how long work under way may take to finish (60)"},
    {0}};
static const struct drain_args drain_defaults = {.grace = 60};

static enum err_code run_drain(const struct invocation *in, struct err *e)
{
    const struct drain_args *a = in->args;
    struct millrace_error why;
    struct millrace *m = millrace_open(a->dir, &why);
    if (!m)
        return pipeline_error(e, &why);
    const char *name = in->n_operands ? in->operand[0] : NULL;
    int failed = millrace_drain(m, name, (uint64_t)(a->grace * 1000.0), &why);
    millrace_close(&m);
    if (failed)
        return pipeline_error(e, &why);
    if (in->json)
        printf("{\"drained\": true}\n");
    return ERR_OK;
}

const struct command command_drain = {
    .name = "drain",
    .summary = "finish what is under way and take nothing new",
    .operands = "[DAEMON]",
    .text = "DAEMON is a name as status prints it, such as synthd.0.1; without one, the whole\n"
            "instance drains: queued work stays in the ledger and new jobs are refused.",
    .options = drain_options,
    .args_bytes = sizeof(struct drain_args),
    .defaults = &drain_defaults,
    .max_operands = 1,
    .run = run_drain,
};
