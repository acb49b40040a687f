#include "key_options.h"

enum err_code key_options_files(const struct key_options *o, const char *key, const char *command,
                                struct key_files *out, struct err *e)
{
    if (o->params && key)
        return err_set(e, ERR_USAGE, "%s: --params and a KEY: give one of them", command);
    if (!o->params && !key)
        return err_set(e, ERR_USAGE, "%s: expected a KEY, or --params FILE", command);
    if (o->r1cs && o->pce)
        return err_set(e, ERR_USAGE, "%s: --r1cs and --pce: give one of them", command);
    *out = (struct key_files){
        .key = key ? key : o->params,
        .is_params = o->params != NULL,
        .constraints = o->r1cs ? o->r1cs : o->pce,
        .digests = o->digests,
    };
    return ERR_OK;
}
