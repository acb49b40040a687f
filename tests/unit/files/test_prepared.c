#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "cases.h"
#include "fixture.h"
#include "prepared.h"
#include "prepared_layout.h"
#include "zkey.h"

static struct pool *pool;

static void same_matrix(const struct matrix *x, const struct matrix *y)
{
    assert_int_equal(x->n_rows, y->n_rows);
    assert_int_equal(x->n_entries, y->n_entries);
    assert_int_equal(x->code_bytes, y->code_bytes);
    assert_memory_equal(x->row_start, y->row_start, (x->n_rows + 1) * sizeof(uint32_t));
    assert_memory_equal(x->wire, y->wire, x->n_entries * sizeof(uint32_t));
    assert_memory_equal(x->code, y->code, x->n_entries * x->code_bytes);
    assert_memory_equal(x->dictionary, y->dictionary, x->n_dictionary * sizeof(fr_t));
}

static void same_query(const struct query *x, const struct query *y, size_t bytes)
{
    assert_int_equal(x->n, y->n);
    assert_int_equal(x->first_wire, y->first_wire);
    assert_int_equal(x->wire != NULL, y->wire != NULL);
    assert_memory_equal(x->points, y->points, x->n * bytes);
    if (x->wire)
        assert_memory_equal(x->wire, y->wire, x->n * sizeof(uint32_t));
}

static void same_circuit(const struct circuit *x, const struct circuit *y)
{
    size_t g1 = x->curve->g1->bytes, g2 = x->curve->g2->bytes;
    assert_ptr_equal(x->curve, y->curve);
    assert_int_equal(x->n_wires, y->n_wires);
    assert_int_equal(x->n_public, y->n_public);
    assert_int_equal(x->n_constraints, y->n_constraints);
    assert_int_equal(x->domain_log2, y->domain_log2);
    assert_int_equal(x->roots, y->roots);
    assert_int_equal(x->h_basis, y->h_basis);
    same_matrix(&x->a, &y->a);
    same_matrix(&x->b, &y->b);
    same_query(&x->a_query, &y->a_query, g1);
    same_query(&x->b1_query, &y->b1_query, g1);
    same_query(&x->b2_query, &y->b2_query, g2);
    same_query(&x->l_query, &y->l_query, g1);
    assert_int_equal(x->n_h, y->n_h);
    assert_memory_equal(x->h_points, y->h_points, x->n_h * g1);
    assert_memory_equal(x->vk.ic, y->vk.ic, (x->n_public + 1) * g1);
    assert_memory_equal(&x->beta_g1, &y->beta_g1, sizeof(point_t));
    assert_memory_equal(&x->delta_g1, &y->delta_g1, sizeof(point_t));
    assert_memory_equal(&x->vk.alpha_g1, &y->vk.alpha_g1, sizeof(point_t));
    assert_memory_equal(&x->vk.beta_g2, &y->vk.beta_g2, sizeof(point_t));
    assert_memory_equal(&x->vk.gamma_g2, &y->vk.gamma_g2, sizeof(point_t));
    assert_memory_equal(&x->vk.delta_g2, &y->vk.delta_g2, sizeof(point_t));
}

static void prepared_equals_loaded(void **state)
{
    (void)state;
    for (unsigned k = 0; k < N_FIXTURE_CURVES; k++) {
        for (unsigned i = 0; i < N_FIXTURE_CIRCUITS; i++) {
            struct err e;
            uint8_t digest[32], streamed[32], from_file[32];
            const char *path = fixture(k, fixture_circuits[i], "zkey");
            if (prepare_zkey(path, NULL, temp_make(), streamed, pool, &e))
                fail_msg("%s", e.text);
            struct circuit *loaded = zkey_load_circuit(path, CHECK_ON_CURVE, pool, &e);
            struct circuit *mapped = circuit_map(temp_path, &e);
            assert_non_null(mapped);
            same_circuit(loaded, mapped);
            assert_false(mapped->has_c);
            assert_memory_equal(mapped->digest, streamed, 32);
            assert_int_equal(circuit_check(mapped, temp_path, pool, &e), ERR_OK);
            assert_int_equal(prepared_digest(temp_path, from_file, &e), ERR_OK);
            assert_memory_equal(from_file, streamed, 32);
            struct stat st;
            stat(temp_path, &st);
            assert_int_equal(circuit_mapped_bytes(mapped), st.st_size);
            assert_int_equal(st.st_mode & 0777, 0444);
            circuit_free(&mapped);
            /* The other way to write the same circuit gives the same bytes. */
            struct bytes first = bytes_read(temp_path);
            assert_int_equal(prepared_write(temp_path, loaded, digest, pool, &e), ERR_OK);
            struct bytes second = bytes_read(temp_path);
            assert_memory_equal(digest, streamed, 32);
            assert_int_equal(first.n, second.n);
            assert_memory_equal(first.p, second.p, first.n);
            free(first.p);
            free(second.p);
            circuit_free(&loaded);
            temp_remove();
        }
    }
}

static void with_r1cs_it_has_c_and_another_name(void **state)
{
    (void)state;
    struct err e;
    uint8_t without[32], with[32];
    temp_make();
    prepare_zkey(fixture(1, "edge_full", "zkey"), NULL, temp_path, without, pool, &e);
    assert_int_equal(prepare_zkey(fixture(1, "edge_full", "zkey"), fixture(1, "edge_full", "r1cs"),
                                  temp_path, with, pool, &e),
                     ERR_OK);
    assert_memory_not_equal(with, without, 32);
    struct circuit *c = circuit_map(temp_path, &e);
    assert_true(c->has_c);
    assert_int_equal(c->c.n_rows, c->n_constraints);
    assert_int_equal(circuit_check(c, temp_path, pool, &e), ERR_OK);
    circuit_free(&c);
    temp_remove();
}

static void a_foreign_r1cs_is_refused_and_nothing_written(void **state)
{
    (void)state;
    struct err e;
    temp_make();
    temp_remove();
    assert_int_equal(prepare_zkey(fixture(0, "wide_12", "zkey"), fixture(0, "mul", "r1cs"),
                                  temp_path, NULL, pool, &e),
                     ERR_MISMATCH);
    assert_int_equal(strncmp(e.text, FIXTURES, strlen(FIXTURES)), 0);
    assert_int_equal(access(temp_path, F_OK), -1);
}

/* One bit anywhere in the file must be noticed: by the fast open in the header, by the full check
 * elsewhere. */
static void every_flipped_bit_is_noticed(void **state)
{
    (void)state;
    struct err e;
    temp_make();
    prepare_zkey(fixture(0, "mul", "zkey"), fixture(0, "mul", "r1cs"), temp_path, NULL, NULL, &e);
    assert_int_equal(chmod(temp_path, 0600), 0);
    int fd = open(temp_path, O_RDWR);
    off_t size = lseek(fd, 0, SEEK_END);
    for (off_t at = 0; at < size; at += at < 4096 ? 3 : 61) {
        unsigned char was, now;
        assert_int_equal(pread(fd, &was, 1, at), 1);
        now = was ^ 0x04;
        assert_int_equal(pwrite(fd, &now, 1, at), 1);
        struct circuit *c = circuit_map(temp_path, &e);
        if (at < 4096)
            assert_null(c);
        else
            assert_int_equal(circuit_check(c, temp_path, NULL, &e), ERR_FORMAT);
        circuit_free(&c);
        assert_int_equal(pwrite(fd, &was, 1, at), 1);
    }
    close(fd);
    temp_remove();
}

/* A mapping that outlives the file's name, as after the store is cleaned. */
static void mapping_outlives_the_name(void **state)
{
    (void)state;
    struct err e;
    temp_make();
    prepare_zkey(fixture(0, "mul", "zkey"), NULL, temp_path, NULL, NULL, &e);
    struct circuit *c = circuit_map(temp_path, &e);
    temp_remove();
    assert_int_equal(circuit_check(c, "gone", NULL, &e), ERR_OK);
    circuit_free(&c);
}

/* Readers of other machines and versions rely on these numbers. */
static void layout_is_pinned(void **state)
{
    (void)state;
    assert_int_equal(sizeof(struct prepared_matrix), 24);
    assert_int_equal(sizeof(struct prepared_query), 16);
    assert_int_equal(sizeof(struct prepared_extent), 48);
    assert_int_equal(offsetof(struct prepared_extent, checksum), 16);
    assert_int_equal(PREPARED_H_POINTS, 22);
    assert_int_equal(PREPARED_A_POINTS, 14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prepared_equals_loaded),
        cmocka_unit_test(with_r1cs_it_has_c_and_another_name),
        cmocka_unit_test(a_foreign_r1cs_is_refused_and_nothing_written),
        cmocka_unit_test(every_flipped_bit_is_noticed),
        cmocka_unit_test(mapping_outlives_the_name),
        cmocka_unit_test(layout_is_pinned),
    };
    pool = pool_new(3, NULL, NULL);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pool_free(&pool);
    return failed;
}
