#include "quota.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct quota **place_of(struct desk *d, const char *client)
{
    struct quota **at = &d->quotas;
    while (*at && strcmp((*at)->client, client) != 0)
        at = &(*at)->next;
    return at;
}

const struct quota *quota_find(const struct desk *d, const char *client)
{
    for (const struct quota *q = d->quotas; q; q = q->next)
        if (strcmp(q->client, client) == 0)
            return q;
    return NULL;
}

void quota_charge(struct desk *d, const char *client, uint32_t partitions)
{
    struct quota **at = place_of(d, client);
    if (!*at) {
        *at = calloc(1, sizeof **at);
        INVARIANT(*at != NULL);
        snprintf((*at)->client, sizeof(*at)->client, "%s", client);
    }
    (*at)->partitions += partitions;
}

void quota_release(struct desk *d, const char *client, uint32_t partitions)
{
    struct quota **at = place_of(d, client), *q = *at;
    INVARIANT(q && q->partitions >= partitions);
    q->partitions -= partitions;
    if (q->partitions == 0) {
        *at = q->next;
        free(q);
    }
}
