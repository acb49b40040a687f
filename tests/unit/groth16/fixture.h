/* fixture: what the tests of groth16 share: fixtures by name, vectors as numbers, small-order
 * points. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include "json.h"
#include "verify.h"
#include "wtns.h"
#include "zkey.h"

/* "FIXTURES/bn128/mul/mul.zkey"; the text lives until the fourth call after. */
const char *fixture_path(const char *curve, const char *circuit, const char *file);

/* Fails the test with the err's text unless rc is ERR_OK. */
void must(enum err_code rc, const struct err *e);

struct fixture {
    const char *curve_name, *name;
    struct circuit *circuit;
    fr_t *w; /* n_wires plain */
    struct verification_key vk;
};
void fixture_load(struct fixture *f, const char *curve, const char *circuit);
void fixture_free(struct fixture *f);

/* vectors.json */
json_t *fixture_vectors(const char *curve, const char *circuit);
fr_t scalar_of(const struct curve *c, const json_t *decimal); /* plain */
point_t g1_of(const struct curve *c, const json_t *pair);     /* [x, y], null: infinity */
point_t g2_of(const struct curve *c, const json_t *pair);

/* r = the number with these hex digits times p, by doubling and adding alone. */
void multiply_hex(const struct group *g, void *r, const void *p, const char *hex);

/* A point of the curve whose order is small and divides the cofactor; the groups of both curves but
 * G1 of BN254, which has none, and for which false is returned. */
bool small_order_point(const struct curve *c, bool g2, point_t *out);
