/* build: turns an operator's witness program into a file of the store, once, when it is added.
 *
 * A circom .wasm is checked (wasmfile.h), translated to C by wabt's wasm2c and compiled by the
 * system's C compiler together with shim.c into DIR/HEX.so. Any other file must be an executable
 * built from circom's C++ output; it is copied to DIR/HEX.native, and the NAME.dat that circom
 * makes beside it to DIR/HEX.native.dat. HEX is the BLAKE2b-256 of what was given (for a native
 * program of the executable's hash and the .dat's hash), so the same program is built once. Files
 * appear by rename, complete and read-only.
 *
 * Called by operator commands (`millrace circuit add --program`, `millrace-program build`), never
 * by a daemon: it takes seconds to a minute, runs other programs and forks. */
#pragma once
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include "err.h"

struct program_info {
    uint8_t digest[32];
    bool native;
    bool built;          /* false: it was in the store already */
    char path[PATH_MAX]; /* of the file in the store */
    /* Told by the compiled program itself, run confined; zero for a native one. */
    uint32_t n_inputs, n_witness;
    uint8_t prime[32]; /* little-endian */
};

/* dir is made (0700) when it is missing. ERR_UNAVAILABLE when wasm2c, its runtime sources or a C
 * compiler is missing, naming what to install. */
enum err_code program_build(const char *source, const char *dir, struct program_info *out,
                            struct err *e);
