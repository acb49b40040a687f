/* seeded: random test input that can be made again. The seed comes from MILLRACE_SEED or the clock
 * and is printed by seed_begin. splitmix64. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "curve.h"

static uint64_t seed_state;

static inline void seed_begin(void)
{
    const char *given = getenv("MILLRACE_SEED");
    seed_state = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL) * 1000003;
    printf("MILLRACE_SEED=%llu\n", (unsigned long long)seed_state);
}

static inline uint64_t seed_word(void)
{
    uint64_t z = seed_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline uint64_t seed_below(uint64_t n)
{
    return seed_word() % n;
}

/* Any 256-bit value. */
static inline fr_t seed_256(void)
{
    fr_t x;
    for (int i = 0; i < 4; i++)
        x.limb[i] = seed_word();
    return x;
}

/* The value of x mod r, plain. */
static inline fr_t reduced(const struct curve *c, const fr_t *x)
{
    uint8_t le[64] = {0};
    for (int i = 0; i < 32; i++)
        le[i] = (uint8_t)(x->limb[i / 8] >> (8 * (i % 8)));
    fr_t r;
    c->fr_reduce_512(&r, le);
    return r;
}

/* A uniform scalar below r, plain. */
static inline fr_t seed_fr(const struct curve *c)
{
    fr_t x = seed_256();
    return reduced(c, &x);
}

/* What circuits' witnesses look like: 30 % zeros, 30 % ones, 20 % below 2^16, 20 % full. */
static inline fr_t seed_mix(const struct curve *c)
{
    uint64_t kind = seed_below(10);
    if (kind < 3)
        return (fr_t){{0}};
    if (kind < 6)
        return (fr_t){{1}};
    if (kind < 8)
        return (fr_t){{seed_below(1 << 16)}};
    return seed_fr(c);
}
