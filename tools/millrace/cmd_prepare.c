/* millrace prepare: a proving key, checked in full, as one file to map and use as it is. */
#include "key_options.h"
#include "output.h"

struct args {
    struct key_options files;
    uint64_t threads;
};

static const struct option options[] = {
    KEY_OPTION_PARAMS(struct args),
    KEY_OPTIONS_REST(struct args),
    {"threads", 't', OPTION_COUNT, "N", offsetof(struct args, threads),
     "use N threads (default: one per CPU)"},
    {0},
};

static void digest_text(const uint8_t digest[32], char text[65])
{
    for (int i = 0; i < 32; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

static enum err_code run(const struct invocation *in, struct err *e)
{
    const struct args *args = in->args;
    if (args->threads > 4096)
        return err_set(e, ERR_USAGE, "prepare: --threads: at most 4096");
    const char *out = in->operand[in->n_operands - 1];
    struct key_files files;
    enum err_code rc = key_options_files(&args->files, in->n_operands == 2 ? in->operand[0] : NULL,
                                         "prepare", &files, e);
    if (rc)
        return rc;
    struct pool *pool = pool_new((unsigned)args->threads, NULL, e);
    if (!pool)
        return e->code;
    uint8_t digest[32];
    rc = prepare_key(&files, out, digest, pool, e);
    pool_free(&pool);
    if (rc)
        return rc;
    char text[65];
    digest_text(digest, text);
    if (in->json)
        return print_json(json_pack("{s:s,s:s}", "prepared", out, "digest", text), e);
    printf("%s  %s\n", text, out);
    return ERR_OK;
}

const struct command command_prepare = {
    .name = "prepare",
    .summary = "turn a proving key into a prepared circuit",
    .operands = "[KEY] OUT",
    .text =
        "KEY is a snarkjs .zkey, or bellperson's .params, which needs its constraints (--pce or\n"
        "--r1cs) too.\n"
        "Every point of the key is checked to be on its curve and in the subgroup of order r\n"
        "(which takes longer than a proof), once; what OUT holds is then used without checks.\n"
        "The digest that is printed is the circuit's name: the same key gives the same one.",
    .options = options,
    .args_bytes = sizeof(struct args),
    .min_operands = 1,
    .max_operands = 2,
    .run = run,
};
