/* towers: Fq6 and Fq12 of both curves, instances of fq6_template.h and fq12_template.h.
 *
 *   bn254_fq6_ bn254_fq12_ (xi = 9 + u)      bls12_381_fq6_ bls12_381_fq12_ (xi = 1 + u) */
#pragma once
#include "groups.h"

/* 9 a = 8 a + a. */
MATH_FN void bn254_fq2_mul_xi(bn254_fq2_t *r, const bn254_fq2_t *a)
{
    bn254_fq2_t nine;
    bn254_fq2_dbl(&nine, a);
    bn254_fq2_dbl(&nine, &nine);
    bn254_fq2_dbl(&nine, &nine);
    bn254_fq2_add(&nine, &nine, a);
    bn254_fq_t c1 = a->c1;
    bn254_fq_add(&r->c1, &nine.c1, &a->c0);
    bn254_fq_sub(&r->c0, &nine.c0, &c1);
}

MATH_FN void bls12_381_fq2_mul_xi(bls12_381_fq2_t *r, const bls12_381_fq2_t *a)
{
    bls12_381_fq_t difference;
    bls12_381_fq_sub(&difference, &a->c0, &a->c1);
    bls12_381_fq_add(&r->c1, &a->c0, &a->c1);
    r->c0 = difference;
}

#define FQ2  bn254_fq2
#define FQ6  bn254_fq6
#define FQ12 bn254_fq12
#define FQ   bn254_fq
#define FQ12_FROBENIUS                                                                             \
    {                                                                                              \
        BN254_FROBENIUS_1, BN254_FROBENIUS_2, BN254_FROBENIUS_3, BN254_FROBENIUS_4,                \
            BN254_FROBENIUS_5                                                                      \
    }
#define FQ12_FROBENIUS2                                                                            \
    {                                                                                              \
        BN254_FROBENIUS2_1, BN254_FROBENIUS2_2, BN254_FROBENIUS2_3, BN254_FROBENIUS2_4,            \
            BN254_FROBENIUS2_5                                                                     \
    }
#include "fq6_template.h"
#include "fq12_template.h"

#define FQ2  bls12_381_fq2
#define FQ6  bls12_381_fq6
#define FQ12 bls12_381_fq12
#define FQ   bls12_381_fq
#define FQ12_FROBENIUS                                                                             \
    {                                                                                              \
        BLS12_381_FROBENIUS_1, BLS12_381_FROBENIUS_2, BLS12_381_FROBENIUS_3,                       \
            BLS12_381_FROBENIUS_4, BLS12_381_FROBENIUS_5                                           \
    }
#define FQ12_FROBENIUS2                                                                            \
    {                                                                                              \
        BLS12_381_FROBENIUS2_1, BLS12_381_FROBENIUS2_2, BLS12_381_FROBENIUS2_3,                    \
            BLS12_381_FROBENIUS2_4, BLS12_381_FROBENIUS2_5                                         \
    }
#include "fq6_template.h"
#include "fq12_template.h"
