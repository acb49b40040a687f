/* node: the NUMA nodes of this machine, as the kernel shows them in /sys, and binding to one.
 *
 * Everything here works where there is one node, where /sys shows none (node 0 is then assumed),
 * and where a container refuses the policy calls: node_bind_self says so and goes on. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "err.h"

enum { NODES_MAX = 64, NODE_CPUS_MAX = 1024 };

/* Bit n: node n has memory. Never 0. */
uint64_t nodes_with_memory(void);
bool node_exists(unsigned node);
/* CPUs of the node that this process may use; returns how many (0: none of them). */
size_t node_cpus(unsigned node, int cpu[NODE_CPUS_MAX]);
/* Bytes that could be allocated on the node without swapping: free and clean page cache.
 * UINT64_MAX when the system does not say. */
uint64_t node_available_bytes(unsigned node);
/* Bytes that could be allocated at all: MemAvailable, and what the cgroup leaves. */
uint64_t memory_available_bytes(void);

enum node_policy {
    NODE_BOUND,   /* threads and memory of this thread (and those it starts) stay on the node */
    NODE_SINGLE,  /* there is one node: nothing to bind to */
    NODE_REFUSED, /* the system refuses NUMA policy (a container without CAP_SYS_NICE); CPUs are
                     bound all the same, memory is placed by first touch */
};
/* Binds the calling thread. ERR_USAGE when there is no such node. *policy says what was possible.
 */
enum err_code node_bind_self(unsigned node, enum node_policy *policy, struct err *e);
/* "bound to node 1", ... for a log line. */
const char *node_policy_words(enum node_policy p);

/* The raw policy calls, for arena_create: 0 or an errno. static binding to one node; node
 * UINT_MAX gives the task its default policy back. */
int node_task_policy(unsigned node);
int node_range_policy(void *at, size_t bytes, unsigned node);
