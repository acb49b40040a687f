#include <stdlib.h>
#include <string.h>
#include "live_parts.h"

void live_steps_drop(struct spans *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->at[i].s.reserved != LIVE_STEP_OPEN)
            s->at[kept++] = s->at[i];
    s->n = kept;
}

/* What a daemon says that it is doing; "" when it does not. */
static const char *step_word(const struct live_view *view, const struct actor *who)
{
    for (size_t i = 0; i < view->n_actors; i++)
        if (actor_equal(&view->actor[i].who, who))
            return view->actor[i].step;
    return "";
}

static bool runs(const struct live_view *view, const struct actor *who)
{
    for (size_t i = 0; i < view->n_actors; i++)
        if (actor_equal(&view->actor[i].who, who))
            return view->actor[i].running;
    return false;
}

/* Is it the one that its gpud took last? A key is loaded for that one. */
static bool taken_last(const struct live_view *view, const struct live_lease *l)
{
    for (size_t i = 0; i < view->n_leases; i++) {
        const struct live_lease *other = &view->lease[i];
        if (other->state == LEASE_PROVING && actor_equal(&other->gpud, &l->gpud) &&
            other->age_ns < l->age_ns)
            return false;
    }
    return true;
}

/* The step that a lease is most likely in: by its state, and by what its owner says. */
static enum span_kind step_of(const struct live_view *view, const struct live_lease *l)
{
    switch (l->state) {
    case LEASE_GRANTED:
        return SPAN_GRANT;
    case LEASE_FILLING:
        return strcmp(step_word(view, &l->synthd), "matrices") == 0 ? SPAN_MATRICES : SPAN_WITNESS;
    case LEASE_READY:
        return SPAN_READY_WAIT;
    case LEASE_PROVING:
        if (!runs(view, &l->gpud))
            return SPAN_NONE; /* it died with it */
        if (strcmp(step_word(view, &l->gpud), "loading a key") == 0 && taken_last(view, l))
            return SPAN_KEY_LOAD;
        return SPAN_KERNELS;
    case LEASE_UPLOADED:
        return runs(view, &l->gpud) ? SPAN_KERNELS : SPAN_NONE;
    case LEASE_PROVED:
        return SPAN_DESK_WAIT;
    default:
        return SPAN_NONE;
    }
}

/* A daemon that has left a page and is gone: the desk tells it in pieces, and its own outage only
 * when it is back; until now it has been down since its last heartbeat. */
static enum err_code add_down(struct live_view *view, struct err *e)
{
    for (size_t i = 0; i < view->n_actors; i++) {
        const struct live_actor *a = &view->actor[i];
        struct span_source from = {.actor = a->who};
        struct span s = {.kind = SPAN_DOWN,
                         .begin_ns = view->now_ns - a->heartbeat_age_ns,
                         .end_ns = view->now_ns,
                         .value = actor_to_id(&a->who),
                         .row = UINT32_MAX,
                         .reserved = LIVE_STEP_OPEN};
        if (!a->running && a->who.kind != ACTOR_SYNTHD && spans_add(&view->spans, &s, &from, e))
            return e->code;
    }
    return ERR_OK;
}

enum err_code live_steps_add(struct live_view *view, struct err *e)
{
    if (add_down(view, e))
        return e->code;
    for (size_t i = 0; i < view->n_leases; i++) {
        const struct live_lease *l = &view->lease[i];
        enum span_kind kind = step_of(view, l);
        bool at_gpu = l->state == LEASE_PROVING || l->state == LEASE_UPLOADED;
        struct span_source from = {.actor = at_gpu ? l->gpud : l->owner};
        struct span s = {.kind = (uint16_t)kind,
                         .begin_ns = view->now_ns - l->age_ns,
                         .end_ns = view->now_ns,
                         .job = l->job,
                         .partition = l->partition,
                         .attempt = l->attempt,
                         .row = l->row | l->node << 16,
                         .reserved = LIVE_STEP_OPEN};
        if (kind != SPAN_NONE && spans_add(&view->spans, &s, &from, e))
            return e->code;
    }
    return ERR_OK;
}

/* A gpud that wrote nothing within the window had nothing to do, or was not there. */
static enum err_code add_silent(struct live_view *view, const struct live_actor *gpud,
                                struct err *e)
{
    struct account *a = &view->account[view->n_accounts];
    enum gap_cause cause = gpud->running ? GAP_NO_WORK : GAP_DOWN;
    uint64_t ns = view->now_ns - view->begin_ns;
    *a = (struct account){.gpud = {.kind = ACTOR_GPUD, .index = gpud->who.index},
                          .begin_ns = view->begin_ns,
                          .end_ns = view->now_ns,
                          .gap = calloc(1, sizeof *a->gap),
                          .n_gaps = 1};
    if (!a->gap)
        return err_set(e, ERR_MEMORY, "no memory for an account");
    view->n_accounts++;
    a->by_cause_ns[cause] = ns;
    a->gap[0] = (struct gap){.begin_ns = view->begin_ns, .end_ns = view->now_ns, .cause = cause};
    a->gap[0].by_cause_ns[cause] = ns;
    return ERR_OK;
}

enum err_code live_account_make(struct live_view *view, struct err *e)
{
    account_free(&view->account, view->n_accounts);
    view->n_accounts = 0;
    if (account_make(&view->spans, view->begin_ns, view->now_ns, &view->account, &view->n_accounts,
                     e) != ERR_OK)
        return e->code;
    size_t made = view->n_accounts;
    struct account *more =
        realloc(view->account, (made + view->n_actors + 1) * sizeof *view->account);
    if (!more)
        return err_set(e, ERR_MEMORY, "no memory for an account");
    view->account = more;
    for (size_t i = 0; i < view->n_actors; i++) {
        const struct live_actor *a = &view->actor[i];
        bool there = a->who.kind != ACTOR_GPUD;
        for (size_t k = 0; k < made && !there; k++)
            there = view->account[k].gpud.index == a->who.index;
        if (!there && add_silent(view, a, e) != ERR_OK)
            return e->code;
    }
    return ERR_OK;
}
