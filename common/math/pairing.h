/* pairing: what fills `pairing_is_one` and `pairing` of struct curve (curve.h is their contract).
 *
 * One function per curve and instruction-set variant. A pairing is the optimal ate pairing, whose
 * final exponentiation is that of each curve's file. */
#pragma once
#include "curve.h"
#include "math_fn.h"

bool MATH_NAME(bn254_pairing_is_one)(const void *g1, const void *g2, size_t n);
void MATH_NAME(bn254_pairing)(void *gt, const void *g1, const void *g2);
bool MATH_NAME(bls12_381_pairing_is_one)(const void *g1, const void *g2, size_t n);
void MATH_NAME(bls12_381_pairing)(void *gt, const void *g1, const void *g2);
