/* limb: one 32-bit machine instruction each, with the carry flag.
 *
 * A chain (add_cc, addc_cc ..., addc) must stand in program order with nothing between that touches
 * the flag. ptxas fuses a mad_lo_cc / madc_hi_cc pair on neighbouring accumulator words into one
 * wide multiply-add, which is the instruction that decides the speed of everything here. */
#pragma once
#include "platform.cuh"

#ifdef __CUDACC__
#define LIMB_2(name, op)                                                                           \
    DEV u32 name(u32 a, u32 b)                                                                     \
    {                                                                                              \
        u32 r;                                                                                     \
        asm volatile(op " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));                                \
        return r;                                                                                  \
    }
#define LIMB_3(name, op)                                                                           \
    DEV u32 name(u32 a, u32 b, u32 c)                                                              \
    {                                                                                              \
        u32 r;                                                                                     \
        asm volatile(op " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));                    \
        return r;                                                                                  \
    }
LIMB_2(add_cc, "add.cc.u32")
LIMB_2(addc_cc, "addc.cc.u32")
LIMB_2(addc, "addc.u32")
LIMB_2(sub_cc, "sub.cc.u32")
LIMB_2(subc_cc, "subc.cc.u32")
LIMB_2(subc, "subc.u32")
LIMB_2(mul_lo, "mul.lo.u32")
LIMB_2(mul_hi, "mul.hi.u32")
LIMB_3(mad_lo_cc, "mad.lo.cc.u32")
LIMB_3(madc_lo_cc, "madc.lo.cc.u32")
LIMB_3(madc_hi_cc, "madc.hi.cc.u32")
LIMB_3(madc_hi, "madc.hi.u32")
#undef LIMB_2
#undef LIMB_3
#else
static u32 limb_flag; /* carry or borrow; the emulator switches threads at barriers alone */
static inline u32 limb_keep(u64 wide)
{
    limb_flag = (u32)(wide >> 32) & 1;
    return (u32)wide;
}
static inline u32 add_cc(u32 a, u32 b)
{
    return limb_keep((u64)a + b);
}
static inline u32 addc_cc(u32 a, u32 b)
{
    return limb_keep((u64)a + b + limb_flag);
}
static inline u32 addc(u32 a, u32 b)
{
    return a + b + limb_flag;
}
static inline u32 sub_cc(u32 a, u32 b)
{
    return limb_keep((u64)a - b);
}
static inline u32 subc_cc(u32 a, u32 b)
{
    return limb_keep((u64)a - b - limb_flag);
}
static inline u32 subc(u32 a, u32 b)
{
    return a - b - limb_flag;
}
static inline u32 mul_lo(u32 a, u32 b)
{
    return a * b;
}
static inline u32 mul_hi(u32 a, u32 b)
{
    return (u32)(((u64)a * b) >> 32);
}
static inline u32 mad_lo_cc(u32 a, u32 b, u32 c)
{
    return limb_keep((u64)(u32)(a * b) + c);
}
static inline u32 madc_lo_cc(u32 a, u32 b, u32 c)
{
    return limb_keep((u64)(u32)(a * b) + c + limb_flag);
}
static inline u32 madc_hi_cc(u32 a, u32 b, u32 c)
{
    return limb_keep((u64)mul_hi(a, b) + c + limb_flag);
}
static inline u32 madc_hi(u32 a, u32 b, u32 c)
{
    return mul_hi(a, b) + c + limb_flag;
}
#endif
