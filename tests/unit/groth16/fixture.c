#include "fixture.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *fixture_path(const char *curve, const char *circuit, const char *file)
{
    static char text[4][512];
    static int next;
    char *t = text[next++ % 4];
    if (file[0] == '.')
        snprintf(t, sizeof text[0], "%s/%s/%s/%s%s", FIXTURES, curve, circuit, circuit, file);
    else
        snprintf(t, sizeof text[0], "%s/%s/%s/%s", FIXTURES, curve, circuit, file);
    return t;
}

void must(enum err_code rc, const struct err *e)
{
    if (rc != ERR_OK)
        fail_msg("%s", e->text);
}

void fixture_load(struct fixture *f, const char *curve, const char *circuit)
{
    struct err e = {0};
    *f = (struct fixture){.curve_name = curve, .name = circuit};
    f->circuit = zkey_load_circuit(fixture_path(curve, circuit, ".zkey"), CHECK_ON_CURVE, NULL, &e);
    must(e.code, &e);
    struct wtns *witness = wtns_open(fixture_path(curve, circuit, ".wtns"), &e);
    must(e.code, &e);
    f->w = malloc(f->circuit->n_wires * sizeof *f->w);
    must(wtns_expect(witness, f->circuit->curve, f->circuit->n_wires, &e), &e);
    must(wtns_read(witness, f->w, NULL, &e), &e);
    wtns_close(&witness);
    must(vk_read(fixture_path(curve, circuit, "vk.json"), &f->vk, &e), &e);
}

void fixture_free(struct fixture *f)
{
    circuit_free(&f->circuit);
    free(f->w);
    vk_free(&f->vk);
}

json_t *fixture_vectors(const char *curve, const char *circuit)
{
    struct err e = {0};
    json_t *v = json_read(fixture_path(curve, circuit, "vectors.json"), 1 << 24, 0, &e);
    must(e.code, &e);
    return v;
}

fr_t scalar_of(const struct curve *c, const json_t *decimal)
{
    fr_t x;
    assert_non_null(json_string_value(decimal));
    assert_null(decimal_to_limbs(json_string_value(decimal), c->r->limb, 4, x.limb));
    return x;
}

static void coordinate(const struct curve *c, const json_t *decimal, void *out)
{
    uint64_t limbs[6];
    assert_non_null(json_string_value(decimal));
    assert_null(decimal_to_limbs(json_string_value(decimal), c->q, c->fq_bytes / 8, limbs));
    c->fq_to_mont(out, limbs, 1);
}

/* Infinity is null, or as snarkjs's projective (0 : 1 : 0) without its last coordinate. */
static bool is_infinity(const json_t *pair)
{
    const json_t *x = json_array_get(pair, 0);
    const json_t *first = json_is_array(x) ? json_array_get(x, 0) : x;
    return json_is_null(pair) || strcmp(json_string_value(first), "0") == 0;
}

point_t g1_of(const struct curve *c, const json_t *pair)
{
    point_t p = {{0}};
    if (is_infinity(pair))
        return p;
    for (size_t i = 0; i < 2; i++)
        coordinate(c, json_array_get(pair, i), (char *)&p + i * c->fq_bytes);
    return p;
}

point_t g2_of(const struct curve *c, const json_t *pair)
{
    point_t p = {{0}};
    if (is_infinity(pair))
        return p;
    for (size_t i = 0; i < 4; i++)
        coordinate(c, json_array_get(json_array_get(pair, i / 2), i % 2),
                   (char *)&p + i * c->fq_bytes);
    return p;
}

void multiply_hex(const struct group *g, void *r, const void *p, const char *hex)
{
    point_t sum = {{0}}, base = {{0}};
    memcpy(&base, p, g->bytes);
    for (; *hex; hex++) {
        int digit = *hex <= '9' ? *hex - '0' : *hex - 'a' + 10;
        for (int bit = 3; bit >= 0; bit--) {
            g->add(&sum, &sum, &sum);
            if (digit >> bit & 1)
                g->add(&sum, &sum, &base);
        }
    }
    memcpy(r, &sum, g->bytes);
}

bool small_order_point(const struct curve *c, bool g2, point_t *out)
{
    /* cofactor * r / l^v for a small prime l with l^v in the cofactor: l = 10069 for BN254's G2
     * (cofactor 2q - r), 3 for G1 and 13 (v = 2) for G2 of BLS12-381. */
    static const char bn254_g2[] =
        "3b89d84c6eaab0cfb56a567ea5a2f2ec8020adba71a185dd3e299a8fab268ec12d22f6541370c616fa58e5b72"
        "d7288a0ba9334d5d06e1dbbfa43015f1659";
    static const char bls_g1[] =
        "8ab05f8bdd54cde190937e76bc3e447cc27c3d6fbd7063fcd104635a790520c0a395554e5c6aaaad955555555"
        "558e39";
    static const char bls_g2[] =
        "4005449cda731a7136c440a0c65b728ba1c1fa6b6708356f3b9bdc84396cab33907d71557a7d33677f5d45f7c"
        "edb8cfdac10ff1fc5b48d6461e907737d78e96568f2d18c750b4b3ca5c33c3fd8ff8a70629888281914529f4e"
        "3380941cfdd";
    bool bls = c->id == CURVE_BLS12_381;
    if (!bls && !g2)
        return false;
    const struct group *g = g2 ? c->g2 : c->g1;
    const char *factor = !g2 ? bls_g1 : bls ? bls_g2 : bn254_g2;
    for (uint64_t i = 1; i < 200; i++) {
        uint64_t x[12] = {i};
        c->fq_to_mont(x, x, g2 ? 2 : 1);
        point_t p = {{0}};
        if (!(g2 ? c->g2_decompress : c->g1_decompress)(&p, x, false))
            continue;
        memset(out, 0, sizeof *out);
        multiply_hex(g, out, &p, factor);
        if (!g->is_infinity(out)) {
            assert_true(g->on_curve(out));
            return true;
        }
    }
    fail_msg("no point of small order found");
    return false;
}
