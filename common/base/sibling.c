#include "sibling.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool runs(char out[PATH_MAX], const char *dir, const char *between, const char *program)
{
    int n = snprintf(out, PATH_MAX, "%s%s/%s", dir, between, program);
    return n > 0 && n < PATH_MAX && access(out, X_OK) == 0;
}

enum err_code sibling_path(const char *program, const char *subdir, char out[PATH_MAX],
                           struct err *e)
{
    const char *env = getenv("MILLRACE_LIBEXEC");
    if (env != NULL && runs(out, env, "", program))
        return ERR_OK;
    char here[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", here, sizeof here - 1);
    if (n <= 0)
        return err_set(e, ERR_UNAVAILABLE, "%s: /proc/self/exe cannot be read to find it", program);
    here[n] = 0;
    char *slash = strrchr(here, '/');
    if (slash != NULL)
        *slash = 0;
    char below[3][PATH_MAX / 8];
    for (int up = 0; up < 3; up++)
        snprintf(below[up], sizeof below[up], "/%.*s%s", 3 * (up + 1), "../../../", subdir);
    const char *const places[] = {"",      "/../libexec/millrace", "/../bin", below[0], below[1],
                                  below[2]};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (runs(out, here, places[i], program))
            return ERR_OK;
    return err_set(e, ERR_UNAVAILABLE,
                   "%s: not found beside this program (%s) nor in ../libexec/millrace; set "
                   "MILLRACE_LIBEXEC to its directory",
                   program, here);
}
