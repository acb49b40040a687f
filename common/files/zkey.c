/* Opening: everything that can be known without reading points or coefficients. */
#include "zkey.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "first_error.h"
#include "json.h"
#include "zkey_file.h"

enum { PROTOCOL_GROTH16 = 1, PROTOCOL_PLONK = 2, PROTOCOL_FFLONK = 10 };
enum { MAX_PRIME_BYTES = 256, POINTS_PER_PIECE = 2048, CURSOR_ROOM = 4096 };

static const struct bin_layout layout = {
    .magic = "zkey",
    .kind = "proving key (.zkey)",
    .version = 1,
    .known =
        (const struct bin_known[]){
            {ZKEY_PROTOCOL, true, "protocol"},
            {ZKEY_HEADER, true, "Groth16 header"},
            {ZKEY_IC, true, "IC points"},
            {ZKEY_COEFFICIENTS, true, "coefficients"},
            {ZKEY_A, true, "A points"},
            {ZKEY_B1, true, "B points in G1"},
            {ZKEY_B2, true, "B points in G2"},
            {ZKEY_L, true, "L points"},
            {ZKEY_H, true, "H points"},
            {ZKEY_CONTRIBUTIONS, false, "contributions"},
            {0, false, NULL},
        },
};

const struct group *zkey_group(const struct curve *c, enum zkey_points which)
{
    return which == ZKEY_B2 ? c->g2 : c->g1;
}

uint64_t zkey_points_count(const struct zkey *z, enum zkey_points which)
{
    const struct zkey_facts *k = &z->facts;
    switch (which) {
    case ZKEY_IC:
        return (uint64_t)k->n_public + 1;
    case ZKEY_A:
    case ZKEY_B1:
    case ZKEY_B2:
        return k->n_wires;
    case ZKEY_L:
        return (uint64_t)k->n_wires - k->n_public - 1;
    case ZKEY_H:
        return 1ull << k->domain_log2;
    }
    DIE("no such section of points: %d", (int)which);
}

static enum err_code check_protocol(const struct zkey *z, struct err *e)
{
    uint32_t protocol;
    if (binfile_length(z->file, ZKEY_PROTOCOL) != sizeof protocol)
        return binfile_expect_length(z->file, ZKEY_PROTOCOL, sizeof protocol,
                                     "the protocol's number", e);
    enum err_code code = binfile_read(z->file, ZKEY_PROTOCOL, 0, &protocol, sizeof protocol, e);
    if (code || protocol == PROTOCOL_GROTH16)
        return code;
    if (protocol == PROTOCOL_PLONK || protocol == PROTOCOL_FFLONK)
        return binfile_error(z->file, ZKEY_PROTOCOL, 0, ERR_UNSUPPORTED, e,
                             "a key for %s; expected one for groth16",
                             protocol == PROTOCOL_PLONK ? "plonk" : "fflonk");
    return binfile_error(z->file, ZKEY_PROTOCOL, 0, ERR_FORMAT, e,
                         "expected protocol 1 (groth16), found %" PRIu32, protocol);
}

/* A prime as u32 length and bytes. */
static enum err_code read_prime(struct bin_cursor *c, uint8_t prime[MAX_PRIME_BYTES], uint32_t *n,
                                const char *what, struct err *e)
{
    uint64_t at = c->at;
    enum err_code code = bin_u32(c, n, e);
    if (code)
        return code;
    if (*n == 0 || *n % 8 || *n > MAX_PRIME_BYTES)
        return binfile_error(c->f, c->id, at, ERR_FORMAT, e,
                             "expected the size of the %s in bytes (32 or 48), found %" PRIu32,
                             what, *n);
    return bin_bytes(c, prime, *n, e);
}

static enum err_code read_curve(struct zkey *z, struct bin_cursor *c, struct err *e)
{
    uint8_t q[MAX_PRIME_BYTES], r[MAX_PRIME_BYTES];
    uint32_t n_q, n_r;
    uint64_t q_at = c->at;
    enum err_code code = read_prime(c, q, &n_q, "base field", e);
    if (code)
        return code;
    uint64_t r_at = c->at;
    if ((code = read_prime(c, r, &n_r, "scalar field", e)))
        return code;
    z->facts.curve = curve_by_q(q, n_q);
    if (!z->facts.curve)
        return binfile_error(z->file, ZKEY_HEADER, q_at, ERR_UNSUPPORTED, e,
                             "a base field of %" PRIu32 " bytes that is neither that of bn254 nor "
                             "that of bls12-381",
                             n_q);
    if (curve_by_r(r, n_r) != z->facts.curve)
        return binfile_error(z->file, ZKEY_HEADER, r_at, ERR_FORMAT, e,
                             "the scalar field is not that of %s, whose base field the key names",
                             z->facts.curve->name);
    return ERR_OK;
}

static enum err_code read_counts(struct zkey *z, struct bin_cursor *c, struct err *e)
{
    struct zkey_facts *k = &z->facts;
    uint64_t at = c->at;
    uint32_t domain = 0;
    enum err_code code = bin_u32(c, &k->n_wires, e);
    if (!code)
        code = bin_u32(c, &k->n_public, e);
    if (!code)
        code = bin_u32(c, &domain, e);
    if (code)
        return code;
    if (k->n_public >= k->n_wires)
        return binfile_error(z->file, ZKEY_HEADER, at + 4, ERR_FORMAT, e,
                             "%" PRIu32 " public values and the constant one do not fit %" PRIu32
                             " wires",
                             k->n_public, k->n_wires);
    if (domain == 0 || (domain & (domain - 1)))
        return binfile_error(z->file, ZKEY_HEADER, at + 8, ERR_FORMAT, e,
                             "expected a domain that is a power of two, found %" PRIu32, domain);
    k->domain_log2 = (unsigned)__builtin_ctz(domain);
    if (k->domain_log2 > k->curve->two_adicity)
        return binfile_error(z->file, ZKEY_HEADER, at + 8, ERR_FORMAT, e,
                             "a domain of 2^%u, but %s has roots of unity up to 2^%u only",
                             k->domain_log2, k->curve->name, k->curve->two_adicity);
    if ((uint64_t)k->n_public + 1 > domain)
        return binfile_error(z->file, ZKEY_HEADER, at + 8, ERR_FORMAT, e,
                             "a domain of %" PRIu32 " rows is too small for %" PRIu32
                             " public values and the constant one",
                             domain, k->n_public);
    return ERR_OK;
}

/* A point of the verification key: always checked in full; infinity there would make every proof,
 * or none, verify. */
static enum err_code read_key_point(struct zkey *z, struct bin_cursor *c, const struct group *g,
                                    const char *name, point_t *out, struct err *e)
{
    uint64_t at = c->at;
    enum err_code code = bin_bytes(c, out, g->bytes, e);
    if (code)
        return code;
    const char *why = g->is_infinity(out) ? "point is at infinity" : NULL;
    if (why || g->check(out, 1, true, NULL, &why) == 0)
        return binfile_error(z->file, ZKEY_HEADER, at, ERR_VALUE, e, "%s: %s", name, why);
    return ERR_OK;
}

static enum err_code read_header(struct zkey *z, struct err *e)
{
    struct bin_cursor c;
    bin_cursor_init(&c, z->file, ZKEY_HEADER, NULL, 0);
    enum err_code code = read_curve(z, &c, e);
    if (!code)
        code = read_counts(z, &c, e);
    if (code)
        return code;
    struct zkey_facts *k = &z->facts;
    const struct group *g1 = k->curve->g1, *g2 = k->curve->g2;
    char why[96];
    snprintf(why, sizeof why, "the header of a key on %s", k->curve->name);
    code =
        binfile_expect_length(z->file, ZKEY_HEADER, c.at + 3 * g1->bytes + 3 * g2->bytes, why, e);
    if (code || (code = read_key_point(z, &c, g1, "alpha in G1", &k->alpha_g1, e)) ||
        (code = read_key_point(z, &c, g1, "beta in G1", &k->beta_g1, e)) ||
        (code = read_key_point(z, &c, g2, "beta in G2", &k->beta_g2, e)) ||
        (code = read_key_point(z, &c, g2, "gamma in G2", &k->gamma_g2, e)) ||
        (code = read_key_point(z, &c, g1, "delta in G1", &k->delta_g1, e)))
        return code;
    return read_key_point(z, &c, g2, "delta in G2", &k->delta_g2, e);
}

static enum err_code check_lengths(struct zkey *z, struct err *e)
{
    static const enum zkey_points sections[] = {ZKEY_IC, ZKEY_A, ZKEY_B1, ZKEY_B2, ZKEY_L, ZKEY_H};
    struct zkey_facts *k = &z->facts;
    char why[96];
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        uint64_t n = zkey_points_count(z, sections[i]);
        size_t bytes = zkey_group(k->curve, sections[i])->bytes;
        snprintf(why, sizeof why, "%" PRIu64 " points of %zu bytes", n, bytes);
        enum err_code code = binfile_expect_length(z->file, sections[i], n * bytes, why, e);
        if (code)
            return code;
    }
    uint32_t n;
    enum err_code code = binfile_read(z->file, ZKEY_COEFFICIENTS, 0, &n, sizeof n, e);
    if (code)
        return code;
    k->n_coefficients = n;
    snprintf(why, sizeof why, "a count of %" PRIu32 " and %d bytes each", n, COEFFICIENT_BYTES);
    return binfile_expect_length(z->file, ZKEY_COEFFICIENTS, 4 + COEFFICIENT_BYTES * (uint64_t)n,
                                 why, e);
}

/* Contributions are not used for proving; they only have to be what the section's length says. */
static enum err_code check_contributions(struct zkey *z, struct err *e)
{
    struct zkey_facts *k = &z->facts;
    k->has_contributions = binfile_find(z->file, ZKEY_CONTRIBUTIONS) != NULL;
    if (!k->has_contributions)
        return ERR_OK;
    unsigned char buffer[CURSOR_ROOM];
    struct bin_cursor c;
    bin_cursor_init(&c, z->file, ZKEY_CONTRIBUTIONS, buffer, sizeof buffer);
    enum err_code code = bin_skip(&c, 64, e); /* the circuit's hash */
    if (!code)
        code = bin_u32(&c, &k->n_contributions, e);
    for (uint32_t i = 0; i < k->n_contributions && !code; i++) {
        uint32_t type, n_parameters = 0;
        code = bin_skip(&c, 3 * k->curve->g1->bytes + k->curve->g2->bytes + 64, e);
        if (!code)
            code = bin_u32(&c, &type, e);
        if (!code)
            code = bin_u32(&c, &n_parameters, e);
        if (!code)
            code = bin_skip(&c, n_parameters, e);
    }
    return code ? code : bin_at_end(&c, e);
}

struct zkey *zkey_open(const char *path, struct err *e)
{
    struct zkey *z = calloc(1, sizeof *z);
    if (!z) {
        err_set(e, ERR_MEMORY, "%s: no memory", path);
        return NULL;
    }
    z->file = binfile_open(path, &layout, e);
    if (!z->file || check_protocol(z, e) || binfile_check_sections(z->file, e) ||
        read_header(z, e) || check_lengths(z, e) || check_contributions(z, e)) {
        zkey_close(&z);
        return NULL;
    }
    z->facts.file_bytes = binfile_size(z->file);
    return z;
}

void zkey_close(struct zkey **z)
{
    if (!z || !*z)
        return;
    binfile_close(&(*z)->file);
    free(*z);
    *z = NULL;
}

const struct zkey_facts *zkey_facts(const struct zkey *z)
{
    return &z->facts;
}

/* --- points ----------------------------------------------------------------------------------- */

struct points_loop {
    const struct zkey *z;
    enum zkey_points which;
    const struct group *group;
    uint64_t first;
    unsigned char *out;
    bool subgroup;
    struct first_error error;
};

static void read_piece(void *arg, size_t begin, size_t end, unsigned worker)
{
    (void)worker;
    struct points_loop *l = arg;
    if (!first_error_still_wanted(&l->error, begin))
        return;
    const struct binfile *f = l->z->file;
    size_t bytes = l->group->bytes;
    unsigned char *out = l->out + begin * bytes;
    uint64_t at = (l->first + begin) * bytes;
    struct err e;
    if (binfile_read(f, l->which, at, out, (end - begin) * bytes, &e)) {
        first_error_put(&l->error, begin, &e);
        return;
    }
    const char *why = NULL;
    size_t bad = l->group->check(out, end - begin, l->subgroup, NULL, &why);
    if (bad < end - begin) {
        binfile_error(f, l->which, at + bad * bytes, ERR_VALUE, &e, "point %" PRIu64 ": %s",
                      l->first + begin + bad, why);
        first_error_put(&l->error, begin + bad, &e);
    }
}

enum err_code zkey_read_points(struct zkey *z, enum zkey_points which, uint64_t first, uint64_t n,
                               void *out, bool subgroup, struct pool *pool, struct err *e)
{
    INVARIANT(first <= zkey_points_count(z, which) && n <= zkey_points_count(z, which) - first);
    struct points_loop l = {
        .z = z,
        .which = which,
        .group = zkey_group(z->facts.curve, which),
        .first = first,
        .out = out,
        .subgroup = subgroup,
        .error = FIRST_ERROR_INIT,
    };
    pool_range(pool, read_piece, &l, n, POINTS_PER_PIECE);
    return first_error_take(&l.error, e);
}

enum err_code zkey_read_vk(struct zkey *z, struct verification_key *vk, struct err *e)
{
    const struct zkey_facts *k = &z->facts;
    *vk = (struct verification_key){
        .curve = k->curve,
        .n_public = k->n_public,
        .alpha_g1 = k->alpha_g1,
        .beta_g2 = k->beta_g2,
        .gamma_g2 = k->gamma_g2,
        .delta_g2 = k->delta_g2,
    };
    uint64_t n = zkey_points_count(z, ZKEY_IC);
    void *ic = malloc(n * k->curve->g1->bytes);
    if (!ic)
        return err_set(e, ERR_MEMORY, "%s: no memory for %" PRIu64 " IC points",
                       binfile_name(z->file), n);
    enum err_code code = zkey_read_points(z, ZKEY_IC, 0, n, ic, true, NULL, e);
    vk->ic = ic;
    if (code)
        vk_free(vk);
    return code;
}
