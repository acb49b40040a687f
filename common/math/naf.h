/* naf: the non-adjacent form of a number, digits -1, 0, 1, no two neighbours both non-zero.
 *
 * digit[i] belongs to 2^i; there are 64 n_limbs + 1 digits. */
#pragma once
#include <stdint.h>
#include "math_fn.h"

MATH_FN void naf_recode(int8_t *digit, const uint64_t *k, unsigned n_limbs)
{
    unsigned n_bits = 64 * n_limbs, carry = 0;
    for (unsigned i = 0; i <= n_bits; i++) {
        unsigned bit = i < n_bits ? (unsigned)(k[i / 64] >> (i % 64)) & 1 : 0, j = i + 1;
        unsigned next = j < n_bits ? (unsigned)(k[j / 64] >> (j % 64)) & 1 : 0;
        unsigned sum = bit + carry;
        digit[i] = (int8_t)((sum & 1) == 0 ? 0 : next ? -1 : 1);
        carry = (sum + next) >> 1;
    }
}
