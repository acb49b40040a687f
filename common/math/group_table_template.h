/* group_table_template: the functions of struct group (curve.h) over an instance of
 * group_template.h. Include it once per group with
 *
 *   GROUP, GROUP_FIELD      as for group_template.h
 *   GROUP_LABEL             "G1" or "G2"
 *   GROUP_B                 initialiser of b in y^2 = x^3 + b
 *   GROUP_GENERATOR_X, _Y   initialisers of the generator's coordinates
 *
 * and a function <G>_in_subgroup_on_curve(const <G>_affine_t *p) already defined, for a finite p on
 * the curve. It defines <G>_table (a struct group), <G>_decompress and <G>_is_larger. */
#include <stdatomic.h>
#include "cpu.h"
#include "msm.h"
#include "points_check.h"

#define G_(name) MATH_JOIN(GROUP, name)
#define F_(name) MATH_JOIN(GROUP_FIELD, name)
#define F_t      F_(t)
#define AFFINE_t G_(affine_t)
#define XYZZ_t   G_(xyzz_t)

_Static_assert(sizeof(AFFINE_t) <= sizeof(point_t), "a point_t has room for every affine point");

static const F_t G_(b) = GROUP_B;
static const union {
    AFFINE_t affine;
    point_t room;
} G_(generator) = {.affine = {GROUP_GENERATOR_X, GROUP_GENERATOR_Y}};

static bool G_(table_is_infinity)(const void *p)
{
    return G_(affine_is_infinity)(p);
}

static bool G_(table_is_reduced)(const void *p)
{
    const AFFINE_t *a = p;
    return F_(is_reduced)(&a->x) && F_(is_reduced)(&a->y);
}

static void G_(curve_rhs)(F_t *r, const F_t *x)
{
    F_t t;
    F_(sqr)(&t, x);
    F_(mul)(&t, &t, x);
    F_(add)(r, &t, &G_(b));
}

static bool G_(table_on_curve)(const void *p)
{
    const AFFINE_t *a = p;
    if (G_(affine_is_infinity)(a))
        return true;
    F_t lhs, rhs;
    F_(sqr)(&lhs, &a->y);
    G_(curve_rhs)(&rhs, &a->x);
    return F_(equal)(&lhs, &rhs);
}

static bool G_(table_in_subgroup)(const void *p)
{
    return G_(affine_is_infinity)(p) || G_(in_subgroup_on_curve)(p);
}

static bool G_(table_equal)(const void *a, const void *b)
{
    return G_(affine_equal)(a, b);
}

static void G_(table_add)(void *r, const void *a, const void *b)
{
    XYZZ_t t;
    G_(xyzz_from_affine)(&t, a);
    G_(xyzz_add_affine)(&t, &t, b);
    G_(xyzz_to_affine)(r, &t);
}

static void G_(table_neg)(void *r, const void *a)
{
    G_(affine_neg)(r, a);
}

/* Signed digits of 4 bits, from -7 to 8, over the multiples 1 .. 8. */
static void G_(table_mul)(void *r, const void *p, const fr_t *k_plain)
{
    XYZZ_t multiple[9], acc;
    int digit[65], carry = 0;
    for (int i = 0; i < 64; i++) {
        int d = (int)(k_plain->limb[i / 16] >> (4 * (i % 16)) & 15) + carry;
        carry = d > 8;
        digit[i] = d - 16 * carry;
    }
    digit[64] = carry;
    G_(xyzz_from_affine)(&multiple[1], p);
    G_(xyzz_dbl)(&multiple[2], &multiple[1]);
    for (int i = 3; i <= 8; i++)
        G_(xyzz_add_affine)(&multiple[i], &multiple[i - 1], p);
    G_(xyzz_set_infinity)(&acc);
    for (int i = 64; i >= 0; i--) {
        for (int j = 0; j < 4 && !G_(xyzz_is_infinity)(&acc); j++)
            G_(xyzz_dbl)(&acc, &acc);
        if (digit[i] > 0)
            G_(xyzz_add)(&acc, &acc, &multiple[digit[i]]);
        if (digit[i] < 0) {
            XYZZ_t minus;
            G_(xyzz_neg)(&minus, &multiple[-digit[i]]);
            G_(xyzz_add)(&acc, &acc, &minus);
        }
    }
    G_(xyzz_to_affine)(r, &acc);
}

/* What is wrong with one point; NULL when nothing is. */
static const char *G_(fault)(const AFFINE_t *p, bool subgroup)
{
    if (!G_(table_is_reduced)(p))
        return "coordinate is not below the modulus";
    if (!G_(table_on_curve)(p))
        return "point is not on the curve";
    if (subgroup && !G_(table_in_subgroup)(p))
        return "point is not in the subgroup of order r";
    return NULL;
}

/* The first of n points with a fault; n when there is none. */
static size_t G_(first_fault)(const AFFINE_t *points, size_t n, bool subgroup)
{
    size_t on_curve = 0; /* that many from the front are known to be */
#if defined(MATH_ADX)
    if (cpu_variant() >= CPU_IFMA)
        on_curve = G_(on_curve_ifma)(points, n);
#endif
    for (size_t i = 0; subgroup && i < on_curve; i++)
        if (!G_(table_in_subgroup)(&points[i]))
            return i;
    for (size_t i = on_curve; i < n; i++)
        if (G_(fault)(&points[i], subgroup))
            return i;
    return n;
}

struct G_(check_work) {
    const AFFINE_t *points;
    bool subgroup;
    atomic_size_t first_bad;
};

static void G_(check_range)(void *arg, size_t begin, size_t end, unsigned worker)
{
    (void)worker;
    struct G_(check_work) *w = arg;
    size_t seen = atomic_load(&w->first_bad);
    if (begin >= seen)
        return;
    size_t first = begin + G_(first_fault)(w->points + begin, end - begin, w->subgroup);
    while (first < end && first < seen &&
           !atomic_compare_exchange_weak(&w->first_bad, &seen, first))
        ;
}

static size_t G_(table_check)(const void *points, size_t n, bool subgroup, struct pool *pool,
                              const char **why)
{
    struct G_(check_work) w = {.points = points, .subgroup = subgroup, .first_bad = n};
    pool_range(pool, G_(check_range), &w, n, 256);
    size_t first = atomic_load(&w.first_bad);
    if (first < n && why != NULL)
        *why = G_(fault)(&w.points[first], subgroup);
    return first;
}

static bool G_(decompress)(void *point, const void *x, bool larger)
{
    AFFINE_t p;
    F_(copy)(&p.x, x);
    G_(curve_rhs)(&p.y, &p.x);
    if (!F_(sqrt)(&p.y, &p.y))
        return false;
    if (F_(is_larger)(&p.y) != larger)
        F_(neg)(&p.y, &p.y);
    *(AFFINE_t *)point = p;
    return true;
}

static bool G_(is_larger)(const void *point)
{
    return F_(is_larger)(&((const AFFINE_t *)point)->y);
}

static const struct group G_(table) = {
    .name = GROUP_LABEL,
    .bytes = sizeof(AFFINE_t),
    .generator = &G_(generator).room,
    .is_infinity = G_(table_is_infinity),
    .is_reduced = G_(table_is_reduced),
    .on_curve = G_(table_on_curve),
    .in_subgroup = G_(table_in_subgroup),
    .equal = G_(table_equal),
    .add = G_(table_add),
    .neg = G_(table_neg),
    .mul = G_(table_mul),
    .msm = MATH_NAME(G_(msm)),
    .mul_fixed = MATH_NAME(G_(mul_fixed)),
    .check = G_(table_check),
};

#undef G_
#undef F_
#undef F_t
#undef AFFINE_t
#undef XYZZ_t
#undef GROUP
#undef GROUP_FIELD
#undef GROUP_LABEL
#undef GROUP_B
#undef GROUP_GENERATOR_X
#undef GROUP_GENERATOR_Y
