/* millrace testkit setup: a key with known secrets for any circuit. */
#include "bellman_r1cs.h"
#include "file.h"
#include "inspect.h"
#include "output.h"
#include "testkit.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct args {
    const char *seed, *secrets, *vk;
    bool bellman, with_c;
    uint64_t threads;
};

static const struct option options[] = {
    {"seed", 0, OPTION_TEXT, "TEXT", offsetof(struct args, seed),
     "derive the secrets from TEXT (default \"testkit\")"},
    {"secrets", 0, OPTION_TEXT, "FILE", offsetof(struct args, secrets),
     "take the secrets from lines \"tau HEX\", \"alpha HEX\", ... beta, gamma, delta instead"},
    {"vk", 0, OPTION_TEXT, "FILE", offsetof(struct args, vk),
     "also write the verification key, as bellperson's .vk (.params only)"},
    {"bellman", 0, OPTION_FLAG, NULL, offsetof(struct args, bellman),
     "bellman's roots of unity and H basis (of every .params)"},
    {"with-c", 0, OPTION_FLAG, NULL, offsetof(struct args, with_c),
     "keep matrix C (prepared form only)"},
    {"threads", 't', OPTION_COUNT, "N", offsetof(struct args, threads),
     "use N threads (default: one per CPU)"},
    {0},
};

static bool ends_in(const char *path, const char *ending)
{
    size_t n = strlen(path), k = strlen(ending);
    return n >= k && strcmp(path + n - k, ending) == 0;
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

/* 64 hexadecimal digits, the highest first. */
static bool scalar_from_hex(const char *text, fr_t *out)
{
    *out = (fr_t){{0}};
    for (int i = 0; i < 64; i++) {
        char c = text[i];
        int digit = isdigit((unsigned char)c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
            return false;
        out->limb[3 - i / 16] = out->limb[3 - i / 16] << 4 | (uint64_t)digit;
    }
    return text[64] == '\0' || isspace((unsigned char)text[64]);
}

/* What stands behind "NAME " at the beginning of a line; NULL. */
static const char *value_of(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!strncmp(line, name, n) && line[n] == ' ')
            return line + n + 1;
    }
    return NULL;
}

static enum err_code read_secrets(const char *path, const struct curve *c, struct setup_secrets *s,
                                  struct err *e)
{
    const struct {
        const char *name;
        fr_t *out;
    } names[] = {{"tau", &s->tau},
                 {"alpha", &s->alpha},
                 {"beta", &s->beta},
                 {"gamma", &s->gamma},
                 {"delta", &s->delta}};
    static const fr_t zero;
    char *text;
    size_t n;
    enum err_code rc = file_read(path, 1 << 20, &text, &n, e);
    if (rc)
        return rc;
    for (size_t i = 0; i < sizeof names / sizeof *names && !rc; i++) {
        const char *at = value_of(text, names[i].name);
        if (!at || !scalar_from_hex(at, names[i].out))
            rc = err_set(e, ERR_FORMAT, "%s: expected a line \"%s\" with 64 hexadecimal digits",
                         path, names[i].name);
        else if (c->fr_first_unreduced(names[i].out, 1) == 0 ||
                 !memcmp(names[i].out, &zero, sizeof zero))
            rc = err_set(e, ERR_VALUE, "%s: %s: expected 1 to r - 1", path, names[i].name);
    }
    free(text);
    return rc;
}

static enum err_code read_system(const char *path, struct r1cs *out, struct pool *pool,
                                 struct err *e)
{
    enum file_kind kind;
    enum err_code rc = file_kind_of(path, &kind, e);
    if (rc)
        return rc;
    bool bellman = kind == FILE_PCE || kind == FILE_FR1C;
    return bellman ? bellman_r1cs_read(path, out, e) : r1cs_read(path, R1CS_ALL, out, pool, e);
}

static enum err_code write_params(const struct invocation *in, const struct setup *s,
                                  struct pool *pool, struct err *e)
{
    const struct args *args = in->args;
    struct progress progress = {.title = "testkit"};
    setup_stage *stage = command_shows_progress(in) ? progress_stage : NULL;
    enum err_code rc = setup_write_params(s, in->operand[1], stage, &progress, pool, e);
    progress_end(&progress);
    return rc || !args->vk ? rc : setup_write_vk(s, args->vk, pool, e);
}

static enum err_code set_up(const struct invocation *in, struct pool *pool, struct err *e)
{
    const struct args *args = in->args;
    const char *out = in->operand[1];
    struct r1cs system = {0};
    struct setup_secrets secrets;
    enum err_code rc = read_system(in->operand[0], &system, pool, e);
    if (!rc && args->secrets)
        rc = read_secrets(args->secrets, system.curve, &secrets, e);
    bool params = ends_in(out, ".params");
    const struct setup_options how = {
        .seed = args->seed,
        .secrets = args->secrets ? &secrets : NULL,
        .roots = args->bellman || params ? ROOT_BELLMAN : ROOT_SNARKJS,
        .h_basis = args->bellman || params ? H_MONOMIAL : H_ODD_LAGRANGE,
        .with_c = args->with_c,
    };
    struct setup *s = rc ? NULL : setup_new(&system, &how, pool, e);
    if (!rc && !s)
        rc = e->code;
    if (!rc)
        rc = params ? write_params(in, s, pool, e)
                    : testkit_write_key(in, s, !ends_in(out, ".zkey"), out, pool, e);
    setup_free(&s);
    r1cs_free(&system);
    return rc;
}

static enum err_code run(const struct invocation *in, struct err *e)
{
    const struct args *args = in->args;
    if (args->threads > 4096)
        return err_set(e, ERR_USAGE, "testkit setup: --threads: at most 4096");
    if (args->vk && !ends_in(in->operand[1], ".params"))
        return err_set(e, ERR_USAGE, "testkit setup: --vk: only beside a .params");
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
    .summary = "UNSAFE: a key with known secrets for any circuit",
    .operands = "CIRCUIT OUT",
    .text = TESTKIT_UNSAFE
    "\nCIRCUIT is a .r1cs, a PCE file or an r1cs.bin. OUT that ends in .zkey is a snarkjs key, in\n"
    ".params bellperson's parameters, any other name a prepared circuit.",
    .options = options,
    .args_bytes = sizeof(struct args),
    .min_operands = 2,
    .max_operands = 2,
    .run = run,
};
