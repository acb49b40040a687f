/* Whatever a file is: its kind, its facts (which are JSON), and the words for them. Reaches the
 * reader of .ptau too, which nothing else uses. */
#include "harness.h"
#include "inspect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static FILE *nowhere;
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    struct err e = {0};
    json_t *facts = inspect_file(input_file(data, n), &e);
    refused_in_one_line(facts ? ERR_OK : e.code, &e);
    if (!facts)
        return 0;
    PROPERTY(json_is_string(json_object_get(facts, "kind")));
    PROPERTY(json_is_string(json_object_get(facts, "description")));
    inspect_print(facts, nowhere);
    json_decref(facts);
    return 0;
}
