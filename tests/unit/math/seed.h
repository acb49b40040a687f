/* seed: random numbers of the arithmetic tests. The seed is printed, so that a failure can be run
 * again with MILLRACE_TEST_SEED set to it. */
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t seed_state;

static inline void seed_start(void)
{
    const char *set = getenv("MILLRACE_TEST_SEED");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    seed_state = set != NULL ? strtoull(set, NULL, 0)
                             : (uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec;
    printf("MILLRACE_TEST_SEED=%llu\n", (unsigned long long)seed_state);
}

/* splitmix64 (S. Vigna). */
static inline uint64_t seed_next(void)
{
    uint64_t z = (seed_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
