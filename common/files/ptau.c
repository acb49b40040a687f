#include "ptau.h"
#include <inttypes.h>
#include <stdio.h>
#include "binfile.h"

enum { PTAU_HEADER = 1, PTAU_TAU_G1 = 2, PTAU_LAGRANGE_G1 = 12, MAX_POWER = 28 };

static const struct bin_layout layout = {
    .magic = "ptau",
    .kind = "powers-of-tau file (.ptau)",
    .version = 1,
    .known =
        (const struct bin_known[]){
            {PTAU_HEADER, true, "header"},
            {PTAU_TAU_G1, true, "tau in G1"},
            {3, true, "tau in G2"},
            {4, true, "alpha tau in G1"},
            {5, true, "beta tau in G1"},
            {6, true, "beta in G2"},
            {7, true, "contributions"},
            {PTAU_LAGRANGE_G1, false, "Lagrange tau in G1"},
            {13, false, "Lagrange tau in G2"},
            {14, false, "Lagrange alpha tau in G1"},
            {15, false, "Lagrange beta tau in G1"},
            {0, false, NULL},
        },
};

static enum err_code read_facts(const struct binfile *f, struct ptau_facts *k, struct err *e)
{
    struct bin_cursor c;
    uint32_t n_q;
    uint8_t q[48];
    bin_cursor_init(&c, f, PTAU_HEADER, NULL, 0);
    enum err_code code = bin_u32(&c, &n_q, e);
    if (code)
        return code;
    if (n_q != 32 && n_q != 48)
        return binfile_error(f, PTAU_HEADER, 0, ERR_UNSUPPORTED, e,
                             "expected a base field of 32 or 48 bytes, found %" PRIu32, n_q);
    if ((code = bin_bytes(&c, q, n_q, e)) || (code = bin_u32(&c, &k->power, e)) ||
        (code = bin_u32(&c, &k->ceremony_power, e)) || (code = bin_at_end(&c, e)))
        return code;
    k->curve = curve_by_q(q, n_q);
    if (!k->curve)
        return binfile_error(f, PTAU_HEADER, 4, ERR_UNSUPPORTED, e,
                             "a base field that is neither that of bn254 nor that of bls12-381");
    if (k->power > MAX_POWER)
        return binfile_error(f, PTAU_HEADER, 4 + n_q, ERR_FORMAT, e,
                             "expected a power up to %d, found %" PRIu32, MAX_POWER, k->power);
    char why[64];
    uint64_t n = (2ull << k->power) - 1;
    snprintf(why, sizeof why, "%" PRIu64 " points for power %" PRIu32, n, k->power);
    return binfile_expect_length(f, PTAU_TAU_G1, n * k->curve->g1->bytes, why, e);
}

enum err_code ptau_read_facts(const char *path, struct ptau_facts *out, struct err *e)
{
    *out = (struct ptau_facts){0};
    struct binfile *f = binfile_open(path, &layout, e);
    if (!f)
        return e ? e->code : ERR_FORMAT;
    enum err_code code = binfile_check_sections(f, e);
    if (!code)
        code = read_facts(f, out, e);
    out->prepared = binfile_find(f, PTAU_LAGRANGE_G1) != NULL;
    out->file_bytes = binfile_size(f);
    binfile_close(&f);
    return code;
}
