/* curve_variants: the curve tables of one instruction-set variant each, for curve.c, which picks
 * one, and for the tests, which run on all. */
#pragma once
#include "curve.h"

extern const struct curve bn254_curve_portable, bls12_381_curve_portable;
#if defined(__x86_64__)
extern const struct curve bn254_curve_adx, bls12_381_curve_adx;
#endif
