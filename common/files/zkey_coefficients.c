/* Reads and checks coefficients of a zkey, a piece at a time. */
#include <inttypes.h>
#include "zkey_file.h"

static uint64_t place(uint64_t index)
{
    return 4 + index * COEFFICIENT_BYTES;
}

static void fail(const struct zkey *z, struct first_error *error, uint64_t index, size_t field,
                 enum err_code code, const char *text, uint32_t value)
{
    struct err e;
    if (code == ERR_VALUE)
        binfile_error(z->file, ZKEY_COEFFICIENTS, place(index) + field, code, &e,
                      "coefficient %" PRIu64 ": %s", index, text);
    else
        binfile_error(z->file, ZKEY_COEFFICIENTS, place(index) + field, code, &e,
                      "coefficient %" PRIu64 ": %s, found %" PRIu32, index, text, value);
    first_error_put(error, index, &e);
}

bool zkey_load_coefficients(const struct zkey *z, uint64_t first, size_t n, unsigned char *raw,
                            fr_t *values, struct first_error *error)
{
    const struct zkey_facts *k = &z->facts;
    struct err e;
    if (binfile_read(z->file, ZKEY_COEFFICIENTS, place(first), raw, n * COEFFICIENT_BYTES, &e)) {
        first_error_put(error, first, &e);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        struct coefficient r = coefficient_at(raw, i);
        memcpy(&values[i], raw + i * COEFFICIENT_BYTES + sizeof r, sizeof values[i]);
        if (r.matrix > 1)
            fail(z, error, first + i, 0, ERR_FORMAT, "expected matrix 0 (A) or 1 (B)", r.matrix);
        else if (r.row >> k->domain_log2)
            fail(z, error, first + i, 4, ERR_FORMAT, "expected a row inside the domain", r.row);
        else if (r.wire >= k->n_wires)
            fail(z, error, first + i, 8, ERR_FORMAT, "expected a wire below the number of wires",
                 r.wire);
        else
            continue;
        return false;
    }
    size_t bad = k->curve->fr_first_unreduced(values, n);
    if (bad < n)
        fail(z, error, first + bad, 12, ERR_VALUE, "value is not below the scalar field's modulus",
             0);
    return bad == n;
}
