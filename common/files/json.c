/* Numbers and points; what is common to proofs, public values and keys. */
#include "json.h"
#include <ctype.h>
#include <gmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "json_point.h"

/* Longer digit strings cannot be below a 384-bit modulus; GMP never sees them. */
enum { MAX_DIGITS = 116 };

const char *decimal_to_limbs(const char *text, const uint64_t *modulus, size_t n_limbs,
                             uint64_t *out)
{
    size_t n = strspn(text, "0123456789");
    if (n == 0 || text[n])
        return "is not a decimal number";
    if (text[0] == '0' && n > 1)
        return "has a leading zero";
    if (n > MAX_DIGITS)
        return "is not below the modulus";
    mpz_t v, m;
    mpz_inits(v, m, NULL);
    mpz_set_str(v, text, 10);
    mpz_import(m, n_limbs, -1, sizeof *modulus, 0, 0, modulus);
    bool below = mpz_cmp(v, m) < 0;
    memset(out, 0, n_limbs * sizeof *out);
    if (below)
        mpz_export(out, NULL, -1, sizeof *out, 0, 0, v);
    mpz_clears(v, m, NULL);
    return below ? NULL : "is not below the modulus";
}

void decimal_from_limbs(const uint64_t *limbs, size_t n_limbs, char text[DECIMAL_ROOM])
{
    INVARIANT(n_limbs <= 6);
    mpz_t v;
    mpz_init(v);
    mpz_import(v, n_limbs, -1, sizeof *limbs, 0, 0, limbs);
    mpz_get_str(text, 10, v);
    mpz_clear(v);
}

enum err_code json_wrong(struct err *e, enum err_code code, const char *name, const char *field,
                         const char *text)
{
    return err_set(e, code, "%s: %s: %s", name, field, text);
}

/* One decimal string as limbs; field stands in messages. */
static enum err_code read_number(const json_t *v, const char *name, const char *field,
                                 const uint64_t *modulus, size_t n_limbs, uint64_t *out,
                                 struct err *e)
{
    if (!json_is_string(v) || strlen(json_string_value(v)) != json_string_length(v))
        return json_wrong(e, ERR_FORMAT, name, field, "expected a decimal number in quotes");
    const char *why = decimal_to_limbs(json_string_value(v), modulus, n_limbs, out);
    if (!why)
        return ERR_OK;
    bool too_large = strstr(why, "modulus") != NULL;
    return json_wrong(e, too_large ? ERR_VALUE : ERR_FORMAT, name, field, why);
}

enum err_code json_scalar(const json_t *v, const char *name, const char *field,
                          const struct curve *c, fr_t *out, struct err *e)
{
    return read_number(v, name, field, c->r->limb, 4, out->limb, e);
}

/* A coordinate: one number in G1, an array of two in G2, plain limbs to out. */
static enum err_code read_coordinate(const json_t *v, const char *name, const char *field,
                                     const struct curve *c, unsigned degree, uint64_t *out,
                                     struct err *e)
{
    size_t n_limbs = c->fq_bytes / 8;
    if (degree == 1)
        return read_number(v, name, field, c->q, n_limbs, out, e);
    if (!json_is_array(v) || json_array_size(v) != 2)
        return json_wrong(e, ERR_FORMAT, name, field, "expected an array of two numbers");
    for (size_t i = 0; i < 2; i++) {
        char place[96];
        snprintf(place, sizeof place, "%s[%zu]", field, i);
        enum err_code code =
            read_number(json_array_get(v, i), name, place, c->q, n_limbs, out + i * n_limbs, e);
        if (code)
            return code;
    }
    return ERR_OK;
}

static bool is_small(const uint64_t *limbs, size_t n, uint64_t value)
{
    for (size_t i = 1; i < n; i++)
        if (limbs[i])
            return false;
    return limbs[0] == value;
}

enum err_code json_point(const json_t *v, const char *name, const char *field,
                         const struct curve *c, const struct group *g, point_t *out, struct err *e)
{
    unsigned degree = g == c->g2 ? 2 : 1;
    size_t n = degree * c->fq_bytes / 8; /* limbs of a coordinate */
    uint64_t xyz[3][2 * 6];
    if (!json_is_array(v) || json_array_size(v) != 3)
        return json_wrong(e, ERR_FORMAT, name, field,
                          "expected a point: an array of three coordinates");
    for (size_t i = 0; i < 3; i++) {
        char place[64];
        snprintf(place, sizeof place, "%s[%zu]", field, i);
        enum err_code code =
            read_coordinate(json_array_get(v, i), name, place, c, degree, xyz[i], e);
        if (code)
            return code;
    }
    memset(out, 0, sizeof *out);
    if (is_small(xyz[2], n, 0)) {
        if (is_small(xyz[0], n, 0) && is_small(xyz[1], n, 1))
            return ERR_OK;
        return json_wrong(e, ERR_FORMAT, name, field,
                          "the last coordinate is 0, so expected 0 and 1 before it (infinity)");
    }
    if (!is_small(xyz[2], n, 1))
        return json_wrong(e, ERR_FORMAT, name, field, "expected 1 (or 0) as the last coordinate");
    if (is_small(xyz[0], n, 0) && is_small(xyz[1], n, 0))
        return json_wrong(e, ERR_VALUE, name, field, "point (0, 0) is not on the curve");
    c->fq_to_mont(out->limb, xyz[0], degree);
    c->fq_to_mont(out->limb + n, xyz[1], degree);
    return ERR_OK;
}

const struct curve *json_curve(const json_t *object, const char *name, const struct curve *absent,
                               struct err *e)
{
    if (!json_object_get(object, "curve") && absent)
        return absent;
    const char *word = json_need_string(object, name, "curve", e);
    const struct curve *c = word ? curve_by_name(word) : NULL;
    if (word && !c)
        err_set(e, ERR_UNSUPPORTED, "%s: curve: expected bn128 or bls12381, found \"%.40s\"", name,
                word);
    return c;
}

enum err_code json_protocol(const json_t *object, const char *name, struct err *e)
{
    const char *word = json_need_string(object, name, "protocol", e);
    if (!word)
        return ERR_FORMAT;
    if (strcmp(word, "groth16") != 0)
        return err_set(e, ERR_UNSUPPORTED, "%s: protocol: expected groth16, found \"%.40s\"", name,
                       word);
    return ERR_OK;
}

static json_t *number(const uint64_t *plain, size_t n_limbs)
{
    char text[DECIMAL_ROOM];
    decimal_from_limbs(plain, n_limbs, text);
    return json_string(text);
}

json_t *json_from_scalar(const fr_t *plain)
{
    return number(plain->limb, 4);
}

/* A base-field element of `degree` numbers; a small constant is given as its value. */
json_t *json_from_field(const struct curve *c, const uint64_t *plain, unsigned degree)
{
    size_t n = c->fq_bytes / 8;
    return degree == 1 ? number(plain, n)
                       : json_pack("[o,o]", number(plain, n), number(plain + n, n));
}

json_t *json_from_point(const struct curve *c, const struct group *g, const void *point)
{
    unsigned degree = g == c->g2 ? 2 : 1;
    size_t n = degree * c->fq_bytes / 8;
    uint64_t plain[2 * 12], zero[12] = {0}, one[12] = {1};
    bool infinity = g->is_infinity(point);
    c->fq_from_mont(plain, point, 2 * degree);
    return json_pack("[o,o,o]", json_from_field(c, infinity ? zero : plain, degree),
                     json_from_field(c, infinity ? one : plain + n, degree),
                     json_from_field(c, infinity ? zero : one, degree));
}
