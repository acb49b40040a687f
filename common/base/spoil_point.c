/* Spoil points, in test builds alone: see spoil_point.h. */
#include "spoil_point.h"
#ifdef MILLRACE_KILL_POINTS
#include <stdlib.h>
#include <string.h>

bool spoil_point(const char *name, uint32_t partition, uint32_t attempt)
{
    const char *wish = getenv("MILLRACE_SPOIL_AT");
    size_t n = strlen(name);
    char *end;
    if (!wish || strncmp(wish, name, n) != 0 || wish[n] != ':')
        return false;
    unsigned long which = strtoul(wish + n + 1, &end, 10);
    unsigned long until = *end == ':' ? strtoul(end + 1, NULL, 10) : 1;
    return which == partition && attempt <= until;
}
#endif
