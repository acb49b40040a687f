#include "solidity.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER = 68, FRAME = 128 }; /* "0x" and 64 digits in quotes; all that stands between */

static char *put_number(char *to, const uint64_t limb[4])
{
    return to + sprintf(to, "\"0x%016" PRIx64 "%016" PRIx64 "%016" PRIx64 "%016" PRIx64 "\"",
                        limb[3], limb[2], limb[1], limb[0]);
}

/* "[x, y]"; numbers first and second of `limbs`. */
static char *put_pair(char *to, uint64_t limbs[][4], size_t first, size_t second)
{
    *to++ = '[';
    to = put_number(to, limbs[first]);
    to = stpcpy(to, ", ");
    to = put_number(to, limbs[second]);
    return stpcpy(to, "]");
}

enum err_code solidity_call_data(const struct proof *p, const fr_t *publics, size_t n, char **out,
                                 struct err *e)
{
    *out = NULL;
    if (p->curve != &curve_bn254)
        return err_set(e, ERR_UNSUPPORTED,
                       "a proof on %s: the EVM's pairing contract is for bn254 alone",
                       p->curve->name);
    uint64_t a[2][4], b[4][4], c[2][4];
    p->curve->fq_from_mont(a, &p->a, 2);
    p->curve->fq_from_mont(b, &p->b, 4);
    p->curve->fq_from_mont(c, &p->c, 2);
    char *to = *out = malloc(8 * NUMBER + FRAME + n * (NUMBER + 1));
    if (!to)
        return err_set(e, ERR_MEMORY, "no memory for call data");
    to = put_pair(to, a, 0, 1);
    to = stpcpy(to, ",[");
    to = put_pair(to, b, 1, 0);
    *to++ = ',';
    to = put_pair(to, b, 3, 2);
    to = stpcpy(to, "],");
    to = put_pair(to, c, 0, 1);
    to = stpcpy(to, ",[");
    for (size_t i = 0; i < n; i++) {
        if (i)
            *to++ = ',';
        to = put_number(to, publics[i].limb);
    }
    stpcpy(to, "]\n");
    return ERR_OK;
}
