/* The digest under which a file of parameters is published. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include "file.h"
#include "jsonio.h"
#include "params_file.h"

enum { PIECE = 1 << 20, DIGEST_SHOWN = 16, MAX_LIST_BYTES = 16 << 20 };

enum err_code params_digest(const char *path, char hex[33], struct err *e)
{
    struct bytefile *f = bytefile_open(path, "file of Groth16 parameters", e);
    if (!f)
        return e ? e->code : ERR_IO;
    uint8_t *piece = malloc(PIECE), digest[64];
    crypto_generichash_state hash;
    crypto_generichash_init(&hash, NULL, 0, sizeof digest);
    enum err_code code = piece ? ERR_OK : err_set(e, ERR_MEMORY, "%s: no memory", path);
    uint64_t size = bytefile_size(f);
    for (uint64_t at = 0; at < size && !code; at += PIECE) {
        size_t n = size - at < PIECE ? (size_t)(size - at) : PIECE;
        code = bytefile_read(f, at, piece, n, e);
        if (!code)
            crypto_generichash_update(&hash, piece, n);
    }
    crypto_generichash_final(&hash, digest, sizeof digest);
    sodium_bin2hex(hex, 2 * DIGEST_SHOWN + 1, digest, DIGEST_SHOWN);
    free(piece);
    bytefile_close(&f);
    return code;
}

enum err_code params_check_digest(const char *path, const char *list, struct err *e)
{
    json_t *all = json_read(list, MAX_LIST_BYTES, 0, e);
    if (!all)
        return e ? e->code : ERR_FORMAT;
    char found[33];
    const json_t *entry = json_object_get(all, file_name(path));
    const char *expected = json_string_value(json_object_get(entry, "digest"));
    enum err_code code = ERR_OK;
    if (!expected)
        code = err_set(e, ERR_MISMATCH, "%s: names no digest for %s", list, file_name(path));
    else if (!(code = params_digest(path, found, e)) && strcmp(found, expected) != 0)
        code = err_set(e, ERR_MISMATCH, "%s: its digest is %s, expected %.40s, as %s has it", path,
                       found, expected, list);
    json_decref(all);
    return code;
}
