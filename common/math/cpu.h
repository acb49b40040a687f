/* cpu: which of the compiled instruction set variants this process uses.
 *
 * The choice is made once, from CPUID, at the first call, and never changes. The environment
 * variable MILLRACE_CPU=portable|adx|ifma lowers it (tests run every variant so); a value that is
 * unknown or more than the CPU has is reported once on standard error and ignored. Any thread. */
#pragma once

enum cpu_variant {
    CPU_PORTABLE, /* plain C */
    CPU_ADX,      /* x86-64 with BMI2 and ADX: mulx, adcx, adox */
    CPU_IFMA,     /* and AVX-512 F, DQ, VL, BW, IFMA, VBMI2: eight 52-bit products at a time */
};

enum cpu_variant cpu_variant(void);
const char *cpu_variant_name(enum cpu_variant v); /* as MILLRACE_CPU has it */
