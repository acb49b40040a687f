#include "harness.h"
#include "r1cs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err e = {0};
    struct r1cs r;
    enum err_code code = r1cs_read(input_file(data, n), R1CS_ALL, &r, NULL, &e);
    refused_in_one_line(code, &e);
    if (code)
        return 0;
    PROPERTY(r.a.n_rows == r.n_constraints && r.c.n_rows == r.n_constraints);
    PROPERTY(matrix_check(r.curve, &r.a, NULL, &e) == ERR_OK);
    PROPERTY(matrix_check(r.curve, &r.b, NULL, &e) == ERR_OK);
    PROPERTY(matrix_check(r.curve, &r.c, NULL, &e) == ERR_OK);
    r1cs_free(&r);
    return 0;
}
