/* affine: the last step of a sum, on the host: one inversion for each of a proof's five points. */
#include "device.h"
#include "groups.h"
#include <string.h>

#define FROM_DEVICE(group)                                                                         \
    do {                                                                                           \
        group##_xyzz_t p;                                                                          \
        group##_affine_t a;                                                                        \
        memcpy(&p, xyzz, sizeof p);                                                                \
        group##_xyzz_to_affine(&a, &p);                                                            \
        memset(out, 0, sizeof *out);                                                               \
        memcpy(out, &a, sizeof a);                                                                 \
    } while (0)

void point_from_device(const struct curve *c, bool g2, const void *xyzz, point_t *out)
{
    if (c->id == CURVE_BN254) {
        if (g2)
            FROM_DEVICE(bn254_g2);
        else
            FROM_DEVICE(bn254_g1);
    } else {
        if (g2)
            FROM_DEVICE(bls12_381_g2);
        else
            FROM_DEVICE(bls12_381_g1);
    }
}
