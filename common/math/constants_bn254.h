/* constants_bn254: the numbers that define BN254 (alt_bn128), as brace lists of little-endian
 * 64-bit limbs.
 *
 * y^2 = x^3 + 3 over Fq, x = 4965661367192848881 the BN parameter:
 * q = 36x^4 + 36x^3 + 24x^2 + 6x + 1, r = 36x^4 + 36x^3 + 18x^2 + 6x + 1.
 * R is the Montgomery radix 2^(64 * LIMBS) mod the modulus, R2 and R3 its powers, INV is
 * -1 / modulus mod 2^64. tests/unit/math/constants.c derives every one of them again from the
 * curve's parameter with GMP. */
#pragma once
/* clang-format off */

#define BN254_X 0x44e992b44a6909f1

/* The base field, 254 bits. */
#define BN254_FQ_LIMBS 4
#define BN254_FQ_MODULUS \
    {0x3c208c16d87cfd47, 0x97816a916871ca8d, 0xb85045b68181585d, 0x30644e72e131a029}
#define BN254_FQ_R \
    {0xd35d438dc58f0d9d, 0x0a78eb28f5c70b3d, 0x666ea36f7879462c, 0x0e0a77c19a07df2f}
#define BN254_FQ_R2 \
    {0xf32cfc5b538afa89, 0xb5e71911d44501fb, 0x47ab1eff0a417ff6, 0x06d89f71cab8351f}
#define BN254_FQ_R3 \
    {0xb1cd6dafda1530df, 0x62f210e6a7283db6, 0xef7f0b0c0ada0afb, 0x20fd6e902d592544}
#define BN254_FQ_INV 0x87d20782e4866389

/* The scalar field, of the groups' order r, 254 bits. */
#define BN254_FR_LIMBS 4
#define BN254_FR_MODULUS \
    {0x43e1f593f0000001, 0x2833e84879b97091, 0xb85045b68181585d, 0x30644e72e131a029}
#define BN254_FR_R \
    {0xac96341c4ffffffb, 0x36fc76959f60cd29, 0x666ea36f7879462e, 0x0e0a77c19a07df2f}
#define BN254_FR_R2 \
    {0x1bb8e645ae216da7, 0x53fe3ab1e35c59e3, 0x8c49833d53bb8085, 0x0216d0b17f4e44a5}
#define BN254_FR_R3 \
    {0x5e94d8e1b4bf0040, 0x2a489cbe1cfbb6b8, 0x893cc664a19fcfed, 0x0cf8594b7fcc657c}
#define BN254_FR_INV 0xc2e1f593efffffff

/* The groups: b of the curve and of its twist, generators. From here on a constant in mont is the
 * initialiser of a field element, in braces of its own. The twist is
 * y^2 = x^3 + 3 / xi over Fq2 = Fq[u]/(u^2 + 1), xi = 9 + u. */
#define BN254_G1_B \
    {{0x7a17caa950ad28d7, 0x1f6ac17ae15521b9, 0x334bea4e696bd284, 0x2a1f6744ce179d8e}}
#define BN254_G2_B \
    {{{0x3bf938e377b802a8, 0x020b1b273633535d, 0x26b7edf049755260, 0x2514c6324384a86d}}, \
     {{0x38e7ecccd1dcff67, 0x65f0b37d93ce0d3e, 0xd749d0dd22ac00aa, 0x0141b9ce4a688d4d}}}
#define BN254_G1_GENERATOR_X \
    {{0xd35d438dc58f0d9d, 0x0a78eb28f5c70b3d, 0x666ea36f7879462c, 0x0e0a77c19a07df2f}}
#define BN254_G1_GENERATOR_Y \
    {{0xa6ba871b8b1e1b3a, 0x14f1d651eb8e167b, 0xccdd46def0f28c58, 0x1c14ef83340fbe5e}}
#define BN254_G2_GENERATOR_X \
    {{{0x8e83b5d102bc2026, 0xdceb1935497b0172, 0xfbb8264797811adf, 0x19573841af96503b}}, \
     {{0xafb4737da84c6140, 0x6043dd5a5802d8c4, 0x09e950fc52a02f86, 0x14fef0833aea7b6b}}}
#define BN254_G2_GENERATOR_Y \
    {{{0x619dfa9d886be9f6, 0xfe7fd297f59e9b78, 0xff9e1a62231b7dfe, 0x28fd7eebae9e4206}}, \
     {{0x64095b56c71856ee, 0xdc57f922327d3cbb, 0x55f935be33351076, 0x0da4a0e693fd6482}}}

/* FROBENIUS_i = xi^(i (q - 1) / 6) in Fq2, FROBENIUS2_i = xi^(i (q^2 - 1) / 6) in Fq (mont):
 * what w^i is multiplied by under the q-th and the q^2-th power, w^6 = xi. */
#define BN254_FROBENIUS_1 \
    {{{0xaf9ba69633144907, 0xca6b1d7387afb78a, 0x11bded5ef08a2087, 0x02f34d751a1f3a7c}}, \
     {{0xa222ae234c492d72, 0xd00f02a4565de15b, 0xdc2ff3a253dfc926, 0x10a75716b3899551}}}
#define BN254_FROBENIUS_2 \
    {{{0xb5773b104563ab30, 0x347f91c8a9aa6454, 0x7a007127242e0991, 0x1956bcd8118214ec}}, \
     {{0x6e849f1ea0aa4757, 0xaa1c7b6d89f89141, 0xb6e713cdfae0ca3a, 0x26694fbb4e82ebc3}}}
#define BN254_FROBENIUS_3 \
    {{{0xe4bbdd0c2936b629, 0xbb30f162e133bacb, 0x31a9d1b6f9645366, 0x253570bea500f8dd}}, \
     {{0xa1d77ce45ffe77c7, 0x07affd117826d1db, 0x6d16bd27bb7edc6b, 0x2c87200285defecc}}}
#define BN254_FROBENIUS_4 \
    {{{0x7361d77f843abe92, 0xa5bb2bd3273411fb, 0x9c941f314b3e2399, 0x15df9cddbb9fd3ec}}, \
     {{0x5dddfd154bd8c949, 0x62cb29a5a4445b60, 0x37bc870a0c7dd2b9, 0x24830a9d3171f0fd}}}
#define BN254_FROBENIUS_5 \
    {{{0xc970692f41690fe7, 0xe240342127694b0b, 0x32bee66b83c459e8, 0x12aabced0ab08841}}, \
     {{0x0d485d2340aebfa9, 0x05193418ab2fcc57, 0xd3b0a40b8a4910f5, 0x2f21ebb535d2925a}}}
#define BN254_FROBENIUS2_1 \
    {{0xca8d800500fa1bf2, 0xf0c5d61468b39769, 0x0e201271ad0d4418, 0x04290f65bad856e6}}
#define BN254_FROBENIUS2_2 \
    {{0x3350c88e13e80b9c, 0x7dce557cdb5e56b9, 0x6001b4b8b615564a, 0x2682e617020217e0}}
#define BN254_FROBENIUS2_3 \
    {{0x68c3488912edefaa, 0x8d087f6872aabf4f, 0x51e1a24709081231, 0x2259d6b14729c0fa}}
#define BN254_FROBENIUS2_4 \
    {{0x71930c11d782e155, 0xa6bb947cffbe3323, 0xaa303344d4741444, 0x2c3b3f0d26594943}}
#define BN254_FROBENIUS2_5 \
    {{0x08cfc388c494f1ab, 0x19b315148d1373d4, 0x584e90fdcb6c0213, 0x09e1685bdf2f8849}}

/* psi(x, y) = (PSI_X conj(x), PSI_Y conj(y)) on the twist: the q-th power seen through the twist;
 * on the group of order r it multiplies by q. */
#define BN254_PSI_X \
    {{{0xb5773b104563ab30, 0x347f91c8a9aa6454, 0x7a007127242e0991, 0x1956bcd8118214ec}}, \
     {{0x6e849f1ea0aa4757, 0xaa1c7b6d89f89141, 0xb6e713cdfae0ca3a, 0x26694fbb4e82ebc3}}}
#define BN254_PSI_Y \
    {{{0xe4bbdd0c2936b629, 0xbb30f162e133bacb, 0x31a9d1b6f9645366, 0x253570bea500f8dd}}, \
     {{0xa1d77ce45ffe77c7, 0x07affd117826d1db, 0x6d16bd27bb7edc6b, 0x2c87200285defecc}}}

/* The endomorphism (x, y) -> (BETA x, y) multiplies by LAMBDA in each group (BETA in Fq, mont;
 * LAMBDA plain, a cube root of one mod r). The lattice of (a, b) with a + b LAMBDA = 0 mod r has
 * the basis (A1, -B1), (A2, B2), and A1 B2 + A2 B1 = r. G1 = round(2^256 B2 / r) and
 * G2 = round(2^256 B1 / r) stand for the division: with c1 = round(k G1 / 2^256) and
 * c2 = round(k G2 / 2^256) a scalar k < r is k0 + k1 LAMBDA for k0 = k - c1 A1 - c2 A2 and
 * k1 = c1 B1 - c2 B2, both below 2^127 in magnitude. */
#define BN254_LAMBDA \
    {0xb8ca0b2d36636f23, 0xcc37a73fec2bc5e9, 0x048b6e193fd84104, 0x30644e72e131a029}
#define BN254_G1_BETA \
    {{0x3350c88e13e80b9c, 0x7dce557cdb5e56b9, 0x6001b4b8b615564a, 0x2682e617020217e0}}
#define BN254_G2_BETA \
    {{0x71930c11d782e155, 0xa6bb947cffbe3323, 0xaa303344d4741444, 0x2c3b3f0d26594943}}
#define BN254_GLV_A1 \
    {0x8211bbeb7d4f1128, 0x6f4d8248eeb859fc}
#define BN254_GLV_B1 \
    {0x89d3256894d213e3, 0x0000000000000000}
#define BN254_GLV_A2 \
    {0x89d3256894d213e3, 0x0000000000000000}
#define BN254_GLV_B2 \
    {0x0be4e1541221250b, 0x6f4d8248eeb859fd}
#define BN254_GLV_G1 \
    {0x5398fd0300ff6565, 0x4ccef014a773d2d2, 0x0000000000000002}
#define BN254_GLV_G2 \
    {0xd91d232ec7e0b3d7, 0x0000000000000002, 0x0000000000000000}

/* ROOT_g = g^((r - 1) / 2^TWO_ADICITY), a primitive 2^TWO_ADICITY-th root of one (mont). */
#define BN254_TWO_ADICITY 28
#define BN254_ROOT_5 \
    {{0x636e735580d13d9c, 0xa22bf3742445ffd6, 0x56452ac01eb203d8, 0x1860ef942963f9e7}}
