/* constants_bls12_381: the numbers that define BLS12-381, as brace lists of little-endian 64-bit
 * limbs.
 *
 * y^2 = x^3 + 4 over Fq, z = -0xd201000000010000 the BLS parameter:
 * r = z^4 - z^2 + 1, q = (z - 1)^2 r / 3 + z.
 * R is the Montgomery radix 2^(64 * LIMBS) mod the modulus, R2 and R3 its powers, INV is
 * -1 / modulus mod 2^64. tests/unit/math/constants.c derives every one of them again from the
 * curve's parameter with GMP. */
#pragma once

#define BLS12_381_Z_ABS 0xd201000000010000 /* z is minus this */

/* The base field, 381 bits. */
#define BLS12_381_FQ_LIMBS 6
#define BLS12_381_FQ_MODULUS                                                                       \
    {                                                                                              \
        0xb9feffffffffaaab, 0x1eabfffeb153ffff, 0x6730d2a0f6b0f624, 0x64774b84f38512bf,            \
            0x4b1ba7b6434bacd7, 0x1a0111ea397fe69a                                                 \
    }
#define BLS12_381_FQ_R                                                                             \
    {                                                                                              \
        0x760900000002fffd, 0xebf4000bc40c0002, 0x5f48985753c758ba, 0x77ce585370525745,            \
            0x5c071a97a256ec6d, 0x15f65ec3fa80e493                                                 \
    }
#define BLS12_381_FQ_R2                                                                            \
    {                                                                                              \
        0xf4df1f341c341746, 0x0a76e6a609d104f1, 0x8de5476c4c95b6d5, 0x67eb88a9939d83c0,            \
            0x9a793e85b519952d, 0x11988fe592cae3aa                                                 \
    }
#define BLS12_381_FQ_R3                                                                            \
    {                                                                                              \
        0xed48ac6bd94ca1e0, 0x315f831e03a7adf8, 0x9a53352a615e29dd, 0x34c04e5e921e1761,            \
            0x2512d43565724728, 0x0aa6346091755d4d                                                 \
    }
#define BLS12_381_FQ_INV 0x89f3fffcfffcfffd

/* The scalar field, of the groups' order r, 255 bits. */
#define BLS12_381_FR_LIMBS 4
#define BLS12_381_FR_MODULUS                                                                       \
    {                                                                                              \
        0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48             \
    }
#define BLS12_381_FR_R                                                                             \
    {                                                                                              \
        0x00000001fffffffe, 0x5884b7fa00034802, 0x998c4fefecbc4ff5, 0x1824b159acc5056f             \
    }
#define BLS12_381_FR_R2                                                                            \
    {                                                                                              \
        0xc999e990f3f29c6d, 0x2b6cedcb87925c23, 0x05d314967254398f, 0x0748d9d99f59ff11             \
    }
#define BLS12_381_FR_R3                                                                            \
    {                                                                                              \
        0xc62c1807439b73af, 0x1b3e0d188cf06990, 0x73d13c71c7b5f418, 0x6e2a5bb9c8db33e9             \
    }
#define BLS12_381_FR_INV 0xfffffffeffffffff
