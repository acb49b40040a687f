/* millrace testkit: keys from known secrets and circuits of any size, for tests and benchmarks. */
#include "testkit.h"

static const struct command *const subcommands[] = {&testkit_setup, &testkit_generate, NULL};

const struct command command_testkit = {
    .name = "testkit",
    .summary = "UNSAFE: keys and circuits for tests and benchmarks",
    .text = TESTKIT_UNSAFE,
    .subcommands = subcommands,
};
