#include "live.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "live_parts.h"

struct live {
    struct instance in; /* its own descriptors */
    struct live_options options;
    struct live_view view;
    struct live_actors *actors;
    struct live_leases leases;
    struct live_partitions partitions;
    struct live_talk *talk; /* NULL: the desk is not asked */
    struct span_reader *reader;
    dev_t ring_dev; /* of the folder that the reader reads */
    ino_t ring_ino;
    uint64_t opened_ns, lost_before;
    live_span_fn *on_span;
    void *on_span_arg;
};

bool live_room(void **at, size_t *cap, size_t n, size_t each)
{
    if (n <= *cap)
        return true;
    size_t more = *cap ? *cap : 32;
    while (more < n)
        more *= 2;
    void *grown = realloc(*at, more * each);
    if (!grown)
        return false;
    *at = grown;
    *cap = more;
    return true;
}

struct live *live_open(const struct instance *in, const struct live_options *o, struct err *e)
{
    struct live *v = calloc(1, sizeof *v);
    if (!v || !(v->actors = live_actors_new())) {
        free(v);
        err_set(e, ERR_MEMORY, "no memory for a live view");
        return NULL;
    }
    v->options = *o;
    if (v->options.window_s <= 0)
        v->options.window_s = 60;
    if (v->options.ask_s == 0)
        v->options.ask_s = 1;
    if (!v->options.jobs)
        v->options.jobs = 100;
    v->opened_ns = span_now_ns();
    if (instance_open(&v->in, in->dir, e) != ERR_OK) {
        live_close(&v);
        return NULL;
    }
    if (v->options.ask_s > 0 && !(v->talk = live_talk_new(&v->in, &v->options, e)))
        live_close(&v);
    return v;
}

void live_close(struct live **live)
{
    struct live *v = *live;
    if (!v)
        return;
    live_talk_free(&v->talk);
    live_actors_free(&v->actors);
    span_reader_free(&v->reader);
    account_free(&v->view.account, v->view.n_accounts);
    spans_free(&v->view.spans);
    free(v->view.actor);
    free(v->view.node);
    free(v->view.lease);
    free(v->view.partition);
    free(v->view.span_of);
    json_decref(v->view.desk.status);
    json_decref(v->view.desk.jobs);
    json_decref(v->view.desk.circuits);
    instance_close(&v->in);
    free(v);
    *live = NULL;
}

void live_on_span(struct live *v, live_span_fn *fn, void *arg)
{
    v->on_span = fn;
    v->on_span_arg = arg;
}

/* An instance that went down and up has new rings in a new folder, under the same names: only a
 * new reader sees them. */
static enum err_code follow_rings(struct live *v, struct err *e)
{
    struct stat st;
    int fd = instance_evidence_fd(&v->in);
    bool known = fd >= 0 && fstat(fd, &st) == 0;
    if (fd >= 0)
        close(fd);
    if (v->reader && known && st.st_dev == v->ring_dev && st.st_ino == v->ring_ino)
        return ERR_OK;
    if (!known)
        return ERR_OK; /* keep what there is until there is something else */
    span_reader_free(&v->reader);
    v->lost_before = v->view.spans.lost;
    v->reader = span_reader_new(&v->in, e);
    v->ring_dev = st.st_dev;
    v->ring_ino = st.st_ino;
    return v->reader ? ERR_OK : e->code;
}

static enum err_code take_spans(struct live *v, struct err *e)
{
    struct spans *s = &v->view.spans;
    struct span one;
    const struct span_source *from;
    while (v->reader && span_reader_next(v->reader, &one, &from)) {
        if (v->on_span && one.end_ns >= v->opened_ns)
            v->on_span(v->on_span_arg, &one, from);
        if (one.end_ns >= v->view.begin_ns && spans_add(s, &one, from, e))
            return e->code;
    }
    s->lost = v->lost_before;
    for (unsigned i = 0; i < s->n_sources; i++)
        s->lost += s->source[i].lost;
    return ERR_OK;
}

/* Keeps those of the window, and of these the newest LIVE_SPANS_MAX. */
static void trim_spans(struct live *v)
{
    struct spans *s = &v->view.spans;
    spans_sort(s);
    if (s->n > LIVE_SPANS_MAX) {
        uint64_t from = s->at[s->n - LIVE_SPANS_MAX].s.begin_ns;
        if (from > v->view.begin_ns)
            v->view.begin_ns = from;
    }
    size_t kept = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->at[i].s.end_ns >= v->view.begin_ns)
            s->at[kept++] = s->at[i];
    s->n = kept;
}

enum err_code live_turn(struct live *v, int wait_ms, struct err *e)
{
    struct live_view *view = &v->view;
    struct timespec now;
    if (v->talk)
        live_talk_turn(v->talk, wait_ms, &view->desk);
    else
        nanosleep(&(struct timespec){wait_ms / 1000, wait_ms % 1000 * 1000000L}, NULL);
    clock_gettime(CLOCK_REALTIME, &now);
    view->now_ns = span_now_ns();
    view->wall_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    uint64_t window_ns = (uint64_t)(v->options.window_s * 1e9);
    view->begin_ns = view->now_ns > window_ns ? view->now_ns - window_ns : 1;
    live_steps_drop(&view->spans);
    if (follow_rings(v, e) || take_spans(v, e) || live_actors_read(v->actors, &v->in, view, e) ||
        live_leases_read(&v->leases, &v->in, view, e) || live_steps_add(view, e))
        return e->code;
    trim_spans(v);
    if (live_partitions_make(&v->partitions, view, e))
        return e->code;
    return v->options.account_of_window ? live_account_make(view, e) : ERR_OK;
}

const struct live_view *live_view(const struct live *v)
{
    return &v->view;
}
