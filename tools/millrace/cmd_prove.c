/* millrace prove: a proof from files to files, by the instance, or in this process with --local. */
#include "command.h"
#include "pipeline.h"
#include "prove_local.h"

struct args {
    bool local, one_line, bytes;
    struct key_options files;
    const char *dir, *input, *program, *alias;
    uint64_t threads, priority;
    double limit;
};
static const struct args defaults = {.priority = 100};

static const struct option options[] = {
    {"local", 'l', OPTION_FLAG, NULL, offsetof(struct args, local),
     "prove in this process, with no instance running"},
    {"dir", 'd', OPTION_TEXT, "DIR", offsetof(struct args, dir),
     "the instance's directory (MILLRACE_DIR, else one per user)"},
    {"input", 'i', OPTION_TEXT, "INPUT.json", offsetof(struct args, input),
     "make the witness from this, with the circuit's own program (no WITNESS is then given)"},
    {"program", 0, OPTION_TEXT, "FILE", offsetof(struct args, program),
     "the circuit's witness program: circom's .wasm, or an executable from its C++ output"},
    {"alias", 0, OPTION_TEXT, "NAME", offsetof(struct args, alias),
     "what to call the circuit if it is new (the key's name)"},
    {"priority", 'p', OPTION_COUNT, "P", offsetof(struct args, priority),
     "0 is served first, 255 last (100)"},
    {"limit", 0, OPTION_SECONDS, "TIME", offsetof(struct args, limit),
     "give up as deadline-exceeded after so long"},
    KEY_OPTIONS_REST(struct args),
    {"bytes", 0, OPTION_FLAG, NULL, offsetof(struct args, bytes),
     "write PROOF as bellperson does, in 192 bytes (BLS12-381)"},
    {"threads", 't', OPTION_COUNT, "N", offsetof(struct args, threads),
     "use N threads (default: one per CPU)"},
    {"one-line", 0, OPTION_FLAG, NULL, offsetof(struct args, one_line),
     "write the two files without white space"},
    {0},
};

static enum err_code run_pipeline(const struct invocation *in, struct err *e)
{
    const struct args *args = in->args;
    size_t results = args->input ? 1 : 2; /* where PROOF stands */
    const struct pipeline_prove p = {
        .dir = args->dir,
        .key = in->operand[0],
        .files = args->files,
        .alias = args->alias,
        .witness = args->input ? NULL : in->operand[1],
        .input = args->input,
        .program = args->program,
        .proof = in->operand[results],
        .publics = in->operand[results + 1],
        .priority = (unsigned)args->priority,
        .threads = (unsigned)args->threads,
        .limit_ms = (uint64_t)(args->limit * 1000.0),
        .bytes = args->bytes,
    };
    return pipeline_prove(in, &p, e);
}

static enum err_code check_usage(const struct invocation *in, struct err *e)
{
    const struct args *args = in->args;
    if (args->threads > 4096)
        return err_set(e, ERR_USAGE, "prove: --threads: at most 4096");
    if (args->priority > 255)
        return err_set(e, ERR_USAGE, "prove: --priority: 0 (first) to 255 (last)");
    if (args->bytes && args->one_line)
        return err_set(e, ERR_USAGE, "prove: --bytes is no JSON: --one-line has no meaning there");
    if (args->local && (args->files.pce || args->files.digests))
        return err_set(e, ERR_USAGE,
                       "prove: --local: give --pce and --digests to `millrace prepare`, and its "
                       "result as KEY");
    if (args->local && (args->input || args->program || args->dir))
        return err_set(e, ERR_USAGE,
                       "prove: --local takes a WITNESS.wtns, and none of --dir, "
                       "--input and --program");
    if (in->n_operands != (args->input ? 3u : 4u))
        return err_set(e, ERR_USAGE, "prove: expected %s",
                       args->input ? "KEY PROOF.json PUBLIC.json with --input"
                                   : "KEY WITNESS.wtns PROOF.json PUBLIC.json");
    return ERR_OK;
}

static enum err_code run(const struct invocation *in, struct err *e)
{
    const struct args *args = in->args;
    if (check_usage(in, e))
        return e->code;
    if (!args->local)
        return run_pipeline(in, e);
    const struct prove_local p = {
        .key = in->operand[0],
        .witness = in->operand[1],
        .proof = in->operand[2],
        .publics = in->operand[3],
        .r1cs = args->files.r1cs,
        .bytes = args->bytes,
        .threads = (unsigned)args->threads,
        .form = args->one_line ? JSON_ONE_LINE : JSON_SNARKJS,
    };
    return prove_local(in, &p, e);
}

const struct command command_prove = {
    .name = "prove",
    .summary = "make a proof, verify it, and write it with its public values",
    .operands = "KEY [WITNESS.wtns] PROOF PUBLIC.json",
    .text =
        "KEY is a snarkjs .zkey or bellperson's .params with its constraints (--pce or --r1cs),\n"
        "which is added to the instance when it is new, or the alias or digest of a circuit that\n"
        "was added; with --local, a .zkey or a file that `millrace\n"
        "prepare` made. With --input, WITNESS is left out. Both results are written beside\n"
        "their targets and renamed once the proof has been verified against the key: there\n"
        "are two good files or none.",
    .options = options,
    .args_bytes = sizeof(struct args),
    .defaults = &defaults,
    .min_operands = 3,
    .max_operands = 4,
    .run = run,
};
