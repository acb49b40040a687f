#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "alive.h"
#include "live_parts.h"

enum { RATE_NS = 2000000000 }; /* a rate is over two to four seconds */

struct page {
    struct actor who;
    struct stat_page at;
};

/* What is remembered of a name from turn to turn. */
struct track {
    struct actor name; /* incarnation 0 */
    uint64_t run;      /* started_ns of the run that `last` is of */
    uint64_t last[STAT_IDS];
    uint64_t before[STAT_IDS];              /* of earlier runs */
    uint64_t base[2][STAT_IDS], base_ns[2]; /* totals some seconds ago, older first */
};

struct live_actors {
    struct page *page;
    size_t n_pages, page_cap;
    struct track *track;
    size_t n_tracks, track_cap;
    size_t actor_cap;
    bool no_memory;
};

struct live_actors *live_actors_new(void)
{
    return calloc(1, sizeof(struct live_actors));
}

void live_actors_free(struct live_actors **a)
{
    if (*a) {
        free((*a)->page);
        free((*a)->track);
        free(*a);
        *a = NULL;
    }
}

static void take_page(void *arg, const struct actor *who, const struct stat_page *page)
{
    struct live_actors *a = arg;
    if (!live_room((void **)&a->page, &a->page_cap, a->n_pages + 1, sizeof *a->page)) {
        a->no_memory = true;
        return;
    }
    a->page[a->n_pages++] = (struct page){*who, *page};
}

static bool same_name(const struct actor *x, const struct actor *y)
{
    return x->kind == y->kind && x->node == y->node && x->index == y->index;
}

/* By name, then by run. */
static int by_name(const void *p, const void *q)
{
    const struct page *x = p, *y = q;
    if (x->who.kind != y->who.kind)
        return x->who.kind < y->who.kind ? -1 : 1;
    if (x->who.node != y->who.node)
        return x->who.node < y->who.node ? -1 : 1;
    if (x->who.index != y->who.index)
        return x->who.index < y->who.index ? -1 : 1;
    return x->at.started_ns < y->at.started_ns ? -1 : x->at.started_ns > y->at.started_ns;
}

static struct track *track_of(struct live_actors *a, const struct actor *who, bool *is_new)
{
    *is_new = false;
    for (size_t i = 0; i < a->n_tracks; i++)
        if (same_name(&a->track[i].name, who))
            return &a->track[i];
    if (!live_room((void **)&a->track, &a->track_cap, a->n_tracks + 1, sizeof *a->track))
        return NULL;
    struct track *t = &a->track[a->n_tracks++];
    *t = (struct track){.name = *who};
    t->name.incarnation = 0;
    *is_new = true;
    return t;
}

/* Takes in what a page says; pages of a name come oldest run first, so that what a run did between
 * our last look and its end is counted too. */
static void follow(struct track *t, const struct stat_page *p)
{
    if (p->started_ns < t->run)
        return; /* counted before */
    if (p->started_ns > t->run) {
        for (unsigned i = 0; i < STAT_IDS; i++)
            t->before[i] += t->last[i];
        t->run = p->started_ns;
    }
    for (unsigned i = 0; i < STAT_IDS; i++)
        t->last[i] = i < p->n ? atomic_load_explicit(&p->value[i], memory_order_relaxed) : 0;
}

static bool is_running(const struct stat_page *p)
{
    struct alive_id id = {.pid = p->pid, .start_ticks = p->start_ticks};
    int pidfd = -1;
    memcpy(id.boot_id, p->boot_id, sizeof id.boot_id - 1);
    bool dead = alive_open(&id, &pidfd, NULL) == ALIVE_DEAD;
    if (pidfd >= 0) {
        dead = alive_is_dead(pidfd); /* also one that nobody has reaped yet */
        close(pidfd);
    }
    return !dead;
}

static void fill_rates(struct track *t, struct live_actor *out, uint64_t now_ns)
{
    if (now_ns - t->base_ns[1] > RATE_NS) {
        memcpy(t->base[0], t->base_ns[1] ? t->base[1] : out->total, sizeof t->base[0]);
        t->base_ns[0] = t->base_ns[1];
        memcpy(t->base[1], out->total, sizeof t->base[1]);
        t->base_ns[1] = now_ns;
    }
    if (!t->base_ns[0])
        return;
    double seconds = (double)(now_ns - t->base_ns[0]) / 1e9;
    for (unsigned i = 0; i < STAT_IDS; i++)
        if (stat_info((enum stat_id)i)->kind == STAT_COUNTER)
            out->rate[i] = (double)(out->total[i] - t->base[0][i]) / seconds;
}

static void fill(struct live_actor *out, struct track *t, const struct page *p, uint64_t now_ns)
{
    const struct stat_page *at = &p->at;
    uint64_t beat = atomic_load_explicit(&at->heartbeat_ns, memory_order_relaxed);
    *out = (struct live_actor){.who = p->who,
                               .running = is_running(at),
                               .pid = at->pid,
                               .started_ns = at->started_ns,
                               .heartbeat_age_ns = now_ns > beat ? now_ns - beat : 0};
    actor_name(&p->who, out->name);
    memcpy(out->step, at->step, sizeof out->step);
    for (unsigned i = 0; i < STAT_IDS; i++) {
        out->value[i] = t->last[i];
        bool counter = stat_info((enum stat_id)i)->kind == STAT_COUNTER;
        out->total[i] = counter ? t->before[i] + t->last[i] : t->last[i];
    }
    fill_rates(t, out, now_ns);
}

enum err_code live_actors_read(struct live_actors *a, const struct instance *in,
                               struct live_view *view, struct err *e)
{
    a->n_pages = 0;
    a->no_memory = false;
    stats_read(in, take_page, a);
    if (a->no_memory ||
        !live_room((void **)&view->actor, &a->actor_cap, a->n_pages, sizeof *view->actor))
        return err_set(e, ERR_MEMORY, "no memory for a view of %zu daemons", a->n_pages);
    if (a->n_pages)
        qsort(a->page, a->n_pages, sizeof *a->page, by_name);
    view->n_actors = 0;
    for (size_t i = 0; i < a->n_pages; i++) {
        const struct page *p = &a->page[i];
        bool is_new, newest = i + 1 == a->n_pages || !same_name(&p[1].who, &p->who);
        struct track *t = track_of(a, &p->who, &is_new);
        if (!t)
            return err_set(e, ERR_MEMORY, "no memory for another daemon");
        if (is_new && !newest) {
            /* A run that had ended before this reader began is not its to count. */
            t->run = p->at.started_ns;
            continue;
        }
        follow(t, &p->at);
        if (newest)
            fill(&view->actor[view->n_actors++], t, p, view->now_ns);
    }
    return ERR_OK;
}
