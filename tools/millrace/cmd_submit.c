/* submit: a job for the instance; prints its number alone. */
#include <string.h>
#include "job_shape.h"

struct args {
    const char *dir, *id, *client, *program, *alias, *shape;
    struct key_options files;
    uint64_t priority;
    double limit;
    bool urgent, is_volatile, input, each;
};

static const struct option options[] = {
    {"dir", 'd', OPTION_TEXT, "DIR", offsetof(struct args, dir), "the instance's directory"},
    {"id", 'i', OPTION_TEXT, "REQUEST", offsetof(struct args, id),
     "request id: the same id again gives the same job, also after a crash"},
    {"client", 0, OPTION_TEXT, "NAME", offsetof(struct args, client),
     "whose request ids and quota these are (the user's name)"},
    {"priority", 'p', OPTION_COUNT, "P", offsetof(struct args, priority),
     "0 is served first, 255 last (100)"},
    {"limit", 't', OPTION_SECONDS, "TIME", offsetof(struct args, limit),
     "end the job as deadline-exceeded after so long"},
    {"urgent", 0, OPTION_FLAG, NULL, offsetof(struct args, urgent),
     "of the urgent class, which has room reserved"},
    {"shape", 0, OPTION_TEXT, "NAME", offsetof(struct args, shape),
     "the job is of this shape (circuit shapes): partitions and publics are checked, urgent\n"
     "and the limit are as it says"},
    {"volatile", 0, OPTION_FLAG, NULL, offsetof(struct args, is_volatile),
     "do not keep its inputs through a crash"},
    {"input", 0, OPTION_FLAG, NULL, offsetof(struct args, input),
     "the inputs are input.json files for the circuit's witness program"},
    {"each", 0, OPTION_FLAG, NULL, offsetof(struct args, each),
     "make each input a job of its own instead of a partition of one"},
    KEY_OPTIONS_REST(struct args),
    {"program", 0, OPTION_TEXT, "FILE", offsetof(struct args, program),
     "the circuit's witness program, if it is new"},
    {"alias", 0, OPTION_TEXT, "NAME", offsetof(struct args, alias),
     "the circuit's name, if it is new"},
    {0}};
static const struct args defaults = {.priority = 100};

static enum err_code submit_one(struct millrace *m, const struct args *a, const char *circuit,
                                const char *const *inputs, size_t n, const char *request,
                                const struct shape *shape, const struct invocation *in,
                                struct err *e)
{
    struct millrace_error why;
    if (a->shape && job_shape_check(m, shape, circuit, n, e))
        return e->code;
    struct millrace_job job = {
        .circuit = circuit,
        .inputs = inputs,
        .n_inputs = n,
        .inputs_are_json = a->input,
        .request = request,
        .client = a->client,
        .priority = (unsigned)a->priority,
        .limit_ms = (uint64_t)(a->limit * 1000.0),
        .urgent = a->urgent || shape->urgent,
        .is_volatile = a->is_volatile,
    };
    if (job.limit_ms == 0)
        job.limit_ms = shape->limit_ns / 1000000;
    uint64_t id;
    int existed;
    if (millrace_submit(m, &job, &id, &existed, &why))
        return pipeline_error(e, &why);
    if (in->json)
        printf("{\"job\": %llu, \"existed\": %s}\n", (unsigned long long)id,
               existed ? "true" : "false");
    else
        printf("%llu\n", (unsigned long long)id);
    fflush(stdout);
    return ERR_OK;
}

static enum err_code run(const struct invocation *in, struct err *e)
{
    const struct args *a = in->args;
    if (a->priority > 255)
        return err_set(e, ERR_USAGE, "--priority %llu: expected 0 (first) to 255 (last)",
                       (unsigned long long)a->priority);
    size_t n = in->n_operands - 1;
    if (a->each && a->id && strlen(a->id) > 50)
        return err_set(e, ERR_USAGE, "--id: at most 50 bytes together with --each");
    struct millrace_error why;
    struct millrace *m = millrace_open(a->dir, &why);
    if (!m)
        return pipeline_error(e, &why);
    char circuit[65];
    struct shape shape = {0};
    enum err_code rc = a->shape ? job_shape(m, a->shape, &shape, e) : ERR_OK;
    if (!rc)
        rc = pipeline_circuit(m, in->operand[0], &a->files, a->program, a->alias, 0,
                              command_shows_progress(in), circuit, e);
    if (!rc && !a->each)
        rc = submit_one(m, a, circuit, in->operand + 1, n, a->id, &shape, in, e);
    for (size_t i = 0; a->each && i < n && !rc; i++) {
        char request[64];
        snprintf(request, sizeof request, "%.50s/%zu", a->id ? a->id : "", i);
        rc = submit_one(m, a, circuit, in->operand + 1 + i, 1, a->id ? request : NULL, &shape, in,
                        e);
    }
    millrace_close(&m);
    return rc;
}

const struct command command_submit = {
    .name = "submit",
    .summary = "hand a job to the instance and print its number",
    .operands = "KEY WITNESS [WITNESS...]",
    .text = "KEY is a .zkey or a .params file (added to the instance when it is new), or the\n"
            "alias or digest of a circuit that was added. Each WITNESS is one partition of the "
            "job, in order;\n"
            "with --each, each is a job of its own (and with --id, the request ids are ID/0,\n"
            "ID/1, ...). The number is printed once the job is in the ledger: from then on it\n"
            "survives every crash. See also: await, show, cancel.",
    .options = options,
    .args_bytes = sizeof(struct args),
    .defaults = &defaults,
    .min_operands = 2,
    .max_operands = 4097,
    .run = run,
};
