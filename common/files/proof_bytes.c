#include "proof_bytes.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bytefile.h"
#include "file.h"
#include "zcash_point.h"

static const struct curve *const curve = &curve_bls12_381;

enum { A_AT = 0, B_AT = 48, C_AT = 144 };

static const char *read_point(const struct group *g, const uint8_t *bytes, point_t *out)
{
    memset(out, 0, sizeof *out);
    const char *why = zcash_point_read(g, bytes, true, out);
    if (!why && g->is_infinity(out))
        why = "point is at infinity";
    if (!why && !g->in_subgroup(out))
        why = "point is not in the subgroup of order r";
    return why;
}

const char *proof_from_bytes(const uint8_t bytes[PROOF_BYTES], struct proof *out, size_t *at)
{
    out->curve = curve;
    const char *why = read_point(curve->g1, bytes + (*at = A_AT), &out->a);
    if (!why)
        why = read_point(curve->g2, bytes + (*at = B_AT), &out->b);
    if (!why)
        why = read_point(curve->g1, bytes + (*at = C_AT), &out->c);
    return why;
}

enum err_code proof_to_bytes(const struct proof *p, uint8_t bytes[PROOF_BYTES], struct err *e)
{
    if (p->curve != curve)
        return err_set(e, ERR_UNSUPPORTED,
                       "a proof on %s has no form of 192 bytes: that is one of bls12-381",
                       p->curve->name);
    zcash_point_write(curve->g1, &p->a, true, bytes + A_AT);
    zcash_point_write(curve->g2, &p->b, true, bytes + B_AT);
    zcash_point_write(curve->g1, &p->c, true, bytes + C_AT);
    return ERR_OK;
}

static const char *element_at(size_t at)
{
    return at == A_AT ? "A" : at == B_AT ? "B" : "C";
}

static enum err_code read_all(const struct bytefile *f, struct proof **out, size_t *n,
                              struct err *e)
{
    uint64_t size = bytefile_size(f);
    if (size == 0 || size % PROOF_BYTES || size / PROOF_BYTES > PROOF_BYTES_MAX_PARTITIONS)
        return bytefile_error(f, "proof", 0, ERR_FORMAT, e,
                              "expected 1 to %d proofs of %d bytes, found %" PRIu64 " bytes",
                              PROOF_BYTES_MAX_PARTITIONS, PROOF_BYTES, size);
    *n = (size_t)(size / PROOF_BYTES);
    *out = malloc(*n * sizeof **out);
    if (!*out)
        return err_set(e, ERR_MEMORY, "%s: no memory for %zu proofs", bytefile_name(f), *n);
    enum err_code code = ERR_OK;
    for (size_t i = 0; i < *n && !code; i++) {
        uint8_t bytes[PROOF_BYTES];
        size_t at;
        code = bytefile_read(f, i * PROOF_BYTES, bytes, sizeof bytes, e);
        const char *why = code ? NULL : proof_from_bytes(bytes, &(*out)[i], &at);
        if (why) {
            char what[32];
            snprintf(what, sizeof what, "proof %zu (%s)", i, element_at(at));
            code = bytefile_error(f, what, i * PROOF_BYTES + at, ERR_VALUE, e, "%s", why);
        }
    }
    if (code) {
        free(*out);
        *out = NULL;
    }
    return code;
}

enum err_code proof_bytes_read(const char *path, struct proof **out, size_t *n, struct err *e)
{
    *out = NULL;
    *n = 0;
    struct bytefile *f = bytefile_open(path, "proof of 192 bytes", e);
    if (!f)
        return e ? e->code : ERR_IO;
    enum err_code code = read_all(f, out, n, e);
    bytefile_close(&f);
    return code;
}

enum err_code proof_bytes_write(const char *path, const struct proof *proofs, size_t n,
                                struct err *e)
{
    struct file_writer *w = file_writer_open(path, 0644, e);
    if (!w)
        return e ? e->code : ERR_IO;
    enum err_code code = ERR_OK;
    for (size_t i = 0; i < n && !code; i++) {
        uint8_t bytes[PROOF_BYTES];
        code = proof_to_bytes(&proofs[i], bytes, e);
        if (!code)
            code = file_writer_write(w, bytes, sizeof bytes, e);
    }
    if (!code)
        return file_writer_commit(&w, e);
    file_writer_abort(&w);
    return code;
}
