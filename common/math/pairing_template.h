/* pairing_template: the functions of pairing.h over Miller's loop. Include it once per curve with
 *
 *   PAIRING             the curve's prefix: bn254, bls12_381
 *
 * and with two functions defined before, beside miller_template.h's:
 *   <C>_finish_loop(f, m, n)          what this curve does after the loop, over the same pairs
 *   <C>_final_exponentiation(r, f)    to a multiple of (q^12 - 1) / r that is prime to r
 *
 * A pair with an infinity is left out: its pairing is one. Pairs are taken in blocks that share
 * their squarings, so that the memory is bounded for any number of pairs. */
#include "math_fn.h"
#include "pairing.h"

#define C_(name) MATH_JOIN(PAIRING, name)
#define T_(name) MATH_JOIN(C_(fq12), name)
#define T_t      T_(t)

enum { C_(pairing_block) = 16 };

static void C_(miller)(T_t *f, const void *g1, const void *g2, size_t n)
{
    const MATH_JOIN(C_(g1), affine_t) *p = g1;
    const MATH_JOIN(C_(g2), affine_t) *q = g2;
    C_(miller_t) block[C_(pairing_block)];
    size_t filled = 0;
    T_(set_one)(f);
    for (size_t i = 0; i < n; i++) {
        if (!MATH_JOIN(C_(g1), affine_is_infinity)(&p[i]) &&
            !MATH_JOIN(C_(g2), affine_is_infinity)(&q[i])) {
            block[filled].p = p[i];
            block[filled++].q = q[i];
        }
        if (filled == C_(pairing_block) || (i + 1 == n && filled > 0)) {
            T_t part;
            C_(miller_loop)(&part, block, filled);
            C_(finish_loop)(&part, block, filled);
            T_(mul)(f, f, &part);
            filled = 0;
        }
    }
}

bool MATH_NAME(C_(pairing_is_one))(const void *g1, const void *g2, size_t n)
{
    T_t f;
    C_(miller)(&f, g1, g2, n);
    C_(final_exponentiation)(&f, &f);
    return T_(is_one)(&f);
}

void MATH_NAME(C_(pairing))(void *gt, const void *g1, const void *g2)
{
    T_t f;
    C_(miller)(&f, g1, g2, 1);
    C_(final_exponentiation)(&f, &f);
    MATH_JOIN(C_(fq), t) *out = gt;
    const MATH_JOIN(C_(fq), t) *coordinate = (const void *)&f;
    for (size_t i = 0; i < sizeof f / sizeof *out; i++)
        MATH_JOIN(C_(fq), from_mont)(&out[i], &coordinate[i]);
}

#undef C_
#undef T_
#undef T_t
#undef PAIRING
