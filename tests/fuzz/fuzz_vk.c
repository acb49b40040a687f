#include <string.h>
#include "harness.h"
#include "json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err e = {0};
    struct verification_key vk;
    json_t *json = json_parse((const char *)data, n, "vk", 0, &e);
    enum err_code code = json ? vk_from_json(json, "vk", &vk, &e) : e.code;
    refused_in_one_line(code, &e);
    json_decref(json);
    if (code)
        return 0;
    const struct group *g = vk.curve->g1;
    const char *why;
    PROPERTY(!g->is_infinity(&vk.alpha_g1));
    PROPERTY(g->check(vk.ic, vk.n_public + 1, true, NULL, &why) == vk.n_public + 1ull);
    vk_free(&vk);
    return 0;
}
