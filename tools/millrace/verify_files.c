#include "verify_files.h"
#include "json.h"
#include "read_files.h"
#include "verify.h"
#include <stdlib.h>

static enum err_code verify_all(const struct verification_key *vk, const fr_t *publics,
                                const struct proof *proofs, size_t n, struct err *e)
{
    if (n == 1)
        return groth16_verify(vk, publics, proofs, e);
    const fr_t **of = malloc(n * sizeof *of);
    bool *bad = malloc(n);
    enum err_code rc = ERR_OK;
    if (!of || !bad)
        rc = err_set(e, ERR_MEMORY, "no memory for %zu proofs", n);
    for (size_t i = 0; i < n && !rc; i++)
        of[i] = publics + i * vk->n_public;
    if (!rc)
        rc = groth16_verify_batch(vk, of, proofs, n, bad, e);
    free(of);
    free(bad);
    return rc;
}

static enum err_code verify(const struct verification_key *vk, const char *public_path,
                            const char *proof_path, struct err *e)
{
    struct proof *proofs;
    fr_t *publics;
    size_t n;
    enum err_code rc = read_any_proofs(proof_path, vk->curve, &proofs, &n, e);
    if (rc)
        return rc;
    rc = read_any_publics(public_path, vk->curve, n, vk->n_public, &publics, e);
    if (!rc) {
        rc = verify_all(vk, publics, proofs, n, e);
        if (rc)
            err_prefix(e, "%s", proof_path);
        free(publics);
    }
    free(proofs);
    return rc;
}

enum err_code verify_files(const char *vk_path, const char *public_path, const char *proof_path,
                           struct err *e)
{
    struct verification_key vk;
    enum err_code rc = read_any_vk(vk_path, &vk, NULL, e);
    if (rc)
        return rc;
    rc = verify(&vk, public_path, proof_path, e);
    vk_free(&vk);
    return rc;
}
