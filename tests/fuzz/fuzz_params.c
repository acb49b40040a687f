#include <stdlib.h>
#include "harness.h"
#include "params.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err e = {0};
    struct params *p = params_open(input_file(data, n), &e);
    refused_in_one_line(p ? ERR_OK : e.code, &e);
    PROPERTY(p || e.code);
    if (!p)
        return 0;
    const struct params_facts *k = params_facts(p);
    PROPERTY(k->file_bytes == n && k->n[PARAMS_H] == (1ull << k->domain_log2) - 1);
    PROPERTY(k->n_inputs >= 1 && k->n[PARAMS_A] >= k->n_inputs &&
             k->n[PARAMS_B1] == k->n[PARAMS_B2]);
    for (int i = 0; i < PARAMS_LISTS; i++) {
        const struct group *g = params_group(i);
        unsigned char *points = malloc(k->n[i] * g->bytes + 1);
        enum err_code code = params_read_points(p, i, 0, k->n[i], points, false, NULL, &e);
        refused_in_one_line(code, &e);
        for (uint32_t j = 0; j < k->n[i] && !code; j++)
            PROPERTY(g->on_curve(points + j * g->bytes) && !g->is_infinity(points + j * g->bytes));
        free(points);
    }
    params_close(&p);
    return 0;
}
