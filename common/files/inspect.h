/* inspect: what any file that Millrace knows holds. */
#pragma once
#include <stdio.h>
#include "circuit.h"
#include "jsonio.h"

enum file_kind {
    FILE_UNKNOWN,
    FILE_ZKEY,
    FILE_WTNS,
    FILE_R1CS,
    FILE_PTAU,
    FILE_PREPARED,
    FILE_WASM,
    FILE_PARAMS,
    FILE_VK_BYTES,
    FILE_PROOF_BYTES,
    FILE_PCE,
    FILE_FR1C,
    FILE_VK_JSON,
    FILE_PROOF_JSON,
    FILE_PUBLIC_JSON,
    FILE_OTHER_JSON, /* an input.json, most likely */
};

/* By the first bytes (of a file without a magic: by what they must be), and for JSON by the
 * members. ERR_IO when it cannot be read. */
enum err_code file_kind_of(const char *path, enum file_kind *out, struct err *e);
const char *file_kind_word(enum file_kind k); /* "proving key (.zkey)" ... */
const char *file_kind_tag(enum file_kind k);  /* "zkey" ... */

/* Facts as a JSON object ("kind", "curve", counts, sections with offset and length, sizes); never
 * a witness value. A malformed file gives the reader's error. A new reference, NULL on failure. */
json_t *inspect_file(const char *path, struct err *e);

/* The same facts as lines of words. */
void inspect_print(const json_t *facts, FILE *out);
