/* group_tests: the laws of an instance of group_template.h, over random points of the whole curve
 * and the edges. Included once per group with GROUP its prefix, F its field's, and TABLE its struct
 * group. */
#define G_(name) MATH_JOIN(GROUP, name)
#define F_(name) MATH_JOIN(F, name)
#define A_t      G_(affine_t)
#define X_t      G_(xyzz_t)
#define J_t      G_(jacobian_t)

static void G_(random_point)(A_t *p)
{
    fr_t k = {{seed_next(), seed_next(), seed_next(), seed_next()}};
    (TABLE)->mul(p, (TABLE)->generator, &k);
}

/* The same point with another denominator. */
static void G_(disguise)(X_t *r, const A_t *p)
{
    F_(t) l, ll;
    G_(xyzz_from_affine)(r, p);
    do {
        for (unsigned i = 0; i < sizeof l / 8; i++)
            ((uint64_t *)&l)[i] = seed_next() >> (i % 4 == 3 || i == 5 || i == 11 ? 4 : 0);
    } while (!F_(is_reduced)(&l) || F_(is_zero)(&l));
    F_(sqr)(&ll, &l);
    F_(mul)(&r->x, &r->x, &ll);
    F_(mul)(&r->zz, &r->zz, &ll);
    F_(mul)(&ll, &ll, &l);
    F_(mul)(&r->y, &r->y, &ll);
    F_(mul)(&r->zzz, &r->zzz, &ll);
}

static void G_(expect)(const X_t *got, const A_t *want)
{
    A_t a;
    G_(xyzz_to_affine)(&a, got);
    assert_true(G_(affine_equal)(&a, want));
}

/* Every way to add two points, against the textbook's chord and tangent over affine coordinates. */
static void G_(textbook_add)(A_t *r, const A_t *p, const A_t *q)
{
    F_(t) slope, t, x, y;
    if (G_(affine_is_infinity)(p) || G_(affine_is_infinity)(q)) {
        *r = G_(affine_is_infinity)(p) ? *q : *p;
        return;
    }
    if (F_(equal)(&p->x, &q->x)) {
        if (!F_(equal)(&p->y, &q->y) || F_(is_zero)(&p->y)) {
            G_(affine_set_infinity)(r);
            return;
        }
        F_(sqr)(&slope, &p->x);
        F_(add)(&t, &slope, &slope);
        F_(add)(&slope, &slope, &t);
        F_(add)(&t, &p->y, &p->y);
    } else {
        F_(sub)(&slope, &q->y, &p->y);
        F_(sub)(&t, &q->x, &p->x);
    }
    F_(inv)(&t, &t);
    F_(mul)(&slope, &slope, &t);
    F_(sqr)(&x, &slope);
    F_(sub)(&x, &x, &p->x);
    F_(sub)(&x, &x, &q->x);
    F_(sub)(&t, &p->x, &x);
    F_(mul)(&y, &slope, &t);
    F_(sub)(&r->y, &y, &p->y);
    r->x = x;
}

static void G_(check_sums)(const A_t *p, const A_t *q)
{
    A_t want, minus, got;
    X_t xp, xq, r;
    J_t jp, j;
    G_(textbook_add)(&want, p, q);
    G_(disguise)(&xp, p);
    G_(disguise)(&xq, q);
    G_(xyzz_add)(&r, &xp, &xq);
    G_(expect)(&r, &want);
    G_(xyzz_add_affine)(&r, &xp, q);
    G_(expect)(&r, &want);
    G_(affine_neg)(&minus, q);
    G_(xyzz_sub_affine)(&r, &xp, &minus);
    G_(expect)(&r, &want);
    G_(xyzz_from_affine)(&r, p);
    G_(xyzz_add_affine)(&r, &r, q);
    G_(expect)(&r, &want);
    r = xp;
    G_(xyzz_add)(&r, &r, &xq); /* onto the first operand */
    G_(expect)(&r, &want);
    r = xq;
    G_(xyzz_add)(&r, &xp, &r); /* onto the second */
    G_(expect)(&r, &want);
    (TABLE)->add(&got, p, q);
    assert_true((TABLE)->equal(&got, &want));
    /* Jacobian; the denominator of 2 p - p is not one. */
    G_(jacobian_from_affine)(&jp, p);
    G_(jacobian_dbl)(&jp, &jp);
    G_(affine_neg)(&minus, p);
    G_(jacobian_add_affine)(&jp, &jp, &minus);
    assert_true(G_(jacobian_equals_affine)(&jp, p));
    G_(jacobian_add_affine)(&j, &jp, q);
    G_(jacobian_to_affine)(&got, &j);
    assert_true(G_(affine_equal)(&got, &want));
    assert_true(G_(jacobian_equals_affine)(&j, &want));
    G_(xyzz_from_jacobian)(&r, &j);
    G_(expect)(&r, &want);
    assert_int_equal(G_(xyzz_equal)(&xp, &xq), G_(affine_equal)(p, q));
    assert_int_equal(G_(jacobian_equals_affine)(&jp, q), G_(affine_equal)(p, q));
}

static void G_(test_laws)(void **state)
{
    (void)state;
    A_t infinity, p, q, s, want;
    G_(affine_set_infinity)(&infinity);
    for (int round = 0; round < 40; round++) {
        G_(random_point)(&p);
        G_(random_point)(&q);
        assert_true((TABLE)->on_curve(&p));
        const A_t *edge[] = {&infinity, &p, &q};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                G_(check_sums)(edge[i], edge[j]);
        G_(affine_neg)(&s, &p);
        G_(check_sums)(&p, &s);
        G_(check_sums)(&s, &p);

        /* Doublings. */
        X_t x, r;
        J_t j;
        G_(textbook_add)(&want, &p, &p);
        G_(disguise)(&x, &p);
        G_(xyzz_dbl)(&r, &x);
        G_(expect)(&r, &want);
        G_(xyzz_dbl)(&x, &x);
        G_(expect)(&x, &want);
        G_(xyzz_dbl_affine)(&r, &p);
        G_(expect)(&r, &want);
        G_(jacobian_from_affine)(&j, &p);
        G_(jacobian_dbl)(&j, &j);
        assert_true(G_(jacobian_equals_affine)(&j, &want));
        assert_false(G_(jacobian_equals_affine)(&j, &infinity));
        G_(jacobian_neg)(&j, &j);
        G_(affine_neg)(&want, &want);
        assert_true(G_(jacobian_equals_affine)(&j, &want));
    }
    X_t x;
    J_t j;
    G_(xyzz_set_infinity)(&x);
    G_(xyzz_dbl)(&x, &x);
    assert_true(G_(xyzz_is_infinity)(&x));
    G_(xyzz_dbl_affine)(&x, &infinity);
    assert_true(G_(xyzz_is_infinity)(&x));
    G_(jacobian_from_affine)(&j, &infinity);
    G_(jacobian_dbl)(&j, &j);
    assert_true(G_(jacobian_is_infinity)(&j));
    assert_true(G_(jacobian_equals_affine)(&j, &infinity));
}

/* (a + b) P = a P + b P, r P = infinity, and small and full multiples by both ways. */
static void G_(test_multiples)(void **state)
{
    (void)state;
    A_t p, a, b, sum, want;
    G_(random_point)(&p);
    fr_t k = {{0}};
    G_(affine_set_infinity)(&sum);
    for (k.limb[0] = 0; k.limb[0] < 40; k.limb[0]++) {
        J_t j;
        (TABLE)->mul(&a, &p, &k);
        assert_true(G_(affine_equal)(&a, &sum));
        G_(jacobian_mul)(&j, &p, k.limb, 1);
        assert_true(G_(jacobian_equals_affine)(&j, &sum));
        G_(textbook_add)(&sum, &sum, &p);
    }
    for (int round = 0; round < 20; round++) {
        uint64_t l[4] = {seed_next(), seed_next(), seed_next(), seed_next()};
        if (round == 0)
            memset(l, 0xff, sizeof l);
        J_t j;
        k = (fr_t){{l[0], l[1], l[2], l[3]}};
        (TABLE)->mul(&want, &p, &k);
        G_(jacobian_mul)(&j, &p, l, 4);
        assert_true(G_(jacobian_equals_affine)(&j, &want));
        fr_t half = {
            {l[0] >> 1 | l[1] << 63, l[1] >> 1 | l[2] << 63, l[2] >> 1 | l[3] << 63, l[3] >> 1}};
        fr_t rest = {{l[0] & 1}};
        (TABLE)->mul(&a, &p, &half);
        G_(textbook_add)(&a, &a, &a);
        (TABLE)->mul(&b, &p, &rest);
        G_(textbook_add)(&sum, &a, &b);
        assert_true(G_(affine_equal)(&sum, &want));
    }
    (TABLE)->mul(&a, &p, ORDER);
    assert_true(G_(affine_is_infinity)(&a));
    G_(affine_set_infinity)(&a);
    (TABLE)->mul(&a, &a, &k);
    assert_true(G_(affine_is_infinity)(&a));
}

static void G_(test_batch_to_affine)(void **state)
{
    (void)state;
    enum { N = 37 };
    A_t p[N], out[N];
    X_t in[N];
    memset(in, 0, sizeof in);
    F_(t) scratch[N];
    for (size_t n = 0; n <= N; n += n < 3 ? 1 : 17) {
        for (size_t i = 0; i < n; i++) {
            if (seed_next() % 4 == 0)
                G_(affine_set_infinity)(&p[i]);
            else
                G_(random_point)(&p[i]);
            if (G_(affine_is_infinity)(&p[i]))
                G_(xyzz_set_infinity)(&in[i]);
            else
                G_(disguise)(&in[i], &p[i]);
        }
        G_(xyzz_batch_to_affine)(out, in, n, scratch);
        for (size_t i = 0; i < n; i++)
            assert_true(G_(affine_equal)(&out[i], &p[i]));
    }
    G_(xyzz_set_infinity)(&in[0]);
    G_(xyzz_batch_to_affine)(out, in, 1, scratch);
    assert_true(G_(affine_is_infinity)(&out[0]));
}

#undef G_
#undef F_
#undef A_t
#undef X_t
#undef J_t
#undef GROUP
#undef F
#undef TABLE
#undef ORDER
