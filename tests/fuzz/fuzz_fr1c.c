/* A system that was accepted is one: counts, matrices, and the rows that bind its inputs. */
#include "bellman_r1cs.h"
#include "harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err e = {0};
    struct r1cs r;
    struct matrix a, b;
    enum err_code code = fr1c_read(input_file(data, n), &r, &e);
    refused_in_one_line(code, &e);
    if (code)
        return 0;
    const struct matrix *const all[3] = {&r.a, &r.b, &r.c};
    for (int i = 0; i < 3; i++) {
        PROPERTY(all[i]->n_rows == r.n_constraints && all[i]->n_wires == r.n_wires);
        PROPERTY(matrix_check(r.curve, all[i], NULL, &e) == ERR_OK);
    }
    PROPERTY(r1cs_bind_publics(&r, &a, &b, &e) == ERR_OK);
    PROPERTY(a.n_rows == r.n_constraints + r.n_public_inputs + 1 && b.n_rows == a.n_rows);
    matrix_free(&a);
    matrix_free(&b);
    r1cs_free(&r);
    return 0;
}
