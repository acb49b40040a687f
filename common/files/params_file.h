/* params_file: what the parts of the .params reader share; private to files/. */
#pragma once
#include "bytefile.h"
#include "params.h"

enum { PARAMS_KEY_BYTES = 864 }; /* of the six points before ic */

struct params {
    struct bytefile *file;
    struct params_facts facts;
    uint64_t at[PARAMS_LISTS]; /* of each list's first point, in the file */
};

/* Fills facts and at, with all checks of params_open; only_vk: the file ends after ic. */
enum err_code params_read_facts(struct params *p, bool only_vk, struct err *e);
