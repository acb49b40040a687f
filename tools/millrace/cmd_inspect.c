/* millrace inspect: what a file holds. */
#include "command.h"
#include "inspect.h"
#include "output.h"

static enum err_code run(const struct invocation *in, struct err *e)
{
    json_t *facts = inspect_file(in->operand[0], e);
    if (!facts)
        return e->code;
    if (in->json)
        return print_json(facts, e);
    inspect_print(facts, stdout);
    json_decref(facts);
    return ERR_OK;
}

const struct command command_inspect = {
    .name = "inspect",
    .summary = "say what a file holds",
    .operands = "FILE",
    .text = "FILE is any of: .zkey, .wtns, .r1cs, .ptau, a prepared circuit, a circuit's .wasm, a\n"
            "verification key, a proof, public values. Values of a witness are never printed.",
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
