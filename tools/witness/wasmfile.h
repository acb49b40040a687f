/* wasmfile: looks at a .wasm file before it is translated: is it a circom 2 witness program?
 *
 * Reads the import, memory and export sections of a WebAssembly 1.0 binary (sources: the
 * WebAssembly core specification 1.0, section 5; circom's own module for the names) with every
 * count and length checked against the bytes that are there. Other sections are skipped: wasm2c
 * validates them. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "err.h"

/* ERR_FORMAT when it is no WebAssembly, ERR_UNSUPPORTED when it is, but not circom 2's: the message
 * names the missing export or the unexpected import. */
enum err_code wasmfile_check(const char *name, const uint8_t *data, size_t n, struct err *e);
