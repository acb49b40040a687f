#include "key_check.h"
#include <string.h>

static bool same_multiple(const struct curve *c, const point_t *in_g1, const point_t *in_g2)
{
    point_t negated;
    _Alignas(8) unsigned char g1[2 * POINT_MAX_BYTES], g2[2 * POINT_MAX_BYTES];
    c->g1->neg(&negated, c->g1->generator);
    memcpy(g1, in_g1, c->g1->bytes);
    memcpy(g1 + c->g1->bytes, &negated, c->g1->bytes);
    memcpy(g2, c->g2->generator, c->g2->bytes);
    memcpy(g2 + c->g2->bytes, in_g2, c->g2->bytes);
    return c->pairing_is_one(g1, g2, 2);
}

enum err_code key_check_consistent(const struct circuit *c, const char *name, struct err *e)
{
    if (!same_multiple(c->curve, &c->beta_g1, &c->vk.beta_g2))
        return err_set(e, ERR_MISMATCH,
                       "%s: beta in G1 and beta in G2 are not the same multiple of the generators",
                       name);
    if (!same_multiple(c->curve, &c->delta_g1, &c->vk.delta_g2))
        return err_set(
            e, ERR_MISMATCH,
            "%s: delta in G1 and delta in G2 are not the same multiple of the generators", name);
    return ERR_OK;
}
