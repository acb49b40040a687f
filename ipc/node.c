#include "node.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <numaif.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef MPOL_F_STATIC_NODES
#define MPOL_F_STATIC_NODES (1 << 15) /* missing in libnuma 2.0.16's header */
#endif

/* A small file of /sys or /proc; false when it is not there. */
static bool read_text(const char *path, char *out, size_t n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size_t have = 0;
    for (ssize_t got; have < n - 1 && (got = read(fd, out + have, n - 1 - have)) > 0;)
        have += (size_t)got;
    close(fd);
    out[have] = 0;
    return have > 0;
}

/* Calls each(arg, k) for every number of a list like "0-3,8". */
static void each_of_list(const char *list, void (*each)(void *arg, unsigned k), void *arg)
{
    for (const char *p = list; *p >= '0' && *p <= '9';) {
        char *end;
        unsigned long first = strtoul(p, &end, 10), last = first;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        for (unsigned long k = first; k <= last && k < 65536; k++)
            each(arg, (unsigned)k);
        p = *end == ',' ? end + 1 : end;
    }
}

static void add_bit(void *arg, unsigned k)
{
    if (k < NODES_MAX)
        *(uint64_t *)arg |= UINT64_C(1) << k;
}

uint64_t nodes_with_memory(void)
{
    char text[4096];
    uint64_t mask = 0;
    if (read_text("/sys/devices/system/node/has_memory", text, sizeof text))
        each_of_list(text, add_bit, &mask);
    return mask ? mask : 1;
}

bool node_exists(unsigned node)
{
    return node < NODES_MAX && nodes_with_memory() >> node & 1;
}

struct cpu_list {
    cpu_set_t allowed;
    int *cpu;
    size_t n;
};

static void add_cpu(void *arg, unsigned k)
{
    struct cpu_list *list = arg;
    if (k < CPU_SETSIZE && CPU_ISSET(k, &list->allowed) && list->n < NODE_CPUS_MAX)
        list->cpu[list->n++] = (int)k;
}

size_t node_cpus(unsigned node, int cpu[NODE_CPUS_MAX])
{
    struct cpu_list list = {.cpu = cpu};
    if (sched_getaffinity(0, sizeof list.allowed, &list.allowed) != 0)
        return 0;
    char path[80], text[4096];
    snprintf(path, sizeof path, "/sys/devices/system/node/node%u/cpulist", node);
    if (read_text(path, text, sizeof text))
        each_of_list(text, add_cpu, &list);
    else if (node == 0)
        for (unsigned k = 0; k < CPU_SETSIZE; k++)
            add_cpu(&list, k);
    return list.n;
}

/* "...KEY  123 kB" anywhere in the text, in bytes; 0 when it is not there. */
static uint64_t meminfo(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at ? strtoull(at + strlen(key), NULL, 10) * 1024 : 0;
}

uint64_t node_available_bytes(unsigned node)
{
    char path[80], text[8192];
    snprintf(path, sizeof path, "/sys/devices/system/node/node%u/meminfo", node);
    if (!read_text(path, text, sizeof text))
        return UINT64_MAX;
    return meminfo(text, "MemFree:") + meminfo(text, "Active(file):") +
           meminfo(text, "Inactive(file):") - meminfo(text, "Dirty:");
}

/* What the cgroup that this process is in, and those above it, still leave. */
static uint64_t cgroup_available_bytes(void)
{
    char text[4096], path[4400];
    uint64_t least = UINT64_MAX;
    if (!read_text("/proc/self/cgroup", text, sizeof text))
        return least;
    const char *unified = strstr(text, "0::");
    char group[4096] = "";
    if (unified)
        sscanf(unified + 3, "%4095[^\n]", group);
    for (;;) {
        char value[64];
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", group);
        if (read_text(path, value, sizeof value) && strncmp(value, "max", 3) != 0) {
            uint64_t max = strtoull(value, NULL, 10), now = 0;
            snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.current", group);
            if (read_text(path, value, sizeof value))
                now = strtoull(value, NULL, 10);
            uint64_t left = max > now ? max - now : 0;
            least = left < least ? left : least;
        }
        char *slash = strrchr(group, '/');
        if (!slash)
            break;
        *slash = 0;
    }
    char value[64];
    if (read_text("/sys/fs/cgroup/memory/memory.limit_in_bytes", value, sizeof value)) {
        uint64_t max = strtoull(value, NULL, 10), now = 0;
        if (read_text("/sys/fs/cgroup/memory/memory.usage_in_bytes", value, sizeof value))
            now = strtoull(value, NULL, 10);
        uint64_t left = max > now ? max - now : 0;
        least = left < least ? left : least;
    }
    return least;
}

uint64_t memory_available_bytes(void)
{
    char text[8192];
    uint64_t machine = UINT64_MAX;
    if (read_text("/proc/meminfo", text, sizeof text))
        machine = meminfo(text, "MemAvailable:");
    uint64_t group = cgroup_available_bytes();
    return machine < group ? machine : group;
}

int node_task_policy(unsigned node)
{
    unsigned long mask[NODES_MAX / (8 * sizeof(long)) + 1] = {0};
    if (node == UINT_MAX)
        return set_mempolicy(MPOL_DEFAULT, NULL, 0) == 0 ? 0 : errno;
    mask[node / (8 * sizeof(long))] = 1ul << node % (8 * sizeof(long));
    return set_mempolicy(MPOL_BIND | MPOL_F_STATIC_NODES, mask, sizeof mask * 8) == 0 ? 0 : errno;
}

int node_range_policy(void *at, size_t bytes, unsigned node)
{
    unsigned long mask[NODES_MAX / (8 * sizeof(long)) + 1] = {0};
    mask[node / (8 * sizeof(long))] = 1ul << node % (8 * sizeof(long));
    return mbind(at, bytes, MPOL_BIND | MPOL_F_STATIC_NODES, mask, sizeof mask * 8, 0) == 0 ? 0
                                                                                            : errno;
}

enum err_code node_bind_self(unsigned node, enum node_policy *policy, struct err *e)
{
    uint64_t nodes = nodes_with_memory();
    if (node >= NODES_MAX || !(nodes >> node & 1))
        return err_set(e, ERR_USAGE, "there is no NUMA node %u with memory on this machine", node);
    *policy = NODE_SINGLE;
    if ((nodes & (nodes - 1)) == 0)
        return ERR_OK;
    int cpu[NODE_CPUS_MAX];
    size_t n = node_cpus(node, cpu);
    if (n > 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        for (size_t i = 0; i < n; i++)
            CPU_SET((size_t)cpu[i], &set);
        if (sched_setaffinity(0, sizeof set, &set) != 0)
            return err_set(e, ERR_UNAVAILABLE, "cannot bind to the CPUs of node %u: %s", node,
                           strerror(errno));
    }
    *policy = node_task_policy(node) == 0 ? NODE_BOUND : NODE_REFUSED;
    return ERR_OK;
}

const char *node_policy_words(enum node_policy p)
{
    switch (p) {
    case NODE_BOUND:
        return "bound to its node";
    case NODE_SINGLE:
        return "the machine has one node";
    case NODE_REFUSED:
        return "the system refuses NUMA policy; memory is placed by first touch";
    }
    return "?";
}
