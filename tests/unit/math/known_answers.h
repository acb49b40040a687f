/* known_answers: the lines of vectors.txt for one curve, C its prefix; included by
 * test_known_answers.c. */
#define C_(name)  MATH_JOIN(C, name)
#define FR_(name) MATH_JOIN(C_(fr), name)
#define FQ_(name) MATH_JOIN(C_(fq), name)
#define F2_(name) MATH_JOIN(C_(fq2), name)
#define FT_(name) MATH_JOIN(C_(fq12), name)

static void C_(fr_of)(fr_t *r, const char *hex)
{
    parse_hex(r->limb, 4, hex);
    FR_(to_mont)(r, r);
}

/* n base-field elements, mont. */
static void C_(fq_of)(void *out, char **hex, int n)
{
    FQ_(t) *r = out;
    for (int i = 0; i < n; i++) {
        parse_hex(r[i].limb, sizeof(FQ_(t)) / 8, hex[i]);
        assert_true(FQ_(is_reduced)(&r[i]));
        FQ_(to_mont)(&r[i], &r[i]);
    }
}

static void C_(expect_fq)(const void *got, char **hex, int n)
{
    FQ_(t) want[12];
    C_(fq_of)(want, hex, n);
    assert_memory_equal(got, want, (size_t)n * sizeof(FQ_(t)));
}

/* n scalars, n points and their sum, for any n. */
static void C_(check_msm)(const struct group *g, int coordinates, char **v, int n_values)
{
    enum { MOST = 8 };
    fr_t k[MOST];
    FQ_(t) points[MOST * 4];
    point_t sum;
    int n = (n_values - coordinates) / (1 + coordinates);
    assert_int_equal(n * (1 + coordinates) + coordinates, n_values);
    assert_in_range(n, 1, MOST);
    for (int i = 0; i < n; i++)
        parse_hex(k[i].limb, 4, v[i]);
    C_(fq_of)(points, v + n, n * coordinates);
    struct err e;
    assert_int_equal(g->msm(&sum, points, k, NULL, (size_t)n, false, NULL, &e), ERR_OK);
    C_(expect_fq)(&sum, v + n + n * coordinates, coordinates);
}

static bool C_(answer)(const char *kind, char **v, int n_values)
{
    const struct curve *c = &MATH_NAME(C_(curve));
    fr_t a, b;
    FQ_(t) x, y;
    F2_(t) u, w;
    FT_(t) s, t;
    point_t p, p2, sum;
    if (strcmp(kind, "fr_mul") == 0) {
        C_(fr_of)(&a, v[0]);
        C_(fr_of)(&b, v[1]);
        c->fr_mul(&a, &a, &b);
        C_(fr_of)(&b, v[2]);
        assert_memory_equal(&a, &b, sizeof a);
    } else if (strcmp(kind, "fr_inv") == 0) {
        C_(fr_of)(&a, v[0]);
        c->fr_inv(&a, &a);
        C_(fr_of)(&b, v[1]);
        assert_memory_equal(&a, &b, sizeof a);
    } else if (strcmp(kind, "fq_mul") == 0) {
        C_(fq_of)(&x, v, 1);
        C_(fq_of)(&y, v + 1, 1);
        FQ_(mul)(&x, &x, &y);
        C_(expect_fq)(&x, v + 2, 1);
    } else if (strcmp(kind, "fq_inv") == 0) {
        C_(fq_of)(&x, v, 1);
        FQ_(inv)(&x, &x);
        C_(expect_fq)(&x, v + 1, 1);
    } else if (strcmp(kind, "fq2_mul") == 0) {
        C_(fq_of)(&u, v, 2);
        C_(fq_of)(&w, v + 2, 2);
        F2_(mul)(&u, &u, &w);
        C_(expect_fq)(&u, v + 4, 2);
    } else if (strcmp(kind, "fq2_inv") == 0) {
        C_(fq_of)(&u, v, 2);
        F2_(inv)(&u, &u);
        C_(expect_fq)(&u, v + 2, 2);
    } else if (strcmp(kind, "fq12_mul") == 0) {
        C_(fq_of)(&s, v, 12);
        C_(fq_of)(&t, v + 12, 12);
        FT_(mul)(&s, &s, &t);
        C_(expect_fq)(&s, v + 24, 12);
    } else if (strcmp(kind, "fq12_sqr") == 0) {
        C_(fq_of)(&s, v, 12);
        FT_(sqr)(&s, &s);
        C_(expect_fq)(&s, v + 12, 12);
    } else if (strcmp(kind, "fq12_cyclotomic_sqr") == 0) {
        C_(fq_of)(&s, v, 12);
        FT_(cyclotomic_sqr)(&s, &s);
        C_(expect_fq)(&s, v + 12, 12);
    } else if (strcmp(kind, "fq12_inv") == 0) {
        C_(fq_of)(&s, v, 12);
        FT_(inv)(&s, &s);
        C_(expect_fq)(&s, v + 12, 12);
    } else if (strcmp(kind, "fq12_frobenius") == 0) {
        C_(fq_of)(&s, v, 12);
        FT_(frobenius)(&s, &s);
        C_(expect_fq)(&s, v + 12, 12);
    } else if (strcmp(kind, "fq12_frobenius2") == 0) {
        C_(fq_of)(&s, v, 12);
        FT_(frobenius2)(&s, &s);
        C_(expect_fq)(&s, v + 12, 12);
    } else if (strcmp(kind, "g1_mul") == 0) {
        parse_hex(a.limb, 4, v[0]);
        c->g1->mul(&p, c->g1->generator, &a);
        C_(expect_fq)(&p, v + 1, 2);
    } else if (strcmp(kind, "g2_mul") == 0) {
        parse_hex(a.limb, 4, v[0]);
        c->g2->mul(&p, c->g2->generator, &a);
        C_(expect_fq)(&p, v + 1, 4);
    } else if (strcmp(kind, "g1_add") == 0) {
        C_(fq_of)(&p, v, 2);
        C_(fq_of)(&p2, v + 2, 2);
        c->g1->add(&sum, &p, &p2);
        C_(expect_fq)(&sum, v + 4, 2);
    } else if (strcmp(kind, "g2_add") == 0) {
        C_(fq_of)(&p, v, 4);
        C_(fq_of)(&p2, v + 4, 4);
        c->g2->add(&sum, &p, &p2);
        C_(expect_fq)(&sum, v + 8, 4);
    } else if (strcmp(kind, "g1_msm") == 0) {
        C_(check_msm)(c->g1, 2, v, n_values);
    } else if (strcmp(kind, "g2_msm") == 0) {
        C_(check_msm)(c->g2, 4, v, n_values);
    } else if (strcmp(kind, "g1_subgroup") == 0) {
        C_(fq_of)(&p, v, 2);
        assert_true(c->g1->on_curve(&p));
        assert_int_equal(c->g1->in_subgroup(&p), v[2][0] == '1');
    } else if (strcmp(kind, "g2_subgroup") == 0) {
        C_(fq_of)(&p, v, 4);
        assert_true(c->g2->on_curve(&p));
        assert_int_equal(c->g2->in_subgroup(&p), v[4][0] == '1');
    } else if (strcmp(kind, "g1_larger") == 0) {
        C_(fq_of)(&p, v, 2);
        bool larger = v[2][0] == '1';
        assert_int_equal(c->g1_is_larger(&p), larger);
        assert_true(c->g1_decompress(&sum, &p, larger));
        assert_memory_equal(&sum, &p, c->g1->bytes);
    } else if (strcmp(kind, "g2_larger") == 0) {
        C_(fq_of)(&p, v, 4);
        bool larger = v[4][0] == '1';
        assert_int_equal(c->g2_is_larger(&p), larger);
        assert_true(c->g2_decompress(&sum, &p, larger));
        assert_memory_equal(&sum, &p, c->g2->bytes);
    } else if (strcmp(kind, "pairing") == 0) {
        FQ_(t) gt[12];
        C_(fq_of)(&p, v, 2);
        C_(fq_of)(&p2, v + 2, 4);
        c->pairing(gt, &p, &p2);
        c->fq_to_mont(gt, gt, 12);
        C_(expect_fq)(gt, v + 6, 12);
    } else {
        return false;
    }
    return true;
}

#undef C_
#undef FR_
#undef FQ_
#undef F2_
#undef FT_
#undef C
