/* tables: every curve table that this machine can run, both curves in each variant. */
#pragma once
#include "cpu.h"
#include "curve_variants.h"

static inline unsigned all_tables(const struct curve *out[4])
{
    unsigned n = 0;
    out[n++] = &bn254_curve_portable;
    out[n++] = &bls12_381_curve_portable;
#if defined(__x86_64__)
    if (cpu_variant() >= CPU_ADX) {
        out[n++] = &bn254_curve_adx;
        out[n++] = &bls12_381_curve_adx;
    }
#endif
    return n;
}
