#include <stdlib.h>
#include "harness.h"
#include "wtns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err e = {0};
    struct wtns *f = wtns_open(input_file(data, n), &e);
    refused_in_one_line(f ? ERR_OK : e.code, &e);
    if (!f)
        return 0;
    const struct wtns_facts *k = wtns_facts(f);
    PROPERTY(k->n >= 1 && k->n * sizeof(fr_t) <= n);
    fr_t *w = malloc(k->n * sizeof *w);
    enum err_code code = wtns_read(f, w, NULL, &e);
    refused_in_one_line(code, &e);
    if (code == ERR_OK) {
        PROPERTY(k->curve->fr_first_unreduced(w, k->n) == k->n);
        PROPERTY(w[0].limb[0] == 1 && !(w[0].limb[1] | w[0].limb[2] | w[0].limb[3]));
    }
    free(w);
    wtns_close(&f);
    return 0;
}
