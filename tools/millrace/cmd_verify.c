/* millrace verify: is this a proof of these public values under this key? */
#include "command.h"
#include "output.h"
#include "verify_files.h"

static enum err_code run(const struct invocation *in, struct err *e)
{
    enum err_code rc = verify_files(in->operand[0], in->operand[1], in->operand[2], e);
    if (rc)
        return rc;
    if (in->json)
        return print_json(json_pack("{s:b}", "valid", 1), e);
    puts("valid");
    return ERR_OK;
}

const struct command command_verify = {
    .name = "verify",
    .summary = "verify a proof",
    .operands = "VK PUBLIC.json PROOF",
    .text =
        "VK is snarkjs's verification_key.json, bellperson's .vk or its .params; PROOF is JSON or\n"
        "192 bytes a partition, and may hold the proofs of several partitions: PUBLIC is then a\n"
        "list of lists, as `millrace await` writes it.\n"
        "Exit code 0 when the proof is valid, 1 when it is not; the files' own faults have\n"
        "other codes (millrace --help). Checked: coordinates and public values below their\n"
        "moduli, points on the curve and in the subgroup of order r, the pairing equation.",
    .min_operands = 3,
    .max_operands = 3,
    .run = run,
};
