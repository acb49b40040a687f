/* prepare: a prepared circuit from a key of any kind that Millrace reads. */
#pragma once
#include "prepared.h"

struct key_files {
    const char *key; /* a .zkey or a .params, told apart by what they hold */
    bool is_params;  /* it is to be read as a .params, whatever it looks like */
    const char
        *constraints;    /* of a .zkey its .r1cs, or NULL; of a .params a PCE file or r1cs.bin */
    const char *digests; /* of a .params: the parameters.json that names its digest; or NULL */
};

/* Is it a .params: said so, by its content, or by its name when the content is of no known kind? */
enum err_code key_files_is_params(const struct key_files *k, bool *out, struct err *e);

/* prepare_zkey or prepare_params, after the digest was checked. ERR_USAGE for a .params without
 * constraints, and for digests of a .zkey. */
enum err_code prepare_key(const struct key_files *k, const char *out_path, uint8_t digest[32],
                          struct pool *pool, struct err *e);
