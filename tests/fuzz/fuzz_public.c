#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "json.h"

static void one_curve(const json_t *json, const struct curve *c)
{
    struct err e = {0};
    fr_t *values, *again;
    size_t n, n_again;
    enum err_code code = public_from_json(json, "public", c, &values, &n, &e);
    refused_in_one_line(code, &e);
    if (code)
        return;
    PROPERTY(c->fr_first_unreduced(values, n) == n);
    json_t *copy = public_to_json(values, n);
    PROPERTY(public_from_json(copy, "public", c, &again, &n_again, &e) == ERR_OK);
    PROPERTY(n == n_again && memcmp(values, again, n * sizeof *values) == 0);
    json_decref(copy);
    free(values);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err e = {0};
    json_t *json = json_parse((const char *)data, n, "public", JSON_KEEP_BIG_INTEGERS, &e);
    refused_in_one_line(json ? ERR_OK : e.code, &e);
    if (json) {
        one_curve(json, &curve_bn254);
        one_curve(json, &curve_bls12_381);
    }
    json_decref(json);
    return 0;
}
