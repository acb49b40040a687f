/* Kill points, in test builds alone: see the end of lease.h. */
#include "lease.h"
#ifdef MILLRACE_KILL_POINTS
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POINTS_MAX = 16 };

void kill_point(const char *name)
{
    static _Atomic unsigned passed[POINTS_MAX];
    const char *wish = getenv("MILLRACE_KILL_AT");
    size_t n = strlen(name);
    for (unsigned k = 0; wish && *wish && k < POINTS_MAX; k++) {
        size_t item = strcspn(wish, ",");
        if (item >= n && strncmp(wish, name, n) == 0 && (item == n || wish[n] == ':')) {
            unsigned long at = item > n ? strtoul(wish + n + 1, NULL, 10) : 1;
            if (++passed[k] == at) {
                raise(SIGKILL);
                pause();
            }
        }
        wish += item + (wish[item] == ',');
    }
}
#endif
