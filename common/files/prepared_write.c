#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "file.h"
#include "matrix_fold.h"
#include "piece_hash.h"
#include "prepared_layout.h"
#include "squeeze.h"

struct prepared_writer {
    struct piece_hash hash; /* first: its alignment is the allocation's */
    struct file_writer *file;
    struct pool *pool;
    char *path;
    struct prepared_header header;
    unsigned current; /* 0: none yet */

    struct matrix_fold *folds; /* owned */

    /* The query that is being written, if any. */
    struct squeeze squeeze;
    size_t wires_room;
    unsigned query;
};

struct prepared_writer *prepared_create(const char *path, struct pool *pool, struct err *e)
{
    size_t align = _Alignof(struct prepared_writer);
    size_t bytes = (sizeof(struct prepared_writer) + align - 1) / align * align;
    struct prepared_writer *w = aligned_alloc(align, bytes);
    if (!w) {
        err_set(e, ERR_MEMORY, "%s: no memory", path);
        return NULL;
    }
    memset(w, 0, bytes);
    w->pool = pool;
    w->path = strdup(path);
    w->file = w->path ? file_writer_open(path, 0444, e) : NULL;
    /* The header's place is kept; what stands there until the commit is no valid header. */
    if (!w->file || file_writer_write(w->file, &w->header, sizeof w->header, e))
        prepared_abort(&w);
    return w;
}

void prepared_abort(struct prepared_writer **wp)
{
    struct prepared_writer *w = wp ? *wp : NULL;
    if (!w)
        return;
    file_writer_abort(&w->file);
    free(w->folds);
    free(w->squeeze.wire);
    free(w->path);
    free(w);
    *wp = NULL;
}

static void end_section(struct prepared_writer *w)
{
    if (w->current)
        piece_hash_final(&w->hash, w->header.section[w->current].checksum);
    w->current = 0;
}

enum err_code prepared_append(struct prepared_writer *w, enum prepared_section id, const void *data,
                              size_t n, struct err *e)
{
    INVARIANT(id > 0 && id < PREPARED_SECTIONS);
    if (n == 0)
        return ERR_OK;
    struct prepared_extent *s = &w->header.section[id];
    if (w->current != (unsigned)id) {
        for (unsigned later = id; later < PREPARED_SECTIONS; later++)
            INVARIANT(w->header.section[later].length == 0); /* ids must not descend */
        end_section(w);
        enum err_code code = file_writer_align(w->file, PREPARED_ALIGNMENT, e);
        if (code)
            return code;
        s->offset = file_writer_offset(w->file);
        piece_hash_init(&w->hash);
        w->current = id;
    }
    s->length += n;
    piece_hash_update(&w->hash, data, n, w->pool);
    return file_writer_write(w->file, data, n, e);
}

static enum err_code append_matrix(struct prepared_writer *w, unsigned which,
                                   const struct matrix *m, struct err *e)
{
    uint32_t stored = matrix_stored_rows(m);
    const struct {
        const void *data;
        uint64_t n;
    } parts[4] = {
        {m->row_start, ((uint64_t)stored + 1) * sizeof *m->row_start},
        {m->wire, m->n_entries * sizeof *m->wire},
        {m->code, m->n_entries * m->code_bytes},
        {m->dictionary, (uint64_t)m->n_dictionary * sizeof *m->dictionary},
    };
    w->header.matrix[which] = (struct prepared_matrix){
        .n_rows = m->n_rows,
        .n_dictionary = m->n_dictionary,
        .n_entries = m->n_entries,
        .code_bytes = m->code_bytes,
        .n_stored_rows = stored,
    };
    enum err_code code = ERR_OK;
    for (unsigned i = 0; i < 4 && !code; i++)
        code = prepared_append(w, PREPARED_A_ROW_START + 4 * which + i, parts[i].data,
                               (size_t)parts[i].n, e);
    return code;
}

static enum err_code append_folded(struct prepared_writer *w, unsigned which,
                                   const struct matrix *m, struct err *e)
{
    struct matrix folded;
    enum err_code code = matrix_fold(m, w->folds, w->header.n_folds, &folded, e);
    if (code)
        return code;
    code = append_matrix(w, which, &folded, e);
    matrix_free(&folded);
    return code;
}

/* Takes the folds that the matrices come with, or looks for some. */
static enum err_code choose_folds(struct prepared_writer *w, const struct matrix *const *all,
                                  size_t n, struct err *e)
{
    uint32_t n_folds = all[0]->n_folds, n_rows = all[0]->n_rows;
    enum err_code code = ERR_OK;
    if (n_folds) {
        w->folds = malloc(n_folds * sizeof *w->folds);
        if (!w->folds)
            return err_set(e, ERR_MEMORY, "%s: no memory for %u folds", w->path, n_folds);
        memcpy(w->folds, all[0]->fold, n_folds * sizeof *w->folds);
    } else {
        for (size_t i = 1; i < n; i++)
            n_rows = all[i]->n_rows < n_rows ? all[i]->n_rows : n_rows;
        code = matrix_find_folds(all, n, n_rows, &w->folds, &n_folds, e);
    }
    w->header.n_folds = n_folds;
    return code;
}

enum err_code prepared_append_matrices(struct prepared_writer *w, const struct matrix *a,
                                       const struct matrix *b, const struct matrix *c,
                                       struct err *e)
{
    const struct matrix *const all[3] = {a, b, c};
    size_t n = c ? 3 : 2;
    enum err_code code = choose_folds(w, all, n, e);
    for (unsigned i = 0; i < n && !code; i++) {
        w->header.n_terms += matrix_terms(all[i]);
        code = w->header.n_folds && !all[i]->n_folds ? append_folded(w, i, all[i], e)
                                                     : append_matrix(w, i, all[i], e);
    }
    return code;
}

enum err_code prepared_append_query(struct prepared_writer *w, enum prepared_section id,
                                    const struct group *g, void *points, uint32_t wire, size_t n,
                                    struct err *e)
{
    struct squeeze *s = &w->squeeze;
    if (w->query != (unsigned)id) {
        INVARIANT(w->query == 0); /* the one before was not ended */
        w->query = id;
        *s = (struct squeeze){.group = g, .wire = s->wire, .first_wire = wire};
    }
    INVARIANT(s->first_wire == wire);
    if (s->kept + n > w->wires_room) {
        size_t room = (size_t)s->kept + n + w->wires_room;
        uint32_t *bigger = realloc(s->wire, room * sizeof *bigger);
        if (!bigger)
            return err_set(e, ERR_MEMORY, "%s: no memory for %zu wire numbers", w->path, room);
        s->wire = bigger;
        w->wires_room = room;
    }
    size_t kept = squeeze_points(s, points, n);
    return prepared_append(w, id, points, kept * g->bytes, e);
}

enum err_code prepared_end_query(struct prepared_writer *w, struct query *facts, struct err *e)
{
    const struct squeeze *s = &w->squeeze;
    *facts = (struct query){0};
    if (w->query == 0) /* no point at all came */
        return ERR_OK;
    facts->n = s->kept;
    facts->first_wire = s->gap || !s->kept ? 0 : s->start;
    facts->wire = s->gap ? s->wire : NULL;
    unsigned id = w->query + 1;
    w->query = 0;
    return s->gap ? prepared_append(w, id, s->wire, (size_t)s->kept * sizeof *s->wire, e) : ERR_OK;
}

enum err_code prepared_commit(struct prepared_writer **wp, const struct circuit *c,
                              uint8_t digest[32], struct err *e)
{
    struct prepared_writer *w = *wp;
    struct prepared_header *h = &w->header;
    INVARIANT(w->query == 0);
    enum err_code code =
        prepared_append(w, PREPARED_FOLDS, w->folds, h->n_folds * sizeof *w->folds, e);
    if (code) {
        prepared_abort(wp);
        return code;
    }
    end_section(w);
    prepared_header_from_circuit(h, c);
    h->file_bytes = file_writer_offset(w->file);
    prepared_header_digest(h, h->digest);
    /* The reader's own check: a key that it would refuse is never written. */
    code = prepared_header_check(h, h->file_bytes, w->path, e);
    if (!code)
        code = file_writer_patch(w->file, 0, h, sizeof *h, e);
    if (!code)
        code = file_writer_commit(&w->file, e);
    if (!code && digest)
        memcpy(digest, h->digest, sizeof h->digest);
    prepared_abort(wp);
    return code;
}

static enum err_code append_ready_query(struct prepared_writer *w, enum prepared_section id,
                                        const struct query *q, const struct group *g, struct err *e)
{
    enum err_code code = prepared_append(w, id, q->points, (size_t)q->n * g->bytes, e);
    if (!code && q->wire)
        code = prepared_append(w, id + 1, q->wire, (size_t)q->n * sizeof *q->wire, e);
    return code;
}

enum err_code prepared_write(const char *path, const struct circuit *c, uint8_t digest[32],
                             struct pool *pool, struct err *e)
{
    const struct group *g1 = c->curve->g1, *g2 = c->curve->g2;
    struct prepared_writer *w = prepared_create(path, pool, e);
    if (!w)
        return e ? e->code : ERR_IO;
    enum err_code code;
    if ((code = prepared_append_matrices(w, &c->a, &c->b, c->has_c ? &c->c : NULL, e)) ||
        (code =
             prepared_append(w, PREPARED_IC, c->vk.ic, ((size_t)c->n_public + 1) * g1->bytes, e)) ||
        (code = append_ready_query(w, PREPARED_A_POINTS, &c->a_query, g1, e)) ||
        (code = append_ready_query(w, PREPARED_B1_POINTS, &c->b1_query, g1, e)) ||
        (code = append_ready_query(w, PREPARED_B2_POINTS, &c->b2_query, g2, e)) ||
        (code = append_ready_query(w, PREPARED_L_POINTS, &c->l_query, g1, e)) ||
        (code =
             prepared_append(w, PREPARED_H_POINTS, c->h_points, (size_t)c->n_h * g1->bytes, e))) {
        prepared_abort(&w);
        return code;
    }
    return prepared_commit(&w, c, digest, e);
}
