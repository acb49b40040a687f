/* math_fn: how the functions of the arithmetic templates are declared.
 *
 * Every function in them carries MATH_FN, MATH_FN_HOT (always inlined) or MATH_FN_CALL (never).
 * MATH_JOIN pastes a prefix and a name after expanding both. The templates are the host's: kernels
 * have their own over 32-bit words (gpud/cuda; docs/decisions.md says what the two share).
 *
 * Translation units that do much arithmetic are compiled once per variant of the host's
 * instruction set (see meson.build): MATH_VARIANT is the suffix of their external symbols and
 * MATH_ADX is defined where mulx, adcx and adox may be used. The variant is chosen once, when the
 * curve tables are made (curve.c), so that no multiplication pays for the choice. */
#pragma once

#define MATH_FN     static inline __attribute__((unused))
#define MATH_FN_HOT static inline __attribute__((unused, always_inline))
/* Large bodies with many callers: one copy in a translation unit, so that a formula over Fq2 stays
 * within the instruction cache and compiles in seconds. */
#define MATH_FN_CALL static __attribute__((unused, noinline))

#define MATH_JOIN_(a, b) a##_##b
#define MATH_JOIN(a, b)  MATH_JOIN_(a, b)

#if !defined(MATH_VARIANT)
#define MATH_VARIANT portable
#endif
/* MATH_NAME(bn254_g1_msm) is bn254_g1_msm_portable or bn254_g1_msm_adx. */
#define MATH_NAME(name) MATH_JOIN(name, MATH_VARIANT)
