#include <string.h>
#include "config.h"
#include "harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err e = {0};
    struct config *c = config_load(input_file(data, n), false, &e);
    refused_in_one_line(c ? ERR_OK : e.code, &e);
    if (!c)
        return 0;
    uint64_t v;
    bool on;
    refused_in_one_line(config_u64(c, "desk", "n", 0, 1, 100, &v, &e), &e);
    refused_in_one_line(config_bytes(c, "desk", "arena", 0, &v, &e), &e);
    refused_in_one_line(config_duration(c, "desk", "wait", 0, &v, &e), &e);
    refused_in_one_line(config_bool(c, "gpu 0", "on", false, &on, &e), &e);
    config_string(c, "desk", "name", NULL);
    for (unsigned i = 0; config_section(c, "gpu", i); i++)
        PROPERTY(strncmp(config_section(c, "gpu", i), "gpu", 3) == 0);
    refused_in_one_line(config_check_unknown(c, &e), &e);
    config_free(&c);
    return 0;
}
