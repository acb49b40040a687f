/* millrace prepare: a proving key, checked in full, as one file to map and use as it is. */
#include "command.h"
#include "output.h"
#include "prepared.h"

struct args {
    const char *r1cs;
    uint64_t threads;
};

static const struct option options[] = {
    {"r1cs", 0, OPTION_TEXT, "FILE", offsetof(struct args, r1cs),
     "add matrix C, so that a bad witness's constraint is named"},
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
    struct pool *pool = pool_new((unsigned)args->threads, NULL, e);
    if (!pool)
        return e->code;
    uint8_t digest[32];
    enum err_code rc = prepare_zkey(in->operand[0], args->r1cs, in->operand[1], digest, pool, e);
    pool_free(&pool);
    if (rc)
        return rc;
    char text[65];
    digest_text(digest, text);
    if (in->json)
        return print_json(json_pack("{s:s,s:s}", "prepared", in->operand[1], "digest", text), e);
    printf("%s  %s\n", text, in->operand[1]);
    return ERR_OK;
}

const struct command command_prepare = {
    .name = "prepare",
    .summary = "turn a .zkey into a prepared circuit",
    .operands = "KEY.zkey OUT",
    .text = "Every point of the key is checked to be on its curve and in the subgroup of order r\n"
            "(which takes longer than a proof), once; what OUT holds is then used without checks.\n"
            "The digest that is printed is the circuit's name: the same key gives the same one.",
    .options = options,
    .args_bytes = sizeof(struct args),
    .min_operands = 2,
    .max_operands = 2,
    .run = run,
};
