/* millrace: one program, a subcommand a file. Under the names `prover` and `verifier` it takes
 * rapidsnark's arguments (peer_names.h). */
#include "command.h"
#include "commands.h"
#include "peer_names.h"
#include <malloc.h>

#define DECLARE(name) extern const struct command command_##name;
MILLRACE_COMMANDS(DECLARE)

#define ENTRY(name) &command_##name,
static const struct command *const commands[] = {MILLRACE_COMMANDS(ENTRY) NULL};

int main(int argc, char **argv)
{
    /* A fixed threshold: else glibc raises it with every large block that is freed, and a proof's
     * vectors and points stay with the process, each beside the next. */
    mallopt(M_MMAP_THRESHOLD, 1 << 19);
    mallopt(M_TRIM_THRESHOLD, 1 << 20);
    peer_main *peer = argc > 0 ? peer_by_name(argv[0]) : NULL;
    return peer ? peer(argc, argv) : command_main(commands, argc, argv);
}
