#include <string.h>
#include "harness.h"
#include "json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err e = {0};
    struct proof p, again;
    json_t *json = json_parse((const char *)data, n, "proof", 0, &e);
    enum err_code code = json ? proof_from_json(json, "proof", NULL, &p, &e) : e.code;
    refused_in_one_line(code, &e);
    json_decref(json);
    if (code)
        return 0;
    json = proof_to_json(&p, JSON_SNARKJS);
    PROPERTY(proof_from_json(json, "proof", p.curve, &again, &e) == ERR_OK);
    PROPERTY(memcmp(&again, &p, sizeof p) == 0);
    json_decref(json);
    return 0;
}
