/* points_check: the coordinates and the curve's equation of many points at once.
 *
 * The first of n affine points that is neither infinity nor a point of the curve with coordinates
 * below the modulus; n when there is none. msm_ifma.c, where the CPU has it (cpu.h). */
#pragma once
#include <stddef.h>

typedef size_t points_on_curve(const void *points, size_t n);
points_on_curve bn254_g1_on_curve_ifma, bn254_g2_on_curve_ifma, bls12_381_g1_on_curve_ifma,
    bls12_381_g2_on_curve_ifma;
