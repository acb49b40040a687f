/* curve: the tables that curve.h promises, of the variant that this machine can run. */
#include <stddef.h>
#include <strings.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include "cpu.h"
#include "curve_variants.h"

/* Constant to everyone else: written once, before main and before every constructor that asks for
 * no priority. The assembler's names are curve.h's, which declares the same objects const. */
struct curve chosen_bn254 __asm__("curve_bn254");
struct curve chosen_bls12_381 __asm__("curve_bls12_381");

static void __attribute__((constructor(101))) choose_variant(void)
{
    chosen_bn254 = bn254_curve_portable;
    chosen_bls12_381 = bls12_381_curve_portable;
#if defined(__x86_64__)
    if (cpu_variant() >= CPU_ADX) {
        chosen_bn254 = bn254_curve_adx;
        chosen_bls12_381 = bls12_381_curve_adx;
    }
#endif
}

static const struct curve *const all_curves[] = {&curve_bn254, &curve_bls12_381};
enum { N_CURVES = sizeof all_curves / sizeof all_curves[0] };

const struct curve *curve_by_id(enum curve_id id)
{
    for (size_t i = 0; i < N_CURVES; i++)
        if (all_curves[i]->id == id)
            return all_curves[i];
    return NULL;
}

const struct curve *curve_by_name(const char *name)
{
    static const struct {
        const char *name;
        const struct curve *curve;
    } names[] = {
        {"bn254", &curve_bn254},         {"bn128", &curve_bn254},
        {"bn-128", &curve_bn254},        {"bn_128", &curve_bn254},
        {"altbn128", &curve_bn254},      {"alt_bn128", &curve_bn254},
        {"bls12-381", &curve_bls12_381}, {"bls12381", &curve_bls12_381},
        {"bls12_381", &curve_bls12_381},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcasecmp(names[i].name, name) == 0)
            return names[i].curve;
    return NULL;
}

/* n little-endian bytes against m limbs; a difference in length is one. */
static bool same_number(const uint8_t *le, size_t n, const uint64_t *limb, size_t n_limbs)
{
    if (n != 8 * n_limbs)
        return false;
    for (size_t i = 0; i < n; i++)
        if (le[i] != (uint8_t)(limb[i / 8] >> (8 * (i % 8))))
            return false;
    return true;
}

const struct curve *curve_by_r(const uint8_t *r_le, size_t n)
{
    for (size_t i = 0; i < N_CURVES; i++)
        if (same_number(r_le, n, all_curves[i]->r->limb, 4))
            return all_curves[i];
    return NULL;
}

const struct curve *curve_by_q(const uint8_t *q_le, size_t n)
{
    for (size_t i = 0; i < N_CURVES; i++)
        if (same_number(q_le, n, all_curves[i]->q, all_curves[i]->fq_bytes / 8))
            return all_curves[i];
    return NULL;
}
