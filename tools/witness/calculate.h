/* calculate: a witness from a compiled program and its input, written as a .wtns file. */
#pragma once
#include "abi.h"
#include "err.h"
#include "input.h"

/* "the circuit stopped: Assert Failed: Error in template Mul_0 line: 7", for a status of abi.h. */
enum err_code program_error(const struct program_abi *p, int status, const char *doing,
                            struct err *e);

/* Sets every value of `in`. Names a signal that the circuit does not have, one with too many or too
 * few values, and says how many values are missing. The circuit has run when this returns. */
enum err_code program_feed(const struct program_abi *p, const struct program_facts *facts,
                           const char *input_name, const struct input *in, struct err *e);

/* Writes the witness to fd in the layout of snarkjs' .wtns (version 2, two sections). */
enum err_code program_write(const struct program_abi *p, const struct program_facts *facts, int fd,
                            struct err *e);
