/* key_options: how a subcommand is told which key, and what belongs to it. */
#pragma once
#include "command.h"
#include "prepare.h"

struct key_options {
    const char *params, *r1cs, *pce, *digests;
};

/* Lines for a table of options; T has a member `files` of this type. */
#define KEY_OPTION_PARAMS(T)                                                                       \
    {                                                                                              \
        "params", 0, OPTION_TEXT, "FILE", offsetof(T, files.params),                               \
            "the key is bellperson's .params (no KEY is then given)"                               \
    }
#define KEY_OPTIONS_REST(T)                                                                        \
    {"r1cs",                                                                                       \
     0,                                                                                            \
     OPTION_TEXT,                                                                                  \
     "FILE",                                                                                       \
     offsetof(T, files.r1cs),                                                                      \
     "the constraints: the .r1cs of a .zkey, so that a bad witness is named by its first "         \
     "failing constraint; the r1cs.bin of a .params"},                                             \
        {"pce",                                                                                    \
         0,                                                                                        \
         OPTION_TEXT,                                                                              \
         "FILE",                                                                                   \
         offsetof(T, files.pce),                                                                   \
         "the constraints of a .params as a PCE file"},                                            \
    {                                                                                              \
        "digests", 0, OPTION_TEXT, "FILE", offsetof(T, files.digests),                             \
            "a parameters.json: the .params must have the digest that it names"                    \
    }

/* key: the operand, or NULL where there is none. ERR_USAGE when there is no key or two of them, or
 * both --r1cs and --pce. command: "prepare", for messages. */
enum err_code key_options_files(const struct key_options *o, const char *key, const char *command,
                                struct key_files *out, struct err *e);
