/* moduli: the four prime fields of the two curves as parameter structs for field<P>.
 *
 * Words are little-endian. _call and _pairs variants make products function calls (see field.cuh).
 */
#pragma once
#include "field.cuh"

struct fr_bn254 {
    static constexpr int N = 8;
    static constexpr bool CALL = false, PAIRS = false;
    static constexpr u32 M0 = 0xefffffff; /* -1 / modulus mod 2^32 */
    static constexpr HD u32 mod(int i)
    {
        const u32 v[N] = {0xf0000001, 0x43e1f593, 0x79b97091, 0x2833e848,
                          0x8181585d, 0xb85045b6, 0xe131a029, 0x30644e72};
        return v[i];
    }
    static constexpr HD u32 one(int i) /* R mod the modulus */
    {
        const u32 v[N] = {0x4ffffffb, 0xac96341c, 0x9f60cd29, 0x36fc7695,
                          0x7879462e, 0x666ea36f, 0x9a07df2f, 0x0e0a77c1};
        return v[i];
    }
    static constexpr HD u32 r2(int i) /* R^2 mod the modulus */
    {
        const u32 v[N] = {0xae216da7, 0x1bb8e645, 0xe35c59e3, 0x53fe3ab1,
                          0x53bb8085, 0x8c49833d, 0x7f4e44a5, 0x0216d0b1};
        return v[i];
    }
    static constexpr HD u32 half(int i) /* (modulus - 1) / 2 */
    {
        const u32 v[N] = {0xf8000000, 0xa1f0fac9, 0x3cdcb848, 0x9419f424,
                          0x40c0ac2e, 0xdc2822db, 0x7098d014, 0x18322739};
        return v[i];
    }
};

struct fq_bn254 {
    static constexpr int N = 8;
    static constexpr bool CALL = false, PAIRS = false;
    static constexpr u32 M0 = 0xe4866389; /* -1 / modulus mod 2^32 */
    static constexpr HD u32 mod(int i)
    {
        const u32 v[N] = {0xd87cfd47, 0x3c208c16, 0x6871ca8d, 0x97816a91,
                          0x8181585d, 0xb85045b6, 0xe131a029, 0x30644e72};
        return v[i];
    }
    static constexpr HD u32 one(int i) /* R mod the modulus */
    {
        const u32 v[N] = {0xc58f0d9d, 0xd35d438d, 0xf5c70b3d, 0x0a78eb28,
                          0x7879462c, 0x666ea36f, 0x9a07df2f, 0x0e0a77c1};
        return v[i];
    }
    static constexpr HD u32 r2(int i) /* R^2 mod the modulus */
    {
        const u32 v[N] = {0x538afa89, 0xf32cfc5b, 0xd44501fb, 0xb5e71911,
                          0x0a417ff6, 0x47ab1eff, 0xcab8351f, 0x06d89f71};
        return v[i];
    }
    static constexpr HD u32 half(int i) /* (modulus - 1) / 2 */
    {
        const u32 v[N] = {0x6c3e7ea3, 0x9e10460b, 0xb438e546, 0xcbc0b548,
                          0x40c0ac2e, 0xdc2822db, 0x7098d014, 0x18322739};
        return v[i];
    }
};

struct fr_bls12_381 {
    static constexpr int N = 8;
    static constexpr bool CALL = false, PAIRS = false;
    static constexpr u32 M0 = 0xffffffff; /* -1 / modulus mod 2^32 */
    static constexpr HD u32 mod(int i)
    {
        const u32 v[N] = {0x00000001, 0xffffffff, 0xfffe5bfe, 0x53bda402,
                          0x09a1d805, 0x3339d808, 0x299d7d48, 0x73eda753};
        return v[i];
    }
    static constexpr HD u32 one(int i) /* R mod the modulus */
    {
        const u32 v[N] = {0xfffffffe, 0x00000001, 0x00034802, 0x5884b7fa,
                          0xecbc4ff5, 0x998c4fef, 0xacc5056f, 0x1824b159};
        return v[i];
    }
    static constexpr HD u32 r2(int i) /* R^2 mod the modulus */
    {
        const u32 v[N] = {0xf3f29c6d, 0xc999e990, 0x87925c23, 0x2b6cedcb,
                          0x7254398f, 0x05d31496, 0x9f59ff11, 0x0748d9d9};
        return v[i];
    }
    static constexpr HD u32 half(int i) /* (modulus - 1) / 2 */
    {
        const u32 v[N] = {0x80000000, 0x7fffffff, 0x7fff2dff, 0xa9ded201,
                          0x04d0ec02, 0x199cec04, 0x94cebea4, 0x39f6d3a9};
        return v[i];
    }
};

struct fq_bls12_381 {
    static constexpr int N = 12;
    static constexpr bool CALL = false, PAIRS = false;
    static constexpr u32 M0 = 0xfffcfffd; /* -1 / modulus mod 2^32 */
    static constexpr HD u32 mod(int i)
    {
        const u32 v[N] = {0xffffaaab, 0xb9feffff, 0xb153ffff, 0x1eabfffe, 0xf6b0f624, 0x6730d2a0,
                          0xf38512bf, 0x64774b84, 0x434bacd7, 0x4b1ba7b6, 0x397fe69a, 0x1a0111ea};
        return v[i];
    }
    static constexpr HD u32 one(int i) /* R mod the modulus */
    {
        const u32 v[N] = {0x0002fffd, 0x76090000, 0xc40c0002, 0xebf4000b, 0x53c758ba, 0x5f489857,
                          0x70525745, 0x77ce5853, 0xa256ec6d, 0x5c071a97, 0xfa80e493, 0x15f65ec3};
        return v[i];
    }
    static constexpr HD u32 r2(int i) /* R^2 mod the modulus */
    {
        const u32 v[N] = {0x1c341746, 0xf4df1f34, 0x09d104f1, 0x0a76e6a6, 0x4c95b6d5, 0x8de5476c,
                          0x939d83c0, 0x67eb88a9, 0xb519952d, 0x9a793e85, 0x92cae3aa, 0x11988fe5};
        return v[i];
    }
    static constexpr HD u32 half(int i) /* (modulus - 1) / 2 */
    {
        const u32 v[N] = {0xffffd555, 0xdcff7fff, 0x58a9ffff, 0x0f55ffff, 0x7b587b12, 0xb3986950,
                          0x79c2895f, 0xb23ba5c2, 0x21a5d66b, 0x258dd3db, 0x1cbff34d, 0x0d0088f5};
        return v[i];
    }
};

struct fq_bn254_call : fq_bn254 {
    static constexpr bool CALL = true;
};
struct fq_bls12_381_call : fq_bls12_381 {
    static constexpr bool CALL = true;
};

/* In pairs: see products() in field.cuh. */
struct fq_bls12_381_pairs : fq_bls12_381 {
    static constexpr bool PAIRS = true;
};
struct fq_bn254_pairs : fq_bn254 {
    static constexpr bool PAIRS = true;
};
