/* abi: what a compiled witness program (a shared object made by program_build) gives to its runner.
 *
 * The object exports one symbol, millrace_program, a table of functions over one instance of the
 * circuit's WebAssembly module, translated to C by wasm2c. Each call catches traps; it returns
 *   0            done
 *   1 .. 999     the circuit stopped itself: circom's own error code (see program_error_text)
 *   1000 + t     the code trapped: wabt's trap code t (out of bounds, division by zero, ...)
 * after which the instance is dead and only message() may be called.
 *
 * Used by one thread, in a process of its own (wasm-rt installs a SIGSEGV handler and reserves
 * 8 GiB of address space: neither belongs into a daemon). */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { PROGRAM_ABI_VERSION = 1, PROGRAM_TRAPPED = 1000 };

struct program_facts {
    uint32_t circom_version[3];
    uint32_t field_words; /* 32-bit words of an element; only 8 is supported */
    uint32_t n_inputs;    /* values over all input signals */
    uint32_t n_witness;   /* wires, w[0] = 1 included */
    uint8_t prime[32];    /* little-endian */
};

struct program_abi {
    uint32_t version;
    int (*open)(struct program_facts *out);
    /* How many values the signal with this FNV-1a 64 hash of its name takes; 0: no such signal. */
    int (*input_size)(uint64_t hash, uint32_t *n);
    /* Sets value `index` of a signal. The circuit runs inside the call that sets the last one. */
    int (*set_input)(uint64_t hash, uint32_t index, const uint8_t value[32]);
    /* Wires [first, first + n) as plain little-endian 32-byte values. */
    int (*read_witness)(uint32_t first, uint32_t n, uint8_t *out);
    /* What circom said before it stopped ("Error in template Mul_0 line: 7"), or "". It names
     * places in the circuit's source, never a value. */
    const char *(*message)(void);
};
