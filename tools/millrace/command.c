#include "command.h"
#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>

static const struct command *find(const struct command *const *commands, const char *name)
{
    for (; *commands; commands++)
        if (strcmp((*commands)->name, name) == 0)
            return *commands;
    return NULL;
}

bool command_shows_progress(const struct invocation *in)
{
    return !in->quiet && !in->json && isatty(STDERR_FILENO);
}

static void list(FILE *out, const struct command *const *commands)
{
    for (; *commands; commands++)
        fprintf(out, "  %-12s %s\n", (*commands)->name, (*commands)->summary);
}

enum { HELP_COLUMN = 29, HELP_WIDTH = 90 };

/* A sentence from HELP_COLUMN on, broken between words before HELP_WIDTH. */
static void print_wrapped(FILE *out, const char *text)
{
    size_t column = HELP_COLUMN;
    while (*text) {
        size_t word = strcspn(text, " ");
        if (column > HELP_COLUMN && column + 1 + word > HELP_WIDTH) {
            fprintf(out, "\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        }
        column += (size_t)fprintf(out, "%s%.*s", column > HELP_COLUMN ? " " : "", (int)word, text);
        text += word + strspn(text + word, " ");
    }
    putc('\n', out);
}

static void option_help(FILE *out, const struct option *o)
{
    char left[64];
    char letter[8] = "    ";
    if (o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, o->name, o->value ? " " : "",
             o->value ? o->value : "");
    fprintf(out, "  %-*s ", HELP_COLUMN - 3, left);
    print_wrapped(out, o->help);
}

/* What every command has; the kinds and places are in command_parse.c. */
const struct option command_common_options[] = {
    {"json", 0, OPTION_FLAG, NULL, 0, "print the result, or the error, as JSON"},
    {"quiet", 'q', OPTION_FLAG, NULL, 0, "no progress on standard error"},
    {"help", 'h', OPTION_FLAG, NULL, 0, "print this"},
    {0},
};

void command_help(FILE *out, const char *path, const struct command *c)
{
    fprintf(out, "usage: millrace %s%s%s%s%s\n\n%s\n", path, c->subcommands ? " SUBCOMMAND" : "",
            c->options ? " [OPTIONS]" : "", c->operands ? " " : "", c->operands ? c->operands : "",
            c->summary);
    if (c->text)
        fprintf(out, "\n%s\n", c->text);
    if (c->subcommands) {
        fprintf(out, "\nsubcommands:\n");
        list(out, c->subcommands);
    }
    fprintf(out, "\noptions:\n");
    for (const struct option *o = c->options; o && o->name; o++)
        option_help(out, o);
    for (const struct option *o = command_common_options; o->name; o++)
        option_help(out, o);
}

static void program_help(FILE *out, const struct command *const *commands)
{
    fprintf(out, "usage: millrace COMMAND [OPTIONS] [OPERANDS]\n\n"
                 "Groth16 proofs for BN254 and BLS12-381.\n\ncommands:\n");
    list(out, commands);
    fprintf(
        out,
        "\n`millrace help COMMAND` says more about one, `millrace help --man` prints the manual "
        "page;\n"
        "`millrace --version` which build it is.\n"
        "Exit codes: 0 done, 1 a proof that does not verify, 2 wrong usage, 3 input or output,\n"
        "4 malformed file, 5 value out of range, 6 files that do not belong together,\n"
        "7 unsatisfied circuit, 8 no memory, 9 not supported, 10 no instance, 11 refused,\n"
        "12 cancelled, 13 past its deadline, 14 failed job, 70 a bug.\n");
}

static int report(const struct err *e, bool json)
{
    fprintf(stderr, "millrace: %s\n", e->text);
    if (json) {
        json_t *j = json_pack("{s:{s:i,s:s,s:s}}", "error", "code", (int)e->code, "kind",
                              err_word(e->code), "message", e->text);
        if (!j) /* the text holds a file name that is not UTF-8 */
            j = json_pack("{s:{s:i,s:s}}", "error", "code", (int)e->code, "kind",
                          err_word(e->code));
        json_dumpf(j, stdout, JSON_COMPACT);
        putchar('\n');
        json_decref(j);
    }
    return (int)e->code;
}

/* The path of a command, "testkit setup", for help and errors. */
struct path {
    char text[96];
};

static void path_add(struct path *p, const char *name)
{
    size_t n = strlen(p->text);
    snprintf(p->text + n, sizeof p->text - n, "%s%s", n ? " " : "", name);
}

/* Follows words into nested commands; *used counts those taken. NULL where a word names none. */
static const struct command *resolve(const struct command *const *commands, int argc, char **argv,
                                     int *used, struct path *path, struct err *e)
{
    const struct command *c = NULL;
    *used = 0;
    while (commands) {
        if (*used == argc || argv[*used][0] == '-') {
            if (c) /* a group alone: its help says what there is */
                return c;
            err_set(e, ERR_USAGE, "no command given; see millrace --help");
            return NULL;
        }
        const char *word = argv[*used];
        const struct command *next = find(commands, word);
        if (!next) {
            err_set(e, ERR_USAGE, "unknown command \"%s%s%s\"; see millrace %s%s", path->text,
                    path->text[0] ? " " : "", word, path->text[0] ? "help " : "--help", path->text);
            return NULL;
        }
        c = next;
        path_add(path, word);
        commands = c->subcommands;
        ++*used;
    }
    return c;
}

static int help_command(const struct command *const *commands, int argc, char **argv)
{
    if (argc == 0) {
        program_help(stdout, commands);
        return 0;
    }
    if (strcmp(argv[0], "--man") == 0 && argc == 1) {
        command_man(stdout, commands);
        return 0;
    }
    struct path path = {{0}};
    struct err e = {0};
    int used;
    const struct command *c = resolve(commands, argc, argv, &used, &path, &e);
    if (c && used != argc)
        err_set(&e, ERR_USAGE, "unknown command \"%s %s\"", path.text, argv[used]);
    if (!c || used != argc)
        return report(&e, false);
    command_help(stdout, path.text, c);
    return 0;
}

static bool asks_for_json(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0)
            return true;
    return false;
}

static int run(const struct command *c, const char *path, int argc, char **argv)
{
    struct invocation in = {0};
    struct err e = {0};
    void *buffer = NULL;
    bool help = false;
    enum err_code rc = command_parse(c, argc, argv, &in, &buffer, &help, &e);
    if (rc) {
        char text[sizeof e.text];
        memcpy(text, e.text, sizeof text);
        err_set(&e, rc, "%s: %s; see millrace help %s", path, text, path);
        in.json = asks_for_json(argc, argv);
    } else if (help) {
        command_help(stdout, path, c);
    } else if (!c->run) {
        rc =
            err_set(&e, ERR_USAGE, "%s: a subcommand is missing; see millrace help %s", path, path);
    } else {
        rc = c->run(&in, &e);
    }
    free(buffer);
    return rc ? report(&e, in.json) : 0;
}

static int dispatch(const struct command *const *commands, int argc, char **argv)
{
    const char *first = argc > 1 ? argv[1] : "--help";
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
        program_help(argc > 1 ? stdout : stderr, commands);
        return argc > 1 ? 0 : ERR_USAGE;
    }
    if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
        printf("millrace %s\n", MILLRACE_VERSION);
        return 0;
    }
    if (strcmp(first, "help") == 0)
        return help_command(commands, argc - 2, argv + 2);
    struct path path = {{0}};
    struct err e = {0};
    int used;
    const struct command *c = resolve(commands, argc - 1, argv + 1, &used, &path, &e);
    if (!c)
        return report(&e, asks_for_json(argc, argv));
    return run(c, path.text, argc - 1 - used, argv + 1 + used);
}

int command_main(const struct command *const *commands, int argc, char **argv)
{
    int code = dispatch(commands, argc, argv);
    /* A result that did not reach its reader is a failure too. */
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == 0) {
        fprintf(stderr, "millrace: standard output: %s\n", strerror(errno));
        code = ERR_IO;
    }
    return code;
}
