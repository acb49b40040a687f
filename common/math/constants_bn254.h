/* constants_bn254: the numbers that define BN254 (alt_bn128), as brace lists of little-endian
 * 64-bit limbs.
 *
 * y^2 = x^3 + 3 over Fq, x = 4965661367192848881 the BN parameter:
 * q = 36x^4 + 36x^3 + 24x^2 + 6x + 1, r = 36x^4 + 36x^3 + 18x^2 + 6x + 1.
 * R is the Montgomery radix 2^(64 * LIMBS) mod the modulus, R2 and R3 its powers, INV is
 * -1 / modulus mod 2^64. tests/unit/math/constants.c derives every one of them again from the
 * curve's parameter with GMP. */
#pragma once

#define BN254_X 0x44e992b44a6909f1

/* The base field, 254 bits. */
#define BN254_FQ_LIMBS 4
#define BN254_FQ_MODULUS                                                                           \
    {                                                                                              \
        0x3c208c16d87cfd47, 0x97816a916871ca8d, 0xb85045b68181585d, 0x30644e72e131a029             \
    }
#define BN254_FQ_R                                                                                 \
    {                                                                                              \
        0xd35d438dc58f0d9d, 0x0a78eb28f5c70b3d, 0x666ea36f7879462c, 0x0e0a77c19a07df2f             \
    }
#define BN254_FQ_R2                                                                                \
    {                                                                                              \
        0xf32cfc5b538afa89, 0xb5e71911d44501fb, 0x47ab1eff0a417ff6, 0x06d89f71cab8351f             \
    }
#define BN254_FQ_R3                                                                                \
    {                                                                                              \
        0xb1cd6dafda1530df, 0x62f210e6a7283db6, 0xef7f0b0c0ada0afb, 0x20fd6e902d592544             \
    }
#define BN254_FQ_INV 0x87d20782e4866389

/* The scalar field, of the groups' order r, 254 bits. */
#define BN254_FR_LIMBS 4
#define BN254_FR_MODULUS                                                                           \
    {                                                                                              \
        0x43e1f593f0000001, 0x2833e84879b97091, 0xb85045b68181585d, 0x30644e72e131a029             \
    }
#define BN254_FR_R                                                                                 \
    {                                                                                              \
        0xac96341c4ffffffb, 0x36fc76959f60cd29, 0x666ea36f7879462e, 0x0e0a77c19a07df2f             \
    }
#define BN254_FR_R2                                                                                \
    {                                                                                              \
        0x1bb8e645ae216da7, 0x53fe3ab1e35c59e3, 0x8c49833d53bb8085, 0x0216d0b17f4e44a5             \
    }
#define BN254_FR_R3                                                                                \
    {                                                                                              \
        0x5e94d8e1b4bf0040, 0x2a489cbe1cfbb6b8, 0x893cc664a19fcfed, 0x0cf8594b7fcc657c             \
    }
#define BN254_FR_INV 0xc2e1f593efffffff
