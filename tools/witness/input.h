/* input: an input.json as circom's witness programs take it, read into named lists of scalars.
 *
 * The file is one JSON object. A key names an input signal; its value is a number, a string, true
 * or false, or arrays of them, nested as deep as the signal is (they are flattened in order). An
 * object stands for a bus: {"p": {"x": 1}} sets p.x, and [{"x": 1}, {"x": 2}] sets p[0].x, p[1].x.
 *
 * A value is any integer, taken modulo r (so -1 is r - 1): decimal with an optional sign, or hex,
 * octal or binary with 0x, 0o, 0b, in a string; or a bare number of any length, whose digits are
 * read as they stand and not through a double (2^53 + 1 stays what it is). Bare numbers with a
 * fraction or an exponent are taken if they are integers (1e3, 2.0). A key given twice is refused.
 *
 * SECRET: the values. Messages name the signal and the place, never a value. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "err.h"

struct input_signal {
    char *name;
    uint64_t hash;        /* FNV-1a 64 of the name */
    size_t n;             /* values, > 0 */
    uint8_t (*value)[32]; /* plain, below r, little-endian */
};

struct input {
    struct input_signal *signal;
    size_t n_signals;
};

/* Draws jansson's hash seed, which opens /dev/urandom: once, before opening files is given up. */
void input_init(void);

/* Parses text[0, len); prime is r, 32 bytes little-endian. `name` stands in messages. */
enum err_code input_parse(const char *name, const char *text, size_t len, const uint8_t prime[32],
                          struct input *out, struct err *e);
void input_wipe(struct input *in); /* wipes the values and frees all */

uint64_t input_hash(const char *signal_name);
