/* ntt_lanes_portable: eight scalars side by side, one after the other. The interface that
 * ntt_template.h needs, over FIELD; ntt_lanes_ifma.h is the same with vectors. Factors (tw) are in
 * the path's form, which is plain Montgomery form here. */
#include "ntt_path.h"
#include "math_fn.h"

#define F_(name) MATH_JOIN(FIELD, name)
#define L_(name) MATH_JOIN(FIELD, lanes_##name)
#define L_t      L_(t)

enum {
    L_(form_shift) = 0,
    L_(free_stages) = 32,
    L_(bits_max) = 32,
};
typedef struct {
    fr_t e[NTT_LANES];
} L_t;

MATH_FN void L_(load)(L_t *v, const fr_t *p, size_t stride)
{
    for (unsigned i = 0; i < NTT_LANES; i++)
        v->e[i] = p[i * stride];
}

MATH_FN void L_(broadcast)(L_t *v, const fr_t *p)
{
    for (unsigned i = 0; i < NTT_LANES; i++)
        v->e[i] = *p;
}

/* v was made by mul (loose) or by anything (exact). */
MATH_FN void L_(store_loose)(const L_t *v, fr_t *p, size_t stride)
{
    for (unsigned i = 0; i < NTT_LANES; i++)
        p[i * stride] = v->e[i];
}

MATH_FN void L_(store)(const L_t *v, fr_t *p, size_t stride)
{
    L_(store_loose)(v, p, stride);
}

MATH_FN void L_(mul)(L_t *r, const L_t *a, const L_t *b)
{
    for (unsigned i = 0; i < NTT_LANES; i++)
        F_(mul)(&r->e[i], &a->e[i], &b->e[i]);
}

/* (a, b) = (a + w b, a - w b) */
MATH_FN void L_(butterfly)(L_t *a, L_t *b, const L_t *w)
{
    for (unsigned i = 0; i < NTT_LANES; i++) {
        fr_t t;
        F_(mul)(&t, &b->e[i], &w->e[i]);
        F_(sub)(&b->e[i], &a->e[i], &t);
        F_(add)(&a->e[i], &a->e[i], &t);
    }
}

/* The same with w = 1. */
MATH_FN void L_(butterfly_one)(L_t *a, L_t *b, unsigned stage)
{
    (void)stage;
    for (unsigned i = 0; i < NTT_LANES; i++) {
        fr_t t = b->e[i];
        F_(sub)(&b->e[i], &a->e[i], &t);
        F_(add)(&a->e[i], &a->e[i], &t);
    }
}
