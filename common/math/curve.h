/* curve: what the rest of Millrace knows of a pairing-friendly curve.
 *
 * The arithmetic below this header is written once over limb count and modulus (field_*.h,
 * tower_*.h, group_*.h are templates; their instances are inlined into the loops of msm, ntt and
 * pairing). Code that does not live in a hot loop takes a `const struct curve *` and never asks
 * which curve it has.
 *
 * Shapes and forms, the same for both curves and for every file layout that we share with snarkjs:
 *   fr_t     a scalar, 4 little-endian 64-bit limbs; "plain" is the canonical value below r,
 *            "mont" is value * 2^256 mod r.
 *   G1 point affine x | y, G2 point affine x.c0 | x.c1 | y.c0 | y.c1; coordinates are Montgomery
 *            (R = 2^(8 * fq_bytes)), little-endian limbs; infinity is all zero bytes.
 *            Pointers to points need 8-byte alignment; arrays are dense.
 * Nothing here is constant-time unless its comment says so; functions whose time depends on a
 * secret by design carry _var.
 *
 * Source of the mathematics: J.-L. Beuchat et al. "High-Speed Software Implementation of the
 * Optimal Ate Pairing over Barreto-Naehrig Curves" (2010); S. Bowe "BLS12-381" (2017); M. Scott
 * "A note on group membership tests" (ePrint 2021/1130). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "err.h"
#include "pool.h"

typedef struct {
    uint64_t limb[4];
} fr_t;
_Static_assert(sizeof(fr_t) == 32, "fr_t is the 32-byte scalar of every file and arena");

enum { POINT_MAX_BYTES = 192 }; /* a G2 point of BLS12-381 */
typedef struct {
    uint64_t limb[POINT_MAX_BYTES / 8];
} point_t; /* room for one affine point of any group; only group->bytes of it are used */

enum curve_id { CURVE_BN254 = 1, CURVE_BLS12_381 = 2 };

/* Which primitive roots of unity a key was made with (see files/zkey.h for the trap). */
enum root_convention {
    ROOT_SNARKJS =
        1, /* w_s = 5^((r-1)/2^s) on both curves; coset shift w_{k+1}, or 25 when k = s */
    ROOT_BELLMAN = 2, /* w_s = g^((r-1)/2^s), coset shift g: 7 on BLS12-381, 5 on BN254 */
};

/* One of the two groups of a curve. All functions accept any point bytes that are reduced and on
 * the curve (any subgroup) unless stated; results are affine and canonical. r may alias inputs. */
struct group {
    const char *name; /* "G1", "G2" */
    size_t bytes;     /* of an affine point */
    const point_t *generator;
    bool (*is_infinity)(const void *p);
    bool (*is_reduced)(const void *p); /* every coordinate below q; takes any bytes */
    bool (*on_curve)(const void *p);   /* takes any reduced bytes; infinity is on the curve */
    bool (*in_subgroup)(const void *p);
    bool (*equal)(const void *a, const void *b);
    void (*add)(void *r, const void *a, const void *b); /* complete: equal, opposite, infinity */
    void (*neg)(void *r, const void *a);
    void (*mul)(void *r, const void *p, const fr_t *k_plain); /* k any 256-bit value */
    /* r = sum scalars[index ? index[i] : i] * bases[i], i < n. Scalars are plain; any 256-bit
     * value is allowed. Bases may be infinity, equal, opposite and outside the subgroup only if
     * the function is told so by `any_subgroup` (the endomorphism is then not used).
     * Memory: about 64 bytes a base of scratch at most; ERR_MEMORY when it cannot be had. */
    enum err_code (*msm)(void *r, const void *bases, const fr_t *scalars, const uint32_t *index,
                         size_t n, bool any_subgroup, struct pool *pool, struct err *e);
    /* out[i] = scalars[i] * base, fixed-base tables, for the trapdoor set-up. */
    enum err_code (*mul_fixed)(void *out, const void *base, const fr_t *scalars_plain, size_t n,
                               struct pool *pool, struct err *e);
    /* The first of n points that is not reduced / not on the curve / not in the subgroup when
     * `subgroup` is set, or n. *why tells which: "coordinate is not below the modulus", "point is
     * not on the curve", "point is not in the subgroup of order r". Uses all threads; each point
     * is tested singly (endomorphism), not by a random combination. */
    size_t (*check)(const void *points, size_t n, bool subgroup, struct pool *pool,
                    const char **why);
};

struct curve {
    enum curve_id id;
    const char *name;         /* "bn254", "bls12-381" */
    const char *snarkjs_name; /* "bn128", "bls12381" */
    size_t fq_bytes;          /* 32, 48 */
    const uint64_t *q;        /* modulus of the base field, fq_bytes / 8 limbs */
    const fr_t *r;            /* group order */
    unsigned two_adicity;     /* of r - 1: 28, 32 */
    const struct group *g1, *g2;

    /* Scalars, Montgomery form unless said. */
    const fr_t *fr_one; /* mont */
    void (*fr_add)(fr_t *r, const fr_t *a, const fr_t *b);
    void (*fr_sub)(fr_t *r, const fr_t *a, const fr_t *b);
    void (*fr_mul)(fr_t *r, const fr_t *a, const fr_t *b);
    void (*fr_inv)(fr_t *r, const fr_t *a);                               /* 0 gives 0 */
    void (*fr_to_mont)(fr_t *out, const fr_t *plain, size_t n);           /* in place allowed */
    void (*fr_from_mont)(fr_t *plain, const fr_t *mont, size_t n);        /* in place allowed */
    void (*fr_mul_many)(fr_t *r, const fr_t *a, const fr_t *b, size_t n); /* r[i] = a[i] b[i] */
    void (*fr_reduce_512)(fr_t *plain, const uint8_t le[64]); /* uniform bytes -> scalar, plain */
    size_t (*fr_first_unreduced)(const fr_t *x, size_t n);    /* index of the first >= r, or n */
    void (*fr_root)(fr_t *mont, enum root_convention c, unsigned log2); /* primitive 2^log2-th */
    void (*fr_coset_shift)(fr_t *mont, enum root_convention c, unsigned log2);

    /* Base-field elements as bytes, for file formats. */
    bool (*fq_is_reduced)(const void *le);
    void (*fq_to_mont)(void *out, const void *plain, size_t n);
    void (*fq_from_mont)(void *out, const void *mont, size_t n);
    /* y of the curve point with this x (mont in and out), false when there is none; larger picks
     * the lexicographically larger of the two (ZCash order). */
    bool (*g1_decompress)(void *point, const void *x, bool larger);
    bool (*g2_decompress)(void *point, const void *x, bool larger);
    bool (*g1_is_larger)(const void *point);
    bool (*g2_is_larger)(const void *point);

    /* True when the product of the n pairings e(g1[i], g2[i]) is one. Points must be on their
     * curves and in the subgroup; infinities are allowed. g1 and g2 are dense arrays. */
    bool (*pairing_is_one)(const void *g1, const void *g2, size_t n);
    /* e(p, q) as 12 base-field elements, plain form, in the order c0.c0.c0, c0.c0.c1, c0.c1.c0 ...
     * of Fq12 = Fq6[w], Fq6 = Fq2[v] (what snarkjs prints as vk_alphabeta_12). */
    void (*pairing)(void *gt, const void *g1, const void *g2);
};

extern const struct curve curve_bn254, curve_bls12_381;

const struct curve *curve_by_id(enum curve_id id);             /* NULL when unknown */
const struct curve *curve_by_name(const char *name);           /* any name in use; NULL */
const struct curve *curve_by_r(const uint8_t *r_le, size_t n); /* by group order; NULL */
const struct curve *curve_by_q(const uint8_t *q_le, size_t n); /* by base field; NULL */
