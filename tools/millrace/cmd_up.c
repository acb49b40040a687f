/* up, down, scale: by the supervisor, which is a script of its own. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>
#include "instance.h"
#include "pipeline.h"

/* Where the supervisor and the daemons are: beside an installed millrace, or in the build tree. */
static bool find_supervisor(char path[PATH_MAX], char bin[2][PATH_MAX])
{
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n <= 0)
        return false;
    exe[n] = '\0';
    *strrchr(exe, '/') = '\0'; /* .../bin, or BUILD/tools/millrace */
    static const char *const places[][3] = {
        {"../libexec/millrace/supervise", "../libexec/millrace", "."},
        {"../supervise", "../..", ".."},
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (snprintf(path, PATH_MAX, "%s/%s", exe, places[i][0]) >= PATH_MAX ||
            access(path, X_OK) != 0)
            continue;
        for (size_t k = 0; k < 2; k++)
            if (snprintf(bin[k], PATH_MAX, "%s/%s", exe, places[i][1 + k]) >= PATH_MAX)
                return false;
        return true;
    }
    return false;
}

/* Becomes the supervisor's command; comes back only when that cannot be. */
static enum err_code become(const char *command, const char *dir, const char *const *words,
                            size_t n_words, const char *flag, bool json, struct err *e)
{
    static char path[PATH_MAX], bin[2][PATH_MAX], at[PATH_MAX];
    if (!find_supervisor(path, bin))
        return err_set(e, ERR_IO,
                       "the supervisor is not where this program expects it "
                       "(../libexec/millrace/supervise): is the installation whole?");
    instance_default_dir(dir, at, sizeof at);
    const char *argv[32] = {path, command, "--dir", at, "--bin", bin[0], "--bin", bin[1]};
    size_t n = 8;
    if (flag)
        argv[n++] = flag;
    if (json)
        argv[n++] = "--json";
    for (size_t i = 0; i < n_words && n < 31; i++)
        argv[n++] = words[i];
    fflush(NULL);
    execv(path, (char *const *)(uintptr_t)argv);
    if (errno == ENOENT)
        return err_set(e, ERR_UNAVAILABLE, "%s: python3 is not installed", path);
    return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
}

struct args {
    const char *dir;
    bool now, gateway;
};
static const struct option up_options[] = {
    {"dir", 'd', OPTION_TEXT, "DIR", offsetof(struct args, dir),
     "the instance's directory (MILLRACE_DIR, else one per user)"},
    {"gateway", 0, OPTION_FLAG, NULL, offsetof(struct args, gateway),
     "start the HTTP gateway too, at ADDRESS:PORT (127.0.0.1:9480)"},
    {0}};
static const struct option scale_options[] = {
    {"dir", 'd', OPTION_TEXT, "DIR", offsetof(struct args, dir),
     "the instance's directory (MILLRACE_DIR, else one per user)"},
    {0}};
static const struct option down_options[] = {
    {"dir", 'd', OPTION_TEXT, "DIR", offsetof(struct args, dir),
     "the instance's directory (MILLRACE_DIR, else one per user)"},
    {"now", 0, OPTION_FLAG, NULL, offsetof(struct args, now),
     "do not drain: stop at once; the next up goes on from the ledger"},
    {0}};

static enum err_code run_up(const struct invocation *in, struct err *e)
{
    const struct args *a = in->args;
    if (in->n_operands && !a->gateway)
        return err_set(e, ERR_USAGE, "'%.60s': an address is for --gateway", in->operand[0]);
    return become("up", a->dir, in->operand, in->n_operands, a->gateway ? "--gateway" : NULL,
                  in->json, e);
}

static enum err_code run_down(const struct invocation *in, struct err *e)
{
    const struct args *a = in->args;
    return become("down", a->dir, NULL, 0, a->now ? "--now" : NULL, in->json, e);
}

static enum err_code run_scale(const struct invocation *in, struct err *e)
{
    const struct args *a = in->args;
    return become("scale", a->dir, in->operand, in->n_operands, NULL, in->json, e);
}

const struct command command_up = {
    .name = "up",
    .summary = "start the instance; returns when the pipeline is ready, or says why not",
    .operands = "[ADDRESS:PORT]",
    .text =
        "Makes the instance's directory when it is missing, creates the arenas, and starts\n"
        "finalizd, a gpud for each GPU (or one on the CPU) and synthd on each NUMA node, under\n"
        "a supervisor that keeps them running. Daemons that outlived a killed supervisor are\n"
        "adopted. Settings are in DIR/millrace.conf; see docs/operating.md.",
    .options = up_options,
    .args_bytes = sizeof(struct args),
    .max_operands = 1,
    .run = run_up,
};
const struct command command_down = {
    .name = "down",
    .summary = "drain, stop everything, leave nothing behind",
    .operands = "",
    .text = "Work under way finishes within the configured bound, queued work stays in the ledger\n"
            "for the next up. Arenas, sockets and process files are removed.",
    .options = down_options,
    .args_bytes = sizeof(struct args),
    .run = run_down,
};
const struct command command_scale = {
    .name = "scale",
    .summary = "change the number of synthd per NUMA node while it runs",
    .operands = "[nodeN=COUNT...]",
    .text = "Without operands, prints how many there are. The number is kept for the next start.\n"
            "A synthd that goes finishes what it holds first.",
    .options = scale_options,
    .args_bytes = sizeof(struct args),
    .max_operands = 16,
    .run = run_scale,
};
