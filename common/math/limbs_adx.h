/* limbs_adx: the steps of limbs_portable.h in x86-64 assembly, for 4 and 6 limbs.
 *
 * Needs mulx (BMI2) and adcx, adox (ADX): two carry chains at once, so that the low and the high
 * halves of a row's products are added together. A row is one asm statement; between rows the
 * compiler keeps the accumulators in registers. n is a constant at every call, so the choice of the
 * size and the loops over rows vanish.
 *
 * Source: E. Ozturk, J. Guilford, V. Gopal, W. Feghali "New Instructions Supporting Large Integer
 * Arithmetic on Intel Architecture Processors" (2012). */
#pragma once
#include <immintrin.h>
#include <stdint.h>
#include "math_fn.h"

/* The largest product that is inlined, in limbs. */
#define LIMBS_INLINE 4

/* clang-format off */

/* Operand lists: accumulators t in registers (in and out, or out only), spare registers s, limb
 * arrays in memory. */
#define IO(j)       [t##j] "+&r"(t[j])
#define IO4         IO(0), IO(1), IO(2), IO(3)
#define IO6         IO4, IO(4), IO(5)
#define OUT(j)      [t##j] "=&r"(t[j])
#define OUT4        OUT(0), OUT(1), OUT(2), OUT(3)
#define OUT6        OUT4, OUT(4), OUT(5)
#define SPARE(j)    [s##j] "=&r"(s[j])
#define SPARE4      SPARE(0), SPARE(1), SPARE(2), SPARE(3)
#define SPARE6      SPARE4, SPARE(4), SPARE(5)
#define MEM(a, j)   [a##j] "m"(a[j])
#define MEM4(a)     MEM(a, 0), MEM(a, 1), MEM(a, 2), MEM(a, 3)
#define MEM6(a)     MEM4(a), MEM(a, 4), MEM(a, 5)

/* One instruction, and the same for each limb. */
#define I1(op, x)    op " %[" x "]\n\t"
#define I2(op, x, y) op " %[" x "], %[" y "]\n\t"
#define MULX(x, lo, hi) "mulxq %[" x "], %[" lo "], %[" hi "]\n\t"
#define ALL4(f)      f("0") f("1") f("2") f("3")
#define ALL6(f)      ALL4(f) f("4") f("5")
#define REST4(f)     f("1") f("2") f("3")
#define REST6(f)     REST4(f) f("4") f("5")
#define CLEAR_FLAGS  "xorl %k[lo], %k[lo]\n\t"
#define CLEAR_LO     "movl $0, %k[lo]\n\t"

/* t, hi = a b */
#define MUL_STEP(op, j, next) MULX("a" j, "lo", next) I2(op, "lo", "t" j)
#define MUL_TO3   MULX("a0", "t0", "t1") MUL_STEP("addq", "1", "t2") MUL_STEP("adcq", "2", "t3")
#define ROW_MUL4  MUL_TO3 MUL_STEP("adcq", "3", "hi") "adcq $0, %[hi]"
#define ROW_MUL6  MUL_TO3 MUL_STEP("adcq", "3", "t4") MUL_STEP("adcq", "4", "t5") \
                  MUL_STEP("adcq", "5", "hi") "adcq $0, %[hi]"

/* t, hi = t + a b: low halves on the overflow flag's chain, high halves on the carry flag's */
#define LOW(j)       MULX("a" j, "lo", "hi") I2("adoxq", "lo", "t" j)
#define HIGH_LOW(j)  I2("adcxq", "hi", "t" j) LOW(j)
#define ADD_CARRIES  CLEAR_LO I2("adcxq", "lo", "hi") I2("adoxq", "lo", "hi")
#define ROW_MUL_ADD4 CLEAR_FLAGS LOW("0") REST4(HIGH_LOW) ADD_CARRIES
#define ROW_MUL_ADD6 CLEAR_FLAGS LOW("0") REST6(HIGH_LOW) ADD_CARRIES

/* t = (t + top 2^(64 n) + m q) / 2^64: the same with every limb moved down by one */
#define REDUCE_FIRST CLEAR_FLAGS MULX("q0", "lo", "hi") I2("adcxq", "t0", "lo") I2("movq", "hi", "t0")
#define REDUCE(j, i) I2("adcxq", "t" j, "t" i) MULX("q" j, "lo", "t" j) I2("adoxq", "lo", "t" i)
#define REDUCE_TO3   REDUCE_FIRST REDUCE("1", "0") REDUCE("2", "1") REDUCE("3", "2")
#define REDUCE_TOP(j) CLEAR_LO I2("adcxq", "lo", "t" j) I2("adoxq", "top", "t" j)
#define ROW_REDUCE4  REDUCE_TO3 REDUCE_TOP("3")
#define ROW_REDUCE6  REDUCE_TO3 REDUCE("4", "3") REDUCE("5", "4") REDUCE_TOP("5")

/* sums of n limbs */
#define COPY(j)      I2("movq", "t" j, "s" j)
#define TRY(j)       I2("sbbq", "q" j, "s" j)
#define TAKE(j)      I2("cmovncq", "s" j, "t" j)
#define PLUS(j)      I2("adcq", "b" j, "t" j)
#define MINUS(j)     I2("sbbq", "b" j, "t" j)
#define MASKED(j)    I2("movq", "q" j, "s" j) I2("andq", "mask", "s" j)
#define PLUS_S(j)    I2("adcq", "s" j, "t" j)

#define LIMBS_ADX_ROWS(n)                                                                          \
    MATH_FN_HOT void row##n##_mul(uint64_t *t, uint64_t *top, const uint64_t *a, uint64_t b)       \
    {                                                                                              \
        uint64_t lo, hi;                                                                           \
        __asm__(ROW_MUL##n : OUT##n, [hi] "=&r"(hi), [lo] "=&r"(lo) : MEM##n(a), "d"(b) : "cc");   \
        *top = hi;                                                                                 \
    }                                                                                              \
    MATH_FN_HOT void row##n##_mul_add(uint64_t *t, uint64_t *top, const uint64_t *a, uint64_t b)   \
    {                                                                                              \
        uint64_t lo, hi;                                                                           \
        __asm__(ROW_MUL_ADD##n : IO##n, [hi] "=&r"(hi), [lo] "=&r"(lo) : MEM##n(a), "d"(b)         \
                : "cc");                                                                           \
        *top = hi;                                                                                 \
    }                                                                                              \
    MATH_FN_HOT void row##n##_reduce(uint64_t *t, uint64_t top, const uint64_t *q, uint64_t inv)   \
    {                                                                                              \
        uint64_t lo, hi, m = t[0] * inv;                                                           \
        __asm__(ROW_REDUCE##n : IO##n, [hi] "=&r"(hi), [lo] "=&r"(lo)                              \
                : MEM##n(q), [top] "r"(top), "d"(m) : "cc");                                       \
    }                                                                                              \
    /* t = t - q when t >= q */                                                                    \
    MATH_FN_HOT void row##n##_sub_once(uint64_t *t, const uint64_t *q)                             \
    {                                                                                              \
        uint64_t s[n];                                                                             \
        __asm__(ALL##n(COPY) I2("subq", "q0", "s0") REST##n(TRY) ALL##n(TAKE)                      \
                : IO##n, SPARE##n : MEM##n(q) : "cc");                                             \
    }                                                                                              \
    /* t = t + b, the carry comes back */                                                          \
    MATH_FN_HOT uint64_t row##n##_add(uint64_t *t, const uint64_t *b)                              \
    {                                                                                              \
        uint64_t carry;                                                                            \
        __asm__("xorl %k[carry], %k[carry]\n\t" I2("addq", "b0", "t0") REST##n(PLUS)               \
                "adcq $0, %[carry]" : IO##n, [carry] "=&r"(carry) : MEM##n(b) : "cc");             \
        return carry;                                                                              \
    }                                                                                              \
    /* t = t - b; all ones when that borrows, else 0 */                                            \
    MATH_FN_HOT uint64_t row##n##_sub(uint64_t *t, const uint64_t *b)                              \
    {                                                                                              \
        uint64_t mask;                                                                             \
        __asm__(I2("subq", "b0", "t0") REST##n(MINUS) "sbbq %[mask], %[mask]"                      \
                : IO##n, [mask] "=&r"(mask) : MEM##n(b) : "cc");                                   \
        return mask;                                                                               \
    }                                                                                              \
    /* t = t + (q & mask) mod 2^(64 n) */                                                          \
    MATH_FN_HOT void row##n##_add_masked(uint64_t *t, const uint64_t *q, uint64_t mask)            \
    {                                                                                              \
        uint64_t s[n];                                                                             \
        __asm__(ALL##n(MASKED) I2("addq", "s0", "t0") REST##n(PLUS_S)                              \
                : IO##n, SPARE##n : MEM##n(q), [mask] "r"(mask) : "cc");                           \
    }

LIMBS_ADX_ROWS(4)
LIMBS_ADX_ROWS(6)
/* clang-format on */

/* The row of the size n, which is 4 or 6. */
#define ROW(n, name, ...) ((n) == 4 ? row4_##name(__VA_ARGS__) : row6_##name(__VA_ARGS__))

MATH_FN_HOT void limbs_load(uint64_t *t, const uint64_t *a, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        t[i] = a[i];
}

MATH_FN_HOT void limbs_sub_once(uint64_t *t, const uint64_t *q, unsigned n)
{
    ROW(n, sub_once, t, q);
}

MATH_FN_HOT void limbs_add_mod(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *q,
                               unsigned n)
{
    uint64_t t[6];
    limbs_load(t, a, n);
    ROW(n, add, t, b);
    ROW(n, sub_once, t, q);
    limbs_load(r, t, n);
}

MATH_FN_HOT void limbs_sub_mod(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *q,
                               unsigned n)
{
    uint64_t t[6];
    limbs_load(t, a, n);
    ROW(n, add_masked, t, q, ROW(n, sub, t, b));
    limbs_load(r, t, n);
}

MATH_FN_HOT void limbs_mul(uint64_t *r, const uint64_t *a, const uint64_t *b, unsigned n)
{
    uint64_t t[6], top;
    ROW(n, mul, t, &top, a, b[0]);
    for (unsigned i = 1; i < n; i++) {
        r[i - 1] = t[0];
        limbs_load(t, t + 1, n - 1);
        t[n - 1] = top;
        ROW(n, mul_add, t, &top, a, b[i]);
    }
    limbs_load(r + n - 1, t, n);
    r[2 * n - 1] = top;
}

MATH_FN_HOT void limbs_redc(uint64_t *r, const uint64_t *w, const uint64_t *q, uint64_t inv,
                            unsigned n)
{
    uint64_t t[6];
    limbs_load(t, w, n);
    for (unsigned i = 0; i < n; i++)
        ROW(n, reduce, t, 0, q, inv);
    ROW(n, add, t, w + n);
    ROW(n, sub_once, t, q);
    limbs_load(r, t, n);
}

MATH_FN_HOT void limbs_mont_mul(uint64_t *r, const uint64_t *a, const uint64_t *b,
                                const uint64_t *q, uint64_t inv, unsigned n)
{
    uint64_t t[6], top;
    ROW(n, mul, t, &top, a, b[0]);
    ROW(n, reduce, t, top, q, inv);
    for (unsigned i = 1; i < n; i++) {
        ROW(n, mul_add, t, &top, a, b[i]);
        ROW(n, reduce, t, top, q, inv);
    }
    ROW(n, sub_once, t, q);
    limbs_load(r, t, n);
}

MATH_FN_HOT void limbs_sqr(uint64_t *r, const uint64_t *a, unsigned n)
{
    limbs_mul(r, a, a, n);
}

MATH_FN_HOT void limbs_mont_sqr(uint64_t *r, const uint64_t *a, const uint64_t *q, uint64_t inv,
                                unsigned n)
{
    limbs_mont_mul(r, a, a, q, inv, n);
}

/* Sums of any length; the compiler's carry intrinsics do here. */
MATH_FN_HOT uint64_t limbs_add(uint64_t *r, const uint64_t *a, const uint64_t *b, unsigned n)
{
    unsigned char c = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned long long s;
        c = _addcarry_u64(c, a[i], b[i], &s);
        r[i] = s;
    }
    return c;
}

MATH_FN_HOT uint64_t limbs_sub(uint64_t *r, const uint64_t *a, const uint64_t *b, unsigned n)
{
    unsigned char c = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned long long s;
        c = _subborrow_u64(c, a[i], b[i], &s);
        r[i] = s;
    }
    return c;
}
