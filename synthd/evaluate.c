/* evaluate: a = A w and b = B w, in place in the extent. c = a o b is never stored: whoever needs
 * it derives it (safe, since every proof is verified before it is delivered). */
#include "slow_point.h"
#include "synthd.h"

enum err_code evaluate(struct synthd *s, struct work *w, const struct circuit *c, struct err *e)
{
    (void)e;
    if (w->terms.ab_count == 0 || (w->terms.flags & LEASE_EVALUATE_GPU) != 0)
        return ERR_OK; /* the backend evaluates from w */
    uint64_t begin = span_now_ns();
    stat_step(s->stats, "matrices");
    SLOW_POINT("synthd.matrices");
    const fr_t *wires = (const fr_t *)(void *)(s->arena.bulk + w->terms.w_offset);
    fr_t *a = (fr_t *)(void *)(s->arena.bulk + w->terms.a_offset);
    fr_t *b = (fr_t *)(void *)(s->arena.bulk + w->terms.b_offset);
    matrix_evaluate(c->curve, &c->a, wires, a, w->terms.ab_count, s->pool);
    matrix_evaluate(c->curve, &c->b, wires, b, w->terms.ab_count, s->pool);
    stat_step(s->stats, "");
    struct span_who who = work_who(w);
    span_write(s->fill_ring, SPAN_MATRICES, &who, begin, span_now_ns(),
               (uint64_t)c->a.n_rows + c->b.n_rows);
    return ERR_OK;
}
