/* millrace testkit setup: a key with known secrets for any .r1cs. */
#include "output.h"
#include "testkit.h"
#include <string.h>

struct args {
    const char *seed;
    bool bellman, with_c;
    uint64_t threads;
};

static const struct option options[] = {
    {"seed", 0, OPTION_TEXT, "TEXT", offsetof(struct args, seed),
     "derive the secrets from TEXT (default \"testkit\")"},
    {"bellman", 0, OPTION_FLAG, NULL, offsetof(struct args, bellman),
     "bellman's roots of unity and H basis (prepared form only)"},
    {"with-c", 0, OPTION_FLAG, NULL, offsetof(struct args, with_c),
     "keep matrix C (prepared form only)"},
    {"threads", 't', OPTION_COUNT, "N", offsetof(struct args, threads),
     "use N threads (default: one per CPU)"},
    {0},
};

static bool is_zkey(const char *path)
{
    size_t n = strlen(path);
    return n >= 5 && strcmp(path + n - 5, ".zkey") == 0;
}

enum err_code testkit_write_key(const struct invocation *in, const struct setup *s, bool prepared,
                                const char *path, struct pool *pool, struct err *e)
{
    struct progress progress = {.title = "testkit"};
    setup_stage *stage = command_shows_progress(in) ? progress_stage : NULL;
    enum err_code rc = prepared ? setup_write_prepared(s, path, NULL, stage, &progress, pool, e)
                                : setup_write_zkey(s, path, stage, &progress, pool, e);
    progress_end(&progress);
    return rc;
}

static enum err_code set_up(const struct invocation *in, struct pool *pool, struct err *e)
{
    const struct args *args = in->args;
    struct r1cs system = {0};
    enum err_code rc = r1cs_read(in->operand[0], R1CS_ALL, &system, pool, e);
    if (rc)
        return rc;
    const struct setup_options how = {
        .seed = args->seed,
        .roots = args->bellman ? ROOT_BELLMAN : ROOT_SNARKJS,
        .h_basis = args->bellman ? H_MONOMIAL : H_ODD_LAGRANGE,
        .with_c = args->with_c,
    };
    struct setup *s = setup_new(&system, &how, pool, e);
    rc = s ? testkit_write_key(in, s, !is_zkey(in->operand[1]), in->operand[1], pool, e) : e->code;
    setup_free(&s);
    r1cs_free(&system);
    return rc;
}

static enum err_code run(const struct invocation *in, struct err *e)
{
    const struct args *args = in->args;
    if (args->threads > 4096)
        return err_set(e, ERR_USAGE, "testkit setup: --threads: at most 4096");
    struct pool *pool = pool_new((unsigned)args->threads, NULL, e);
    if (!pool)
        return e->code;
    enum err_code rc = set_up(in, pool, e);
    pool_free(&pool);
    if (!rc && in->json)
        rc = print_json(json_pack("{s:s}", "key", in->operand[1]), e);
    return rc;
}

const struct command testkit_setup = {
    .name = "setup",
    .summary = "UNSAFE: a key with known secrets for any .r1cs",
    .operands = "CIRCUIT.r1cs OUT",
    .text = TESTKIT_UNSAFE
    "\nOUT that ends in .zkey is a snarkjs key, any other name a prepared circuit.",
    .options = options,
    .args_bytes = sizeof(struct args),
    .min_operands = 2,
    .max_operands = 2,
    .run = run,
};
