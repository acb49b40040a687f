#include "compile.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file.h"

extern char **environ;

/* Our own sources that every program is compiled with, carried inside this binary so that an
 * installed program needs no data directory. */
#define EMBED(symbol, path)                                                                        \
    __asm__(".pushsection .rodata\n"                                                               \
            ".global " #symbol "_begin\n" #symbol "_begin:\n.incbin \"" path "\"\n"                \
            ".global " #symbol "_end\n" #symbol "_end:\n.byte 0\n.popsection\n");                  \
    extern const char symbol##_begin[] __attribute__((visibility("hidden")));                      \
    extern const char symbol##_end[] __attribute__((visibility("hidden")))
EMBED(embedded_shim, WITNESS_SOURCE_DIR "/shim.c");
EMBED(embedded_abi, WITNESS_SOURCE_DIR "/abi.h");

static const char *const work_files[] = {"circ.wasm", "circ.c", "circ.h", "shim.c", "abi.h", "log"};

static bool in_path(const char *program)
{
    if (strchr(program, '/') != NULL)
        return access(program, X_OK) == 0;
    const char *path = getenv("PATH");
    if (path == NULL)
        path = "/usr/bin:/bin";
    while (*path != 0) {
        size_t n = strcspn(path, ":");
        char full[PATH_MAX];
        if (snprintf(full, sizeof full, "%.*s/%s", (int)n, path, program) < (int)sizeof full &&
            access(full, X_OK) == 0)
            return true;
        path += n;
        path += *path == ':';
    }
    return false;
}

/* The line of a compiler's output that says what is wrong. */
static void first_error(const char *log_path, char *line, size_t n)
{
    char *text;
    size_t len;
    line[0] = 0;
    if (file_read(log_path, 4 << 20, &text, &len, NULL) != ERR_OK)
        return;
    const char *at = strstr(text, "error");
    while (at != NULL && at > text && at[-1] != '\n')
        at--;
    if (at == NULL)
        at = text;
    size_t take = strcspn(at, "\n");
    snprintf(line, n, "%.*s", (int)(take < n ? take : n - 1), at);
    for (char *c = line; *c != 0; c++)
        if (!isprint((unsigned char)*c))
            *c = '?';
    free(text);
}

enum err_code compile_run(char *const argv[], const char *log_path, struct err *e)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t pid;
    int failed = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0)
        return err_set(e, ERR_UNAVAILABLE, "%s: cannot be run: %s", argv[0], strerror(failed));
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return err_set(e, ERR_INTERNAL, "%s: waitpid: %s", argv[0], strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return ERR_OK;
    char line[600];
    first_error(log_path, line, sizeof line);
    if (WIFSIGNALED(status))
        return err_set(e, ERR_FAILED, "%s: killed by signal %d: %s", argv[0], WTERMSIG(status),
                       line);
    return err_set(e, ERR_FAILED, "%s: exit %d: %s", argv[0], WEXITSTATUS(status), line);
}

static enum err_code find_compiler(const char **out, struct err *e)
{
    static const char *const usual[] = {"cc", "gcc", "clang"};
    const char *env = getenv("CC");
    if (env != NULL && env[0] != 0 && in_path(env)) {
        *out = env;
        return ERR_OK;
    }
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (in_path(usual[i])) {
            *out = usual[i];
            return ERR_OK;
        }
    return err_set(
        e, ERR_UNAVAILABLE,
        "no C compiler (cc, gcc or clang) in PATH: a .wasm program is compiled when it is "
        "added; install gcc and libc6-dev");
}

static enum err_code find_runtime(const char **out, struct err *e)
{
    static const char *const usual[] = {"/usr/share/wabt/wasm2c", "/usr/local/share/wabt/wasm2c",
                                        "/usr/src/wasm2c"};
    const char *env = getenv("MILLRACE_WASM_RT");
    for (size_t i = 0; i <= sizeof usual / sizeof *usual; i++) {
        const char *dir = i == 0 ? env : usual[i - 1];
        char file[PATH_MAX];
        if (dir != NULL && snprintf(file, sizeof file, "%s/wasm-rt-impl.c", dir) < PATH_MAX &&
            access(file, R_OK) == 0) {
            *out = dir;
            return ERR_OK;
        }
    }
    return err_set(e, ERR_UNAVAILABLE,
                   "wasm-rt-impl.c of wabt's wasm2c was not found in %s: install wabt, or set "
                   "MILLRACE_WASM_RT to its directory",
                   usual[0]);
}

static enum err_code write_file(const char *work, const char *name, const void *data, size_t n,
                                char path[PATH_MAX], struct err *e)
{
    if (snprintf(path, PATH_MAX, "%s/%s", work, name) >= PATH_MAX)
        return err_set(e, ERR_IO, "%s: path too long", work);
    return file_replace(path, data, n, 0600, e);
}

enum err_code compile_wasm(const char *name, const void *wasm, size_t n, const char *work,
                           const char *out, struct err *e)
{
    const char *cc = NULL, *runtime = NULL;
    char wasm_path[PATH_MAX], shim[PATH_MAX], abi[PATH_MAX], c_path[PATH_MAX + 8];
    char log[PATH_MAX + 8], include_work[PATH_MAX + 8], include_rt[PATH_MAX], rt[PATH_MAX];
    enum err_code rc = find_compiler(&cc, e);
    if (rc == ERR_OK)
        rc = find_runtime(&runtime, e);
    if (rc == ERR_OK && !in_path("wasm2c"))
        rc = err_set(e, ERR_UNAVAILABLE,
                     "wasm2c is not in PATH: a .wasm program is translated when it is added; "
                     "install wabt");
    if (rc == ERR_OK)
        rc = write_file(work, "circ.wasm", wasm, n, wasm_path, e);
    if (rc == ERR_OK)
        rc = write_file(work, "shim.c", embedded_shim_begin,
                        (size_t)(embedded_shim_end - embedded_shim_begin), shim, e);
    if (rc == ERR_OK)
        rc = write_file(work, "abi.h", embedded_abi_begin,
                        (size_t)(embedded_abi_end - embedded_abi_begin), abi, e);
    if (rc != ERR_OK)
        return rc;
    snprintf(c_path, sizeof c_path, "%s/circ.c", work);
    snprintf(log, sizeof log, "%s/log", work);
    snprintf(include_work, sizeof include_work, "-I%s", work);
    snprintf(include_rt, sizeof include_rt, "-I%s", runtime);
    snprintf(rt, sizeof rt, "%s/wasm-rt-impl.c", runtime);

    char *const translate[] = {"wasm2c", wasm_path, "-n", "circ", "-o", c_path, NULL};
    rc = compile_run(translate, log, e);
    if (rc != ERR_OK) {
        err_prefix(e, "%s", name);
        return rc;
    }
    char *const build[] = {
        (char *)cc,   "-O2",       "-w",   "-fPIC", "-shared", "-fvisibility=hidden",
        include_work, include_rt,  c_path, shim,    rt,        "-lm",
        "-o",         (char *)out, NULL};
    rc = compile_run(build, log, e);
    if (rc != ERR_OK)
        err_prefix(e, "%s: compiling what wasm2c wrote (wabt 1.0.32's form is expected)", name);
    return rc;
}

void compile_clean(const char *work)
{
    for (size_t i = 0; i < sizeof work_files / sizeof *work_files; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", work, work_files[i]);
        unlink(path);
    }
    rmdir(work);
}
