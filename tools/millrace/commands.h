/* commands: every subcommand of `millrace`, one line each, in the order of the help. X(NAME) stands
 * for `command_NAME`, defined in cmd_NAME.c. */
#pragma once
#define MILLRACE_COMMANDS(X)                                                                       \
    X(prove)                                                                                       \
    X(verify)                                                                                      \
    X(inspect)                                                                                     \
    X(convert)                                                                                     \
    X(prepare)                                                                                     \
    X(up)                                                                                          \
    X(down)                                                                                        \
    X(doctor)                                                                                      \
    X(circuit)                                                                                     \
    X(submit)                                                                                      \
    X(await)                                                                                       \
    X(jobs)                                                                                        \
    X(show)                                                                                        \
    X(cancel)                                                                                      \
    X(status)                                                                                      \
    X(drain)                                                                                       \
    X(tap)                                                                                         \
    X(scale)                                                                                       \
    X(log)                                                                                         \
    X(top)                                                                                         \
    X(gaps)                                                                                        \
    X(trace)                                                                                       \
    X(testkit)
