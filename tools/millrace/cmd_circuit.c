/* circuit add | list | remove | preload | evict: the instance's circuits. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "job_shape.h"
#include "key_options.h"
#include "table.h"

struct add_args {
    const char *dir, *alias, *program, *shape;
    struct key_options files;
    bool urgent;
    uint64_t threads;
};
static const struct option add_options[] = {
    {"dir", 'd', OPTION_TEXT, "DIR", offsetof(struct add_args, dir), "the instance's directory"},
    {"alias", 'a', OPTION_TEXT, "NAME", offsetof(struct add_args, alias),
     "a friendly name (the file's name without its ending)"},
    KEY_OPTION_PARAMS(struct add_args),
    KEY_OPTIONS_REST(struct add_args),
    {"program", 0, OPTION_TEXT, "FILE", offsetof(struct add_args, program),
     "its witness program: circom's .wasm, or an executable built from circom's C++ output"},
    {"urgent", 0, OPTION_FLAG, NULL, offsetof(struct add_args, urgent),
     "keep room reserved for jobs of this circuit"},
    {"shape", 0, OPTION_TEXT, "NAME", offsetof(struct add_args, shape),
     "what its jobs look like (circuit shapes): the publics are checked, urgent as it says"},
    {"threads", 'j', OPTION_COUNT, "N", offsetof(struct add_args, threads),
     "use N threads to prepare it (all)"},
    {0}};

static enum err_code run_add(const struct invocation *in, struct err *e)
{
    const struct add_args *a = in->args;
    struct key_files files;
    enum err_code rc = key_options_files(&a->files, in->n_operands ? in->operand[0] : NULL,
                                         "circuit add", &files, e);
    if (rc)
        return rc;
    struct millrace_error why;
    struct millrace *m = millrace_open(a->dir, &why);
    if (!m)
        return pipeline_error(e, &why);
    struct millrace_circuit c = {.key = files.key,
                                 .r1cs = files.constraints,
                                 .digests = files.digests,
                                 .is_params = files.is_params,
                                 .program = a->program,
                                 .alias = a->alias,
                                 .urgent = a->urgent,
                                 .threads = (unsigned)a->threads};
    struct shape shape;
    if (a->shape && job_shape(m, a->shape, &shape, e)) {
        millrace_close(&m);
        return e->code;
    }
    if (a->shape) {
        c.urgent = c.urgent || shape.urgent;
        c.has_publics = shape.publics != SHAPE_ANY_PUBLICS;
        c.publics = c.has_publics ? (uint32_t)shape.publics : 0;
    }
    char digest[65];
    if (command_shows_progress(in))
        fprintf(stderr, "\rchecking and preparing %s\033[K", c.key);
    int failed = millrace_circuit_add(m, &c, digest, &why);
    if (command_shows_progress(in))
        fprintf(stderr, "\r\033[K");
    millrace_close(&m);
    if (failed)
        return pipeline_error(e, &why);
    printf(in->json ? "{\"circuit\": \"%s\"}\n" : "%s\n", digest);
    return ERR_OK;
}

struct name_args {
    const char *dir;
};
static const struct option name_options[] = {
    {"dir", 'd', OPTION_TEXT, "DIR", offsetof(struct name_args, dir), "the instance's directory"},
    {0}};

static enum err_code run_named(const struct invocation *in, struct err *e,
                               int (*what)(struct millrace *, const char *,
                                           struct millrace_error *))
{
    const struct name_args *a = in->args;
    struct millrace_error why;
    struct millrace *m = millrace_open(a->dir, &why);
    if (!m)
        return pipeline_error(e, &why);
    int failed = 0;
    for (size_t i = 0; i < in->n_operands && !failed; i++)
        failed = what(m, in->operand[i], &why);
    millrace_close(&m);
    if (failed)
        return pipeline_error(e, &why);
    if (in->json)
        printf("{\"done\": true}\n");
    return ERR_OK;
}

static enum err_code run_remove(const struct invocation *in, struct err *e)
{
    return run_named(in, e, millrace_circuit_remove);
}

static enum err_code run_preload(const struct invocation *in, struct err *e)
{
    return run_named(in, e, millrace_preload);
}

static enum err_code run_evict(const struct invocation *in, struct err *e)
{
    return run_named(in, e, millrace_evict);
}

static enum err_code run_list(const struct invocation *in, struct err *e)
{
    const struct name_args *a = in->args;
    static const struct column columns[] = {{"alias", "ALIAS", 0},
                                            {"curve", "CURVE", 0},
                                            {"constraints", "CONSTRAINTS", 0},
                                            {"wires", "WIRES", 0},
                                            {"publics", "PUBLICS", 0},
                                            {"bytes", "SIZE", COLUMN_BYTES},
                                            {"program", "PROGRAM", 0},
                                            {"resident", "RESIDENT", 0},
                                            {"circuit", "CIRCUIT", COLUMN_SHORT},
                                            {0}};
    return table_report(in, a->dir, MILLRACE_CIRCUITS, 0, NULL, "circuits", columns, e);
}

static const struct command add = {
    .name = "add",
    .summary = "check a key, prepare it into the store, and name it",
    .operands = "[KEY]",
    .text =
        "KEY is a snarkjs .zkey, or bellperson's .params, which needs its constraints (--pce or\n"
        "--r1cs) too.\n"
        "Every point of the key is checked (on its curve, in the subgroup) and the key is laid\n"
        "out as the daemons map it. Prints the circuit's digest. A key that was added before\n"
        "and has not changed since is recognised without reading it.",
    .options = add_options,
    .args_bytes = sizeof(struct add_args),
    .max_operands = 1,
    .run = run_add,
};
static const struct command list = {
    .name = "list",
    .summary = "the circuits of the instance",
    .operands = "",
    .options = name_options,
    .args_bytes = sizeof(struct name_args),
    .run = run_list,
};
static const struct command remove_command = {
    .name = "remove",
    .summary = "forget a circuit and delete its prepared file",
    .operands = "CIRCUIT [CIRCUIT...]",
    .options = name_options,
    .args_bytes = sizeof(struct name_args),
    .min_operands = 1,
    .max_operands = 64,
    .run = run_remove,
};
static const struct command preload = {
    .name = "preload",
    .summary = "load a circuit's key before it is needed",
    .operands = "CIRCUIT [CIRCUIT...]",
    .options = name_options,
    .args_bytes = sizeof(struct name_args),
    .min_operands = 1,
    .max_operands = 64,
    .run = run_preload,
};
static const struct command evict = {
    .name = "evict",
    .summary = "give a circuit's memory back when nothing uses it",
    .operands = "CIRCUIT [CIRCUIT...]",
    .options = name_options,
    .args_bytes = sizeof(struct name_args),
    .min_operands = 1,
    .max_operands = 64,
    .run = run_evict,
};
static const struct command *const subcommands[] = {
    &add, &list, &remove_command, &preload, &evict, &circuit_shapes, NULL};

const struct command command_circuit = {
    .name = "circuit",
    .summary = "the instance's circuits: add, list, remove, preload, evict, shapes",
    .operands = "",
    .subcommands = subcommands,
};
