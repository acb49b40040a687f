/* tower_tests: the laws of Fq2, Fq6 and Fq12 of one curve, C its prefix; included by test_tower.c.
 *
 * Each level's product is held against the schoolbook's over the level below (Fq itself is tested
 * against GMP), and every shortcut against the general product: squares, sparse products, squares
 * and powers in the cyclotomic subgroup, and Frobenius against the power of q. */
#define C_(name)  MATH_JOIN(C, name)
#define FQ_(name) MATH_JOIN(C_(fq), name)
#define F2_(name) MATH_JOIN(C_(fq2), name)
#define F6_(name) MATH_JOIN(C_(fq6), name)
#define FT_(name) MATH_JOIN(C_(fq12), name)
enum { C_(q_limbs) = sizeof(FQ_(t)) / 8 };

/* Coordinates are uniform, but for one in eight that is 0, 1 or q - 1. */
static void C_(random_coordinates)(void *out, size_t bytes)
{
    FQ_(t) *x = out, one;
    FQ_(set_one)(&one);
    for (size_t i = 0; i < bytes / sizeof *x; i++) {
        switch (seed_next() % 24) {
        case 0:
            FQ_(zero)(&x[i]);
            break;
        case 1:
            x[i] = one;
            break;
        case 2:
            FQ_(neg)(&x[i], &one);
            break;
        default:
            for (unsigned k = 0; k < C_(q_limbs); k++)
                x[i].limb[k] = seed_next();
            FQ_(to_mont)(&x[i], &x[i]);
        }
    }
}
#define RANDOM(x) C_(random_coordinates)(&(x), sizeof(x))

/* xi as the curve's definition has it: XI_C0 + u. */
static void C_(set_xi)(F2_(t) * xi)
{
    FQ_(t) small = {{XI_C0}};
    FQ_(to_mont)(&xi->c0, &small);
    FQ_(set_one)(&xi->c1);
}

/* (a0 + a1 u)(b0 + b1 u), u^2 = -1, by four products. */
static void C_(schoolbook2)(F2_(t) * r, const F2_(t) * a, const F2_(t) * b)
{
    FQ_(t) t;
    F2_(t) p;
    FQ_(mul)(&p.c0, &a->c0, &b->c0);
    FQ_(mul)(&t, &a->c1, &b->c1);
    FQ_(sub)(&p.c0, &p.c0, &t);
    FQ_(mul)(&p.c1, &a->c0, &b->c1);
    FQ_(mul)(&t, &a->c1, &b->c0);
    FQ_(add)(&p.c1, &p.c1, &t);
    *r = p;
}

/* v^3 = xi, by nine products. */
static void C_(schoolbook6)(F6_(t) * r, const F6_(t) * a, const F6_(t) * b)
{
    const F2_(t) * x[3] = {&a->c0, &a->c1, &a->c2}, *y[3] = {&b->c0, &b->c1, &b->c2};
    F2_(t) sum[5], xi, t;
    memset(sum, 0, sizeof sum);
    C_(set_xi)(&xi);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            C_(schoolbook2)(&t, x[i], y[j]);
            F2_(add)(&sum[i + j], &sum[i + j], &t);
        }
    for (int i = 3; i < 5; i++) {
        C_(schoolbook2)(&t, &sum[i], &xi);
        F2_(add)(&sum[i - 3], &sum[i - 3], &t);
    }
    *r = (F6_(t)){sum[0], sum[1], sum[2]};
}

/* w^2 = v, by four products. */
static void C_(schoolbook12)(FT_(t) * r, const FT_(t) * a, const FT_(t) * b)
{
    F6_(t) v, t;
    FT_(t) p;
    F6_(zero)(&v);
    F2_(set_one)(&v.c1);
    C_(schoolbook6)(&p.c0, &a->c0, &b->c0);
    C_(schoolbook6)(&t, &a->c1, &b->c1);
    C_(schoolbook6)(&t, &t, &v);
    F6_(add)(&p.c0, &p.c0, &t);
    C_(schoolbook6)(&p.c1, &a->c0, &b->c1);
    C_(schoolbook6)(&t, &a->c1, &b->c0);
    F6_(add)(&p.c1, &p.c1, &t);
    *r = p;
}

/* add and sub coordinate by coordinate: Fq12 has no such functions, its users need none. */
static void C_(sum12)(FT_(t) * r, const FT_(t) * a, const FT_(t) * b)
{
    F6_(add)(&r->c0, &a->c0, &b->c0);
    F6_(add)(&r->c1, &a->c1, &b->c1);
}

#define EQUAL(F, x, y) assert_true(MATH_JOIN(F, equal)(&(x), &(y)))

/* What holds in every ring, and inverses: F the level's prefix, `schoolbook` and `sum` as above. */
#define CHECK_RING(F, schoolbook, sum)                                                             \
    do {                                                                                           \
        MATH_JOIN(F, t) a, b, c, x, y, z, one, zero;                                               \
        RANDOM(a), RANDOM(b), RANDOM(c);                                                           \
        MATH_JOIN(F, set_one)(&one);                                                               \
        memset(&zero, 0, sizeof zero);                                                             \
        assert_true(MATH_JOIN(F, is_one)(&one) && !MATH_JOIN(F, is_zero)(&one));                   \
        assert_true(MATH_JOIN(F, is_zero)(&zero) && !MATH_JOIN(F, is_one)(&zero));                 \
        MATH_JOIN(F, mul)(&x, &a, &b);                                                             \
        schoolbook(&y, &a, &b);                                                                    \
        EQUAL(F, x, y);                                                                            \
        MATH_JOIN(F, mul)(&y, &b, &a); /* commutes */                                              \
        EQUAL(F, x, y);                                                                            \
        MATH_JOIN(F, mul)(&x, &x, &c); /* associates, in place */                                  \
        MATH_JOIN(F, mul)(&y, &b, &c);                                                             \
        MATH_JOIN(F, mul)(&y, &a, &y);                                                             \
        EQUAL(F, x, y);                                                                            \
        sum(&x, &a, &b); /* distributes */                                                         \
        MATH_JOIN(F, mul)(&x, &x, &c);                                                             \
        MATH_JOIN(F, mul)(&y, &a, &c);                                                             \
        MATH_JOIN(F, mul)(&z, &b, &c);                                                             \
        sum(&y, &y, &z);                                                                           \
        EQUAL(F, x, y);                                                                            \
        MATH_JOIN(F, mul)(&x, &a, &one);                                                           \
        EQUAL(F, x, a);                                                                            \
        MATH_JOIN(F, mul)(&x, &a, &zero);                                                          \
        EQUAL(F, x, zero);                                                                         \
        schoolbook(&y, &a, &a);                                                                    \
        MATH_JOIN(F, sqr)(&x, &a);                                                                 \
        EQUAL(F, x, y);                                                                            \
        x = a;                                                                                     \
        MATH_JOIN(F, sqr)(&x, &x);                                                                 \
        EQUAL(F, x, y);                                                                            \
        x = a;                                                                                     \
        MATH_JOIN(F, mul)(&x, &x, &x);                                                             \
        EQUAL(F, x, y);                                                                            \
        MATH_JOIN(F, inv)(&x, &a);                                                                 \
        schoolbook(&y, &x, &a);                                                                    \
        assert_true(MATH_JOIN(F, is_one)(&y) || MATH_JOIN(F, is_zero)(&a));                        \
        y = a;                                                                                     \
        MATH_JOIN(F, inv)(&y, &y);                                                                 \
        EQUAL(F, x, y);                                                                            \
        MATH_JOIN(F, inv)(&x, &zero);                                                              \
        EQUAL(F, x, zero);                                                                         \
    } while (0)

/* r = a^k by squaring and the general product. */
#define POWER(F, r, a, k, n_limbs)                                                                 \
    do {                                                                                           \
        MATH_JOIN(F, t) base_ = (a);                                                               \
        MATH_JOIN(F, set_one)(&(r));                                                               \
        for (size_t i_ = 64 * (size_t)(n_limbs); i_-- > 0;) {                                      \
            MATH_JOIN(F, mul)(&(r), &(r), &(r));                                                   \
            if ((k)[i_ / 64] >> (i_ % 64) & 1)                                                     \
                MATH_JOIN(F, mul)(&(r), &(r), &base_);                                             \
        }                                                                                          \
    } while (0)

static void C_(test_fq2)(void **state)
{
    (void)state;
    int squares = 0;
    for (int round = 0; round < 300; round++) {
        CHECK_RING(C_(fq2), C_(schoolbook2), F2_(add));
        F2_(t) a, b, x, y, xi, zero;
        FQ_(t) k;
        RANDOM(a), RANDOM(b), RANDOM(k);
        F2_(zero)(&zero);
        F2_(add)(&x, &a, &b);
        F2_(sub)(&x, &x, &b);
        EQUAL(C_(fq2), x, a);
        F2_(neg)(&x, &a);
        F2_(add)(&x, &x, &a);
        EQUAL(C_(fq2), x, zero);
        F2_(dbl)(&x, &a);
        F2_(add)(&y, &a, &a);
        EQUAL(C_(fq2), x, y);
        F2_(half)(&x, &x);
        EQUAL(C_(fq2), x, a);
        C_(set_xi)(&xi);
        C_(schoolbook2)(&y, &a, &xi);
        F2_(mul_xi)(&x, &a);
        EQUAL(C_(fq2), x, y);
        x = a;
        F2_(mul_xi)(&x, &x);
        EQUAL(C_(fq2), x, y);
        F2_(t) base = {k, zero.c0};
        C_(schoolbook2)(&y, &a, &base);
        F2_(mul_base)(&x, &a, &k);
        EQUAL(C_(fq2), x, y);
        F2_(conjugate)(&x, &a);
        C_(schoolbook2)(&y, &x, &a); /* the norm is in Fq */
        assert_true(FQ_(is_zero)(&y.c1));
        F2_(neg)(&x, &a);
        assert_true(F2_(is_zero)(&a) || F2_(is_larger)(&a) != F2_(is_larger)(&x));

        if (round >= 60)
            continue; /* the powers and roots below take longer */
        F2_(conjugate)(&x, &a);
        POWER(C_(fq2), y, a, FQ_(modulus), C_(q_limbs));
        EQUAL(C_(fq2), x, y);
        F2_(sqr)(&y, &a);
        assert_true(F2_(sqrt)(&x, &y));
        F2_(neg)(&y, &x);
        assert_true(F2_(equal)(&x, &a) || F2_(equal)(&y, &a));
        /* An element of Fq always has a root in Fq2; an element of Fq2 when its norm has one. */
        assert_true(F2_(sqrt)(&x, &base));
        F2_(sqr)(&x, &x);
        EQUAL(C_(fq2), x, base);
        F2_(conjugate)(&y, &a);
        C_(schoolbook2)(&y, &a, &y);
        FQ_(t) root;
        bool is_square = FQ_(sqrt)(&root, &y.c0);
        assert_int_equal(F2_(sqrt)(&x, &a), is_square);
        squares += is_square;
    }
    assert_in_range(squares, 8, 52);
}

static void C_(test_fq6)(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        CHECK_RING(C_(fq6), C_(schoolbook6), F6_(add));
        F6_(t) a, b, x, y, v, sparse, zero;
        F2_(t) k, l;
        RANDOM(a), RANDOM(b), RANDOM(k), RANDOM(l);
        F6_(zero)(&zero);
        F6_(add)(&x, &a, &b);
        F6_(sub)(&x, &x, &b);
        EQUAL(C_(fq6), x, a);
        F6_(neg)(&x, &a);
        F6_(add)(&x, &x, &a);
        EQUAL(C_(fq6), x, zero);
        F6_(dbl)(&x, &a);
        F6_(add)(&y, &a, &a);
        EQUAL(C_(fq6), x, y);
        v = zero;
        F2_(set_one)(&v.c1);
        C_(schoolbook6)(&y, &a, &v);
        F6_(mul_v)(&x, &a);
        EQUAL(C_(fq6), x, y);
        x = a;
        F6_(mul_v)(&x, &x);
        EQUAL(C_(fq6), x, y);
        sparse = zero;
        sparse.c0 = k;
        C_(schoolbook6)(&y, &a, &sparse);
        F6_(mul_fq2)(&x, &a, &k);
        EQUAL(C_(fq6), x, y);
        x = a;
        F6_(mul_fq2)(&x, &x, &x.c0); /* the factor may be a coordinate of the result */
        sparse.c0 = a.c0;
        C_(schoolbook6)(&y, &a, &sparse);
        EQUAL(C_(fq6), x, y);
        sparse = (F6_(t)){k, l, zero.c0};
        C_(schoolbook6)(&y, &a, &sparse);
        F6_(mul_01)(&x, &a, &k, &l);
        EQUAL(C_(fq6), x, y);
        x = a;
        F6_(mul_01)(&x, &x, &k, &l);
        EQUAL(C_(fq6), x, y);
        sparse = (F6_(t)){zero.c0, l, zero.c0};
        C_(schoolbook6)(&y, &a, &sparse);
        F6_(mul_1)(&x, &a, &l);
        EQUAL(C_(fq6), x, y);
        x = a;
        F6_(mul_1)(&x, &x, &l);
        EQUAL(C_(fq6), x, y);
    }
}

static void C_(test_fq12)(void **state)
{
    (void)state;
    for (int round = 0; round < 100; round++) {
        CHECK_RING(C_(fq12), C_(schoolbook12), C_(sum12));
        FT_(t) a, x, y, sparse;
        F2_(t) k, l, m, zero;
        RANDOM(a), RANDOM(k), RANDOM(l), RANDOM(m);
        F2_(zero)(&zero);
        sparse = (FT_(t)){{k, zero, zero}, {l, m, zero}};
        C_(schoolbook12)(&y, &a, &sparse);
        FT_(mul_034)(&x, &a, &k, &l, &m);
        EQUAL(C_(fq12), x, y);
        x = a;
        FT_(mul_034)(&x, &x, &k, &l, &m);
        EQUAL(C_(fq12), x, y);
        sparse = (FT_(t)){{k, l, zero}, {zero, m, zero}};
        C_(schoolbook12)(&y, &a, &sparse);
        FT_(mul_014)(&x, &a, &k, &l, &m);
        EQUAL(C_(fq12), x, y);
        x = a;
        FT_(mul_014)(&x, &x, &k, &l, &m);
        EQUAL(C_(fq12), x, y);
    }
}

static void C_(test_frobenius)(void **state)
{
    (void)state;
    for (int round = 0; round < 12; round++) {
        FT_(t) a, b, x, y, z;
        RANDOM(a), RANDOM(b);
        POWER(C_(fq12), y, a, FQ_(modulus), C_(q_limbs));
        FT_(frobenius)(&x, &a);
        EQUAL(C_(fq12), x, y);
        POWER(C_(fq12), z, y, FQ_(modulus), C_(q_limbs));
        FT_(frobenius2)(&x, &a);
        EQUAL(C_(fq12), x, z);
        x = a;
        FT_(frobenius2)(&x, &x);
        EQUAL(C_(fq12), x, z);
        /* a^(q^6) is the conjugate, a^(q^12) is a. */
        FT_(frobenius2)(&x, &x);
        FT_(frobenius2)(&x, &x);
        FT_(conjugate)(&y, &a);
        EQUAL(C_(fq12), x, y);
        for (int i = 0; i < 6; i++)
            FT_(frobenius)(&x, &x);
        EQUAL(C_(fq12), x, a);
        /* A homomorphism. */
        FT_(mul)(&x, &a, &b);
        FT_(frobenius)(&x, &x);
        FT_(frobenius)(&y, &a);
        FT_(frobenius)(&z, &b);
        FT_(mul)(&y, &y, &z);
        EQUAL(C_(fq12), x, y);
    }
}

static void C_(test_cyclotomic)(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        FT_(t) a, b, x, y;
        do
            RANDOM(a);
        while (FT_(is_zero)(&a));
        FT_(cyclotomic_sqr)(&x, &a);
        FT_(sqr)(&y, &a);
        assert_false(FT_(equal)(&x, &y)); /* only in the subgroup */

        /* b = a^((q^6 - 1)(q^2 + 1)) */
        FT_(inv)(&x, &a);
        FT_(conjugate)(&b, &a);
        FT_(mul)(&b, &b, &x);
        FT_(frobenius2)(&x, &b);
        FT_(mul)(&b, &b, &x);
        /* b^(q^4) b = b^(q^2) */
        FT_(frobenius2)(&x, &b);
        FT_(frobenius2)(&y, &x);
        FT_(mul)(&y, &y, &b);
        EQUAL(C_(fq12), x, y);

        FT_(cyclotomic_sqr)(&x, &b);
        C_(schoolbook12)(&y, &b, &b);
        EQUAL(C_(fq12), x, y);
        x = b;
        FT_(cyclotomic_sqr)(&x, &x);
        EQUAL(C_(fq12), x, y);
        FT_(conjugate)(&x, &b);
        FT_(mul)(&x, &x, &b);
        assert_true(FT_(is_one)(&x));
        const uint64_t exponents[] = {
            0, 1, 2, 3, UINT64_MAX, (uint64_t)1 << 63, seed_next(), seed_next() >> (round * 3)};
        for (size_t i = 0; i < sizeof exponents / sizeof exponents[0]; i++) {
            FT_(cyclotomic_pow)(&x, &b, exponents[i]);
            POWER(C_(fq12), y, b, &exponents[i], 1);
            EQUAL(C_(fq12), x, y);
        }
        x = b;
        FT_(cyclotomic_pow)(&x, &x, exponents[6]);
        POWER(C_(fq12), y, b, &exponents[6], 1);
        EQUAL(C_(fq12), x, y);
    }
}

#undef C_
#undef FQ_
#undef F2_
#undef F6_
#undef FT_
#undef RANDOM
#undef EQUAL
#undef CHECK_RING
#undef POWER
#undef XI_C0
#undef C
