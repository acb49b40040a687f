#include "prepare.h"
#include <string.h>
#include "inspect.h"
#include "params.h"

static bool named_params(const char *path)
{
    size_t n = strlen(path);
    return n >= 7 && strcmp(path + n - 7, ".params") == 0;
}

enum err_code key_files_is_params(const struct key_files *k, bool *out, struct err *e)
{
    enum file_kind kind;
    *out = k->is_params;
    if (k->is_params)
        return ERR_OK;
    enum err_code code = file_kind_of(k->key, &kind, e);
    *out = kind == FILE_PARAMS || (kind == FILE_UNKNOWN && named_params(k->key));
    return code;
}

enum err_code prepare_key(const struct key_files *k, const char *out_path, uint8_t digest[32],
                          struct pool *pool, struct err *e)
{
    bool params;
    enum err_code code = key_files_is_params(k, &params, e);
    if (code)
        return code;
    if (!params && k->digests)
        return err_set(e, ERR_USAGE, "%s: a parameters.json names digests of .params files alone",
                       k->key);
    if (!params)
        return prepare_zkey(k->key, k->constraints, out_path, digest, pool, e);
    if (!k->constraints)
        return err_set(
            e, ERR_USAGE,
            "%s: a .params does not hold the circuit's matrices: give a PCE file (--pce) "
            "or an r1cs.bin (--r1cs) too",
            k->key);
    if (k->digests)
        code = params_check_digest(k->key, k->digests, e);
    return code ? code : prepare_params(k->key, k->constraints, out_path, digest, pool, e);
}
