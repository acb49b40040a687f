/* field_tests: every function of field_template.h against GMP, for the field FIELD of N limbs. */
#include <stdlib.h>

#define F_(name) MATH_JOIN(FIELD, name)
#define F_t      F_(t)
#define W_t      F_(wide_t)
enum { F_(n_limbs) = sizeof(F_t) / 8 };

static void F_(to_mpz)(mpz_t z, const uint64_t *limb, size_t n)
{
    mpz_import(z, n, -1, 8, 0, 0, limb);
}

/* An edge now and then, else uniform; always reduced. */
static void F_(random)(F_t *r)
{
    mpz_t z, q;
    mpz_inits(z, q, NULL);
    F_(to_mpz)(q, F_(modulus), F_(n_limbs));
    uint64_t raw[F_(n_limbs)];
    for (int i = 0; i < F_(n_limbs); i++)
        raw[i] = seed_next() % 8 == 0 ? 0 - (seed_next() & 1) : seed_next();
    F_(to_mpz)(z, raw, F_(n_limbs));
    switch (seed_next() % 16) {
    case 0:
        mpz_set_ui(z, seed_next() % 3);
        break;
    case 1:
        mpz_sub_ui(z, q, 1 + seed_next() % 3);
        break;
    default:
        mpz_mod(z, z, q);
    }
    F_(zero)(r);
    mpz_export(r->limb, NULL, -1, 8, 0, 0, z);
    mpz_clears(z, q, NULL);
}

static void F_(expect)(const uint64_t *limb, size_t n, const mpz_t want, const char *what)
{
    mpz_t got;
    mpz_init(got);
    F_(to_mpz)(got, limb, n);
    if (mpz_cmp(got, want) != 0) {
        gmp_printf("%s: got %Zx want %Zx\n", what, got, want);
        fail_msg("%s differs from GMP", what);
    }
    mpz_clear(got);
}

static void F_(test_against_gmp)(void **state)
{
    (void)state;
    mpz_t q, radix, radix_inv, a, b, z, qr;
    mpz_inits(q, radix, radix_inv, a, b, z, qr, NULL);
    F_(to_mpz)(q, F_(modulus), F_(n_limbs));
    mpz_ui_pow_ui(radix, 2, 64 * F_(n_limbs));
    mpz_invert(radix_inv, radix, q);
    mpz_mul(qr, q, radix);
    for (int round = 0; round < 3000; round++) {
        F_t x, y, r;
        W_t w, v;
        F_(random)(&x);
        F_(random)(&y);
        F_(to_mpz)(a, x.limb, F_(n_limbs));
        F_(to_mpz)(b, y.limb, F_(n_limbs));
#define CHECK(call, what, ...)                                                                     \
    do {                                                                                           \
        call;                                                                                      \
        __VA_ARGS__;                                                                               \
        mpz_mod(z, z, q);                                                                          \
        F_(expect)(r.limb, F_(n_limbs), z, what);                                                  \
    } while (0)
        CHECK(F_(add)(&r, &x, &y), "add", mpz_add(z, a, b));
        CHECK(F_(sub)(&r, &x, &y), "sub", mpz_sub(z, a, b));
        CHECK(F_(neg)(&r, &x), "neg", mpz_neg(z, a));
        CHECK(F_(dbl)(&r, &x), "dbl", mpz_mul_ui(z, a, 2));
        CHECK(F_(mul)(&r, &x, &y), "mul", mpz_mul(z, a, b); mpz_mul(z, z, radix_inv));
        CHECK(F_(sqr)(&r, &x), "sqr", mpz_mul(z, a, a); mpz_mul(z, z, radix_inv));
        CHECK(F_(to_mont)(&r, &x), "to_mont", mpz_mul(z, a, radix));
        CHECK(F_(from_mont)(&r, &x), "from_mont", mpz_mul(z, a, radix_inv));
        CHECK(F_(half)(&r, &x); F_(dbl)(&r, &r), "half", mpz_set(z, a));
        CHECK(F_(inv)(&r, &x), "inv", mpz_mul(z, radix, radix);
              if (mpz_sgn(a) == 0 || mpz_invert(b, a, q) == 0) mpz_set_ui(b, 0); mpz_mul(z, z, b));
        F_(to_mpz)(b, y.limb, F_(n_limbs));

        /* The result may be an operand. */
        CHECK(r = x; F_(mul)(&r, &r, &r), "mul in place", mpz_mul(z, a, a);
              mpz_mul(z, z, radix_inv));
        CHECK(r = y; F_(mul)(&r, &x, &r), "mul onto b", mpz_mul(z, a, b); mpz_mul(z, z, radix_inv));
        CHECK(r = y; F_(sub)(&r, &x, &r), "sub onto b", mpz_sub(z, a, b));
        CHECK(r = x; F_(add)(&r, &r, &r), "add in place", mpz_add(z, a, a));

        /* Any limbs as the second factor. */
        F_t any;
        for (int i = 0; i < F_(n_limbs); i++)
            any.limb[i] = round % 5 == 0 ? UINT64_MAX : seed_next();
        F_(to_mpz)(b, any.limb, F_(n_limbs));
        CHECK(F_(mul)(&r, &x, &any), "mul by any limbs", mpz_mul(z, a, b);
              mpz_mul(z, z, radix_inv));
        CHECK(F_(to_mont)(&r, &any), "to_mont of any limbs", mpz_mul(z, b, radix));
        assert_int_equal(F_(is_reduced)(&any), mpz_cmp(b, q) < 0);

        /* Double width. */
        F_(mul_wide)(&w, &any, &x);
        mpz_mul(z, b, a);
        F_(expect)(w.limb, 2 * F_(n_limbs), z, "mul_wide");
        F_(sqr_wide)(&w, &any);
        mpz_mul(z, b, b);
        F_(expect)(w.limb, 2 * F_(n_limbs), z, "sqr_wide");
        F_(mul_wide)(&w, &x, &y);
        F_(sqr_wide)(&v, &x);
        F_(to_mpz)(b, y.limb, F_(n_limbs));
        F_(wide_add)(&w, &w, &v);
        mpz_mul(z, a, b);
        mpz_addmul(z, a, a);
        F_(expect)(w.limb, 2 * F_(n_limbs), z, "wide_add");
        F_(wide_sub)(&w, &w, &v);
        mpz_submul(z, a, a);
        F_(expect)(w.limb, 2 * F_(n_limbs), z, "wide_sub");
        F_(wide_sub_mod)(&w, &w, &v);
        mpz_submul(z, a, a);
        mpz_mod(z, z, qr);
        F_(expect)(w.limb, 2 * F_(n_limbs), z, "wide_sub_mod");
        CHECK(F_(reduce)(&r, &w), "reduce", mpz_mul(z, z, radix_inv));
        F_(add_lazy)(&r, &x, &y);
        mpz_add(z, a, b);
        F_(expect)(r.limb, F_(n_limbs), z, "add_lazy");

        assert_int_equal(F_(equal)(&x, &y), mpz_cmp(a, b) == 0);
        assert_int_equal(F_(cmp)(&x, &y), (mpz_cmp(a, b) > 0) - (mpz_cmp(a, b) < 0));
        assert_int_equal(F_(is_zero)(&x), mpz_sgn(a) == 0);
        mpz_mod(z, radix, q);
        assert_int_equal(F_(is_one)(&x), mpz_cmp(a, z) == 0);
        mpz_mul(z, a, radix_inv);
        mpz_mod(z, z, q);
        mpz_mul_ui(z, z, 2);
        assert_int_equal(F_(is_larger)(&x), mpz_cmp(z, q) > 0);
    }
    mpz_clears(q, radix, radix_inv, a, b, z, qr, NULL);
}

static void F_(test_edges)(void **state)
{
    (void)state;
    F_t zero, one, minus_one, t;
    F_(zero)(&zero);
    F_(set_one)(&one);
    assert_true(F_(is_zero)(&zero) && F_(is_one)(&one) && !F_(is_zero)(&one));
    F_(neg)(&t, &zero);
    assert_true(F_(is_zero)(&t));
    F_(neg)(&minus_one, &one);
    F_(mul)(&t, &minus_one, &minus_one);
    assert_true(F_(is_one)(&t));
    F_(add)(&t, &minus_one, &one);
    assert_true(F_(is_zero)(&t));
    F_(inv)(&t, &zero);
    assert_true(F_(is_zero)(&t));
    F_(inv)(&t, &minus_one);
    assert_true(F_(equal)(&t, &minus_one));

    /* Inverses of +-2^k and +-(2^k - 1): the longest runs of bits that the divsteps can meet. */
    F_t power = {{1}};
    for (; F_(is_reduced)(&power); limbs_add(power.limb, power.limb, power.limb, F_(n_limbs)))
        for (int i = 0; i < 4; i++) {
            F_t x = power, unit = {{1}}, product;
            if (i & 1)
                F_(sub)(&x, &x, &unit);
            if (i & 2)
                F_(neg)(&x, &x);
            F_(inv)(&t, &x);
            F_(mul)(&product, &t, &x);
            assert_true(F_(is_one)(&product) || (F_(is_zero)(&x) && F_(is_zero)(&t)));
        }

    /* p - 1, p, p + 1 and all ones as limbs. */
    F_t p;
    for (int i = 0; i < F_(n_limbs); i++)
        p.limb[i] = F_(modulus)[i];
    assert_false(F_(is_reduced)(&p));
    p.limb[0] -= 1;
    assert_true(F_(is_reduced)(&p));
    p.limb[0] += 2;
    assert_false(F_(is_reduced)(&p));
    for (int i = 0; i < F_(n_limbs); i++)
        p.limb[i] = UINT64_MAX;
    assert_false(F_(is_reduced)(&p));
    assert_true(F_(is_reduced)(&zero));
}

#if defined(FIELD_HAS_SQRT)
static void F_(test_sqrt)(void **state)
{
    (void)state;
    int squares = 0;
    for (int round = 0; round < 200; round++) {
        F_t x, s, r;
        F_(random)(&x);
        F_(sqr)(&s, &x);
        assert_true(F_(sqrt)(&r, &s));
        F_(neg)(&s, &r);
        assert_true(F_(equal)(&r, &x) || F_(equal)(&s, &x));
        mpz_t q, z;
        mpz_inits(q, z, NULL);
        F_(to_mpz)(q, F_(modulus), F_(n_limbs));
        F_(from_mont)(&s, &x);
        F_(to_mpz)(z, s.limb, F_(n_limbs));
        bool is_square = F_(sqrt)(&r, &x);
        assert_int_equal(is_square, mpz_legendre(z, q) >= 0);
        squares += is_square;
        mpz_clears(q, z, NULL);
    }
    assert_in_range(squares, 50, 150);
}
#undef FIELD_HAS_SQRT
#endif

#undef CHECK
#undef F_
#undef F_t
#undef W_t
#undef FIELD
