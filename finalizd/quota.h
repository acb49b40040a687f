/* quota: how many partitions each client has open. A client without any is not kept. */
#pragma once
#include "state.h"

struct quota {
    struct quota *next;
    char client[NAME_BYTES];
    uint64_t partitions;
};

const struct quota *quota_find(const struct desk *d, const char *client); /* NULL: none open */
void quota_charge(struct desk *d, const char *client, uint32_t partitions);
void quota_release(struct desk *d, const char *client, uint32_t partitions);
