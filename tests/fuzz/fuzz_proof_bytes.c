/* What is accepted is written again as the same bytes: an encoding has no second form. */
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "proof_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err e = {0};
    struct proof *proofs;
    size_t count;
    enum err_code code = proof_bytes_read(input_file(data, n), &proofs, &count, &e);
    refused_in_one_line(code, &e);
    PROPERTY(code || count * PROOF_BYTES == n);
    for (size_t i = 0; i < count && !code; i++) {
        uint8_t bytes[PROOF_BYTES];
        PROPERTY(proof_to_bytes(&proofs[i], bytes, &e) == ERR_OK);
        PROPERTY(!memcmp(bytes, data + i * PROOF_BYTES, PROOF_BYTES));
    }
    free(proofs);
    return 0;
}
