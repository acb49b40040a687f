#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cases.h"
#include "edit.h"
#include "fixture.h"
#include "json.h"
#include "wtns.h"
#include "zkey.h"

static struct pool *pool;

static struct circuit *load_checked(const char *path, enum circuit_checks checks)
{
    struct err e;
    struct circuit *c = zkey_load_circuit(path, checks, pool, &e);
    if (!c)
        fail_msg("%s", e.text);
    return c;
}

static struct circuit *load(const char *path)
{
    return load_checked(path, CHECK_ON_CURVE);
}

static void check_query(const struct circuit *c, const struct group *g, const struct query *q,
                        const unsigned char *all, uint64_t n_all, uint32_t first)
{
    uint64_t k = 0;
    for (uint64_t i = 0; i < n_all; i++) {
        if (g->is_infinity(all + i * g->bytes))
            continue;
        uint32_t wire = q->wire ? q->wire[k] : q->first_wire + (uint32_t)k;
        assert_int_equal(wire, first + i);
        assert_memory_equal((const char *)q->points + k * g->bytes, all + i * g->bytes, g->bytes);
        k++;
    }
    assert_int_equal(k, q->n);
    assert_true(first + n_all <= c->n_wires);
}

/* Against the raw bytes of the file: every base that is not infinity, with its wire. */
static void queries_hold_the_finite_points(const struct circuit *c, const char *path)
{
    struct bytes b = bytes_read(path);
    const struct group *g1 = c->curve->g1, *g2 = c->curve->g2;
    unsigned char *copy = malloc(b.n); /* sections are not aligned in the file */
    const struct {
        uint32_t id, first;
        const struct group *g;
        const struct query *q;
    } all[] = {{5, 0, g1, &c->a_query},
               {6, 0, g1, &c->b1_query},
               {7, 0, g2, &c->b2_query},
               {8, c->n_public + 1, g1, &c->l_query}};
    for (size_t i = 0; i < 4; i++) {
        uint64_t length = section_length(&b, all[i].id);
        memcpy(copy, b.p + section_data(&b, all[i].id), length);
        check_query(c, all[i].g, all[i].q, copy, length / all[i].g->bytes, all[i].first);
    }
    assert_int_equal(section_length(&b, 9), c->n_h * g1->bytes);
    assert_memory_equal(b.p + section_data(&b, 9), c->h_points, c->n_h * g1->bytes);
    assert_memory_equal(b.p + section_data(&b, 3), c->vk.ic, (c->n_public + 1) * g1->bytes);
    free(copy);
    free(b.p);
}

static void every_fixture_loads(void **state)
{
    (void)state;
    for (unsigned k = 0; k < N_FIXTURE_CURVES; k++) {
        for (unsigned i = 0; i < N_FIXTURE_CIRCUITS; i++) {
            const char *path = fixture(k, fixture_circuits[i], "zkey");
            struct circuit *c = load_checked(path, CHECK_SUBGROUP);
            assert_ptr_equal(c->curve, fixture_curves[k].curve);
            assert_int_equal(c->roots, ROOT_SNARKJS);
            assert_int_equal(c->h_basis, H_ODD_LAGRANGE);
            assert_int_equal(c->n_h, 1ull << c->domain_log2);
            assert_true(c->n_constraints + c->n_public + 1 <= c->n_h);
            assert_int_equal(c->n_constraints + c->n_public + 1, c->a.n_rows);
            assert_int_equal(c->a.n_rows, c->b.n_rows);
            queries_hold_the_finite_points(c, path);
            circuit_free(&c);
            assert_null(c);
        }
    }
}

/* Long linear combinations, 2^14 rows. */
static void poseidon_chain_loads(void **state)
{
    (void)state;
    struct err e;
    struct circuit *c = load(fixture(0, "poseidon_chain", "zkey"));
    assert_int_equal(c->domain_log2, 14);
    assert_int_equal(matrix_check(c->curve, &c->a, pool, &e), ERR_OK);
    struct zkey *z = zkey_open(fixture(0, "poseidon_chain", "zkey"), &e);
    assert_int_equal(c->a.n_entries + c->b.n_entries, zkey_facts(z)->n_coefficients);
    zkey_close(&z);
    queries_hold_the_finite_points(c, fixture(0, "poseidon_chain", "zkey"));
    circuit_free(&c);
}

static void edge_cases_have_their_counts(void **state)
{
    (void)state;
    struct circuit *c = load(fixture(0, "edge_full", "zkey"));
    assert_int_equal(c->n_constraints + c->n_public + 1, c->n_h);
    circuit_free(&c);
    c = load(fixture(1, "edge_linear", "zkey"));
    assert_int_equal(c->n_constraints, 0);
    assert_int_equal(c->domain_log2, 1);
    assert_int_equal(c->l_query.n, 0);
    circuit_free(&c);
    c = load(fixture(0, "edge_nopub", "zkey"));
    assert_int_equal(c->n_public, 0);
    circuit_free(&c);
    c = load(fixture(1, "edge_manypub", "zkey"));
    assert_int_equal(c->n_public, 200);
    circuit_free(&c);
}

/* A key says nothing new in its verification key: snarkjs's vk.json has the same points. */
static void verification_key_equals_snarkjs(void **state)
{
    (void)state;
    for (unsigned k = 0; k < N_FIXTURE_CURVES; k++) {
        for (unsigned i = 0; i < N_FIXTURE_CIRCUITS; i++) {
            struct err e;
            struct verification_key ours, theirs;
            struct zkey *z = zkey_open(fixture(k, fixture_circuits[i], "zkey"), &e);
            assert_non_null(z);
            assert_int_equal(zkey_read_vk(z, &ours, &e), ERR_OK);
            assert_int_equal(vk_read(fixture(k, fixture_circuits[i], "vk.json"), &theirs, &e),
                             ERR_OK);
            assert_int_equal(ours.n_public, theirs.n_public);
            assert_memory_equal(&ours.alpha_g1, &theirs.alpha_g1, sizeof(point_t));
            assert_memory_equal(&ours.beta_g2, &theirs.beta_g2, sizeof(point_t));
            assert_memory_equal(&ours.gamma_g2, &theirs.gamma_g2, sizeof(point_t));
            assert_memory_equal(&ours.delta_g2, &theirs.delta_g2, sizeof(point_t));
            assert_memory_equal(ours.ic, theirs.ic, (ours.n_public + 1) * ours.curve->g1->bytes);
            vk_free(&ours);
            vk_free(&theirs);
            zkey_close(&z);
        }
    }
}

/* Our key of the same facts and points, back through our reader and section by section. */
static void writer_gives_back_what_was_read(void **state)
{
    (void)state;
    static const enum zkey_points order[] = {ZKEY_H, ZKEY_IC, ZKEY_L, ZKEY_A, ZKEY_B2, ZKEY_B1};
    for (unsigned k = 0; k < N_FIXTURE_CURVES; k++) {
        for (unsigned i = 0; i < N_FIXTURE_CIRCUITS; i++) {
            struct err e;
            const char *path = fixture(k, fixture_circuits[i], "zkey");
            struct zkey *z = zkey_open(path, &e);
            struct zkey_writer *w = zkey_create(temp_make(), zkey_facts(z), &e);
            struct matrix a, b;
            uint32_t n_constraints;
            assert_int_equal(zkey_read_matrices(z, &a, &b, &n_constraints, pool, &e), ERR_OK);
            assert_int_equal(zkey_write_matrices(w, &a, &b, &e), ERR_OK);
            for (size_t s = 0; s < 6; s++) {
                uint64_t n = zkey_points_count(z, order[s]);
                void *points = malloc(n * 192 + 1);
                assert_int_equal(zkey_read_points(z, order[s], 0, n, points, false, pool, &e),
                                 ERR_OK);
                uint64_t part = n / 3;
                size_t bytes = order[s] == ZKEY_B2 ? fixture_curves[k].curve->g2->bytes
                                                   : fixture_curves[k].curve->g1->bytes;
                if (n) {
                    assert_int_equal(zkey_write_points(w, order[s], points, part, &e), ERR_OK);
                    assert_int_equal(
                        zkey_write_points(w, order[s], (char *)points + part * bytes, n - part, &e),
                        ERR_OK);
                }
                free(points);
            }
            matrix_free(&a);
            matrix_free(&b);
            assert_int_equal(zkey_commit(&w, &e), ERR_OK);
            zkey_close(&z);
            struct bytes theirs = bytes_read(path), ours = bytes_read(temp_path);
            for (uint32_t id = 1; id < 10; id++) {
                assert_int_equal(section_length(&ours, id), section_length(&theirs, id));
                if (id != 4)
                    assert_memory_equal(ours.p + section_data(&ours, id),
                                        theirs.p + section_data(&theirs, id),
                                        section_length(&ours, id));
            }
            struct circuit *x = load(path), *y = load(temp_path);
            assert_int_equal(x->a.n_entries, y->a.n_entries);
            assert_int_equal(x->n_constraints, y->n_constraints);
            assert_memory_equal(x->a.wire, y->a.wire, x->a.n_entries * sizeof(uint32_t));
            assert_memory_equal(x->b.row_start, y->b.row_start,
                                (x->b.n_rows + 1) * sizeof(uint32_t));
            for (uint64_t n = 0; n < x->a.n_entries; n++)
                assert_memory_equal(matrix_value(&x->a, n), matrix_value(&y->a, n), sizeof(fr_t));
            for (uint64_t n = 0; n < x->b.n_entries; n++)
                assert_memory_equal(matrix_value(&x->b, n), matrix_value(&y->b, n), sizeof(fr_t));
            circuit_free(&x);
            circuit_free(&y);
            free(theirs.p);
            free(ours.p);
            temp_remove();
        }
    }
}

/* Keys from before contributions were recorded, and sections in another order. */
static void nine_sections_in_any_order(void **state)
{
    (void)state;
    struct bytes b = bytes_read(fixture(0, "mul", "zkey"));
    section_remove(&b, 10);
    section_move_last(&b, 2);
    section_move_last(&b, 5);
    section_move_last(&b, 1);
    bytes_write(temp_make(), &b);
    struct circuit *c = load(temp_path);
    struct circuit *d = load(fixture(0, "mul", "zkey"));
    assert_int_equal(c->a_query.n, d->a_query.n);
    assert_memory_equal(c->h_points, d->h_points, d->n_h * 64);
    circuit_free(&c);
    circuit_free(&d);
    free(b.p);
    temp_remove();
}

/* A row may name a wire twice: the values add up, and a sum of zero is no entry. */
static void repeated_coefficients_add_up(void **state)
{
    (void)state;
    struct bytes b = bytes_read(fixture(0, "mul", "zkey"));
    size_t at = section_data(&b, 4), length = section_length(&b, 4);
    uint32_t n;
    unsigned char record[44], negated[44];
    memcpy(&n, b.p + at, 4);
    memcpy(record, b.p + at + 4, 44);
    memcpy(negated, record, 44);
    fr_t value, zero = {{0}};
    memcpy(&value, record + 12, 32);
    curve_bn254.fr_sub(&value, &zero, &value);
    memcpy(negated + 12, &value, 32);
    section_resize(&b, 4, length + 44);
    at = section_data(&b, 4);
    set_u32(&b, at, n + 1);
    put(&b, at + length, negated, 44);
    bytes_write(temp_make(), &b);
    struct circuit *c = load(temp_path), *d = load(fixture(0, "mul", "zkey"));
    assert_int_equal(c->a.n_entries + c->b.n_entries + 1, d->a.n_entries + d->b.n_entries);
    circuit_free(&c);
    circuit_free(&d);
    free(b.p);
    temp_remove();
}

/* Which error is told does not depend on the number of threads. */
static void the_first_bad_point_is_named(void **state)
{
    (void)state;
    struct bytes b = bytes_read(fixture(0, "wide_12", "zkey"));
    size_t at = section_data(&b, 9);
    for (int i = 4000; i >= 100; i -= 300)
        b.p[at + 64 * i] ^= 1;
    bytes_write(temp_make(), &b);
    for (int round = 0; round < 10; round++) {
        struct err e;
        assert_null(zkey_load_circuit(temp_path, CHECK_ON_CURVE, round % 2 ? pool : NULL, &e));
        assert_int_equal(e.code, ERR_VALUE);
        assert_non_null(strstr(e.text, "point 100: point is not on the curve"));
    }
    free(b.p);
    temp_remove();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fixture_loads),
        cmocka_unit_test(poseidon_chain_loads),
        cmocka_unit_test(edge_cases_have_their_counts),
        cmocka_unit_test(verification_key_equals_snarkjs),
        cmocka_unit_test(writer_gives_back_what_was_read),
        cmocka_unit_test(nine_sections_in_any_order),
        cmocka_unit_test(repeated_coefficients_add_up),
        cmocka_unit_test(the_first_bad_point_is_named),
    };
    pool = pool_new(3, NULL, NULL);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pool_free(&pool);
    return failed;
}
