/* millrace: one program, a subcommand a file. */
#include "command.h"
#include "commands.h"

#define DECLARE(name) extern const struct command command_##name;
MILLRACE_COMMANDS(DECLARE)

#define ENTRY(name) &command_##name,
static const struct command *const commands[] = {MILLRACE_COMMANDS(ENTRY) NULL};

int main(int argc, char **argv)
{
    return command_main(commands, argc, argv);
}
