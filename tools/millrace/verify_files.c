#include "verify_files.h"
#include "json.h"
#include "verify.h"
#include <stdlib.h>

static enum err_code verify(const struct verification_key *vk, const char *public_path,
                            const char *proof_path, struct err *e)
{
    fr_t *publics;
    size_t n;
    enum err_code rc = public_read(public_path, vk->curve, &publics, &n, e);
    if (rc)
        return rc;
    struct proof proof;
    if (n != vk->n_public)
        rc = err_set(e, ERR_MISMATCH, "%s: holds %zu values, the verification key has %u",
                     public_path, n, vk->n_public);
    else
        rc = proof_read(proof_path, vk->curve, &proof, e);
    if (!rc) {
        rc = groth16_verify(vk, publics, &proof, e);
        if (rc)
            err_prefix(e, "%s", proof_path);
    }
    free(publics);
    return rc;
}

enum err_code verify_files(const char *vk_path, const char *public_path, const char *proof_path,
                           struct err *e)
{
    struct verification_key vk;
    enum err_code rc = vk_read(vk_path, &vk, e);
    if (rc)
        return rc;
    rc = verify(&vk, public_path, proof_path, e);
    vk_free(&vk);
    return rc;
}
