/* compile: a checked circom .wasm to a shared object, with wasm2c and the system's C compiler. */
#pragma once
#include <stddef.h>
#include "err.h"

/* Writes OUT (a .so), working in the existing, empty directory `work`, whose files it leaves for
 * compile_clean. name: for messages. ERR_UNAVAILABLE when a tool is missing. */
enum err_code compile_wasm(const char *name, const void *wasm, size_t n, const char *work,
                           const char *out, struct err *e);

/* Removes the directory and the files that compile_wasm leaves there. */
void compile_clean(const char *work);

/* Runs argv (found in PATH) and waits; its standard output and error go to log_path. The message
 * begins with the first line that looks like an error. */
enum err_code compile_run(char *const argv[], const char *log_path, struct err *e);
