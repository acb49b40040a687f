#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "file.h"
#include "params_file.h"
#include "zcash_point.h"

enum { GRAIN = 1024, PIECE_POINTS = 1 << 16 };

static const struct curve *const curve = &curve_bls12_381;

struct params_writer {
    struct file_writer *file;
    char *path;
    uint32_t n[PARAMS_LISTS], written;
    enum params_list current;
    uint8_t *bytes; /* PIECE_POINTS of the larger group */
};

static enum err_code put_count(struct params_writer *w, struct err *e)
{
    uint32_t n = w->n[w->current];
    const uint8_t bytes[4] = {(uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8),
                              (uint8_t)n};
    return file_writer_write(w->file, bytes, sizeof bytes, e);
}

static enum err_code put_point(struct params_writer *w, const struct group *g, const point_t *p,
                               struct err *e)
{
    uint8_t bytes[POINT_MAX_BYTES];
    zcash_point_write(g, p, false, bytes);
    return file_writer_write(w->file, bytes, g->bytes, e);
}

static enum err_code put_key(struct params_writer *w, const struct params_facts *k, struct err *e)
{
    const struct group *g1 = curve->g1, *g2 = curve->g2;
    enum err_code code;
    if ((code = put_point(w, g1, &k->alpha_g1, e)) || (code = put_point(w, g1, &k->beta_g1, e)) ||
        (code = put_point(w, g2, &k->beta_g2, e)) || (code = put_point(w, g2, &k->gamma_g2, e)) ||
        (code = put_point(w, g1, &k->delta_g1, e)) || (code = put_point(w, g2, &k->delta_g2, e)))
        return code;
    return put_count(w, e);
}

struct params_writer *params_create(const char *path, const struct params_facts *facts,
                                    struct err *e)
{
    struct params_writer *w = calloc(1, sizeof *w);
    if (w) {
        memcpy(w->n, facts->n, sizeof w->n);
        w->path = strdup(path);
        w->bytes = malloc((size_t)PIECE_POINTS * curve->g2->bytes);
    }
    if (!w || !w->path || !w->bytes) {
        err_set(e, ERR_MEMORY, "%s: no memory", path);
        params_abort(&w);
        return NULL;
    }
    w->file = file_writer_open(path, 0644, e);
    if (!w->file || put_key(w, facts, e))
        params_abort(&w);
    return w;
}

struct encoding {
    const struct group *group;
    const unsigned char *points;
    uint8_t *bytes;
};

static void encode_range(void *arg, size_t begin, size_t end, unsigned worker)
{
    (void)worker;
    const struct encoding *x = arg;
    size_t bytes = x->group->bytes;
    for (size_t i = begin; i < end; i++)
        zcash_point_write(x->group, x->points + i * bytes, false, x->bytes + i * bytes);
}

static enum err_code move_on(struct params_writer *w, enum params_list to, struct err *e)
{
    enum err_code code = ERR_OK;
    while (w->current < to && !code) {
        INVARIANT(w->written == w->n[w->current]); /* a list is complete before the next begins */
        w->current++;
        w->written = 0;
        code = put_count(w, e);
    }
    INVARIANT(code || w->current == to); /* lists come in order */
    return code;
}

enum err_code params_write_points(struct params_writer *w, enum params_list which,
                                  const void *points, size_t n, struct pool *pool, struct err *e)
{
    const struct group *g = params_group(which);
    const unsigned char *from = points;
    enum err_code code = move_on(w, which, e);
    INVARIANT(code || n <= w->n[which] - w->written);
    for (size_t i = 0; i < n && !code; i++)
        if (g->is_infinity(from + i * g->bytes))
            code = err_set(e, ERR_VALUE,
                           "%s: a variable that no constraint binds (point %zu of a list is at "
                           "infinity): a .params cannot hold it",
                           w->path, (size_t)w->written + i);
    for (size_t at = 0; at < n && !code; at += PIECE_POINTS) {
        size_t step = n - at < PIECE_POINTS ? n - at : PIECE_POINTS;
        struct encoding x = {g, from + at * g->bytes, w->bytes};
        pool_range(pool, encode_range, &x, step, GRAIN);
        code = file_writer_write(w->file, w->bytes, step * g->bytes, e);
        w->written += (uint32_t)step;
    }
    return code;
}

enum err_code params_commit(struct params_writer **wp, struct err *e)
{
    struct params_writer *w = *wp;
    enum err_code code = move_on(w, PARAMS_LISTS - 1, e);
    INVARIANT(code || w->written == w->n[w->current]);
    if (!code)
        code = file_writer_commit(&w->file, e);
    params_abort(wp);
    return code;
}

void params_abort(struct params_writer **wp)
{
    struct params_writer *w = wp ? *wp : NULL;
    if (!w)
        return;
    file_writer_abort(&w->file);
    free(w->path);
    free(w->bytes);
    free(w);
    *wp = NULL;
}

enum err_code vk_bytes_write(const char *path, const struct verification_key *vk,
                             const point_t *beta_g1, const point_t *delta_g1, struct err *e)
{
    if (vk->curve != curve)
        return err_set(e, ERR_UNSUPPORTED, "%s: a .vk is on bls12-381, this key is on %s", path,
                       vk->curve->name);
    const struct params_facts facts = {
        .n = {[PARAMS_IC] = vk->n_public + 1},
        .alpha_g1 = vk->alpha_g1,
        .beta_g1 = *beta_g1,
        .beta_g2 = vk->beta_g2,
        .gamma_g2 = vk->gamma_g2,
        .delta_g1 = *delta_g1,
        .delta_g2 = vk->delta_g2,
    };
    struct params_writer *w = params_create(path, &facts, e);
    if (!w)
        return e ? e->code : ERR_IO;
    enum err_code code = params_write_points(w, PARAMS_IC, vk->ic, vk->n_public + 1, NULL, e);
    if (!code)
        code = file_writer_commit(&w->file, e); /* no further list */
    params_abort(&w);
    return code;
}
