/* The manual page of the program, out of the same tables as --help. Source of the macros:
 * man(7), groff_man(7). */
#include <string.h>
#include "command.h"

/* Text for roff: a backslash, a hyphen that is a minus, a control character at a line's start. */
static void escaped(FILE *out, const char *text, size_t n)
{
    bool start = true;
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        if (start && (c == '.' || c == '\''))
            fputs("\\&", out);
        start = c == '\n';
        if (c == '\\')
            fputs("\\e", out);
        else if (c == '-')
            fputs("\\-", out);
        else
            putc(c, out);
    }
}

static void say(FILE *out, const char *text)
{
    escaped(out, text, strlen(text));
}

/* Paragraphs are separated by empty lines; indented lines are shown as they are. */
static void paragraphs(FILE *out, const char *text)
{
    bool verbatim = false;
    fputs(".PP\n", out);
    while (*text) {
        size_t n = strcspn(text, "\n");
        bool indented = text[0] == ' ';
        if (indented != verbatim && n > 0) {
            fputs(indented ? ".RS\n.nf\n" : ".fi\n.RE\n", out);
            verbatim = indented;
        }
        if (n == 0) {
            fputs(verbatim ? "\n" : ".PP\n", out);
        } else {
            escaped(out, text, n);
            putc('\n', out);
        }
        text += n + (text[n] == '\n');
    }
    if (verbatim)
        fputs(".fi\n.RE\n", out);
}

static void option(FILE *out, const struct option *o)
{
    fputs(".TP\n\\fB", out);
    if (o->letter)
        fprintf(out, "\\-%c\\fR, \\fB", o->letter);
    fputs("\\-\\-", out);
    say(out, o->name);
    fputs("\\fR", out);
    if (o->value) {
        fputs(" \\fI", out);
        say(out, o->value);
        fputs("\\fR", out);
    }
    putc('\n', out);
    say(out, o->help);
    putc('\n', out);
}

static void one(FILE *out, const char *group, const struct command *c)
{
    char name[96];
    snprintf(name, sizeof name, "%s%s%s", group, group[0] ? " " : "", c->name);
    if (!c->subcommands) {
        fputs(".SS ", out);
        say(out, name);
        fputs("\n\\fBmillrace ", out);
        say(out, name);
        fputs("\\fR", out);
        if (c->options)
            fputs(" [\\fIOPTIONS\\fR]", out);
        if (c->operands) {
            fputs(" \\fI", out);
            say(out, c->operands);
            fputs("\\fR", out);
        }
        fputs("\n.PP\n", out);
        say(out, c->summary);
        fputs(".\n", out);
        if (c->text)
            paragraphs(out, c->text);
        for (const struct option *o = c->options; o && o->name; o++)
            option(out, o);
        return;
    }
    for (const struct command *const *s = c->subcommands; *s; s++)
        one(out, name, *s);
}

void command_man(FILE *out, const struct command *const *commands)
{
    fputs(
        ".TH MILLRACE 1 \"\" \"Millrace " MILLRACE_VERSION "\" \"User commands\"\n"
        ".SH NAME\nmillrace \\- Groth16 proofs for BN254 and BLS12\\-381\n"
        ".SH SYNOPSIS\n\\fBmillrace\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIOPERANDS\\fR]\n"
        ".SH DESCRIPTION\n"
        "Proves circuits of circom and bellperson, in this process (\\fBprove \\-\\-local\\fR) or "
        "through\nan instance: the daemons \\fBfinalizd\\fR, \\fBsynthd\\fR and \\fBgpud\\fR, "
        "which "
        "\\fBup\\fR starts.\nResults go to standard output, progress to standard error and only "
        "to a terminal; a failure is\none line on standard error.\n"
        ".SH OPTIONS OF EVERY COMMAND\n",
        out);
    for (const struct option *o = command_common_options; o->name; o++)
        option(out, o);
    fputs(".SH COMMANDS\n", out);
    for (; *commands; commands++)
        one(out, "", *commands);
    fputs(".SH EXIT STATUS\n", out);
    for (int code = 0; code <= ERR_INTERNAL; code++)
        if (code == 0 || strcmp(err_word((enum err_code)code), "unknown") != 0)
            fprintf(out, ".TP\n\\fB%d\\fR\n%s\n", code,
                    code ? err_word((enum err_code)code) : "done");
    fputs(".SH ENVIRONMENT\n.TP\n\\fBMILLRACE_DIR\\fR\n"
          "the instance, where no \\fB\\-\\-dir\\fR is given; else\n"
          "\\fI$XDG_STATE_HOME/millrace\\fR or \\fI~/.local/state/millrace\\fR\n"
          ".SH SEE ALSO\n\\fBmillrace.conf\\fR(5), \\fBmillrace\\-daemons\\fR(8)\n",
          out);
}
