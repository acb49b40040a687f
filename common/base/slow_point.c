/* Slow points, in test builds alone: see slow_point.h. */
#include "slow_point.h"
#ifdef MILLRACE_KILL_POINTS
#include <stdlib.h>
#include <string.h>
#include <time.h>

void slow_point(const char *name)
{
    const char *wish = getenv("MILLRACE_SLOW_AT");
    size_t n = strlen(name);
    while (wish && *wish) {
        size_t item = strcspn(wish, ",");
        if (item > n && strncmp(wish, name, n) == 0 && wish[n] == ':') {
            long ms = strtol(wish + n + 1, NULL, 10);
            nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
        }
        wish += item + (wish[item] == ',');
    }
}
#endif
