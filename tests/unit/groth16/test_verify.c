/* Verification: snarkjs's proofs are accepted; whatever is changed in them is refused with its
 * reason; batches name exactly the bad ones. */
#include "fixture.h"
#include <stdlib.h>
#include <string.h>

static const char *const curves[] = {"bn128", "bls12381"};
static const char *const circuits[] = {"mul",        "edge_linear", "edge_full",     "edge_manypub",
                                       "edge_nopub", "wide_12",     "poseidon_chain"};

struct case_ {
    struct verification_key vk;
    fr_t *publics;
    size_t n_public;
    struct proof proof;
};

static void case_load(struct case_ *k, const char *curve, const char *circuit)
{
    struct err e = {0};
    must(vk_read(fixture_path(curve, circuit, "vk.json"), &k->vk, &e), &e);
    must(public_read(fixture_path(curve, circuit, "public.json"), k->vk.curve, &k->publics,
                     &k->n_public, &e),
         &e);
    assert_int_equal(k->n_public, k->vk.n_public);
    must(proof_read(fixture_path(curve, circuit, "proof.json"), k->vk.curve, &k->proof, &e), &e);
}

static void case_free(struct case_ *k)
{
    vk_free(&k->vk);
    free(k->publics);
}

static void expect_refused(const struct verification_key *vk, const fr_t *publics,
                           const struct proof *p, const char *reason)
{
    struct err e = {0};
    assert_int_equal(groth16_verify(vk, publics, p, &e), ERR_REJECTED);
    if (!strstr(e.text, reason))
        fail_msg("\"%s\" does not say \"%s\"", e.text, reason);
}

static void test_proofs_of_snarkjs_are_accepted(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < sizeof circuits / sizeof circuits[0]; j++) {
            struct case_ k;
            struct err e = {0};
            case_load(&k, curves[i], circuits[j]);
            must(groth16_verify(&k.vk, k.publics, &k.proof, &e), &e);
            case_free(&k);
        }
}

static void test_changed_elements_are_refused(void **state)
{
    (void)state;
    static const char equation[] = "pairing equation";
    for (size_t i = 0; i < 2; i++) {
        struct case_ k;
        case_load(&k, curves[i], "mul");
        const struct group *g1 = k.vk.curve->g1, *g2 = k.vk.curve->g2;
        struct proof p = k.proof;
        g1->add(&p.a, &p.a, g1->generator);
        expect_refused(&k.vk, k.publics, &p, equation);
        p = k.proof;
        g2->neg(&p.b, &p.b);
        expect_refused(&k.vk, k.publics, &p, equation);
        p = k.proof;
        p.c = k.proof.a;
        expect_refused(&k.vk, k.publics, &p, equation);
        p = k.proof;
        memset(&p.c, 0, sizeof p.c);
        expect_refused(&k.vk, k.publics, &p, equation);
        p = k.proof;
        memset(&p.a, 0, sizeof p.a);
        memset(&p.b, 0, sizeof p.b);
        memset(&p.c, 0, sizeof p.c);
        expect_refused(&k.vk, k.publics, &p, equation);
        case_free(&k);
    }
}

/* (A, B, C) -> (-A, -B, C) is another valid proof: Groth16 proofs are malleable, as documented. */
static void test_negating_a_and_b_is_still_valid(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct case_ k;
        struct err e = {0};
        case_load(&k, curves[i], "mul");
        k.vk.curve->g1->neg(&k.proof.a, &k.proof.a);
        k.vk.curve->g2->neg(&k.proof.b, &k.proof.b);
        must(groth16_verify(&k.vk, k.publics, &k.proof, &e), &e);
        case_free(&k);
    }
}

static void test_malformed_elements_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct case_ k;
        case_load(&k, curves[i], "mul");
        struct proof p = k.proof;
        memcpy(&p.a, k.vk.curve->q, k.vk.curve->fq_bytes);
        expect_refused(&k.vk, k.publics, &p, "element A: a coordinate is not below");
        p = k.proof;
        p.b.limb[0] ^= 1;
        expect_refused(&k.vk, k.publics, &p, "element B: the point is not on the curve");
        p = k.proof;
        p.c.limb[0] ^= 1;
        expect_refused(&k.vk, k.publics, &p, "element C: the point is not on the curve");
        case_free(&k);
    }
}

static void test_points_of_small_order_are_refused(void **state)
{
    (void)state;
    int seen = 0;
    for (size_t i = 0; i < 2; i++) {
        struct case_ k;
        case_load(&k, curves[i], "mul");
        point_t small;
        struct proof p = k.proof;
        if (small_order_point(k.vk.curve, false, &small)) {
            k.vk.curve->g1->add(&p.a, &p.a, &small);
            expect_refused(&k.vk, k.publics, &p, "element A: the point is not in the subgroup");
            p = k.proof;
            k.vk.curve->g1->add(&p.c, &p.c, &small);
            expect_refused(&k.vk, k.publics, &p, "element C: the point is not in the subgroup");
            seen++;
        }
        if (small_order_point(k.vk.curve, true, &small)) {
            p = k.proof;
            k.vk.curve->g2->add(&p.b, &p.b, &small);
            expect_refused(&k.vk, k.publics, &p, "element B: the point is not in the subgroup");
            p.b = small;
            expect_refused(&k.vk, k.publics, &p, "element B: the point is not in the subgroup");
            seen++;
        }
        case_free(&k);
    }
    assert_int_equal(seen, 3); /* G1 of BN254 has no such point */
}

/* x + r pairs like x, and would let one proof count for two public values. */
static void test_public_plus_r_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct case_ k;
        case_load(&k, curves[i], "edge_manypub");
        fr_t changed = k.publics[7];
        unsigned char carry = 0;
        for (int j = 0; j < 4; j++) {
            unsigned __int128 sum =
                (unsigned __int128)changed.limb[j] + k.vk.curve->r->limb[j] + carry;
            changed.limb[j] = (uint64_t)sum;
            carry = (unsigned char)(sum >> 64);
        }
        fr_t kept = k.publics[7];
        k.publics[7] = changed;
        expect_refused(&k.vk, k.publics, &k.proof, "public input 7 is not below the group order");
        k.publics[7] = kept;
        k.publics[199].limb[0] ^= 1;
        expect_refused(&k.vk, k.publics, &k.proof, "pairing equation");
        case_free(&k);
    }
}

static void test_another_key_is_refused(void **state)
{
    (void)state;
    struct case_ k, other;
    case_load(&k, "bn128", "mul");
    case_load(&other, "bn128", "edge_linear");
    assert_int_equal(other.n_public, k.n_public);
    expect_refused(&other.vk, k.publics, &k.proof, "pairing equation");
    case_free(&other);
    case_load(&other, "bls12381", "mul");
    struct err e = {0};
    assert_int_equal(groth16_verify(&other.vk, k.publics, &k.proof, &e), ERR_MISMATCH);
    case_free(&other);
    case_free(&k);
}

enum { BATCH = 13 };

static void batch_of(const struct case_ *k, fr_t (*values)[1], const fr_t **publics,
                     struct proof *proofs)
{
    assert_int_equal(k->n_public, 1);
    for (size_t j = 0; j < BATCH; j++) {
        values[j][0] = k->publics[0];
        publics[j] = values[j];
        proofs[j] = k->proof;
        if (j % 2) { /* not all alike: the negated form is valid too */
            k->vk.curve->g1->neg(&proofs[j].a, &proofs[j].a);
            k->vk.curve->g2->neg(&proofs[j].b, &proofs[j].b);
        }
    }
}

static void test_batch_names_the_bad_ones(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct case_ k;
        struct err e = {0};
        case_load(&k, curves[i], "mul");
        fr_t values[BATCH][1];
        const fr_t *publics[BATCH];
        struct proof proofs[BATCH];
        bool bad[BATCH], none[BATCH] = {false};
        memset(bad, 1, sizeof bad);
        batch_of(&k, values, publics, proofs);
        must(groth16_verify_batch(&k.vk, publics, proofs, BATCH, bad, &e), &e);
        assert_memory_equal(bad, none, sizeof bad);

        /* a wrong public, a swapped element, an element off the curve */
        values[3][0].limb[0] ^= 1;
        proofs[8].c = proofs[8].a;
        proofs[12].a.limb[1] ^= 4;
        assert_int_equal(groth16_verify_batch(&k.vk, publics, proofs, BATCH, bad, &e),
                         ERR_REJECTED);
        for (size_t j = 0; j < BATCH; j++)
            assert_int_equal(bad[j], j == 3 || j == 8 || j == 12);
        assert_non_null(strstr(e.text, "proof 3: "));
        case_free(&k);
    }
}

/* Two errors that cancel in a sum without random factors: C_1 + D, C_2 - D. */
static void test_batch_errors_do_not_cancel(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct case_ k;
        struct err e = {0};
        case_load(&k, curves[i], "mul");
        const struct group *g1 = k.vk.curve->g1;
        fr_t values[BATCH][1];
        const fr_t *publics[BATCH];
        struct proof proofs[BATCH];
        bool bad[BATCH];
        batch_of(&k, values, publics, proofs);
        point_t minus;
        g1->neg(&minus, g1->generator);
        g1->add(&proofs[1].c, &proofs[1].c, g1->generator);
        g1->add(&proofs[2].c, &proofs[2].c, &minus);
        assert_int_equal(groth16_verify_batch(&k.vk, publics, proofs, BATCH, bad, &e),
                         ERR_REJECTED);
        for (size_t j = 0; j < BATCH; j++)
            assert_int_equal(bad[j], j == 1 || j == 2);
        case_free(&k);
    }
}

static void test_batch_of_all_bad_of_one_and_of_none(void **state)
{
    (void)state;
    struct case_ k;
    struct err e = {0};
    case_load(&k, "bn128", "mul");
    fr_t values[BATCH][1];
    const fr_t *publics[BATCH];
    struct proof proofs[BATCH];
    bool bad[BATCH];
    batch_of(&k, values, publics, proofs);
    must(groth16_verify_batch(&k.vk, publics, proofs, 1, bad, &e), &e);
    must(groth16_verify_batch(&k.vk, publics, proofs, 0, bad, &e), &e);
    for (size_t j = 0; j < BATCH; j++)
        proofs[j].c = proofs[j].a;
    assert_int_equal(groth16_verify_batch(&k.vk, publics, proofs, BATCH, bad, &e), ERR_REJECTED);
    for (size_t j = 0; j < BATCH; j++)
        assert_true(bad[j]);
    case_free(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_proofs_of_snarkjs_are_accepted),
        cmocka_unit_test(test_changed_elements_are_refused),
        cmocka_unit_test(test_negating_a_and_b_is_still_valid),
        cmocka_unit_test(test_malformed_elements_are_refused),
        cmocka_unit_test(test_points_of_small_order_are_refused),
        cmocka_unit_test(test_public_plus_r_is_refused),
        cmocka_unit_test(test_another_key_is_refused),
        cmocka_unit_test(test_batch_names_the_bad_ones),
        cmocka_unit_test(test_batch_errors_do_not_cancel),
        cmocka_unit_test(test_batch_of_all_bad_of_one_and_of_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
