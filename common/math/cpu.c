#include "cpu.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"portable", "adx", "ifma"};

const char *cpu_variant_name(enum cpu_variant v)
{
    return names[v];
}

static enum cpu_variant best(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    unsigned eax, ebx, ecx, edx;
    /* ADX has no name in __builtin_cpu_supports of older compilers: leaf 7, EBX bit 19. */
    __asm__("cpuid" : "=a"(eax), "=b"(ebx), "=c"(ecx), "=d"(edx) : "a"(0), "c"(0));
    if (eax < 7)
        return CPU_PORTABLE;
    __asm__("cpuid" : "=a"(eax), "=b"(ebx), "=c"(ecx), "=d"(edx) : "a"(7), "c"(0));
    if (!(ebx >> 19 & 1) || !__builtin_cpu_supports("bmi2"))
        return CPU_PORTABLE;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512ifma") && __builtin_cpu_supports("avx512vbmi2"))
        return CPU_IFMA;
    return CPU_ADX;
#else
    return CPU_PORTABLE;
#endif
}

static enum cpu_variant choose(void)
{
    enum cpu_variant have = best();
    const char *want = getenv("MILLRACE_CPU");
    if (!want || !*want)
        return have;
    for (int v = CPU_PORTABLE; v <= (int)have; v++)
        if (strcmp(want, names[v]) == 0)
            return (enum cpu_variant)v;
    fprintf(stderr, "MILLRACE_CPU=%s: expected portable, adx or ifma, and this CPU has %s\n", want,
            names[have]);
    return have;
}

enum cpu_variant cpu_variant(void)
{
    static atomic_int chosen = -1;
    int v = atomic_load_explicit(&chosen, memory_order_acquire);
    if (v < 0) {
        int mine = (int)choose(), none = -1;
        /* Two threads may choose at once; they choose the same. */
        atomic_compare_exchange_strong(&chosen, &none, mine);
        v = mine;
    }
    return (enum cpu_variant)v;
}
