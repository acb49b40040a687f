/* The trapdoor set-up and the generated circuits: keys of all forms give proofs that verify, and
 * the H basis is what its definition says, also where the field has no 2N-th root of unity. */
#include "fixture.h"
#include "generate.h"
#include "ntt.h"
#include "prepared.h"
#include "setup.h"
#include "setup_internal.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct curve *const all_curves[] = {&curve_bn254, &curve_bls12_381};

static void random_scalar(const struct curve *c, uint64_t *state, fr_t *mont)
{
    uint8_t bytes[64];
    for (size_t i = 0; i < sizeof bytes; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (uint8_t)(*state >> 56);
    }
    c->fr_reduce_512(mont, bytes);
    c->fr_to_mont(mont, mont, 1);
}

/* sum of x[i] at^i */
static fr_t value_at(const struct curve *c, const fr_t *x, size_t n, const fr_t *at)
{
    fr_t sum = {{0}};
    while (n-- > 0) {
        c->fr_mul(&sum, &sum, at);
        c->fr_add(&sum, &sum, &x[n]);
    }
    return sum;
}

static fr_t inner_product(const struct curve *c, const fr_t *x, const fr_t *y, size_t n)
{
    fr_t sum = {{0}}, t;
    for (size_t i = 0; i < n; i++) {
        c->fr_mul(&t, &x[i], &y[i]);
        c->fr_add(&sum, &sum, &t);
    }
    return sum;
}

static void test_lagrange_basis_evaluates_polynomials(void **state)
{
    (void)state;
    enum { K = 5, N = 1 << K };
    for (size_t i = 0; i < 2; i++) {
        const struct curve *c = all_curves[i];
        uint64_t seed = 1;
        struct err e = {0};
        fr_t x[N], basis[N], tau;
        random_scalar(c, &seed, &tau);
        for (size_t j = 0; j < N; j++)
            random_scalar(c, &seed, &x[j]);
        setup_lagrange(c, ROOT_SNARKJS, K, &tau, c->fr_one, c->fr_one, basis, NULL);
        fr_t want = value_at(c, x, N, &tau);
        struct ntt_domain *dom = ntt_domain_new(c, ROOT_SNARKJS, K, NULL, &e);
        must(e.code, &e);
        ntt_forward(dom, x, NULL);
        fr_t got = inner_product(c, x, basis, N);
        assert_memory_equal(&want, &got, sizeof got);
        ntt_domain_free(&dom);
    }
}

/* P = (x^N - 1) q(x) is determined by its values on the coset. shift 25 is the special last level
 * of snarkjs's keys (k = two-adicity), which no test can reach at its true size. */
static void test_coset_basis_evaluates_what_vanishes_on_the_domain(void **state)
{
    (void)state;
    enum { K = 4, N = 1 << K };
    for (size_t i = 0; i < 2; i++)
        for (int special = 0; special < 2; special++) {
            const struct curve *c = all_curves[i];
            uint64_t seed = 7;
            fr_t p[2 * N], q[N], basis[N], values[N], tau, shift, root;
            random_scalar(c, &seed, &tau);
            if (special) {
                fr_t plain = {{25}};
                c->fr_to_mont(&shift, &plain, 1);
            } else {
                c->fr_coset_shift(&shift, ROOT_SNARKJS, K);
            }
            memset(p, 0, sizeof p);
            for (size_t j = 0; j + 1 < N; j++) { /* degree of q <= N - 2 */
                random_scalar(c, &seed, &q[j]);
                c->fr_add(&p[j + N], &p[j + N], &q[j]);
                c->fr_sub(&p[j], &p[j], &q[j]);
            }
            c->fr_root(&root, ROOT_SNARKJS, K);
            fr_t x = shift;
            for (size_t j = 0; j < N; j++) {
                values[j] = value_at(c, p, 2 * N, &x);
                c->fr_mul(&x, &x, &root);
            }
            setup_coset_lagrange(c, ROOT_SNARKJS, K, &tau, &shift, c->fr_one, basis, NULL);
            fr_t want = value_at(c, p, 2 * N, &tau), got = inner_product(c, values, basis, N);
            assert_memory_equal(&want, &got, sizeof got);
        }
}

static void generate(const struct curve *c, uint32_t n, uint32_t n_public, double bits,
                     struct r1cs *r, fr_t **w)
{
    struct err e = {0};
    const struct generate_options o = {.curve = c,
                                       .n_constraints = n,
                                       .n_public = n_public,
                                       .density = 2.5,
                                       .bits = bits,
                                       .seed = 42};
    must(generate_circuit(&o, r, w, &e), &e);
}

static void test_generated_circuits_are_satisfied_and_as_asked(void **state)
{
    (void)state;
    static const double shares[] = {0, 0.3, 0.9, 1};
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 4; j++) {
            struct r1cs r;
            fr_t *w;
            struct err e = {0};
            enum { N = 3000, PUBLICS = 5 };
            generate(all_curves[i], N, PUBLICS, shares[j], &r, &w);
            must(matrix_check(r.curve, &r.a, NULL, &e), &e);
            must(matrix_check(r.curve, &r.b, NULL, &e), &e);
            must(matrix_check(r.curve, &r.c, NULL, &e), &e);
            assert_int_equal(r.a.n_rows, N);
            assert_int_equal(r.n_public_outputs, PUBLICS);
            assert_int_equal(matrix_first_unsatisfied(r.curve, &r.a, &r.b, &r.c, w, NULL), N);
            assert_int_equal(r.curve->fr_first_unreduced(w, r.n_wires), r.n_wires);
            size_t bits = 0;
            for (uint32_t k = 1; k < r.n_wires; k++)
                bits += w[k].limb[0] < 2 && !w[k].limb[1] && !w[k].limb[2] && !w[k].limb[3];
            double got = (double)bits / r.n_wires;
            if (got < shares[j] - 0.05 || got > shares[j] + 0.05)
                fail_msg("a share of %g is 0 or 1, asked for %g", got, shares[j]);
            /* one changed value is noticed, at the constraint that defines it */
            w[r.n_wires - 1].limb[0] ^= 2;
            size_t row = matrix_first_unsatisfied(r.curve, &r.a, &r.b, &r.c, w, NULL);
            assert_true(row < N);
            r1cs_free(&r);
            free(w);
        }
}

static void test_generated_circuits_are_the_same_everywhere(void **state)
{
    (void)state;
    struct r1cs r[2];
    fr_t *w[2];
    for (int i = 0; i < 2; i++)
        generate(&curve_bn254, 500, 1, 0.5, &r[i], &w[i]);
    assert_int_equal(r[0].n_wires, r[1].n_wires);
    assert_memory_equal(w[0], w[1], r[0].n_wires * sizeof(fr_t));
    for (int i = 0; i < 2; i++) {
        r1cs_free(&r[i]);
        free(w[i]);
    }
}

static void prove_and_verify(const struct circuit *ck, const fr_t *w)
{
    struct err e = {0};
    size_t n = (size_t)1 << ck->domain_log2;
    fr_t *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
    struct ntt_domain *dom = ntt_domain_new(ck->curve, ck->roots, ck->domain_log2, NULL, &e);
    must(e.code, &e);
    struct groth16_sums sums;
    struct proof proof;
    matrix_evaluate(ck->curve, &ck->a, w, a, n, NULL);
    matrix_evaluate(ck->curve, &ck->b, w, b, n, NULL);
    must(groth16_sums(ck, dom, w, a, b, &sums, NULL, NULL, &e), &e);
    groth16_assemble(ck, &sums, &proof);
    must(groth16_verify(&ck->vk, w + 1, &proof, &e), &e);
    ntt_domain_free(&dom);
    free(a);
    free(b);
}

static struct setup *set_up(const struct r1cs *r, enum root_convention roots, enum h_basis basis)
{
    struct err e = {0};
    const struct setup_options how = {.roots = roots, .h_basis = basis, .with_c = true};
    struct setup *s = setup_new(r, &how, NULL, &e);
    must(e.code, &e);
    return s;
}

static void test_keys_of_every_form_prove(void **state)
{
    (void)state;
    char directory[] = "/tmp/millrace-setup-XXXXXX", zkey[64], prepared[64], again[64];
    assert_non_null(mkdtemp(directory));
    snprintf(zkey, sizeof zkey, "%s/k.zkey", directory);
    snprintf(prepared, sizeof prepared, "%s/k.prepared", directory);
    snprintf(again, sizeof again, "%s/again.prepared", directory);
    for (size_t i = 0; i < 2; i++) {
        struct err e = {0};
        struct r1cs r;
        fr_t *w;
        generate(all_curves[i], 120, 7, 0.4, &r, &w);
        struct setup *s = set_up(&r, ROOT_SNARKJS, H_ODD_LAGRANGE);
        must(setup_write_zkey(s, zkey, NULL, NULL, NULL, &e), &e);
        struct circuit *ck = zkey_load_circuit(zkey, CHECK_SUBGROUP, NULL, &e);
        must(e.code, &e);
        assert_int_equal(ck->domain_log2, 7); /* 120 + 7 + 1 rows: full */
        assert_int_equal(ck->n_constraints, 120);
        prove_and_verify(ck, w);
        circuit_free(&ck);

        /* Straight into prepared form is what preparing the .zkey gives, byte for byte. */
        uint8_t digest[32], other[32];
        must(setup_write_prepared(s, prepared, digest, NULL, NULL, NULL, &e), &e);
        ck = circuit_map(prepared, &e);
        must(e.code, &e);
        must(circuit_check(ck, prepared, NULL, &e), &e);
        assert_true(ck->has_c);
        assert_int_equal(matrix_first_unsatisfied(ck->curve, &ck->a, &ck->b, &ck->c, w, NULL),
                         ck->a.n_rows);
        prove_and_verify(ck, w);
        circuit_free(&ck);
        struct setup *plain = set_up(&r, ROOT_SNARKJS, H_ODD_LAGRANGE);
        plain->options.with_c = false;
        must(setup_write_prepared(plain, prepared, digest, NULL, NULL, NULL, &e), &e);
        must(prepare_zkey(zkey, NULL, again, other, NULL, &e), &e);
        assert_memory_equal(digest, other, sizeof digest);
        setup_free(&plain);
        setup_free(&s);

        /* bellman's basis and roots */
        s = set_up(&r, ROOT_BELLMAN, H_MONOMIAL);
        assert_int_equal(setup_write_zkey(s, zkey, NULL, NULL, NULL, &e), ERR_UNSUPPORTED);
        e = (struct err){0};
        must(setup_write_prepared(s, prepared, digest, NULL, NULL, NULL, &e), &e);
        ck = circuit_map(prepared, &e);
        must(e.code, &e);
        assert_int_equal(ck->n_h, 127);
        prove_and_verify(ck, w);
        circuit_free(&ck);
        setup_free(&s);
        r1cs_free(&r);
        free(w);
    }
    unlink(zkey);
    unlink(prepared);
    unlink(again);
    rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lagrange_basis_evaluates_polynomials),
        cmocka_unit_test(test_coset_basis_evaluates_what_vanishes_on_the_domain),
        cmocka_unit_test(test_generated_circuits_are_satisfied_and_as_asked),
        cmocka_unit_test(test_generated_circuits_are_the_same_everywhere),
        cmocka_unit_test(test_keys_of_every_form_prove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
