/* millrace testkit generate: a satisfiable circuit of a given kind, with witness and key. */
#include "generate.h"
#include "generate_shape.h"
#include "json.h"
#include "output.h"
#include "prepared.h"
#include "testkit.h"
#include "wtns.h"
#include "zkey.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct args {
    const char *curve, *out, *seed, *form, *shape, *scale;
    uint64_t log2, constraints, publics, number, threads;
    double density, ones;
    bool bellman, with_c, no_r1cs;
};

static const struct args defaults = {
    .curve = "bn254", .form = "zkey", .publics = 1, .number = 1, .density = 2, .ones = 0.5};

static const struct option options[] = {
    {"curve", 'c', OPTION_TEXT, "CURVE", offsetof(struct args, curve),
     "bn254 (default) or bls12-381"},
    {"log2", 'k', OPTION_COUNT, "K", offsetof(struct args, log2), "fill a domain of 2^K (1 to 28)"},
    {"constraints", 0, OPTION_COUNT, "N", offsetof(struct args, constraints),
     "this many constraints, instead of a full domain"},
    {"publics", 0, OPTION_COUNT, "N", offsetof(struct args, publics), "public values (default 1)"},
    {"density", 0, OPTION_REAL, "MEAN", offsetof(struct args, density),
     "mean entries of a row of A and of B (default 2)"},
    {"ones", 0, OPTION_SHARE, "SHARE", offsetof(struct args, ones),
     "share of the witness that is 0 or 1 (default 50%)"},
    {"shape", 0, OPTION_TEXT, "NAME", offsetof(struct args, shape),
     "with the statistics of a shape (circuit shapes) instead of the four above; needs --scale"},
    {"scale", 0, OPTION_TEXT, "2^K", offsetof(struct args, scale),
     "the domain that the shape is scaled to, 2^10 to 2^28"},
    {"number", 0, OPTION_COUNT, "N", offsetof(struct args, number),
     "another circuit of the same kind (default 1)"},
    {"seed", 0, OPTION_TEXT, "TEXT", offsetof(struct args, seed),
     "derive the key's secrets from TEXT"},
    {"form", 0, OPTION_TEXT, "FORM", offsetof(struct args, form),
     "of the key: zkey (default), prepared, both, none"},
    {"no-r1cs", 0, OPTION_FLAG, NULL, offsetof(struct args, no_r1cs), "do not write the .r1cs"},
    {"bellman", 0, OPTION_FLAG, NULL, offsetof(struct args, bellman),
     "bellman's roots and H basis (prepared form only)"},
    {"with-c", 0, OPTION_FLAG, NULL, offsetof(struct args, with_c),
     "keep matrix C (prepared form only)"},
    {"out", 'o', OPTION_TEXT, "DIR", offsetof(struct args, out), "where the files go"},
    {"threads", 't', OPTION_COUNT, "N", offsetof(struct args, threads),
     "use N threads (default: one per CPU)"},
    {0},
};

struct path {
    char text[PATH_MAX];
};

static const char *in_out(const struct args *a, const char *name, struct path *p)
{
    snprintf(p->text, sizeof p->text, "%s/%s", a->out, name);
    return p->text;
}

static enum err_code circuit_options(const struct args *a, struct generate_options *o,
                                     struct err *e)
{
    const struct curve *curve = curve_by_name(a->curve);
    if (!curve)
        return err_set(e, ERR_USAGE, "testkit generate: --curve: \"%s\" is not bn254 or bls12-381",
                       a->curve);
    if (!a->log2 == !a->constraints)
        return err_set(e, ERR_USAGE, "testkit generate: give one of --log2 and --constraints");
    if (a->log2 > 28)
        return err_set(e, ERR_USAGE, "testkit generate: --log2: expected 1 to 28");
    uint64_t rows = a->log2 ? (uint64_t)1 << a->log2 : a->constraints;
    /* A full domain holds a row for each public value, one for wire 0, and a constraint. */
    uint64_t beside = a->log2 ? 2 : 0;
    if (a->publics > rows || rows - a->publics < beside || rows > (uint64_t)1 << 28)
        return err_set(e, ERR_USAGE,
                       "testkit generate: no room for a constraint beside %llu public values",
                       (unsigned long long)a->publics);
    *o = (struct generate_options){
        .curve = curve,
        .n_constraints = (uint32_t)(a->log2 ? rows - a->publics - 1 : rows),
        .n_public = (uint32_t)a->publics,
        .density = a->density,
        .bits = a->ones,
        .seed = a->number,
    };
    return ERR_OK;
}

static enum err_code shape_options(const struct args *a, struct shape *shape, unsigned *log2,
                                   struct err *e)
{
    char *end;
    const char *digits = a->scale && strncmp(a->scale, "2^", 2) == 0 ? a->scale + 2 : a->scale;
    if (a->log2 || a->constraints)
        return err_set(e, ERR_USAGE, "testkit generate: --shape takes --scale alone");
    if (!digits || digits[0] < '0' || digits[0] > '9')
        return err_set(e, ERR_USAGE, "testkit generate: --shape needs --scale 2^K");
    unsigned long k = strtoul(digits, &end, 10);
    if (*end || k > 28)
        return err_set(e, ERR_USAGE, "testkit generate: --scale \"%s\": expected 2^10 to 2^28",
                       a->scale);
    *log2 = (unsigned)k;
    return shape_load(shape, a->shape, getenv("MILLRACE_DIR"), e);
}

/* A circuit of a shape; says how well it has its statistics. */
static enum err_code make_shape(const struct invocation *in, struct r1cs *system, fr_t **witness,
                                struct err *e)
{
    const struct args *a = in->args;
    struct shape shape;
    struct shape_statistics want, have;
    unsigned log2 = 0;
    if (shape_options(a, &shape, &log2, e) || shape_scale(&shape, log2, &want, e) ||
        generate_shape(&shape, log2, a->number, system, witness, e))
        return e->code;
    if (shape_measure(system, *witness, &have, e)) {
        r1cs_free(system);
        free(*witness);
        return e->code;
    }
    const struct {
        const char *what;
        uint64_t have, want;
    } lines[] = {{"non-zeros of A", have.nonzeros_a, want.nonzeros_a},
                 {"non-zeros of B", have.nonzeros_b, want.nonzeros_b},
                 {"non-zeros of C", have.nonzeros_c, want.nonzeros_c},
                 {"wires dense in A", have.dense_a, want.dense_a},
                 {"wires dense in B", have.dense_b, want.dense_b},
                 {"zeros and ones, ppm", have.zeros_and_ones_ppm, want.zeros_and_ones_ppm}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines && !in->json && !in->quiet; i++)
        printf("%s: %llu (%s at this scale: %llu)\n", lines[i].what,
               (unsigned long long)lines[i].have, shape.name, (unsigned long long)lines[i].want);
    return ERR_OK;
}

static enum err_code make_circuit(const struct invocation *in, struct r1cs *system, fr_t **witness,
                                  struct err *e)
{
    struct generate_options o;
    const struct args *a = in->args;
    if (a->shape)
        return make_shape(in, system, witness, e);
    if (circuit_options(a, &o, e))
        return e->code;
    return generate_circuit(&o, system, witness, e);
}

/* vk.json, out of the key that was written. */
static enum err_code write_vk_of_zkey(const char *key, const char *vk_path, struct err *e)
{
    struct zkey *z = zkey_open(key, e);
    if (!z)
        return e->code;
    struct verification_key vk;
    enum err_code rc = zkey_read_vk(z, &vk, e);
    if (!rc) {
        rc = vk_write(vk_path, &vk, JSON_SNARKJS, e);
        vk_free(&vk);
    }
    zkey_close(&z);
    return rc;
}

static enum err_code write_vk_of_prepared(const char *key, const char *vk_path, struct err *e)
{
    struct circuit *c = circuit_map(key, e);
    if (!c)
        return e->code;
    enum err_code rc = vk_write(vk_path, &c->vk, JSON_SNARKJS, e);
    circuit_free(&c);
    return rc;
}

static enum err_code write_keys(const struct invocation *in, const struct r1cs *system,
                                struct pool *pool, struct err *e)
{
    const struct args *a = in->args;
    bool both = strcmp(a->form, "both") == 0;
    bool zkey = both || strcmp(a->form, "zkey") == 0;
    bool prepared = both || strcmp(a->form, "prepared") == 0;
    struct path key, vk;
    in_out(a, "vk.json", &vk);
    const struct setup_options how = {
        .seed = a->seed,
        .roots = a->bellman ? ROOT_BELLMAN : ROOT_SNARKJS,
        .h_basis = a->bellman ? H_MONOMIAL : H_ODD_LAGRANGE,
        .with_c = a->with_c,
    };
    struct setup *s = setup_new(system, &how, pool, e);
    if (!s)
        return e->code;
    enum err_code rc = ERR_OK;
    if (prepared) {
        rc = testkit_write_key(in, s, true, in_out(a, "circuit.prepared", &key), pool, e);
        if (!rc)
            rc = write_vk_of_prepared(key.text, vk.text, e);
    }
    if (zkey && !rc) {
        rc = testkit_write_key(in, s, false, in_out(a, "circuit.zkey", &key), pool, e);
        if (!rc)
            rc = write_vk_of_zkey(key.text, vk.text, e);
    }
    setup_free(&s);
    return rc;
}

static enum err_code write_all(const struct invocation *in, const struct r1cs *system,
                               const fr_t *witness, struct pool *pool, struct err *e)
{
    const struct args *a = in->args;
    struct path p;
    enum err_code rc =
        wtns_write(in_out(a, "circuit.wtns", &p), system->curve, witness, system->n_wires, e);
    if (!rc && !a->no_r1cs)
        rc = r1cs_write(in_out(a, "circuit.r1cs", &p), system, e);
    if (!rc && strcmp(a->form, "none") != 0)
        rc = write_keys(in, system, pool, e);
    return rc;
}

static enum err_code report(const struct invocation *in, const struct r1cs *r, struct err *e)
{
    const struct args *a = in->args;
    if (in->json)
        return print_json(json_pack("{s:s,s:s,s:I,s:I,s:I,s:I}", "out", a->out, "curve",
                                    r->curve->name, "n_constraints", (json_int_t)r->n_constraints,
                                    "n_wires", (json_int_t)r->n_wires, "n_public",
                                    (json_int_t)r->n_public_outputs, "n_entries",
                                    (json_int_t)(r->a.n_entries + r->b.n_entries)),
                          e);
    printf("%s: %s, %u constraints, %u wires, %u public\n", a->out, r->curve->name,
           r->n_constraints, r->n_wires, r->n_public_outputs);
    return ERR_OK;
}

static enum err_code check_args(const struct args *a, struct err *e)
{
    static const char *const forms[] = {"zkey", "prepared", "both", "none"};
    bool known = false;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        known |= strcmp(a->form, forms[i]) == 0;
    if (!known)
        return err_set(e, ERR_USAGE,
                       "testkit generate: --form: \"%s\" is not zkey, prepared, both or none",
                       a->form);
    if (!a->out)
        return err_set(e, ERR_USAGE, "testkit generate: --out is missing");
    if (a->threads > 4096)
        return err_set(e, ERR_USAGE, "testkit generate: --threads: at most 4096");
    return ERR_OK;
}

static enum err_code run(const struct invocation *in, struct err *e)
{
    const struct args *a = in->args;
    enum err_code rc = check_args(a, e);
    if (rc)
        return rc;
    /* Made first, for a large circuit takes minutes; a refusal leaves none. */
    bool made = mkdir(a->out, 0777) == 0;
    if (!made && errno != EEXIST)
        return err_set(e, ERR_IO, "%s: cannot be made: %s", a->out, strerror(errno));
    struct r1cs system;
    fr_t *witness;
    rc = make_circuit(in, &system, &witness, e);
    if (rc) {
        if (made)
            rmdir(a->out);
        return rc;
    }
    struct pool *pool = pool_new((unsigned)a->threads, NULL, e);
    rc = pool ? write_all(in, &system, witness, pool, e) : e->code;
    pool_free(&pool);
    if (!rc)
        rc = report(in, &system, e);
    r1cs_free(&system);
    free(witness);
    return rc;
}

const struct command testkit_generate = {
    .name = "generate",
    .summary = "UNSAFE: a satisfiable circuit of a given kind, with witness and key",
    .text = TESTKIT_UNSAFE
    "\nDIR gets circuit.wtns, circuit.r1cs, vk.json and circuit.zkey or circuit.prepared. The\n"
    "same options give the same files on every machine.",
    .options = options,
    .args_bytes = sizeof(struct args),
    .defaults = &defaults,
    .run = run,
};
