#include "outage.h"
#include <stdlib.h>
#include <string.h>

#define PIECE_LEAST_NS UINT64_C(250000000)
#define PIECE_MOST_NS  UINT64_C(10000000000)

struct outage {
    struct outage *next;
    struct actor who; /* the run that died */
    uint64_t began_ns, told_ns;
};

static bool same_name(const struct actor *a, const struct actor *b)
{
    return a->kind == b->kind && a->node == b->node && a->index == b->index;
}

static void tell(struct desk *d, struct outage *o, uint64_t until_ns)
{
    span_write(d->spans, SPAN_DOWN, SPAN_NOBODY, o->told_ns, until_ns, actor_to_id(&o->who));
    o->told_ns = until_ns;
}

void outage_begin(struct desk *d, const struct peer *dead)
{
    if (!dead->id || (dead->actor.kind == ACTOR_SYNTHD && dead->said_bye))
        return;
    outage_end(d, &dead->actor); /* it died again before it was ready */
    struct outage *o = calloc(1, sizeof *o);
    INVARIANT(o != NULL);
    *o = (struct outage){
        .next = d->outages, .who = dead->actor, .began_ns = d->now_ns, .told_ns = d->now_ns};
    d->outages = o;
}

void outage_end(struct desk *d, const struct actor *back)
{
    for (struct outage **at = &d->outages, *o; (o = *at);) {
        if (!same_name(&o->who, back)) {
            at = &o->next;
            continue;
        }
        tell(d, o, d->now_ns);
        *at = o->next;
        free(o);
    }
}

void outage_turn(struct desk *d)
{
    for (struct outage *o = d->outages; o; o = o->next) {
        uint64_t piece = (d->now_ns - o->began_ns) / 8;
        piece = piece < PIECE_LEAST_NS  ? PIECE_LEAST_NS
                : piece > PIECE_MOST_NS ? PIECE_MOST_NS
                                        : piece;
        if (d->now_ns - o->told_ns >= piece)
            tell(d, o, d->now_ns);
    }
}

struct predecessor {
    struct desk *desk;
    struct alive_id self;
    struct actor who;
    uint64_t beat_ns;
};

static void note_predecessor(void *arg, const struct actor *who, const struct stat_page *page)
{
    struct predecessor *p = arg;
    uint64_t beat = atomic_load_explicit(&page->heartbeat_ns, memory_order_relaxed);
    if (who->kind == ACTOR_FINALIZD && who->incarnation < p->desk->self.incarnation &&
        strncmp(page->boot_id, p->self.boot_id, sizeof p->self.boot_id - 1) == 0 &&
        beat > p->beat_ns) {
        p->who = *who;
        p->beat_ns = beat;
    }
}

void outage_of_predecessor(struct desk *d)
{
    struct predecessor p = {.desk = d};
    if (alive_self(&p.self, NULL) != ERR_OK)
        return;
    stats_read(&d->instance, note_predecessor, &p);
    if (p.beat_ns)
        span_write(d->spans, SPAN_DOWN, SPAN_NOBODY, p.beat_ns, span_now_ns(), actor_to_id(&p.who));
}

void outages_free(struct desk *d)
{
    for (struct outage *o; (o = d->outages);) {
        tell(d, o, span_now_ns());
        d->outages = o->next;
        free(o);
    }
}
