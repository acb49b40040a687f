/* verify_files: Groth16 verification of three JSON files. */
#pragma once
#include "err.h"

/* ERR_OK valid, ERR_REJECTED not valid (the message says why), or a reader's error. */
enum err_code verify_files(const char *vk_path, const char *public_path, const char *proof_path,
                           struct err *e);
