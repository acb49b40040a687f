#include "harness.h"
#include "zkey.h"

static void query_is_sound(const struct circuit *c, const struct query *q, const struct group *g)
{
    const unsigned char *p = q->points;
    PROPERTY(q->n <= c->n_wires);
    PROPERTY(q->wire || q->first_wire + q->n <= c->n_wires);
    for (uint64_t i = 0; i < q->n; i++) {
        PROPERTY(!g->is_infinity(p + i * g->bytes));
        PROPERTY(!q->wire || (q->wire[i] < c->n_wires && (i == 0 || q->wire[i - 1] < q->wire[i])));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err e = {0};
    struct circuit *c = zkey_load_circuit(input_file(data, n), CHECK_ON_CURVE, NULL, &e);
    refused_in_one_line(c ? ERR_OK : e.code, &e);
    PROPERTY(c || e.code);
    if (!c)
        return 0;
    PROPERTY(matrix_check(c->curve, &c->a, NULL, &e) == ERR_OK);
    PROPERTY(matrix_check(c->curve, &c->b, NULL, &e) == ERR_OK);
    PROPERTY(c->a.n_rows <= c->n_h && c->n_constraints <= c->a.n_rows);
    query_is_sound(c, &c->a_query, c->curve->g1);
    query_is_sound(c, &c->b1_query, c->curve->g1);
    query_is_sound(c, &c->b2_query, c->curve->g2);
    query_is_sound(c, &c->l_query, c->curve->g1);
    circuit_free(&c);
    return 0;
}
